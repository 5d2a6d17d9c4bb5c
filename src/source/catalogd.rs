//! Catalogs from catalogd: one try of `GET BASE/api/v1/all`, read as it comes.
//!
//! ```text
//! Roots (CA, looked at again) --> connection --> response --> frames ==queue==> thread of low priority
//!                                                 (200 only)                     gzip, digest, `consume`
//! ```
//!
//! Each try is a connection of its own, which ends with it: behind catalogd's Service a replica
//! without content answers 404, and another one may be reached the next time. What is asked is never
//! conditional: there is no `ETag`, and `Last-Modified` counts seconds and moves with every restart.
//! The digest that the `ClusterCatalog` names is what decides whether to ask.
//!
//! Invariants: a [`FetchedBody`] was whole, by what HTTP and gzip say of its end; what is on its way to
//! `consume` is bounded, whatever comes; nothing outlives the future but a thread that ends at its
//! next read.
//!
//! Upstream: operator-controller, [`internal/catalogd/server/handlers.go`] and
//! [`internal/operator-controller/catalogmetadata/client/client.go`].
//!
//! [`internal/catalogd/server/handlers.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/catalogd/server/handlers.go
//! [`internal/operator-controller/catalogmetadata/client/client.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/client/client.go

mod address;
mod cause;
mod consume;
mod error;
mod exchange;
mod feed;
mod limits;
mod pieces;
pub mod retry;
mod roots;
mod tls_fault;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::source::SourceError;
use address::Address;
use roots::Roots;

pub use address::{AddressError, FileUrl, content_url};
pub use consume::{Encoding, consume};
pub use error::{AwaitedPart, End, FetchClass, FetchError, ResponseFault, Size};
pub use limits::FetchLimits;
pub use roots::CatalogdError;
pub use tls_fault::TlsFault;

/// Asks catalogd for catalogs.
#[derive(Debug)]
pub struct Catalogd {
    roots: Arc<Roots>,
    limits: FetchLimits,
}

/// A body that was read to its end, and what was made of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FetchedBody<T> {
    /// What `consume` returned.
    pub value: T,
    /// How many bytes the body had as it came, compressed if it was.
    pub bytes: u64,
    /// SHA-256 of the body, decompressed.
    pub sha256: [u8; 32],
}

impl Catalogd {
    /// Trusts the certificates of `ca` and no other: PEM with one or several, or a folder of such
    /// files. Without `ca` those that the system trusts, which may be none.
    ///
    /// `ca` is looked at again before each try. What can no longer be used is told once, and the
    /// certificates that were good last stay in use.
    ///
    /// # Errors
    /// If `ca` holds no certificates, or some that cannot be used.
    pub fn new(ca: Option<&Path>, limits: FetchLimits) -> Result<Self, CatalogdError> {
        let roots = Arc::new(Roots::new(ca)?);
        Ok(Self { roots, limits })
    }

    /// The bounds of each try.
    pub fn limits(&self) -> &FetchLimits {
        &self.limits
    }

    /// Fetches the catalog at `base`, the `status.urls.base` of a `ClusterCatalog` (or the
    /// `status.contentURL` of an old one), once.
    ///
    /// `consume` runs on a thread of its own, of the lowest priority, and reads the body while it
    /// comes, decompressed. If it fails, so does this, at once. What it reads is not known to be
    /// whole before its end was seen: nothing made of it counts until this returns `Ok`.
    ///
    /// # Errors
    /// Whatever kept the body from being read whole, in words that are the same for the same fault.
    pub async fn fetch<T, F>(&self, base: &str, consume: F) -> Result<FetchedBody<T>, FetchError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
    {
        self.fetch_at(&Address::of(base)?, consume).await
    }

    /// Fetches a file as it is, in the same way.
    ///
    /// # Errors
    /// As for [`Catalogd::fetch`].
    pub async fn fetch_file<T, F>(
        &self,
        url: &FileUrl,
        consume: F,
    ) -> Result<FetchedBody<T>, FetchError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
    {
        self.fetch_at(&url.0, consume).await
    }

    async fn fetch_at<T, F>(
        &self,
        address: &Address,
        consume: F,
    ) -> Result<FetchedBody<T>, FetchError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
    {
        let total = self.limits.total;
        let fetched = exchange::fetch(&self.roots, &self.limits, address, consume);
        match tokio::time::timeout(total, fetched).await {
            Ok(fetched) => fetched,
            Err(_) => Err(FetchError::Timeout {
                awaited: AwaitedPart::Whole,
                limit: total,
            }),
        }
    }
}
