//! The functions that a host calls: numbers in and out, bytes in the module's memory.
//!
//! Every buffer is in one table, so a wrong pointer is refused and never followed.

#![expect(unsafe_code, reason = "exported names count as unsafe; there is no unsafe block")]

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{CONTRACT, MAX_LIMIT, call as answer, refused};

/// The buffers that the host may read or write, by address.
static BUFFERS: Mutex<BTreeMap<usize, Vec<u8>>> = Mutex::new(BTreeMap::new());

fn buffers() -> MutexGuard<'static, BTreeMap<usize, Vec<u8>>> {
    BUFFERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a buffer for the host, and returns its address.
fn keep(buffer: Vec<u8>) -> usize {
    let address = buffer.as_ptr().expose_provenance();
    buffers().insert(address, buffer);
    address
}

/// Returns the address of `length` bytes for a request, or 0 if there is no memory for so many.
#[unsafe(no_mangle)]
extern "C" fn alloc(length: usize) -> usize {
    let mut buffer = Vec::new();
    // An empty buffer has no address of its own.
    if length > MAX_LIMIT || buffer.try_reserve_exact(length.max(1)).is_err() {
        return 0;
    }
    buffer.resize(length.max(1), 0);
    keep(buffer)
}

/// Frees a buffer of [`alloc`] or [`call`]; any other address is ignored.
#[unsafe(no_mangle)]
extern "C" fn free(address: usize) {
    buffers().remove(&address);
}

/// Answers the request in the first `length` bytes of a buffer of [`alloc`], and frees that buffer.
/// The answer's address is in the upper 32 bits, its length in the lower ones.
#[unsafe(no_mangle)]
extern "C" fn call(address: usize, length: usize, limit: usize) -> u64 {
    let request = buffers().remove(&address);
    let answer = match request.as_ref().and_then(|request| request.get(..length)) {
        Some(request) => answer(request, limit),
        None => refused("the request is not in a buffer that `alloc` returned"),
    };
    let length = answer.len() as u64;
    ((keep(answer) as u64) << 32) | length
}

/// Returns the version of the contract.
#[unsafe(no_mangle)]
extern "C" fn version() -> u32 {
    CONTRACT
}
