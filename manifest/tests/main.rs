//! The tests of reading and writing from outside, as one program; `tests/tests/main.rs` of the
//! repository says why, and sees to it that no file is missing here.

mod diagnostics;
mod hostile;
mod import;
mod report;
mod round_trip;
mod secrets;
