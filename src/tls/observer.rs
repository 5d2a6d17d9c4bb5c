//! Who is told what becomes of the certificates, for counting.

use crate::tls::{Leaf, TlsError};

/// Is told of each change; this module has logged it already.
pub trait Observer: Send + Sync + 'static {
    /// Something new is served from now on.
    fn reloaded(&self, leaf: &Leaf);

    /// What was found cannot be used, or nothing can be had: what was served before still is, at the
    /// start nothing. Told once a change.
    fn refused(&self, error: &TlsError);
}

/// Nobody.
impl Observer for () {
    fn reloaded(&self, _: &Leaf) {}

    fn refused(&self, _: &TlsError) {}
}
