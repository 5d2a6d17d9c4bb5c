//! What lies at the bottom of an error of a connection.
//!
//! HTTP, TLS and the socket wrap each other's errors; the innermost that says something definite is
//! the one to name.

use std::error::Error;
use std::io::{self, ErrorKind};

/// The layer that failed.
#[derive(Debug)]
pub(super) enum Cause<'e> {
    /// TLS.
    Tls(&'e rustls::Error),
    /// The peer went away.
    Ended,
    /// What came is not HTTP, for this reason.
    NotHttp(Box<str>),
    /// Anything else, in words.
    Other(Box<str>),
}

impl<'e> Cause<'e> {
    pub(super) fn of(error: &'e (dyn Error + 'static)) -> Self {
        if let Some(tls) = chain(error).find_map(<dyn Error>::downcast_ref) {
            return Self::Tls(tls);
        }
        if chain(error).any(is_end) {
            return Self::Ended;
        }
        let http = chain(error).find_map(<dyn Error>::downcast_ref::<hyper::Error>);
        match http.filter(|error| error.is_parse()) {
            Some(error) => Self::NotHttp(error.to_string().into()),
            None => Self::Other(innermost(error)),
        }
    }
}

/// The last error of a chain, in words without numbers of the system.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> Box<str> {
    let last = chain(error).last().unwrap_or(error);
    match last.downcast_ref::<io::Error>() {
        Some(io) if io.raw_os_error().is_some() => io.kind().to_string().into(),
        _ => last.to_string().into(),
    }
}

fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| inner(*error))
}

/// What an error wraps. An `io::Error` names as its source that of what it wraps.
fn inner<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    let io = error.downcast_ref::<io::Error>();
    match io.and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

fn is_end(error: &(dyn Error + 'static)) -> bool {
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
