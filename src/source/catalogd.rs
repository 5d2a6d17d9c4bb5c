//! Catalogs from catalogd: a single `GET BASE/api/v1/all`, read as it arrives.
//!
//! Requests are never conditional: catalogd sends no `ETag`, and its `Last-Modified` has a resolution of a second and
//! changes with every restart. The digest in the status of the `ClusterCatalog` decides whether to fetch.
//!
//! Upstream: operator-controller, [`internal/catalogd/server/handlers.go`] and
//! [`internal/operator-controller/catalogmetadata/client/client.go`].
//!
//! [`internal/catalogd/server/handlers.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/catalogd/server/handlers.go
//! [`internal/operator-controller/catalogmetadata/client/client.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/client/client.go

use std::io::Read;
use std::path::Path;

use hyper::Uri;

use crate::source::SourceError;
use crate::source::http::{
    Address, AddressError, Encoding, FetchError, FetchLimits, FetchedBody, HttpClient, RootsError,
};

/// A client that fetches catalogs from catalogd.
#[derive(Debug)]
pub struct Catalogd(HttpClient);

impl Catalogd {
    /// Trusts the certificates of `ca`, as [`HttpClient::new`] does. No proxy is used, because catalogd is in the
    /// cluster.
    ///
    /// # Errors
    /// Fails if `ca` has no certificates, or some that cannot be used.
    pub fn new(ca: Option<&Path>, limits: FetchLimits) -> Result<Self, RootsError> {
        HttpClient::new(ca, limits).map(Self)
    }

    /// The bounds of each request.
    pub fn limits(&self) -> &FetchLimits {
        self.0.limits()
    }

    /// Fetches the catalog at `base` once, as `HttpClient::fetch` does. `base` is the `status.urls.base` of a
    /// `ClusterCatalog`, or the `status.contentURL` of an old one.
    ///
    /// # Errors
    /// Returns the reason why the body was not read completely. The same fault always has the same message.
    pub async fn fetch<T, F>(&self, base: &str, consume: F) -> Result<FetchedBody<T>, FetchError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
    {
        let address = content_address(base)?;
        self.0.fetch(&address, Encoding::Gzip, consume).await
    }
}

/// Returns the URL of the content of the catalog at `base`.
///
/// # Errors
/// Fails if `base` is not an HTTP URL.
pub fn content_url(base: &str) -> Result<String, AddressError> {
    content_address(base).map(|address| address.uri.to_string())
}

/// Returns the address of the content at `base`. An old `contentURL` is itself the URL of the content.
fn content_address(base: &str) -> Result<Address, AddressError> {
    Address::with(base, content_path)
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

/// The path of the whole catalog, below its base.
const CONTENT: &str = "/api/v1/all";

/// The end of `status.contentURL`, until catalogd 0.34 introduced the base.
const OLD_CONTENT: &str = "/all.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn leads_to(base: &str, uri: &str) {
        let address = content_address(base).unwrap();
        assert_eq!(address.uri.to_string(), uri, "{base}");
        assert!(uri.ends_with(address.path.as_str()), "{address:?}");
    }

    #[track_caller]
    fn refuses(base: &str, text: &str) {
        assert_eq!(content_address(base).unwrap_err().to_string(), text);
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
        let host = |base| content_address(base).unwrap().host;
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
