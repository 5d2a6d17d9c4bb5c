//! A catalog at a URL, pinned by its digest: `https://HOST/FILE#sha256=HEX`.
//!
//! ```text
//! URL --HTTP--> file of no name --digest as pinned--> read as any file of a catalog
//! ```
//!
//! Nothing is fetched without a digest, and nothing is parsed before its digest has been compared. So a pipeline checks
//! against the same content each time, whatever the server. The digest is that of the file as it is served, compressed
//! or not, so it equals the output of `sha256sum`.

#[cfg(test)]
mod tests;

use std::io::{self, Seek};
use std::str::FromStr;
use std::{fs, thread};

use hyper::StatusCode;

use crate::source::digest::Sha256;
use crate::source::http::{Address, Encoding, FetchError, FetchLimits, HttpClient, RootsError};
use crate::source::{Loader, io_error};
use olmguard_engine::snapshot::Content;

/// The URL of a catalog and the digest of its content. It is displayed without its query, which can contain a key.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
#[display("{}#sha256={}", url.without_query(), sha256.hex())]
pub struct PinnedUrl {
    url: Address,
    sha256: Sha256,
}

/// Why a text is not a URL with a digest.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PinnedUrlError {
    /// The URL has no digest, so it could be any content.
    #[error("{shown:?} has no digest: add #sha256=HEX to the URL, as sha256sum prints it")]
    NotPinned {
        /// The URL.
        shown: Box<str>,
    },
    /// The text after the `#` is not a digest.
    #[error("{found:?} is not a digest: expected sha256= and 64 hexadecimal digits")]
    Digest {
        /// The text after the `#`.
        found: Box<str>,
    },
    /// The scheme is not http or https.
    #[error(
        "{shown:?} is not a URL that olmguard can fetch: expected https://HOST/FILE#sha256=HEX, or \
         a path"
    )]
    NotHttp {
        /// The text.
        shown: Box<str>,
    },
    /// The URL names a user, and perhaps a password, so it is not shown.
    #[error("the URL contains a user name: expected a URL that needs no login, or a path")]
    User,
    /// The text names an image.
    #[error(
        "{shown:?} is an image: write it as oci:HOST/REPOSITORY:TAG or oci:HOST/REPOSITORY@sha256:HEX"
    )]
    Image {
        /// The text.
        shown: Box<str>,
    },
}

/// Why the content of a URL is unavailable.
#[derive(Debug, thiserror::Error)]
enum PinnedFault {
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error("answered HTTP {found}, expected 200 OK{hint}")]
    Status {
        found: StatusCode,
        hint: &'static str,
    },
    #[error(transparent)]
    Fetch(FetchError),
    #[error("content has the digest sha256={found}, expected sha256={expected}")]
    OtherContent { found: String, expected: String },
    #[error("cannot keep it in a file: {0}")]
    File(#[from] io::Error),
    #[error("internal fault: the thread that fetches it was lost; please report this")]
    Lost,
}

impl From<FetchError> for PinnedFault {
    fn from(error: FetchError) -> Self {
        let FetchError::Status { found } = error else {
            return Self::Fetch(error);
        };
        let hint = if found.is_redirection() {
            "; redirects are not followed: give the URL of the target"
        } else {
            ""
        };
        Self::Status { found, hint }
    }
}

impl PinnedUrl {
    /// Whether a text is meant as a URL or an image, and not as a path.
    pub fn is_meant_by(text: &str) -> bool {
        text.contains("://") || text.contains("@sha256:")
    }

    /// Fetches the content, compares it with its digest, and reads it. Blocks until that is done.
    pub fn load(&self, loader: &mut Loader<'_>) -> Content {
        match self.fetch() {
            Ok(file) => loader.load_from(&self.url.without_query(), file),
            Err(fault) => Content::Unreadable(format!("{}: {fault}", self.url.without_query())),
        }
    }

    /// Fetches on a separate thread, because the caller's thread may belong to a runtime.
    fn fetch(&self) -> Result<fs::File, PinnedFault> {
        let fetched = thread::scope(|scope| scope.spawn(|| self.fetch_here()).join());
        fetched.unwrap_or(Err(PinnedFault::Lost))
    }

    fn fetch_here(&self) -> Result<fs::File, PinnedFault> {
        let client = HttpClient::new(None, FetchLimits::default())?;
        let client = client.with_proxies_of_environment();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let mut file = tempfile::tempfile()?;
        let mut copy = file.try_clone()?;
        let name = self.url.without_query();
        let fetched = client.fetch(&self.url, Encoding::Identity, move |body| {
            let copied = io::copy(body, &mut copy).map(drop);
            copied.map_err(|source| io_error(name, "fetch", source))
        });
        let found = runtime.block_on(fetched)?.sha256;
        if found != self.sha256 {
            let (found, expected) = (found.hex(), self.sha256.hex());
            return Err(PinnedFault::OtherContent { found, expected });
        }
        file.rewind()?;
        Ok(file)
    }
}

impl FromStr for PinnedUrl {
    type Err = PinnedUrlError;

    fn from_str(text: &str) -> Result<Self, PinnedUrlError> {
        let parsed = Self::parse(text);
        parsed.map_err(|error| {
            if names_user(text) {
                PinnedUrlError::User
            } else {
                error
            }
        })
    }
}

impl PinnedUrl {
    fn parse(text: &str) -> Result<Self, PinnedUrlError> {
        let (url, digest) = match text.split_once('#') {
            Some((url, digest)) => (url, Some(digest)),
            None => (text, None),
        };
        // The query after a `?` can contain a key.
        let told = url.split('?').next().unwrap_or_default();
        let shown = || told.chars().take(SHOWN).collect::<String>().into();
        let is_http = url.starts_with("https://") || url.starts_with("http://");
        if !is_http {
            let is_image = !url.contains("://") || url.starts_with(IMAGES);
            return Err(if is_image {
                PinnedUrlError::Image { shown: shown() }
            } else {
                PinnedUrlError::NotHttp { shown: shown() }
            });
        }
        let place = Address::of(url);
        let place = place.map_err(|_| PinnedUrlError::NotHttp { shown: shown() })?;
        let digest = digest.ok_or_else(|| PinnedUrlError::NotPinned { shown: shown() })?;
        let sha256 = digest.strip_prefix("sha256=").and_then(Sha256::from_hex);
        let sha256 = sha256.ok_or_else(|| PinnedUrlError::Digest {
            found: digest.chars().take(SHOWN).collect::<String>().into(),
        })?;
        Ok(Self { url: place, sha256 })
    }
}

/// Whether a user comes before the host, and perhaps a password, which can contain any character. The `@` of a digest
/// does not count, nor one in the path after a port.
fn names_user(text: &str) -> bool {
    let place = text.split_once("://").map_or(text, |(_, place)| place);
    let before = place
        .split_once('@')
        .filter(|(_, host)| !host.starts_with("sha256:"));
    let is_user = |(before, _): (&str, &str)| match before.split_once('/') {
        None => true,
        Some((host, _)) => host.split_once(':').is_some_and(|(_, port)| {
            port.is_empty() || port.contains(|c: char| !c.is_ascii_digit())
        }),
    };
    before.is_some_and(is_user)
}

/// The URL-like prefix with which images are named.
const IMAGES: &str = "docker:";

/// The maximum number of characters of a text that are shown.
const SHOWN: usize = 200;
