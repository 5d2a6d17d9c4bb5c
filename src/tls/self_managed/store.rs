//! Where the authorities are kept, beside all replicas.

use std::future::Future;

use zeroize::Zeroizing;

/// What every replica reads and writes. The content is a secret, and ours alone to understand.
pub trait Store: Send + Sync + 'static {
    /// What is stored, if anything is.
    fn load(&self) -> impl Future<Output = Result<Option<StoredContent>, StoreError>> + Send;

    /// Stores it where nothing is stored; else a conflict.
    fn create(&self, content: &[u8]) -> impl Future<Output = Result<Version, StoreError>> + Send;

    /// Stores it where this version is still stored; else a conflict.
    fn replace(
        &self,
        version: &Version,
        content: &[u8],
    ) -> impl Future<Output = Result<Version, StoreError>> + Send;

    /// Makes clients trust these authorities, PEM. Called often with the same: that must be cheap, and
    /// do nothing. Clients that are not there yet are no failure: they are told once they are.
    fn publish(
        &self,
        bundle: &str,
    ) -> impl Future<Output = Result<BundleReaders, StoreError>> + Send;

    /// Waits until somebody may have changed what is stored or published; a hint, which may come
    /// without a change, and may stay away.
    fn changed(&self) -> impl Future<Output = ()> + Send;
}

/// Who was told of a bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BundleReaders {
    /// All clients that there are to be.
    All,
    /// Those that are there; others are not there yet, and trust nothing so far.
    NotAll,
}

/// Content, and the version that it is.
pub struct StoredContent {
    /// What was stored.
    pub content: Zeroizing<Vec<u8>>,
    /// Differs after each write.
    pub version: Version,
}

/// A version of what is stored, as the store calls it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Version(pub String);

/// Why a store does not do what it is asked to.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another replica was faster.
    #[error("written by another replica meanwhile")]
    Conflict,
    /// It cannot be reached, or refuses.
    #[error("{0}")]
    Unavailable(Box<dyn std::error::Error + Send + Sync>),
}

/// Without the content.
impl std::fmt::Debug for StoredContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stored")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
