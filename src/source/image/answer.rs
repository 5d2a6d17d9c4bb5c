//! The answers of a registry (content, a challenge, a redirect, or a failure), and the reasons why an image cannot be
//! pulled.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::header::{LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{HeaderMap, StatusCode};

use super::containers::ContainersFault;
use super::credentials::CredentialsFault;
use super::mirrors::{BlockedPlace, MirrorsFault, PullSource};
use crate::foreign_text::one_line;
use crate::source::http::{
    Address, AddressError, AwaitedPart, FetchError, HostCertsError, RootsError, TlsFault,
};

/// The meaning of a response.
pub(super) enum RegistryAnswer<T> {
    Content(T),
    Challenged(Challenge),
    Moved(Option<String>),
    /// The registry is busy, and may say how many seconds to wait.
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

    /// The number of seconds to wait before the next attempt, if the response says so.
    pub(super) fn wait(&self) -> Option<u64> {
        match self {
            Self::Busy(wait) => *wait,
            _ => None,
        }
    }
}

fn is_busy(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// Why a registry does not serve an image.
#[derive(Debug, thiserror::Error)]
pub enum RegistryFault {
    /// The system's CA certificates cannot be used.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// There is no response, or it is incomplete.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// No trusted CA has signed the certificate.
    #[error("{error}; add its CA certificate to {}/ca.crt{hint}", .directory.display())]
    UnknownIssuer {
        /// The directory with the certificates for the registry.
        directory: PathBuf,
        /// The error of the connection.
        error: Box<FetchError>,
        /// An addition to the message, for example a setting that does not help here.
        hint: &'static str,
    },
    /// The status is not 200.
    #[error("{host} answered HTTP {found}{hint}")]
    Status {
        /// The host that answered.
        host: Box<str>,
        /// The status.
        found: StatusCode,
        /// A hint for the user.
        hint: &'static str,
        /// The number of seconds to wait before the next attempt, if the response says so.
        wait: Option<u64>,
    },
    /// Pulling the whole image takes too long.
    #[error("{host} is too slow: not all of the image within {limit:?}")]
    Slow {
        /// The registry.
        host: Box<str>,
        /// The limit that was exceeded.
        limit: Duration,
    },
    /// The registry redirects too often.
    #[error("{host} redirected more than {REDIRECTS} times")]
    Redirects {
        /// The host of the last redirect.
        host: Box<str>,
    },
    /// The target of a redirect is missing or not acceptable.
    #[error("{host} redirected to a place that is not a URL with https")]
    Location {
        /// The host that redirected.
        host: Box<str>,
    },
    /// The authentication scheme is not supported.
    #[error("{host} asks for the authentication {found:?}: expected Bearer or Basic")]
    Challenge {
        /// The host that requests it.
        host: Box<str>,
        /// The scheme.
        found: Box<str>,
    },
    /// The token service gave no token.
    #[error("{host} gave no token for the registry: {why}")]
    Token {
        /// The token service.
        host: Box<str>,
        /// The fault of its answer.
        why: Box<str>,
    },
    /// Credentials are configured, but cannot be used.
    #[error(transparent)]
    Credentials(#[from] CredentialsFault),
    /// The name of the image does not give a valid URL.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// `registries.conf` cannot be used.
    #[error(transparent)]
    Mirrors(#[from] MirrorsFault),
    /// The place is blocked.
    #[error(transparent)]
    Blocked(#[from] BlockedPlace),
    /// The directory with the certificates for the host cannot be read.
    #[error(transparent)]
    Config(#[from] ContainersFault),
    /// The certificates for the host cannot be used.
    #[error(transparent)]
    Certificates(#[from] HostCertsError),
    /// Neither a mirror nor the registry serves the image.
    #[error("mirrors failed ({mirrors}), and so did {image}: {fault}")]
    EveryPlace {
        /// The mirrors that failed, each with its fault, in the order in which they were tried.
        mirrors: String,
        /// The image, as the registry names it.
        image: Box<str>,
        /// The fault of the registry.
        fault: Box<Self>,
    },
}

impl RegistryFault {
    /// Classifies an error of a connection.
    pub(super) fn of(error: FetchError, source: &PullSource, directory: &Path) -> Self {
        let FetchError::Tls {
            fault: TlsFault::UnknownIssuer { .. },
            ..
        } = &error
        else {
            return error.into();
        };
        Self::UnknownIssuer {
            directory: directory.to_owned(),
            error: Box::new(error),
            hint: if source.is_insecure { INSECURE } else { "" },
        }
    }

    /// Whether another attempt can succeed.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Fetch(FetchError::Timeout { awaited, .. }) => *awaited != AwaitedPart::Whole,
            Self::Fetch(error) => matches!(
                error,
                FetchError::Connect { .. } | FetchError::Truncated { .. } | FetchError::Response(_)
            ),
            Self::Status { found, .. } => is_busy(*found),
            _ => false,
        }
    }

    /// How long the registry requests to wait before the next try.
    pub(super) fn wait(&self) -> Duration {
        match self {
            Self::Status { wait, .. } => {
                let asked = Duration::from_secs(wait.unwrap_or_default());
                asked.min(LONGEST_WAIT)
            }
            _ => Duration::ZERO,
        }
    }
}

/// Returns the target of a redirect.
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

/// Parses the target of a redirect, which must be as secure as its origin.
fn moved(from: &Address, location: &str) -> Option<Address> {
    let target = if location.starts_with('/') && !location.starts_with("//") {
        let scheme = from.uri.scheme_str().unwrap_or_default();
        Address::of(&format!("{scheme}://{}{location}", from.host))
    } else {
        Address::of(location)
    };
    target.ok().filter(|target| is_as_safe(from, target))
}

/// Whether `to` is as secure as `from`: a redirect from https to http is not.
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

const REDIRECTS: usize = 5;

/// The longest time that a registry can make olmguard wait for the next try.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

const INSECURE: &str = "; insecure = true allows plain HTTP, but no certificate of an unknown CA";

// === The authentication that a registry requests, in `WWW-Authenticate` ===
//
// For example `Bearer realm="https://auth.example/token",service="registry.example"`.

/// The authentication that a registry requests.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Challenge {
    Basic,
    Bearer {
        realm: String,
        service: Option<String>,
    },
    Other(Box<str>),
}

impl Challenge {
    /// Returns the first supported challenge, or the first one if none is supported.
    pub(super) fn of<'a>(headers: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut all = headers.map(Self::parse);
        let first = all.next()?;
        let can_be_answered = |one: &Self| !matches!(one, Self::Other(_));
        if can_be_answered(&first) {
            return Some(first);
        }
        Some(all.find(can_be_answered).unwrap_or(first))
    }

    fn parse(text: &str) -> Self {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Self::Basic;
        }
        let parameter = |name| parameter(rest, name);
        match parameter("realm") {
            Some(realm) if scheme.eq_ignore_ascii_case("bearer") => Self::Bearer {
                realm,
                service: parameter("service"),
            },
            _ => Self::Other(one_line(scheme).into()),
        }
    }
}

/// Returns the value of `NAME="VALUE"` in a list.
fn parameter(list: &str, wanted: &str) -> Option<String> {
    let mut rest = list;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        let name = name.trim_start_matches([',', ' ']).trim();
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value.trim().to_owned());
        }
        rest = after;
    }
}

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

    #[test]
    fn challenges_are_read_as_registries_write_them() {
        let bearer = |realm: &str, service: Option<&str>| Challenge::Bearer {
            realm: realm.into(),
            service: service.map(Into::into),
        };
        for (header, expected) in [
            (
                r#"Bearer realm="https://a.example/t",service="r.example",scope="repository:a:pull,push""#,
                bearer("https://a.example/t", Some("r.example")),
            ),
            (
                r#"bearer scope="a,b=c", realm="https://a.example/t""#,
                bearer("https://a.example/t", None),
            ),
            (
                "Bearer realm=https://a.example,service=x",
                bearer("https://a.example", Some("x")),
            ),
            (r#"Basic realm="r""#, Challenge::Basic),
            ("basic", Challenge::Basic),
            ("Bearer", Challenge::Other("Bearer".into())),
            (r#"Bearer realm="open"#, Challenge::Other("Bearer".into())),
            ("Negotiate", Challenge::Other("Negotiate".into())),
            ("", Challenge::Other("".into())),
        ] {
            assert_eq!(Challenge::parse(header), expected, "{header}");
        }
        let several = Challenge::of(["Negotiate", "Basic realm=x"].into_iter());
        assert_eq!(several, Some(Challenge::Basic));
        assert_eq!(Challenge::of([].into_iter()), None);
    }
}
