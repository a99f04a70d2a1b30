//! Explanations of eviction times: records of evictions, and the terms that add up to the time of
//! one.

mod records;
pub(crate) mod taint_order;
pub mod time_budget;

pub(crate) use self::records::EvictionRecords;
