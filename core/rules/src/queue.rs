//! Queues and limiters: timers in the order of time and creation, work done once per key, and rate
//! limits.

pub mod flowcontrol;
pub mod rate_limited_timed_queue;
pub mod timed_worker_queue;
pub mod timer_queue;
pub mod work_queue;
