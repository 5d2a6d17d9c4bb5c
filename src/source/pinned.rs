//! A catalog at a URL, known by its digest: `https://HOST/FILE#sha256=HEX`.
//!
//! ```text
//! URL --catalogd's client--> file of no name --digest as pinned--> read as any file of a catalog
//! ```
//!
//! Nothing is fetched without a digest, and nothing of what is fetched is looked at before its digest is
//! the pinned one: a pipeline judges by the same content each time, whoever answers. What is digested is
//! the file as it is, compressed if it is, so that `sha256sum` says the same.

#[cfg(test)]
mod tests;

use std::fmt::{self, Write as _};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fs, thread};

use hyper::StatusCode;

use crate::source::catalogd::{Catalogd, CatalogdError, FetchError, FetchLimits, FileUrl};
use crate::source::{Loader, SourceError};
use olmguard_engine::snapshot::Content;

/// The URL of a catalog, and the digest of its content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PinnedUrl {
    url: FileUrl,
    sha256: [u8; 32],
}

/// Why a text is no URL with a digest.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PinnedUrlError {
    /// The URL has no digest, so it could be any content.
    #[error("{shown:?} has no digest: add #sha256=HEX to the URL, as sha256sum prints it")]
    NotPinned {
        /// The URL.
        shown: Box<str>,
    },
    /// What follows is none.
    #[error("{found:?} is not a digest: expected sha256= and 64 hexadecimal digits")]
    Digest {
        /// What stands behind the `#`.
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
        "{shown:?} is an image, which olmguard cannot read: run opm render IMAGE > catalog.json, and \
         use that file"
    )]
    Image {
        /// The text.
        shown: Box<str>,
    },
}

/// Why the content of one is not there.
#[derive(Debug, thiserror::Error)]
enum PinnedError {
    #[error("{url}: {source}")]
    Roots { url: String, source: CatalogdError },
    #[error("{url}: answered HTTP {found}, expected 200 OK{hint}")]
    Status {
        url: String,
        found: StatusCode,
        hint: &'static str,
    },
    #[error("{url}: {source}")]
    Fetch { url: String, source: FetchError },
    #[error("{url}: content has the digest sha256={found}, expected sha256={expected}")]
    OtherContent {
        url: String,
        found: String,
        expected: String,
    },
    #[error("{url}: cannot keep it in a file: {source}")]
    File { url: String, source: io::Error },
    #[error("{url}: internal fault: the thread that fetches it was lost; please report this")]
    Lost { url: String },
}

impl PinnedUrl {
    /// Whether a text is to be read as a URL, or an image, and not as a path.
    pub fn is_meant_by(text: &str) -> bool {
        text.contains("://") || text.contains("@sha256:")
    }

    /// Its content: fetched, compared with its digest, and read. It waits for that.
    pub fn load(&self, loader: &mut Loader<'_>) -> Content {
        match self.fetch() {
            Ok(file) => loader.load_from(&self.url.to_string(), file),
            Err(error) => Content::Unreadable(error.to_string()),
        }
    }

    /// On a thread of its own, since the caller's may belong to a runtime.
    fn fetch(&self) -> Result<fs::File, PinnedError> {
        let fetched = thread::scope(|scope| scope.spawn(|| self.fetch_here()).join());
        let url = self.url.to_string();
        fetched.unwrap_or(Err(PinnedError::Lost { url }))
    }

    fn fetch_here(&self) -> Result<fs::File, PinnedError> {
        let url = || self.url.to_string();
        let failed = |source| PinnedError::File { url: url(), source };
        let client = Catalogd::new(None, FetchLimits::default());
        let client = client.map_err(|source| PinnedError::Roots { url: url(), source })?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let mut file = tempfile::tempfile().map_err(failed)?;
        let mut copy = file.try_clone().map_err(failed)?;
        let name = url();
        let fetched = client.fetch_file(&self.url, move |body| {
            let copied = io::copy(body, &mut copy).map(drop);
            copied.map_err(|source| SourceError::Io {
                path: name.into(),
                action: "fetch",
                source,
            })
        });
        let fetched = runtime
            .block_on(fetched)
            .map_err(|error| self.fault(error))?;
        if fetched.sha256 != self.sha256 {
            return Err(PinnedError::OtherContent {
                url: url(),
                found: hex(fetched.sha256),
                expected: hex(self.sha256),
            });
        }
        file.rewind().map_err(failed)?;
        Ok(file)
    }

