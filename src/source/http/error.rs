//! Reasons why a catalog could not be fetched.
//!
//! The messages appear in verdicts and are compared between attempts, so the same fault always has the same message.
//! They contain no local port, no time, and no count that differs each time. They have one line.

use std::error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use hyper::StatusCode;
use rustls::CertificateError;
use rustls::pki_types::UnixTime;
use time::OffsetDateTime;

use crate::source::SourceError;
use crate::source::http::AddressError;

/// Why a fetch failed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The base is not an HTTP URL.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The host has no address, or does not accept the connection.
    #[error("cannot connect to {host}: {why}")]
    Connect {
        /// The host, with the port if the URL has one.
        host: Box<str>,
        /// The error of the system.
        why: Box<str>,
    },
    /// The TLS handshake failed, or the certificate is not trusted.
    #[error("TLS with {host}: {fault}")]
    Tls {
        /// The host, with the port if the URL has one.
        host: Box<str>,
        /// The fault.
        fault: TlsFault,
    },
    /// The fetch takes too long.
    #[error("timed out: {awaited} within {limit:?}")]
    Timeout {
        /// The part that did not arrive.
        awaited: AwaitedPart,
        /// The limit that was exceeded.
        limit: Duration,
    },
    /// The status is not 200.
    #[error("answered HTTP {found}, expected 200 OK{}", hint(*.found))]
    Status {
        /// The status of the response.
        found: StatusCode,
    },
    /// The body ended too early.
    #[error("body is cut off: it ended before {end}")]
    Truncated {
        /// The end that was expected.
        end: BodyEnd,
    },
    /// The body is larger than the limit.
    #[error("body is larger than {limit} bytes, {size}")]
    TooLarge {
        /// The size that exceeds the limit.
        size: BodySize,
        /// The limit in bytes.
        limit: u64,
    },
    /// The body is complete, but not a catalog.
    #[error(transparent)]
    Content(SourceError),
    /// The body claims to be gzip, but is not.
    #[error("body is not valid gzip, which its Content-Encoding announces: {why}")]
    Gzip {
        /// The error of the decompressor.
        why: Box<str>,
    },
    /// The response cannot be used.
    #[error(transparent)]
    Response(#[from] ResponseFault),
    /// No thread could be started to read the body.
    #[error("cannot start a thread to read the body: {why}")]
    NoThread {
        /// The error of the system.
        why: Box<str>,
    },
    /// The thread that read the body panicked.
    #[error("internal fault: the thread that reads the body was lost; please report this")]
    Lost,
}

/// The kinds of fault of a fetch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FetchClass {
    /// The base is not a usable URL.
    Address,
    /// The host does not accept the connection.
    Connect,
    /// TLS failed, or the peer is not trusted.
    Tls,
    /// The fetch took too long, or nothing arrived for too long.
    Timeout,
    /// The status of the response is not 200.
    Status,
    /// The body ended early.
    Truncated,
    /// The content exceeds a limit.
    TooLarge,
    /// The content is not a catalog.
    Content,
    /// Anything else.
    Other,
}

/// Why a response cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ResponseFault {
    /// The connection ended without an answer.
    #[error("connection was closed without an answer")]
    None,
    /// The response is not HTTP/1.1.
    #[error("answer is not HTTP/1.1: {why}")]
    NotHttp {
        /// The error of the HTTP parser.
        why: Box<str>,
    },
    /// The body has a compression that was not requested.
    #[error("answer has Content-Encoding {found:?}, expected gzip or none")]
    Encoding {
        /// The value of the header.
        found: Box<str>,
    },
    /// The headers do not define the end of the body.
    #[error(
        "answer has neither Content-Length nor chunked encoding: expected one of them, to know \
         that the body is complete"
    )]
    Endless,
    /// The connection broke.
    #[error("connection broke: {why}")]
    Broken {
        /// The error of the system.
        why: Box<str>,
    },
}

/// The part of a fetch that is awaited.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub enum AwaitedPart {
    /// A connection, with TLS.
    #[display("no connection")]
    Connection,
    /// The head of a response.
    #[display("no answer")]
    Answer,
    /// More of the body.
    #[display("no further byte of the body")]
    Progress,
    /// The complete body.
    #[display("not fetched")]
    Whole,
}

