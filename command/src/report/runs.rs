//! The runs of a report, spread over threads.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use taintlab_core::report::{Plan, ReportError, Run, RunResult};

use crate::host::Host;

/// Results so far.
pub(crate) struct Made {
    pub(crate) results: Vec<RunResult>,
    /// Whether the user broke it off.
    pub(crate) interrupted: bool,
}

struct Shared<'h> {
    host: &'h dyn Host,
    queue: Mutex<VecDeque<Vec<Run>>>,
    results: Mutex<Vec<RunResult>>,
    failure: Mutex<Option<ReportError>>,
    planned: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// So many runs go to a thread at a time that none waits for long at the end. The plan lists the
/// largest failures first, and runs that share a cluster or more one after the other.
fn batches(runs: Vec<Run>, is_planned: bool) -> VecDeque<Vec<Run>> {
    let mut batches: VecDeque<Vec<Run>> = VecDeque::new();
    for run in runs {
        // Those of one change share its cluster, outages of one domain their beginning.
        let shares = |last: &Run| match (&last.remedy, &run.remedy) {
            (None, None) => (last.seed, last.domain) == (run.seed, run.domain),
            (one, other) => (one, last.seed) == (other, run.seed),
        };
        match batches.back_mut() {
            Some(batch) if !is_planned && batch.last().is_some_and(shares) => batch.push(run),
            _ => batches.push_back(vec![run]),
        }
    }
    batches
}

impl Shared<'_> {
    /// Makes runs until none is left.
    fn work(&self, plan: &mut Plan) {
        loop {
            let batch = lock(&self.queue).pop_front();
            let Some(batch) = batch else { return };
            for run in batch {
                if self.host.interrupted() || lock(&self.failure).is_some() {
                    return;
                }
                match plan.run(&run) {
                    Ok(result) => {
                        let mut results = lock(&self.results);
                        results.push(result);
                        self.host.progress(Some((results.len(), self.planned)));
                    }
                    Err(error) => {
                        lock(&self.failure).get_or_insert(error);
                    }
                }
            }
        }
    }
}

/// Makes these runs, and then, if they are all of the report, those that tell what would help.
/// `known` are the results of other machines.
pub(crate) fn make(
    host: &dyn Host,
    plan: &mut Plan,
    runs: Vec<Run>,
    known: Vec<RunResult>,
    is_whole: bool,
    workers: usize,
) -> Result<Made, ReportError> {
    let mut plans: Vec<Plan> = Vec::new();
    let (mut results, mut list, mut is_planned) = (known, runs, true);
    loop {
        let planned = results.len() + list.len();
        host.progress(Some((results.len(), planned)));
        let more = workers.min(list.len()).saturating_sub(1);
        while plans.len() < more {
            plans.push(plan.clone());
        }
        let shared = Shared {
            host,
            queue: Mutex::new(batches(list, is_planned)),
            results: Mutex::new(results),
            failure: Mutex::default(),
            planned,
        };
        thread::scope(|scope| {
            for other in plans.iter_mut().take(more) {
                scope.spawn(|| shared.work(other));
            }
            shared.work(plan);
        });
        if let Some(error) = lock(&shared.failure).take() {
            return Err(error);
        }
        results = shared.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        // What helps is tried in other failures once it is known.
        let interrupted = host.interrupted();
        list = if is_whole && !interrupted { plan.remedies(&results) } else { Vec::new() };
        is_planned = false;
        if list.is_empty() {
            return Ok(Made { results, interrupted });
        }
    }
}
