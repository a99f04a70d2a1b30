//! Cases of `rate_limited_queue_test.go`, under the names they have there.

use std::time::Duration;

use taintlab_core::queue::flowcontrol::{RateLimiter, TokenBucketRateLimiter};
use taintlab_core::queue::rate_limited_timed_queue::RateLimitedTimedQueue;
use taintlab_core::time::Timestamp;

type Queue = RateLimitedTimedQueue<&'static str>;

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_secs(seconds)
}

/// As `flowcontrol.NewFakeAlwaysRateLimiter`: more tokens than any test takes.
fn always() -> RateLimiter {
    RateLimiter::TokenBucket(TokenBucketRateLimiter::new(1.0, 1_000_000))
}

fn queue(values: &[&'static str]) -> Queue {
    let mut queue = Queue::new(always());
    for (second, value) in values.iter().enumerate() {
        assert!(queue.add(at(second as u64), value, "11111"));
    }
    queue
}

fn waiting(queue: &Queue) -> Vec<&'static str> {
    let mut entries: Vec<_> = queue.queue().iter().collect();
    entries.sort_by_key(|entry| entry.process_at);
    entries.into_iter().map(|entry| entry.value).collect()
}

/// `TestAddNode` and the adding part of `TestUniqueQueueGet`: what is there is not added again.
#[test]
fn add_node() {
    let mut queue = queue(&["first", "second", "third"]);
    assert_eq!(waiting(&queue), ["first", "second", "third"]);
    assert!(!queue.add(at(9), "first", "11111"));
    assert!(!queue.add(at(9), "third", "33333"));
    assert_eq!(queue.queue().len(), 3);
    assert_eq!(queue.set().len(), 3);
}

/// `TestDelNode`: from the front, the middle, the end.
#[test]
fn del_node() {
    for (gone, left) in [
        ("first", ["second", "third"]),
        ("second", ["first", "third"]),
        ("third", ["first", "second"]),
    ] {
        let mut queue = queue(&["first", "second", "third"]);
        assert!(queue.remove(&gone));
        assert_eq!(waiting(&queue), left);
        assert!(!queue.remove(&gone), "it is not there any more");
        assert!(!queue.set().contains(gone));
    }
}

/// `TestTry`: what was removed is not processed, and what is processed stays in the set.
#[test]
fn try_processes_what_is_left() {
    let mut queue = queue(&["first", "second", "third"]);
    queue.remove(&"second");
    let mut processed = Vec::new();
    queue.try_each(at(9), |entry| {
        processed.push(entry.value);
        Ok(())
    });
    assert_eq!(processed, ["first", "third"]);
    assert!(queue.queue().is_empty() && queue.set().contains("first"));
}

/// `TestTryOrdering`: a failure waits, the others do not wait for it.
#[test]
fn try_ordering() {
    let mut queue = queue(&["first", "second", "third"]);
    let mut order = Vec::new();
    let mut failed = false;
    for seconds in [9, 10] {
        queue.try_each(at(seconds), |entry| {
            order.push(entry.value);
            if entry.value == "second" && !failed {
                failed = true;
                return Err(Duration::from_millis(1));
            }
            Ok(())
        });
    }
    assert_eq!(order, ["first", "second", "third", "second"]);
}

/// `TestTryRemovingWhileTry`: what is removed while it is processed does not come back.
#[test]
fn try_removing_while_try() {
    let mut queue = queue(&["first", "second", "third"]);
    let mut order = Vec::new();
    while let Some(entry) = queue.try_next(at(9)) {
        order.push(entry.value);
        if entry.value == "second" {
            queue.remove(&"second");
            queue.retry(at(9), entry, Duration::from_millis(1));
        } else {
            queue.done(&entry.value);
        }
    }
    assert_eq!(order, ["first", "second", "third"]);
    assert!(!queue.set().contains("second") && queue.queue().is_empty());
}

/// `TestClear`.
#[test]
fn clear() {
    let mut queue = queue(&["first", "second", "third"]);
    queue.clear();
    assert!(queue.queue().is_empty() && queue.set().is_empty());
}

/// `TestSwapLimiter`: rates come, go, and come again.
#[test]
fn swap_limiter() {
    let mut queue = queue(&["first", "second", "third"]);
    queue.swap_limiter(at(3), 0.0);
    assert!(queue.limiter().is_never());
    queue.try_each(at(4), |_| panic!("it is stopped"));
    queue.swap_limiter(at(5), 2.0);
    assert_eq!((queue.limiter().is_never(), queue.limiter().qps()), (false, 2.0));
    let before = *queue.limiter();
    queue.swap_limiter(at(6), 2.0);
    assert_eq!(*queue.limiter(), before, "the same rate changes nothing");
}

/// `TestAddAfterTry`: what was processed is added again only after it was removed.
#[test]
fn add_after_try() {
    let mut queue = queue(&["first", "second", "third"]);
    queue.remove(&"second");
    queue.try_each(at(9), |_| Ok(()));
    assert!(!queue.add(at(10), "first", "11111"), "it is still known");
    queue.try_each(at(11), |_| panic!("nothing waits"));
    assert!(queue.remove(&"first"));
    assert!(queue.add(at(12), "first", "11111"));
    let mut processed = Vec::new();
    queue.try_each(at(13), |entry| {
        processed.push(entry.value);
        Ok(())
    });
    assert_eq!(processed, ["first"]);
}
