//! What the answers of a registry mean: content, a challenge, another place, later, or nothing; and why there is no image.

use std::fmt;
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

fn is_busy(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// Why a registry gives none of it.
#[derive(Debug, thiserror::Error)]
pub enum RegistryFault {
    /// The system's CA certificates cannot be used.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// No answer, or none that is whole.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// No trusted CA has signed the certificate.
    #[error("{error}; add its CA certificate to {}/ca.crt{hint}", .directory.display())]
    UnknownIssuer {
        /// The directory with the certificates for the registry.
        directory: PathBuf,
        /// The error of the connection.
        error: Box<FetchError>,
        /// What does not help here.
        hint: &'static str,
    },
    /// An answer that is no content.
    #[error("{host} answered HTTP {found}{hint}")]
    Status {
        /// Who answered.
        host: Box<str>,
        /// The status.
        found: StatusCode,
        /// What to do.
        hint: &'static str,
        /// After how many seconds to try again, if the answer says so.
        wait: Option<u64>,
    },
    /// The whole image takes too long.
    #[error("{host} is too slow: not all of the image within {limit:?}")]
    Slow {
        /// The registry.
        host: Box<str>,
        /// How long was waited.
        limit: Duration,
    },
    /// Redirects without an end.
    #[error("{host} redirected more than {REDIRECTS} times")]
    Redirects {
        /// Who did so last.
        host: Box<str>,
    },
    /// A redirect to nowhere.
    #[error("{host} redirected to a place that is not a URL with https")]
    Location {
        /// Who did so.
        host: Box<str>,
    },
    /// A challenge that is not understood.
    #[error("{host} asks for the authentication {found:?}: expected Bearer or Basic")]
    Challenge {
        /// Who asks.
        host: Box<str>,
        /// What for.
        found: Box<str>,
    },
    /// The token service gave no token.
    #[error("{host} gave no token for the registry: {why}")]
    Token {
        /// The token service.
        host: Box<str>,
        /// What is wrong with its answer.
        why: Box<str>,
    },
    /// There are credentials, but they cannot be used.
    #[error(transparent)]
    Credentials(#[from] CredentialsFault),
    /// The URL of a registry cannot be made of the name.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// `registries.conf` cannot be used.
    #[error(transparent)]
    Mirrors(#[from] MirrorsFault),
    /// The place must not be asked.
    #[error(transparent)]
    Blocked(#[from] BlockedPlace),
    /// The directory with the certificates for the host cannot be read.
    #[error(transparent)]
    Config(#[from] ContainersFault),
    /// The certificates for the host cannot be used.
    #[error(transparent)]
    Certificates(#[from] HostCertsError),
    /// Neither a mirror nor the registry gives it.
    #[error("mirrors failed ({mirrors}), and so did {image}: {fault}")]
    EveryPlace {
        /// The mirrors.
        mirrors: FailedMirrors,
        /// The image, as the registry names it.
        image: Box<str>,
        /// Why the registry does not give it.
        fault: Box<Self>,
    },
}

/// A mirror that did not give an image.
#[derive(Debug)]
pub struct FailedMirror {
    /// The image, as the mirror names it.
    pub image: Box<str>,
    /// Why.
    pub fault: Box<RegistryFault>,
}

/// The mirrors that did not give an image, in the order in which they were asked.
#[derive(Debug)]
pub struct FailedMirrors(pub Vec<FailedMirror>);

impl fmt::Display for FailedMirrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, FailedMirror { image, fault }) in self.0.iter().enumerate() {
            let joint = if at == 0 { "" } else { ", " };
            write!(f, "{joint}[{image}: {fault}]")?;
        }
        Ok(())
    }
}

impl RegistryFault {
    /// The fault for an error of a connection.
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

    /// Whether the next try may fare better.
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

const REDIRECTS: usize = 5;

/// The longest time that a registry can make olmguard wait for the next try.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

const INSECURE: &str = "; insecure = true allows plain HTTP, but no certificate of an unknown CA";

// === What a registry asks for, in `WWW-Authenticate` ===
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
    /// The first that can be answered, or the first at all.
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

/// The value of `NAME="VALUE"` in a list.
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
