//! Reasons why a catalog could not be fetched.
//!
//! The words go into verdicts and are compared from try to try, so the same fault has the same ones:
//! no port of ours, no moment, no count that differs each time. They are of one line.

use std::error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use hyper::StatusCode;
use rustls::CertificateError;
use rustls::pki_types::UnixTime;
use time::OffsetDateTime;

use crate::source::SourceError;
use crate::source::http::AddressError;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The base is no URL of HTTP.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The host has no address, or nobody listens there.
    #[error("cannot connect to {host}: {why}")]
    Connect {
        /// Host, and port if the URL names it.
        host: Box<str>,
        /// What the system says.
        why: Box<str>,
    },
    /// There is no TLS to be had, or none that can be trusted.
    #[error("TLS with {host}: {fault}")]
    Tls {
        /// Host, and port if the URL names it.
        host: Box<str>,
        /// What is wrong with it.
        fault: TlsFault,
    },
    /// The fetch takes too long.
    #[error("timed out: {awaited} within {limit:?}")]
    Timeout {
        /// What there was none of.
        awaited: AwaitedPart,
        /// How long it was waited for.
        limit: Duration,
    },
    /// Anything but 200.
    #[error("answered HTTP {found}, expected 200 OK{}", hint(*.found))]
    Status {
        /// The status of the answer.
        found: StatusCode,
    },
    /// What came has no end.
    #[error("body is cut off: it ended before {end}")]
    Truncated {
        /// What would have been its end.
        end: BodyEnd,
    },
    /// The body is larger than the limit.
    #[error("body is larger than {limit} bytes, {size}")]
    TooLarge {
        /// The size that exceeds the limit.
        size: BodySize,
        /// How many bytes are read.
        limit: u64,
    },
    /// The body is complete, but not a catalog.
    #[error(transparent)]
    Content(SourceError),
    /// The body claims to be gzip, but is not.
    #[error("body is not valid gzip, which its Content-Encoding announces: {why}")]
    Gzip {
        /// What the decompressor says.
        why: Box<str>,
    },
    /// The answer is not one that can be taken.
    #[error(transparent)]
    Response(#[from] ResponseFault),
    /// No thread could be started to read the body.
    #[error("cannot start a thread to read the body: {why}")]
    NoThread {
        /// What the system says.
        why: Box<str>,
    },
    /// The thread that read the body panicked.
    #[error("internal fault: the thread that reads the body was lost; please report this")]
    Lost,
}

/// The kinds of fault of a fetch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FetchClass {
    /// The base is no URL that can be used.
    Address,
    /// Nobody takes the connection.
    Connect,
    /// The peer is not who it has to be.
    Tls,
    /// The fetch took too long, or nothing arrived for too long.
    Timeout,
    /// The answer is another than 200.
    Status,
    /// The body ended early.
    Truncated,
    /// The content is larger than is taken.
    TooLarge,
    /// The content is no catalog.
    Content,
    /// Anything else.
    Other,
}

/// An answer that cannot be taken.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ResponseFault {
    /// The connection ended without an answer.
    #[error("connection was closed without an answer")]
    None,
    /// The response is not HTTP/1.1.
    #[error("answer is not HTTP/1.1: {why}")]
    NotHttp {
        /// What does not fit.
        why: Box<str>,
    },
    /// The body has a compression that was not requested.
    #[error("answer has Content-Encoding {found:?}, expected gzip or none")]
    Encoding {
        /// The means.
        found: Box<str>,
    },
    /// Nothing tells where its body ends.
    #[error(
        "answer has neither Content-Length nor chunked encoding: expected one of them, to know \
         that the body is complete"
    )]
    Endless,
    /// The connection broke.
    #[error("connection broke: {why}")]
    Broken {
        /// What the system says.
        why: Box<str>,
    },
}

/// What is waited for.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub enum AwaitedPart {
    /// A connection, with TLS.
    #[display("no connection")]
    Connection,
    /// The head of an answer.
    #[display("no answer")]
    Answer,
    /// More of the body.
    #[display("no further byte of the body")]
    Progress,
    /// All of it.
    #[display("not fetched")]
    Whole,
}

/// The expected end of a body.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub enum BodyEnd {
    /// After as many bytes as its `Content-Length` says.
    #[display("the {_0} bytes of its Content-Length")]
    Length(u64),
    /// After its last chunk.
    #[display("its last chunk")]
    LastChunk,
    /// The end of the compressed data.
    #[display("the end of its gzip data")]
    Gzip,
}

/// A size of a body.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub enum BodySize {
    /// The size on the wire.
    #[display("as sent")]
    Sent,
    /// What becomes of it.
    #[display("decompressed")]
    Decompressed,
}

