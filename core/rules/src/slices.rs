//! Long work done in slices, so that its caller can do other things in between.
//!
//! Such work is an `async` function that awaits nothing but [`pause`]. Only [`Sliced::go_on`] and
//! [`at_once`] run it: there are no threads and no clocks here.

use alloc::boxed::Box;
use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};

/// Work done in slices. Dropping it cancels it.
pub struct Sliced<T>(Pin<Box<dyn Future<Output = T>>>);

impl<T> fmt::Debug for Sliced<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sliced")
    }
}

impl<T> Sliced<T> {
    /// Work that has not started.
    pub fn new(work: impl Future<Output = T> + 'static) -> Self {
        Self(Box::pin(work))
    }

    /// Continues from pause to pause while `has_time` returns true, at least to the next pause.
    /// Returns the result when the work is done; after that it must not be called again.
    pub fn go_on(&mut self, mut has_time: impl FnMut() -> bool) -> Option<T> {
        loop {
            match self.0.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(done) => return Some(done),
                Poll::Pending if !has_time() => return None,
                Poll::Pending => {}
            }
        }
    }
}

/// Does all of the work in one go.
pub fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
    }
}

/// A point at which work can be interrupted.
pub async fn pause() {
    let mut paused = false;
    poll_fn(
        |_| if core::mem::replace(&mut paused, true) { Poll::Ready(()) } else { Poll::Pending },
    )
    .await;
}

/// Pauses after a number of steps.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    every: u32,
    left: u32,
}

impl Pace {
    /// Pauses after every `every` steps.
    #[must_use]
    pub const fn every(every: u32) -> Self {
        Self { every, left: every }
    }

    /// Counts a step, and pauses if it is the last one before a pause.
    pub async fn step(&mut self) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.left = self.every;
            pause().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sum(numbers: u32) -> u32 {
        let (mut pace, mut sum) = (Pace::every(10), 0);
        for number in 1..=numbers {
            sum += number;
            pace.step().await;
        }
        sum
    }

    #[test]
    fn work_in_slices_stops_at_pauses_and_gives_the_same_result() {
        assert_eq!(at_once(sum(100)), 5_050);
        let mut work = Sliced::new(sum(100));
        let slices = (0..).take_while(|_| work.go_on(|| false).is_none()).count();
        assert_eq!(slices, 10);
        let mut left = 3;
        let mut has_time = || {
            left -= 1;
            left > 0
        };
        let mut work = Sliced::new(sum(45));
        assert_eq!(work.go_on(&mut has_time), None, "three slices");
        assert_eq!(work.go_on(|| true), Some(1_035));
    }
}
