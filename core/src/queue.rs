//! Queues and limiters: timers in the order of their creation, work that is done once, and rates.

pub mod flowcontrol;
pub mod rate_limited_timed_queue;
pub mod timed_worker_queue;
pub mod timer_queue;
pub(crate) mod work_queue;
