//! Why a pod was evicted when it was: what is remembered of evictions, and the terms that add up to
//! the moment of one.

mod records;
pub(crate) mod taint_order;
pub mod time_budget;

pub(crate) use self::records::EvictionRecords;
