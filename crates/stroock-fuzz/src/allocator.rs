//! An allocator that stops the process when a small input makes it ask for much memory at once.

use std::alloc::{GlobalAlloc, Layout, System};

/// Largest piece of memory that an input of a few kilobytes may ask for.
const LARGEST: usize = 1 << 28;

/// The system's allocator, which aborts on a request beyond 256 MiB: memory that is asked for and never touched does not
/// show in the size of the process, but a table or a model file of a stranger must not decide about it.
pub struct Guarded;

fn check(bytes: usize) {
    if bytes > LARGEST {
        // Nothing may be allocated here, so neither may a message be formatted.
        let message = b"a single allocation beyond 256 MiB\n";
        let _ = std::io::Write::write_all(&mut std::io::stderr(), message);
        std::process::abort();
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Guarded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller keeps the contract of this function, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        check(bytes);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, bytes) }
    }
}
