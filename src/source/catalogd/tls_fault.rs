//! What is wrong with TLS, in words of ours where rustls' are for programmers.

use rustls::pki_types::UnixTime;
use rustls::{CertificateError, Error};
use time::OffsetDateTime;

/// Why there is no TLS.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFault {
    /// Nobody who is trusted signed the certificate.
    #[error("certificate is not signed by a CA certificate in {trusted}")]
    UnknownIssuer {
        /// Where those come from who are trusted.
        trusted: Box<str>,
    },
    /// Its time is over.
    #[error("certificate expired on {not_after}")]
    Expired {
        /// When.
        not_after: Box<str>,
    },
    /// Its time has not come.
    #[error("certificate is not valid before {not_before}")]
    NotYet {
        /// When it will.
        not_before: Box<str>,
    },
    /// It is for someone else.
    #[error("certificate is for {found}, expected {expected:?}")]
    WrongName {
        /// The name that is called.
        expected: Box<str>,
        /// Those in the certificate.
        found: Box<str>,
    },
    /// The other side speaks something else.
    #[error("expected a server with TLS, found one without")]
    None,
    /// The connection ended.
    #[error("connection was closed in the handshake")]
    Closed,
    /// The other side speaks another protocol within TLS.
    #[error("expected a server with HTTP/1.1, found one that refuses it")]
    NoHttp1,
    /// Anything else.
    #[error("{why}")]
    Other {
        /// In the words of rustls.
        why: Box<str>,
    },
}

impl TlsFault {
    /// What `error` means where those in `trusted` are trusted.
    pub(super) fn of(error: &Error, trusted: &str) -> Self {
        match error {
            Error::InvalidCertificate(error) => Self::of_certificate(error, trusted),
            Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) => Self::None,
            Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol) => Self::NoHttp1,
            error => Self::other(error),
        }
    }

    fn of_certificate(error: &CertificateError, trusted: &str) -> Self {
        match error {
            CertificateError::UnknownIssuer => Self::UnknownIssuer {
                trusted: trusted.into(),
            },
            CertificateError::ExpiredContext { not_after, .. } => Self::Expired {
                not_after: date(*not_after),
            },
            CertificateError::NotValidYetContext { not_before, .. } => Self::NotYet {
                not_before: date(*not_before),
            },
            CertificateError::NotValidForNameContext {
                expected,
                presented,
            } => Self::WrongName {
                expected: expected.to_str().into(),
                found: listed(presented),
            },
            error => Self::other(&Error::InvalidCertificate(error.clone())),
        }
    }

    /// The words hold what the peer sent: they are cut.
    fn other(error: &Error) -> Self {
        let why: String = error.to_string().chars().take(WORDS).collect();
        Self::Other { why: why.into() }
    }
}

/// The first names, as rustls lists them: `DnsName("a")`.
fn listed(names: &[String]) -> Box<str> {
    let shown: Vec<_> = names.iter().take(NAMES).map(|name| shown(name)).collect();
    match names.len().saturating_sub(NAMES) {
        _ if names.is_empty() => "no name".into(),
        0 => shown.join(", ").into(),
        more => format!("{} and {more} more", shown.join(", ")).into(),
    }
}

fn shown(name: &str) -> String {
    let inner = name.split_once('(').map(|(_, name)| name);
    let bare = inner.and_then(|name| name.strip_suffix(')'));
    let bare = bare.unwrap_or(name).trim_matches('"');
    format!("{:?}", bare.chars().take(WORDS).collect::<String>())
}

/// The day, in UTC.
fn date(moment: UnixTime) -> Box<str> {
    let seconds = i64::try_from(moment.as_secs()).unwrap_or(i64::MAX);
    OffsetDateTime::from_unix_timestamp(seconds).map_or_else(
        |_| "a day after the year 9999".into(),
        |at| at.date().to_string().into(),
    )
}

/// How many names of a certificate are told.
const NAMES: usize = 3;

/// How many characters of a name or an error are told: no name in DNS is longer.
const WORDS: usize = 253;
