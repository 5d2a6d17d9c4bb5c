//! Whether what is served can be used by those who connect, now.

use std::time::{SystemTime, UNIX_EPOCH};

use rustls::client::verify_server_name;
use rustls::pki_types::ServerName;
use rustls::server::ParsedCertificate;
use time::OffsetDateTime;

use crate::tls::Leaf;

/// Why a client would refuse the certificate that is served.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// Its time is over.
    #[error("the served certificate expired at {}: expected one that is valid now", utc(*since))]
    Expired {
        /// The last moment at which it could be used.
        since: SystemTime,
    },
    /// Its time has not come.
    #[error(
        "the served certificate is not valid before {}: expected one that is valid now; is the clock right?",
        utc(*until)
    )]
    NotYetValid {
        /// The first moment at which it can be used.
        until: SystemTime,
    },
    /// It is not for the name that clients use.
    #[error(
        "the served certificate is for {}: expected it to be for {name} as well",
        list(found)
    )]
    Lacks {
        /// The name that is wanted.
        name: String,
        /// The names that it holds.
        found: Vec<String>,
    },
}

/// Judges a leaf by the clock and by the names that it must be for.
pub(super) fn judge(
    leaf: &Leaf,
    wanted: &[ServerName<'static>],
    now: SystemTime,
) -> Result<(), Unfit> {
    if now > leaf.not_after {
        return Err(Unfit::Expired {
            since: leaf.not_after,
        });
    }
    if now < leaf.not_before {
        return Err(Unfit::NotYetValid {
            until: leaf.not_before,
        });
    }
    match wanted.iter().find(|name| !is_for(leaf, name)) {
        None => Ok(()),
        Some(name) => Err(Unfit::Lacks {
            name: name.to_str().into_owned(),
            found: leaf.names.clone(),
        }),
    }
}

/// Whether a certificate is for a name, as a client asks it, wildcards included.
pub fn is_for(leaf: &Leaf, name: &ServerName<'_>) -> bool {
    ParsedCertificate::try_from(leaf.der())
        .and_then(|parsed| verify_server_name(&parsed, name))
        .is_ok()
}

/// A moment as `2026-11-21T14:30:00Z`.
pub fn utc(moment: SystemTime) -> String {
    let seconds = moment
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    OffsetDateTime::from_unix_timestamp(seconds).map_or_else(
        |_| "a day after the year 9999".to_owned(),
        |at| {
            let (hour, minute, second) = at.to_hms();
            format!("{}T{hour:02}:{minute:02}:{second:02}Z", at.date())
        },
    )
}

/// The names of a certificate, in a sentence.
pub(super) fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "no name".to_owned();
    }
    names.join(", ")
}
