//! What the files hold at one moment.

use ring::digest::{SHA256, digest};

use crate::tls::files::Files;
use crate::tls::pem::PemFile;
use crate::tls::{Identity, TlsError};

/// The files as read, each part usable or not for a reason of its own.
pub(super) struct FoundFiles {
    pub(super) mark: Mark,
    pub(super) identity: Result<Identity, TlsError>,
    /// The authorities of clients, if clients have to show a certificate.
    pub(super) client: Result<Option<PemFile>, TlsError>,
}

/// Tells what was found from what was found before, without keeping it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Mark {
    pub(super) pair: Part,
    pub(super) client: Part,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Part {
    Content(Vec<u8>),
    Fault(String),
}

struct ReadFile {
    pair: Result<[PemFile; 2], TlsError>,
    client: Result<Option<PemFile>, TlsError>,
}

/// Reads until two readings agree: files that are being swapped may give the old certificate with
/// the new key. Files that never rest are taken as they are, and looked at again by the next poll.
pub(super) fn settled(files: &Files) -> FoundFiles {
    let mut read = ReadFile::new(files);
    for _ in 0..READINGS {
        let again = ReadFile::new(files);
        if again.mark() == read.mark() {
            break;
        }
        read = again;
    }
    FoundFiles {
        mark: read.mark(),
        identity: read
            .pair
            .and_then(|[cert, key]| Identity::from_pem(&cert, &key)),
        client: read.client,
    }
}

impl ReadFile {
    fn new(files: &Files) -> Self {
        Self {
            pair: pair(files),
            client: files.terms.client_file(),
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            pair: Part::of(&self.pair),
            client: Part::of(&self.client),
        }
    }
}

fn pair(files: &Files) -> Result<[PemFile; 2], TlsError> {
    Ok([PemFile::read(&files.cert)?, PemFile::read(&files.key)?])
}

impl Part {
    fn of<'a, F>(found: &'a Result<F, TlsError>) -> Self
    where
        &'a F: IntoIterator<Item = &'a PemFile>,
    {
        match found {
            Ok(files) => Self::Content(files.into_iter().flat_map(sum).collect()),
            Err(error) => Self::Fault(error.to_string()),
        }
    }
}

fn sum(file: &PemFile) -> Vec<u8> {
    digest(&SHA256, file.bytes()).as_ref().to_vec()
}

const READINGS: usize = 3;
