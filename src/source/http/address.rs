//! From the base URL of a catalog to the URL of its content.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;
use hyper::http::uri::{PathAndQuery, Scheme};

/// Why a base URL leads nowhere.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
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

/// The URL of the content of a catalog.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Address {
    /// The whole URL.
    pub(super) uri: Uri,
    /// What a request line names.
    pub(super) path: PathAndQuery,
    /// Host, and port if the URL has one.
    pub(super) host: Box<str>,
}

/// A file that is fetched as it is, and is no catalogd's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileUrl(pub(super) Address);

impl Address {
    /// The content of the catalog at `base`. A `contentURL` of old names the content itself.
    pub(super) fn of(base: &str) -> Result<Self, AddressError> {
        Self::with(base, content_path)
    }

    /// What is at `base`, with another path.
    fn with(base: &str, path: impl Fn(&Uri) -> String) -> Result<Self, AddressError> {
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
}

impl FromStr for FileUrl {
    type Err = AddressError;

    fn from_str(url: &str) -> Result<Self, AddressError> {
        let own = |uri: &Uri| match uri.query() {
            Some(query) => format!("{}?{query}", uri.path()),
            None => uri.path().to_owned(),
        };
        Address::with(url, own).map(Self)
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

/// The URL of the content of the catalog at `base`.
///
/// # Errors
/// If `base` is no URL of HTTP.
pub fn content_url(base: &str) -> Result<String, AddressError> {
    Address::of(base).map(|address| address.uri.to_string())
}

fn is_http(scheme: &Scheme) -> bool {
    *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS
}

fn content_path(uri: &Uri) -> String {
    let path = uri.path();
    let query = uri.query().map(|query| format!("?{query}"));
    let query = query.unwrap_or_default();
    if path.ends_with(OLD_CONTENT) {
        format!("{path}{query}")
    } else {
        format!("{}{CONTENT}{query}", path.trim_end_matches('/'))
    }
}

/// How many characters of a base are shown.
const SHOWN: usize = 200;

/// The whole catalog, below its base.
const CONTENT: &str = "/api/v1/all";

/// How `status.contentURL` ended, until catalogd 0.34 had a base.
const OLD_CONTENT: &str = "/all.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn leads_to(base: &str, uri: &str) {
        let address = Address::of(base).unwrap();
        assert_eq!(address.uri.to_string(), uri, "{base}");
        assert!(uri.ends_with(address.path.as_str()), "{address:?}");
    }

    #[track_caller]
    fn refuses(base: &str, text: &str) {
        assert_eq!(Address::of(base).unwrap_err().to_string(), text);
    }

    #[test]
    fn the_content_lies_below_the_base() {
        let all = "https://catalogd.ns.svc/catalogs/c/api/v1/all";
        leads_to("https://catalogd.ns.svc/catalogs/c", all);
        leads_to("https://catalogd.ns.svc/catalogs/c/", all);
        leads_to(
            "https://localhost:8443",
            "https://localhost:8443/api/v1/all",
        );
        leads_to("http://[::1]:80/", "http://[::1]:80/api/v1/all");
        leads_to("http://h/c?a=b", "http://h/c/api/v1/all?a=b");
    }

    #[test]
    fn an_old_url_names_the_content_itself() {
        let old = "http://catalogd.ns.svc/catalogs/c/all.json";
        leads_to(old, old);
    }

    #[test]
    fn the_host_is_told_with_its_port() {
        let host = |base| Address::of(base).unwrap().host;
        assert_eq!(*host("https://catalogd.ns.svc/c"), *"catalogd.ns.svc");
        assert_eq!(*host("https://[::1]:8443/c"), *"[::1]:8443");
    }

    #[test]
    fn what_is_no_url_of_http_is_refused() {
        for base in [
            "",
            "catalogs/c",
            "/c",
            "ftp://h/c",
            "https://",
            "h:1/c",
            "https://a b",
        ] {
            let text = "expected a URL that starts with https:// or http://";
            refuses(base, &format!("base {base:?}: {text}"));
        }
    }

    #[test]
    fn who_names_a_user_is_not_shown() {
        let text = "base contains a user name: expected a URL without one";
        for base in [
            "https://me:secret@h/c",
            "https://me:se cret@h/c",
            "me:secret@h",
        ] {
            refuses(base, text);
        }
    }
}
