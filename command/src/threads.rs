//! Independent runs, spread over threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::host::Host;

/// Number of threads: as many as there are processors unless given.
pub(crate) fn threads(host: &dyn Host, given: Option<usize>) -> usize {
    given.unwrap_or_else(|| host.cores()).clamp(1, 64)
}

/// Results of independent pieces of work in several threads, by place, in order. None is begun after the
/// first that is not `wanted` or comes to nothing.
pub(crate) fn in_pieces<T: Send>(
    workers: usize,
    pieces: usize,
    wanted: &(dyn Fn(usize) -> bool + Sync),
    make: &(dyn Fn(usize) -> Option<T> + Sync),
) -> Vec<(usize, T)> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, T)>> = Mutex::default();
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= pieces || !wanted(place) {
                return;
            }
            let Some(made) = make(place) else { return };
            results.lock().unwrap_or_else(PoisonError::into_inner).push((place, made));
        }
    };
    thread::scope(|scope| {
        (1..workers.min(pieces)).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(place, _)| *place);
    results
}

/// Results of a run of each item in several threads, in the order of the items. If the user has
/// enough, those of items that were not begun are missing, but never the first one. `done` and
/// `planned` are the runs before these, and all of them.
pub(crate) fn in_threads<I: Sync, T: Send>(
    host: &dyn Host,
    items: &[I],
    (done, planned): (usize, usize),
    workers: usize,
    run: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let ready = AtomicUsize::new(done);
    let wanted = |place: usize| place == 0 || !host.interrupted();
    let make = |place: usize| {
        let made = run(items.get(place)?);
        host.progress(Some((ready.fetch_add(1, Ordering::Relaxed) + 1, planned)));
        Some(made)
    };
    in_pieces(workers, items.len(), &wanted, &make).into_iter().map(|(_, made)| made).collect()
}
