//! Processes whose time or memory is measured: one test at a time, on a machine that does nothing else.

mod drain;
mod fetch_memory;
mod review_memory;
mod slow_clients;
mod syscalls;
