//! What the guard's service account may do, and what nobody gets by way of the guard.

mod account;
mod forged;
mod others;

pub(crate) use account::of_the_service_account;
pub(crate) use forged::a_forged_status_changes_nothing;
pub(crate) use others::nobody_reads_through_the_guard;
