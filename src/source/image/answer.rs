//! What the answers of a registry mean: content, a challenge, another place, later, or nothing.

use hyper::header::{LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{HeaderMap, StatusCode};

use super::challenge::Challenge;
use super::registry::RegistryFault;
use crate::source::http::Address;

/// What an answer is.
pub(super) enum RegistryAnswer<T> {
    Content(T),
    Challenged(Challenge),
    Moved(Option<String>),
    /// Later, perhaps after as many seconds.
    Busy(Option<u64>),
    Refused,
}

impl<T> RegistryAnswer<T> {
    pub(super) fn of(status: StatusCode, headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if status == StatusCode::UNAUTHORIZED {
            let challenges = headers.get_all(WWW_AUTHENTICATE).iter();
            let challenges = challenges.filter_map(|value| value.to_str().ok());
            return Challenge::of(challenges).map_or(Self::Refused, Self::Challenged);
        }
        if is_busy(status) {
            return Self::Busy(text(RETRY_AFTER).and_then(|wait| wait.parse().ok()));
        }
        if status.is_redirection() {
            return Self::Moved(text(LOCATION).map(str::to_owned));
        }
        Self::Refused
    }

    /// After how many seconds to try again, if the answer says so.
    pub(super) fn wait(&self) -> Option<u64> {
        match self {
            Self::Busy(wait) => *wait,
            _ => None,
        }
    }
}

pub(super) fn is_busy(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// Where the next request goes.
pub(super) fn next(
    from: &Address,
    location: Option<&str>,
    redirects: usize,
) -> Result<Address, RegistryFault> {
    let host = from.host.clone();
    if redirects > REDIRECTS {
        return Err(RegistryFault::Redirects { host });
    }
    let target = location.and_then(|location| moved(from, location));
    target.ok_or(RegistryFault::Location { host })
}

/// The target of a redirect. It must be as safe as what it redirects from.
fn moved(from: &Address, location: &str) -> Option<Address> {
    let target = if location.starts_with('/') && !location.starts_with("//") {
        let scheme = from.uri.scheme_str().unwrap_or_default();
        Address::of(&format!("{scheme}://{}{location}", from.host))
    } else {
        Address::of(location)
    };
    target.ok().filter(|target| is_as_safe(from, target))
}

/// A redirect from https to http is not followed.
pub(super) fn is_as_safe(from: &Address, to: &Address) -> bool {
    to.uri.scheme_str() == Some("https") || from.uri.scheme_str() == Some("http")
}

pub(super) fn refused(place: &Address, found: StatusCode, wait: Option<u64>) -> RegistryFault {
    RegistryFault::Status {
        host: place.host.clone(),
        found,
        hint: match found {
            StatusCode::NOT_FOUND => ": no such image there; check its name and its tag",
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                ": log in with podman login or docker login, or name a file of credentials in \
                 REGISTRY_AUTH_FILE"
            }
            StatusCode::TOO_MANY_REQUESTS => ": too many requests; try again later, or log in",
            _ => "",
        },
        wait,
    }
}

pub(super) const REDIRECTS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_is_as_safe_as_what_it_leads_from() {
        let from = Address::of("https://r.example/v2/a").unwrap();
        let to = |location| moved(&from, location).map(|to| to.uri.to_string());
        assert_eq!(to("/b?c=d"), Some("https://r.example/b?c=d".into()));
        assert_eq!(
            to("https://cdn.example/x"),
            Some("https://cdn.example/x".into())
        );
        for location in [
            "http://cdn.example/x",
            "//cdn.example/x",
            "x",
            "",
            "ftp://h/x",
        ] {
            assert_eq!(to(location), None, "{location}");
        }
    }
}
