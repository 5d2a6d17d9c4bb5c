//! URLs of HTTP, as a request needs their parts.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use hyper::Uri;
use hyper::http::uri::{PathAndQuery, Scheme};

/// Why a base URL leads nowhere.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AddressError {
    /// The text is not a URL, or a URL of another scheme.
    #[error("base {base:?}: expected a URL that starts with https:// or http://")]
    NotHttp {
        /// What was given.
        base: Box<str>,
    },
    /// The URL names a user. A password can follow, so the URL is not shown.
    #[error("base contains a user name: expected a URL without one")]
    User,
}

impl AddressError {
    /// What is wrong with a base that cannot be read. What may hold a password is not shown.
    fn of(base: &str) -> Self {
        if base.contains('@') {
            return Self::User;
        }
        let base = base.chars().take(SHOWN).collect::<String>().into();
        Self::NotHttp { base }
    }
}

/// A URL, in the parts that a request needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Address {
    /// The whole URL.
    pub(crate) uri: Uri,
    /// What a request line names.
    pub(crate) path: PathAndQuery,
    /// Host, and port if the URL has one.
    pub(crate) host: Box<str>,
}

/// A file that is fetched as it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileUrl(pub(super) Address);

impl Address {
    /// The URL as it is.
    pub(crate) fn of(url: &str) -> Result<Self, AddressError> {
        Self::with(url, |uri| match uri.query() {
            Some(query) => format!("{}?{query}", uri.path()),
            None => uri.path().to_owned(),
        })
    }

    /// The URL `base`, with another path.
    pub(crate) fn with(base: &str, path: impl Fn(&Uri) -> String) -> Result<Self, AddressError> {
        let not_http = || AddressError::of(base);
        let uri: Uri = base.parse().map_err(|_| not_http())?;
        let scheme = uri.scheme().filter(|scheme| is_http(scheme));
        let (Some(scheme), Some(authority)) = (scheme, uri.authority()) else {
            return Err(not_http());
        };
        if authority.as_str().contains('@') {
            return Err(AddressError::User);
        }
        let path: PathAndQuery = path(&uri).parse().map_err(|_| not_http())?;
        let whole = Uri::builder()
            .scheme(scheme.clone())
            .authority(authority.clone())
            .path_and_query(path.clone());
        Ok(Self {
            uri: whole.build().map_err(|_| not_http())?,
            path,
            host: authority.as_str().into(),
        })
    }

    /// Whether it is on this machine, by its name.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let address = host.parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

impl FromStr for FileUrl {
    type Err = AddressError;

    fn from_str(url: &str) -> Result<Self, AddressError> {
        Address::of(url).map(Self)
    }
}

/// Without what stands behind a `?`: it may be a key.
impl fmt::Display for FileUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address { uri, path, host } = &self.0;
        let scheme = uri.scheme_str().unwrap_or_default();
        write!(f, "{scheme}://{host}{}", path.path())
    }
}

fn is_http(scheme: &Scheme) -> bool {
    *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS
}

/// How many characters of a base are shown.
const SHOWN: usize = 200;
