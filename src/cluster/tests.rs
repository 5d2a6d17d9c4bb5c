//! What the tests of this module share.

pub(crate) mod catalogd;
pub(crate) mod logged;
mod server;