/// The expected end of a body.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub enum BodyEnd {
    /// The end after as many bytes as `Content-Length` announces.
    #[display("the {_0} bytes of its Content-Length")]
    Length(u64),
    /// The end after the last chunk.
    #[display("its last chunk")]
    LastChunk,
    /// The end of the compressed data.
    #[display("the end of its gzip data")]
    Gzip,
}

/// Which size of a body exceeds its limit.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, PartialEq)]
pub enum BodySize {
    /// The size on the wire.
    #[display("as sent")]
    Sent,
    /// The size after decompression.
    #[display("decompressed")]
    Decompressed,
}

impl FetchError {
    /// The kind of the fault.
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

    /// Whether no connection was made: it failed, or it timed out, also during the TLS handshake.
    pub(crate) fn is_unconnected(&self) -> bool {
        match self {
            Self::Connect { .. } => true,
            Self::Timeout { awaited, .. } => *awaited == AwaitedPart::Connection,
            _ => false,
        }
    }
}

/// A likely cause, to add to the message.
fn hint(found: StatusCode) -> &'static str {
    if found == StatusCode::NOT_FOUND {
        "; catalogd answers so until it has loaded the catalog"
    } else if found.is_redirection() {
        "; redirects are not followed"
    } else {
        ""
    }
}

// === Faults of TLS, worded for users because the messages of rustls are for programmers ===

/// Why a TLS connection failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TlsFault {
    /// The issuer of the certificate is not trusted.
    #[error("certificate is not signed by a CA certificate in {trusted}")]
    UnknownIssuer {
        /// The origin of the trusted CAs.
        trusted: Box<str>,
    },
    /// The certificate has expired.
    #[error("certificate expired on {not_after}")]
    Expired {
        /// The last day of its validity.
        not_after: Box<str>,
    },
    /// The certificate is not valid yet.
    #[error("certificate is not valid before {not_before}")]
    NotYet {
        /// The first day of its validity.
        not_before: Box<str>,
    },
    /// The certificate is for another name.
    #[error("certificate is for {found}, expected {expected:?}")]
    WrongName {
        /// The name of the host in the URL.
        expected: Box<str>,
        /// The names in the certificate.
        found: Box<str>,
    },
    /// The server does not use TLS.
    #[error("expected a server with TLS, found one without")]
    None,
    /// The connection was closed.
    #[error("connection was closed in the handshake")]
    Closed,
    /// The server does not accept HTTP/1.1 in ALPN.
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
    /// Classifies an error, if `trusted` is the origin of the trusted CAs.
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

    /// An error in the words of rustls. They are cut, because they can contain text that the peer sent.
    fn other(error: &rustls::Error) -> Self {
        let why: String = error.to_string().chars().take(WORDS).collect();
        Self::Other { why: why.into() }
    }
}

/// Lists the first names, which rustls writes as `DnsName("a")`.
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

/// Returns the day in UTC.
fn date(moment: UnixTime) -> Box<str> {
    let seconds = i64::try_from(moment.as_secs()).unwrap_or(i64::MAX);
    OffsetDateTime::from_unix_timestamp(seconds).map_or_else(
        |_| "a day after the year 9999".into(),
        |at| at.date().to_string().into(),
    )
}

/// The maximum number of names of a certificate that are shown.
const NAMES: usize = 3;

/// The maximum number of characters of a name or an error that are shown. No DNS name is longer.
const WORDS: usize = 253;

// === The cause of an error of a connection ===
//
// HTTP, TLS and the socket wrap each other's errors. The innermost one with a definite cause is named.

/// The layer that failed.
#[derive(Debug)]
pub(super) enum FailedLayer<'e> {
    /// TLS.
    Tls(&'e rustls::Error),
    /// The peer closed the connection.
    Ended,
    /// The response is not HTTP, for this reason.
    NotHttp(Box<str>),
    /// Anything else, described by this text.
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

/// Returns the last error of a chain as text, without system error numbers.
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

/// Returns the error that this one wraps. The `source` of an `io::Error` skips the error that it wraps directly.
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

/// The errors with which a socket reports that the peer has closed it.
const ENDS: [ErrorKind; 4] = [
    ErrorKind::BrokenPipe,
    ErrorKind::ConnectionAborted,
    ErrorKind::ConnectionReset,
    ErrorKind::UnexpectedEof,
];
