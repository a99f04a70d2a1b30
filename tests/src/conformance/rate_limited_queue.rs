//! `rate_limited_queue`: sequences of operations on a rate-limited queue.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_core::queue::rate_limited_timed_queue::RateLimitedTimedQueue;
use taintlab_core::time::Timestamp;

use super::{Outcome, compare, with_case};
use crate::nullable::nullable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "id")]
    _id: u64,
    #[serde(rename = "mode")]
    _mode: String,
    /// Entries of the same time; they are compared too, since the heap is that of Go.
    #[serde(rename = "ties")]
    _ties: bool,
    initial_qps: f32,
    #[serde(default, deserialize_with = "nullable")]
    fn_plan: BTreeMap<String, VecDeque<Answer>>,
    ops: Vec<Op>,
}

/// What the function that processes a value says.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    ok: bool,
    #[serde(default)]
    wait: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verb {
    Add,
    Remove,
    SetRemove,
    Clear,
    Swap,
    Try,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Op {
    t: u64,
    op: Verb,
    #[serde(default)]
    value: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    qps: f32,
    result: Option<bool>,
    #[serde(default, deserialize_with = "nullable")]
    processed: Vec<Processed>,
    limiter_qps: f32,
    limiter_never: bool,
    queue: Option<Vec<Entry>>,
    queue_len: usize,
    set: Option<Vec<String>>,
    set_len: usize,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Processed {
    value: String,
    uid: String,
    ok: bool,
    wait: u64,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: String,
    added_at: u64,
    process_at: u64,
}

/// What can be seen after an operation.
#[derive(PartialEq, Serialize)]
struct State {
    op: usize,
    result: Option<bool>,
    processed: Vec<Processed>,
    limiter: (f32, bool),
    queue: Option<Vec<Entry>>,
    set: Option<Vec<String>>,
    lengths: (usize, usize),
}

/// Runs one case and stops at the first operation after which the queues differ.
pub fn run(line: &str) -> Outcome {
    with_case(line, |mut case: Case| {
        let mut queue = RateLimitedTimedQueue::with_qps(case.initial_qps);
        for (index, op) in case.ops.into_iter().enumerate() {
            let now = Timestamp::from_nanos(op.t);
            let next = queue.poll_timeout(now);
            let tokens = queue.limiter().tokens_at(now);
            let (result, processed) = apply(&mut queue, now, &op, &mut case.fn_plan);
            if matches!(op.op, Verb::Try) {
                let took = queue.limiter().tokens_at(now) < tokens;
                if took != (next == Some(now)) {
                    return Outcome::Failed(format!(
                        "op {index}: the next token was to be {next:?}"
                    ));
                }
            }
            let got = state(index, &queue, result, processed, &op);
            let expected = State {
                op: index,
                result: op.result,
                processed: op.processed,
                limiter: (op.limiter_qps, op.limiter_never),
                queue: op.queue,
                set: op.set,
                lengths: (op.queue_len, op.set_len),
            };
            let outcome = compare(&expected, &got);
            if outcome != Outcome::Agrees {
                return outcome;
            }
        }
        Outcome::Agrees
    })
}

fn apply(
    queue: &mut RateLimitedTimedQueue<String>,
    now: Timestamp,
    op: &Op,
    plan: &mut BTreeMap<String, VecDeque<Answer>>,
) -> (Option<bool>, Vec<Processed>) {
    let mut processed = Vec::new();
    let mut result = None;
    match op.op {
        Verb::Add => result = Some(queue.add(now, op.value.clone(), op.uid.clone())),
        Verb::Remove => result = Some(queue.remove(&op.value)),
        Verb::SetRemove => queue.set_remove(&op.value),
        Verb::Clear => queue.clear(),
        Verb::Swap => queue.swap_limiter(now, op.qps),
        Verb::Try => queue.try_each(now, |entry| {
            let planned = plan.get_mut(&entry.value).and_then(VecDeque::pop_front);
            let Answer { ok, wait } = planned.unwrap_or(Answer { ok: true, wait: 0 });
            let (value, uid) = (entry.value.clone(), entry.uid.clone());
            processed.push(Processed { value, uid, ok, wait });
            if ok { Ok(()) } else { Err(Duration::from_nanos(wait)) }
        }),
    }
    (result, processed)
}

/// The queue as it is now; lists only where the case has them.
fn state(
    op_index: usize,
    queue: &RateLimitedTimedQueue<String>,
    result: Option<bool>,
    processed: Vec<Processed>,
    op: &Op,
) -> State {
    let entries = queue.queue().iter().map(|entry| Entry {
        value: entry.value.clone(),
        added_at: entry.added_at.as_nanos(),
        process_at: entry.process_at.as_nanos(),
    });
    State {
        op: op_index,
        result,
        processed,
        limiter: (queue.limiter().qps(), queue.limiter().is_never()),
        queue: op.queue.is_some().then(|| entries.collect()),
        set: op.set.is_some().then(|| queue.set().iter().cloned().collect()),
        lengths: (queue.queue().len(), queue.set().len()),
    }
}
