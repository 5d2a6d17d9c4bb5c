//! What the tests of this room share.

pub(crate) mod catalogd;
mod server;
