//! The functions of a waPC guest, by which Kubewarden's hosts call a policy.

#![expect(unsafe_code, reason = "an exported name counts as unsafe; there is no unsafe block")]

use wapc_guest::register_function;

use crate::{PROTOCOL_VERSION, validate, validate_settings};

/// Registers the functions of a policy; a host calls it once.
#[unsafe(no_mangle)]
extern "C" fn wapc_init() {
    register_function("validate", |request| Ok(validate(request)));
    register_function("validate_settings", |settings| Ok(validate_settings(settings)));
    register_function("protocol_version", |_| Ok(PROTOCOL_VERSION.to_vec()));
}
