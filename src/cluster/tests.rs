//! What the tests of this module share.

pub(crate) mod catalogd;
mod server;
