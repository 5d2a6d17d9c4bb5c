//! Tests that measure time or memory of processes, one at a time on an otherwise idle machine.

mod drain;
mod fetch_memory;
mod review_memory;
mod slow_clients;
mod syscalls;
