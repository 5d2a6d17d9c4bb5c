//! Why a catalog could not be fetched.
//!
//! The words go into verdicts and are compared from try to try, so the same fault has the same ones:
//! no port of ours, no moment, no count that differs each time. They are of one line.

use std::fmt;
use std::time::Duration;

use hyper::StatusCode;

use crate::source::SourceError;
use crate::source::catalogd::{AddressError, TlsFault};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// It takes too long.
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
        end: End,
    },
    /// It is more than is read.
    #[error("body is larger than {limit} bytes, {size}")]
    TooLarge {
        /// Which of its sizes.
        size: Size,
        /// How many bytes are read.
        limit: u64,
    },
    /// It is whole as far as was read, and no catalog.
    #[error(transparent)]
    Content(SourceError),
    /// It says to be gzip, and is not.
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
    /// It took too long, or nothing came for too long.
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
#[non_exhaustive]
pub enum ResponseFault {
    /// The connection ended without an answer.
    #[error("connection was closed without an answer")]
    None,
    /// It is not HTTP/1.1.
    #[error("answer is not HTTP/1.1: {why}")]
    NotHttp {
        /// What does not fit.
        why: Box<str>,
    },
    /// It is compressed by a means that was not asked for.
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
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AwaitedPart {
    /// A connection, with TLS.
    Connection,
    /// The head of an answer.
    Answer,
    /// More of the body.
    Progress,
    /// All of it.
    Whole,
}

/// Where a body should have ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// After as many bytes as its `Content-Length` says.
    Length(u64),
    /// After its last chunk.
    LastChunk,
    /// Where the compressed data ends.
    Gzip,
}

/// A size of a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Size {
    /// As it comes.
    Sent,
    /// What becomes of it.
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
}

impl fmt::Display for AwaitedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connection => "no connection",
            Self::Answer => "no answer",
            Self::Progress => "no further byte of the body",
            Self::Whole => "not fetched",
        })
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(bytes) => write!(f, "the {bytes} bytes of its Content-Length"),
            Self::LastChunk => f.write_str("its last chunk"),
            Self::Gzip => f.write_str("the end of its gzip data"),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sent => "as sent",
            Self::Decompressed => "decompressed",
        })
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
