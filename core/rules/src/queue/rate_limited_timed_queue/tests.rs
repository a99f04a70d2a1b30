use alloc::vec::Vec;

use super::*;

fn s(seconds: f64) -> Timestamp {
    Timestamp::from_millis((seconds * 1000.0).round() as u64)
}

/// Times of processing, with a try every 100 ms and endless demand.
fn grants(queue: &mut RateLimitedTimedQueue<u32>, from: f64, to: f64) -> Vec<f64> {
    let mut grants = Vec::new();
    let (from, to) = ((from * 10.0).round() as u64, (to * 10.0).round() as u64);
    for tenth in from..to {
        let now = Timestamp::from_millis(tenth * 100);
        let fresh = u32::try_from(tenth).unwrap();
        queue.add(now, fresh, "");
        let expected = queue.poll_timeout(now) == Some(now);
        let mut granted = false;
        queue.try_each(now, |_| {
            granted = true;
            Ok(())
        });
        assert_eq!(granted, expected, "poll_timeout at {now}");
        if granted {
            grants.push(now.as_secs_f64());
        }
    }
    grants
}

/// The worked examples Q4 to Q7: rate changes under endless demand.
#[test]
fn swapped_limiters() {
    for (id, demand_from, swaps, expected) in [
        ("Q4", 0.0, &[(3.0, 0.01)][..], &[0.0, 103.1, 203.2][..]),
        ("Q5", 4.0, &[(3.0, 0.01)], &[4.0, 104.1, 204.2]),
        ("Q6", 0.0, &[(3.0, 0.0), (33.0, 0.1)], &[0.0, 43.0, 53.0]),
        ("Q7", 0.0, &[(3.0, 0.01), (50.0, 0.1)], &[0.0, 60.0, 70.0, 80.0]),
    ] {
        let mut queue = RateLimitedTimedQueue::with_qps(0.1);
        let mut found = Vec::new();
        let mut from: f64 = demand_from;
        for &(at, qps) in swaps {
            if from < at {
                found.extend(grants(&mut queue, from, at));
                from = at;
            }
            queue.swap_limiter(s(at), qps);
        }
        let end = expected.last().unwrap() + 5.0;
        found.extend(grants(&mut queue, from, end));
        assert_eq!(found, expected, "{id}");
    }
}

#[test]
fn q4_starts_at_a_tenth() {
    let mut queue = RateLimitedTimedQueue::with_qps(0.1);
    assert_eq!(grants(&mut queue, 0.1, 3.0), [0.1]);
    queue.swap_limiter(s(3.0), 0.01);
    assert_eq!(grants(&mut queue, 3.0, 210.0), [103.1, 203.2]);
}

#[test]
fn q8_a_stopped_queue_ignores_a_rate_of_one() {
    let mut queue = RateLimitedTimedQueue::with_qps(0.1);
    queue.swap_limiter(s(3.0), 0.0);
    queue.swap_limiter(s(10.0), 1.0);
    assert!(queue.limiter().is_never());
    assert!(grants(&mut queue, 10.0, 60.0).is_empty());
    queue.swap_limiter(s(60.0), 0.1);
    assert_eq!(grants(&mut queue, 60.0, 75.0), [70.0]);
}

#[test]
fn q9_the_same_rate_again_changes_nothing() {
    let mut queue = RateLimitedTimedQueue::<u32>::with_qps(0.1);
    let before = *queue.limiter();
    queue.swap_limiter(s(3.0), 0.1);
    assert_eq!(*queue.limiter(), before);
}

#[test]
fn q10_a_head_that_is_not_due_wastes_the_token() {
    let mut queue = RateLimitedTimedQueue::with_qps(0.1);
    queue.add(s(5.0), "n", "");
    queue.try_each(s(0.0), |_| panic!("not due"));
    assert_eq!(queue.limiter().tokens_at(s(0.0)), 0.0);
    assert_eq!(queue.poll_timeout(s(5.0)), Some(Timestamp::from_nanos(9_999_999_851)));
}

#[test]
fn q11_a_failure_waits_for_the_next_token() {
    let mut queue = RateLimitedTimedQueue::with_qps(0.1);
    queue.add(s(0.0), "n", "uid");
    queue.try_each(s(0.0), |_| Err(RETRY_AFTER));
    assert_eq!(queue.queue()[0].process_at, Timestamp::from_nanos(50_000_001));
    assert_eq!(queue.queue()[0].added_at, s(0.0));
    assert_eq!(queue.poll_timeout(s(0.1)), Some(Timestamp::from_nanos(9_999_999_851)));
    let mut tried = Vec::new();
    queue.try_each(s(10.0), |entry| {
        tried.push(entry.uid.clone());
        Ok(())
    });
    assert_eq!(tried, ["uid"]);
}

#[test]
fn q12_and_q13_what_was_seen_is_added_again_only_after_a_removal() {
    let mut queue = RateLimitedTimedQueue::with_qps(10.0);
    assert!(queue.add(s(0.0), "x", "1"));
    queue.try_each(s(0.0), |_| Ok(()));
    assert!(queue.queue().is_empty());
    assert!(!queue.add(s(1.0), "x", "2"));
    assert!(queue.remove(&"x"), "Q13: it was processed already, but seen");
    assert!(!queue.remove(&"x"));
    assert!(queue.add(s(2.0), "x", "3"));
}

// Upstream: TestAddNode, TestDelNode, TestTry, TestClear, TestTryRemovingWhileTry,
// TestAddAfterTry.
#[test]
fn entries_are_processed_in_the_order_of_their_time() {
    let mut queue = RateLimitedTimedQueue::with_qps(10_000.0);
    for (at, value) in [(2.0, "second"), (1.0, "first"), (3.0, "third")] {
        assert!(queue.add(s(at), value, ""));
    }
    assert!(queue.remove(&"second"));
    let mut processed = Vec::new();
    for tenth in 0..50 {
        queue.try_each(s(f64::from(tenth) / 10.0), |entry| {
            processed.push(entry.value);
            Ok(())
        });
    }
    assert_eq!(processed, ["first", "third"]);
    assert_eq!(Vec::from_iter(queue.set()), [&"first", &"third"]);
    queue.clear();
    assert!(queue.set().is_empty());
}

#[test]
fn a_removal_while_its_result_is_awaited() {
    let mut queue = RateLimitedTimedQueue::with_qps(10.0);
    queue.add(s(0.0), "x", "");
    let head = queue.try_next(s(0.0)).unwrap();
    assert_eq!(queue.queue().len(), 1, "the head waits for its result");
    queue.remove(&"x");
    queue.retry(s(0.0), head, RETRY_AFTER);
    assert!(queue.queue().is_empty());
}

#[test]
fn a_value_removed_from_the_set_alone_stays_and_blocks() {
    let mut queue = RateLimitedTimedQueue::with_qps(10.0);
    queue.add(s(0.0), "x", "1");
    queue.set_remove(&"x");
    assert!(queue.add(s(0.0), "x", "2"));
    assert_eq!(queue.queue().len(), 2);
    queue.set_remove(&"x");
    queue.try_each(s(1.0), |_| Ok(()));
    assert_eq!(queue.queue().len(), 2, "what is not in the set is never taken from the heap");
}
