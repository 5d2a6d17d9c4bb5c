//! Heaps that are measured within a process: one test at a time.

mod index_memory;
mod resident;
mod review_peak;
mod snapshot_peak;

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;
