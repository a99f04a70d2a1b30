//! Vocabulary between controllers, kubelets and the API server: requests and their results,
//! recorded events, heartbeats, deadlines, zones.

mod flag;
mod heartbeats;
mod recorded_event;
mod request;
mod timeout;
mod unreachable;
pub mod zone;

pub use self::flag::FlagError;
pub use self::heartbeats::round_up;
pub use self::heartbeats::{HeartbeatSchedule, Jitter, PeriodicHeartbeat};
pub use self::recorded_event::{ObjectReference, RecordedEvent};
pub use self::request::{ApiErrorKind, NodeWrite, PodWrite, RequestId, RequestResult, RequestVerb};
pub use self::timeout::{DeadlineReason, Timeout, TimeoutReason};
pub use self::unreachable::UnreachableCause;
