//! Why no leaf can be had of our own authority.

use crate::tls::self_managed::StoreError;

/// Why renewing did not come to its end. Texts hold nothing of what is stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// No name to make a certificate for.
    #[error("a self-managed certificate has no name: expected the names that clients use")]
    NoName,
    /// The store does not do its part.
    #[error("the store of the certificate authority: {0}")]
    Store(#[from] StoreError),
    /// The store takes too long.
    #[error("the store of the certificate authority: no answer within {seconds} s")]
    Slow {
        /// How long was waited.
        seconds: u64,
    },
    /// Others were faster, each time.
    #[error("the store of the certificate authority: written by others {tries} times in a row")]
    Contended {
        /// How often it was tried.
        tries: usize,
    },
    /// What is stored is not what was written.
    #[error("the stored certificate authority is damaged: {why}; delete it to have a new one made")]
    Damaged {
        /// What is wrong, and where.
        why: String,
    },
    /// There are as many authorities as may be, and all are of another time than the clock shows.
    #[error(
        "no stored CA certificate is valid now, and there is no space for another: is the clock \
         right? One that no replica needs is removed within minutes. To get a new one immediately, \
         stop every replica, delete the stored ones, and start the replicas again"
    )]
    NoSigner,
    /// No certificate can be made here.
    #[error("cannot make a certificate: {0}")]
    Made(#[from] rcgen::Error),
    /// The clock shows a time that no certificate can hold.
    #[error("cannot make a certificate: the clock is outside of the years 1970 to 9999")]
    Clock,
}
