//! What the files hold at one moment.

use ring::digest::{Context, SHA256};

use crate::tls::certificates::Served;
use crate::tls::files::Files;
use crate::tls::pem::PemFile;
use crate::tls::{Identity, TlsError};

/// The files as read, or the first reason why not.
pub(super) struct Found(Result<Read, TlsError>);

struct Read {
    cert: PemFile,
    key: PemFile,
    client: Option<PemFile>,
}

/// Tells what was found from what was found before, without keeping it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Mark {
    Content(Vec<u8>),
    Fault(String),
}

/// Reads until two readings agree: files that are being swapped may give the old certificate with
/// the new key. Files that never rest are taken as they are, and looked at again by the next poll.
pub(super) fn settled(files: &Files) -> Found {
    let mut found = Found::read(files);
    for _ in 0..READINGS {
        let again = Found::read(files);
        if again.mark() == found.mark() {
            break;
        }
        found = again;
    }
    found
}

impl Found {
    fn read(files: &Files) -> Self {
        Self(Read::new(files))
    }

    pub(super) fn mark(&self) -> Mark {
        match &self.0 {
            Ok(read) => Mark::Content(read.digest()),
            Err(error) => Mark::Fault(error.to_string()),
        }
    }

    /// What is to be served of them, if it can be.
    pub(super) fn served(self, files: &Files) -> Result<Served, TlsError> {
        let read = self.0?;
        let identity = Identity::from_pem(&read.cert, &read.key)?;
        Served::new(&identity, &files.terms, read.client.as_ref())
    }
}

impl Read {
    fn new(files: &Files) -> Result<Self, TlsError> {
        Ok(Self {
            cert: PemFile::read(&files.cert)?,
            key: PemFile::read(&files.key)?,
            client: files.terms.client_file()?,
        })
    }

    fn digest(&self) -> Vec<u8> {
        let files = [Some(&self.cert), Some(&self.key), self.client.as_ref()];
        let mut all = Context::new(&SHA256);
        for file in files.into_iter().flatten() {
            let one = ring::digest::digest(&SHA256, file.bytes());
            all.update(one.as_ref());
        }
        all.finish().as_ref().to_vec()
    }
}

const READINGS: usize = 3;
