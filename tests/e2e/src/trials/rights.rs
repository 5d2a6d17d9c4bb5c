//! The rights of olmguard's service account, and the information that no user can get through it.

mod account;
mod forged;
mod others;

pub(crate) use account::of_the_service_account;
pub(crate) use forged::a_forged_status_changes_nothing;
pub(crate) use others::nobody_reads_through_the_guard;
