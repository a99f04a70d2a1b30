//! Independent runs, spread over threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::host::Host;

/// Number of threads: as many as there are processors unless given.
pub(crate) fn threads(host: &dyn Host, given: Option<usize>) -> usize {
    given.unwrap_or_else(|| host.cores()).clamp(1, 64)
}

/// Makes a run of each item in several threads; the results come in the order of the items. If the
/// user has enough, the results of items that were not begun are missing, but never the first one.
/// `done` and `planned` are the runs before these, and all of them.
pub(crate) fn in_threads<I: Sync, T: Send>(
    host: &dyn Host,
    items: &[I],
    (done, planned): (usize, usize),
    workers: usize,
    run: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<T>>> = Mutex::new(items.iter().map(|_| None).collect());
    let lock = || results.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place).filter(|_| place == 0 || !host.interrupted()) else {
                return;
            };
            let made = run(item);
            let mut results = lock();
            if let Some(result) = results.get_mut(place) {
                *result = Some(made);
            }
            let ready = results.iter().flatten().count();
            host.progress(Some((done + ready, planned)));
        }
    };
    thread::scope(|scope| {
        (1..workers.min(items.len())).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}
