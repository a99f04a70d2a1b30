//! Stub until the real one arrives.
use alloc::string::String;
/// e
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// f
    pub field: String,
}
impl core::fmt::Display for FieldError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.field)
    }
}
/// o
#[derive(Clone, Copy, Debug)]
pub struct ValidationOptions {
    /// e
    pub exists_value_dump: bool,
    /// c
    pub comparison_operators: bool,
}
