//! The memory of a wasm module, which grows best in large steps.

/// Reserves more memory from the system if the memory has grown since the last call: a quarter of
/// its size, which is left to the allocator.
///
/// The allocator asks for no more than it needs, and at each step JavaScript counts all of the
/// memory as new and collects garbage, which takes longer than everything else. Code that makes
/// many objects calls this again and again; a call takes almost no time. Outside of wasm it does
/// nothing.
pub fn grow_ahead() {
    #[cfg(target_arch = "wasm32")]
    wasm::grow_ahead();
}

#[cfg(target_arch = "wasm32")]
mod wasm {
    use core::arch::wasm32::memory_size;
    use core::sync::atomic::{AtomicUsize, Ordering};

    const PAGE: usize = 1 << 16;
    /// Smallest step in bytes: less is not worth a step. More than `MOST` at once would not be used
    /// up.
    const LEAST: usize = 1 << 21;
    const MOST: usize = 1 << 28;

    /// Number of memory pages at the last call.
    static SEEN: AtomicUsize = AtomicUsize::new(0);

    pub(super) fn grow_ahead() {
        if memory_size::<0>() == SEEN.load(Ordering::Relaxed) {
            return;
        }
        let more = (memory_size::<0>().saturating_mul(PAGE) / 4).clamp(LEAST, MOST);
        let mut memory = Vec::<u8>::new();
        // Without success, memory grows in small steps after all.
        let _ = memory.try_reserve_exact(more);
        // This keeps the optimiser from removing the reservation.
        core::hint::black_box(&mut memory);
        drop(memory);
        SEEN.store(memory_size::<0>(), Ordering::Relaxed);
    }
}