impl FetchError {
    /// Its kind.
    pub fn class(&self) -> FetchClass {
        match self {
            Self::Address(_) => FetchClass::Address,
            Self::Connect { .. } => FetchClass::Connect,
            Self::Tls { .. } => FetchClass::Tls,
            Self::Timeout { .. } => FetchClass::Timeout,
            Self::Status { .. } => FetchClass::Status,
            Self::Truncated { .. } => FetchClass::Truncated,
            Self::TooLarge { .. }
            | Self::Content(SourceError::TooLarge { .. } | SourceError::Memory { .. }) => {
                FetchClass::TooLarge
            }
            Self::Content(_) | Self::Gzip { .. } => FetchClass::Content,
            Self::Response(_) | Self::NoThread { .. } | Self::Lost => FetchClass::Other,
        }
    }

    /// Whether there was no connection in time: none to the host, or none with TLS.
    pub(crate) fn is_unconnected(&self) -> bool {
        match self {
            Self::Connect { .. } => true,
            Self::Timeout { awaited, .. } => *awaited == AwaitedPart::Connection,
            _ => false,
        }
    }
}

/// What may be the matter.
fn hint(found: StatusCode) -> &'static str {
    if found == StatusCode::NOT_FOUND {
        "; catalogd answers so until it has loaded the catalog"
    } else if found.is_redirection() {
        "; redirects are not followed"
    } else {
        ""
    }
}

// === Faults of TLS, worded for users where the texts of rustls are for programmers ===

/// Why there is no TLS.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TlsFault {
    /// Nobody who is trusted signed the certificate.
    #[error("certificate is not signed by a CA certificate in {trusted}")]
    UnknownIssuer {
        /// The origin of the trusted CAs.
        trusted: Box<str>,
    },
    /// The certificate has expired.
    #[error("certificate expired on {not_after}")]
    Expired {
        /// When.
        not_after: Box<str>,
    },
    /// The certificate is not valid yet.
    #[error("certificate is not valid before {not_before}")]
    NotYet {
        /// When it will.
        not_before: Box<str>,
    },
    /// The certificate is for another name.
    #[error("certificate is for {found}, expected {expected:?}")]
    WrongName {
        /// The name that is called.
        expected: Box<str>,
        /// The names in the certificate.
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
        /// The fault in the words of rustls.
        why: Box<str>,
    },
}

impl TlsFault {
    /// What `error` means where the CAs in `trusted` are trusted.
    pub(super) fn of(error: &rustls::Error, trusted: &str) -> Self {
        match error {
            rustls::Error::InvalidCertificate(error) => Self::of_certificate(error, trusted),
            rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) => Self::None,
            rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol) => {
                Self::NoHttp1
            }
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
            error => Self::other(&rustls::Error::InvalidCertificate(error.clone())),
        }
    }

    /// The words hold what the peer sent: they are cut.
    fn other(error: &rustls::Error) -> Self {
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

// === The cause of an error of a connection ===
//
// HTTP, TLS and the socket wrap each other's errors. The innermost one with a definite cause is named.

/// The layer that failed.
#[derive(Debug)]
pub(super) enum FailedLayer<'e> {
    /// TLS.
    Tls(&'e rustls::Error),
    /// The peer went away.
    Ended,
    /// What came is not HTTP, for this reason.
    NotHttp(Box<str>),
    /// Anything else, in words.
    Other(Box<str>),
}

impl<'e> FailedLayer<'e> {
    pub(super) fn of(error: &'e (dyn error::Error + 'static)) -> Self {
        if let Some(tls) = chain(error).find_map(<dyn error::Error>::downcast_ref) {
            return Self::Tls(tls);
        }
        if chain(error).any(is_end) {
            return Self::Ended;
        }
        let http = chain(error).find_map(<dyn error::Error>::downcast_ref::<hyper::Error>);
        match http.filter(|error| error.is_parse()) {
            Some(error) => Self::NotHttp(error.to_string().into()),
            None => Self::Other(innermost(error)),
        }
    }
}

/// The last error of a chain, in words without numbers of the system.
pub(super) fn innermost(error: &(dyn error::Error + 'static)) -> Box<str> {
    let last = chain(error).last().unwrap_or(error);
    match last.downcast_ref::<io::Error>() {
        Some(io) if io.raw_os_error().is_some() => io.kind().to_string().into(),
        _ => last.to_string().into(),
    }
}

fn chain<'e>(
    error: &'e (dyn error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn error::Error + 'static)> {
    std::iter::successors(Some(error), |error| inner(*error))
}

/// What an error wraps. An `io::Error` names as its source that of what it wraps.
fn inner<'e>(error: &'e (dyn error::Error + 'static)) -> Option<&'e (dyn error::Error + 'static)> {
    let io = error.downcast_ref::<io::Error>();
    match io.and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

fn is_end(error: &(dyn error::Error + 'static)) -> bool {
    let http = error.downcast_ref::<hyper::Error>();
    let io = error.downcast_ref::<io::Error>();
    http.is_some_and(|error| error.is_incomplete_message() || error.is_canceled())
        || io.is_some_and(|error| ENDS.contains(&error.kind()))
}

/// How a socket says that the peer went away.
const ENDS: [ErrorKind; 4] = [
    ErrorKind::BrokenPipe,
    ErrorKind::ConnectionAborted,
    ErrorKind::ConnectionReset,
    ErrorKind::UnexpectedEof,
];
