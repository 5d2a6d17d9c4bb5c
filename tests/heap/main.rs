//! Tests that measure the heap of their process, one at a time.

mod index_memory;
mod resident;
mod review_peak;
mod snapshot_peak;

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;