    fn fault(&self, error: FetchError) -> PinnedError {
        let url = self.url.to_string();
        match error {
            FetchError::Status { found } => {
                let hint = if found.is_redirection() {
                    "; redirects are not followed: give the URL of the target"
                } else {
                    ""
                };
                PinnedError::Status { url, found, hint }
            }
            source => PinnedError::Fetch { url, source },
        }
    }
}

impl FromStr for PinnedUrl {
    type Err = PinnedUrlError;

    fn from_str(text: &str) -> Result<Self, PinnedUrlError> {
        let (url, digest) = match text.split_once('#') {
            Some((url, digest)) => (url, Some(digest)),
            None => (text, None),
        };
        // What is asked for behind a `?` may be a key.
        let told = url.split('?').next().unwrap_or_default();
        let shown = || told.chars().take(SHOWN).collect::<String>().into();
        let is_http = url.starts_with("https://") || url.starts_with("http://");
        if !is_http {
            let is_image = !url.contains("://") || IMAGES.iter().any(|of| url.starts_with(of));
            return Err(if is_image {
                PinnedUrlError::Image { shown: shown() }
            } else {
                PinnedUrlError::NotHttp { shown: shown() }
            });
        }
        let place: FileUrl = url.parse().map_err(|_| {
            let has_user = url.contains('@');
            let not_http = PinnedUrlError::NotHttp { shown: shown() };
            if has_user {
                PinnedUrlError::User
            } else {
                not_http
            }
        })?;
        let digest = digest.ok_or_else(|| PinnedUrlError::NotPinned { shown: shown() })?;
        let sha256 = sha256(digest).ok_or_else(|| PinnedUrlError::Digest {
            found: digest.chars().take(SHOWN).collect::<String>().into(),
        })?;
        Ok(Self { url: place, sha256 })
    }
}

/// Without what is asked for behind a `?`, which may be a key.
impl fmt::Display for PinnedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#sha256={}", self.url, hex(self.sha256))
    }
}

fn sha256(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256=")?;
    let mut bytes = [0; 32];
    if digits.len() != bytes.len() * 2 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

fn hex(bytes: [u8; 32]) -> String {
    let mut hex = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(hex, "{byte:02x}").expect("a String takes everything");
    }
    hex
}

/// How images are named as if by a URL.
const IMAGES: [&str; 4] = ["oci://", "docker://", "oci:", "docker:"];

/// How many characters of a text are shown.
const SHOWN: usize = 200;

// === The place of a catalog outside of a cluster ===

/// Where the content of a catalog is: on this machine, or at a URL with the digest of what is there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CatalogPlace {
    /// A file, a folder, or `-` for standard input.
    Path(PathBuf),
    /// A file that is fetched.
    Pinned(PinnedUrl),
}

/// A catalog by its name, and where its content is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CatalogSource {
    /// Its name.
    pub name: String,
    /// Where its content is.
    pub place: CatalogPlace,
}

impl CatalogSource {
    /// The catalog of this name at a place as it is written in a file of this directory.
    pub(crate) fn within(folder: &Path, name: &str, place: &str) -> Result<Self, PinnedUrlError> {
        let place = place.parse::<CatalogPlace>()?.within(folder);
        let name = name.to_owned();
        Ok(Self { name, place })
    }
}

impl CatalogPlace {
    /// The same place, where a path begins in this folder.
    #[must_use]
    pub fn within(self, folder: &Path) -> Self {
        match self {
            Self::Path(path) => Self::Path(folder.join(path)),
            Self::Pinned(url) => Self::Pinned(url),
        }
    }

    /// The path, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Pinned(_) => None,
        }
    }

    /// The content, or why there is none.
    pub fn load(&self, loader: &mut Loader<'_>) -> Content {
        match self {
            Self::Path(path) => loader.load(path),
            Self::Pinned(url) => url.load(loader),
        }
    }
}

impl FromStr for CatalogPlace {
    type Err = PinnedUrlError;

    fn from_str(text: &str) -> Result<Self, PinnedUrlError> {
        if PinnedUrl::is_meant_by(text) {
            text.parse().map(Self::Pinned)
        } else {
            Ok(Self::Path(text.into()))
        }
    }
}
