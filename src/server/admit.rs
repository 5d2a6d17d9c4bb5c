//! The judge behind the webhook: one review in, one reply out, one line in the log.
//!
//! Every value that comes from outside is bounded and escaped before it is logged; objects are never
//! logged.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use tracing::field::Empty;
use tracing::{Span, debug, info, info_span, warn};

use crate::admission::{Enforcement, Mode, OnUndecided, Review, ReviewError};
use crate::explain::Answer;
use crate::judge::Verdict;
use crate::snapshot::Snapshot;
use crate::version::go;

/// What answers reviews: the catalogs, immutable, and what becomes of what they do not tell about.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The catalogs.
    pub snapshot: Arc<Snapshot>,
    /// What becomes of an edit that is undecided.
    pub on_undecided: OnUndecided,
}

impl Guard {
    /// Answers the body of a request.
    pub(super) fn admit(&self, body: &[u8]) -> Result<Vec<u8>, ReviewError> {
        let begun = Instant::now();
        let review = Review::from_bytes(body)?;
        let span = asked(&review).entered();
        let answer = review.answer(&self.snapshot);
        let enforcement = Enforcement {
            mode: Mode::Enforce,
            on_undecided: self.on_undecided,
        };
        let reply = review.reply(&answer, enforcement);
        answered(&span, &answer);
        say(answer.verdict, begun);
        Ok(reply.to_bytes())
    }
}

fn asked(review: &Review) -> Span {
    let identity = review.identity();
    info_span!(
        "admit",
        uid = %Shown(review.uid()),
        operation = review.operation().as_str(),
        extension = %Shown(identity.name.as_deref().unwrap_or_default()),
        dry_run = review.is_dry_run(),
        package = Empty,
        installed = Empty,
        wanted = Empty,
        resolved = Empty,
        catalog = Empty,
        digest = Empty,
        verdict = Empty,
        token = Empty,
    )
}

fn answered(span: &Span, answer: &Answer) {
    let known = [
        ("package", answer.package.as_deref()),
        (
            "installed",
            answer
                .installed
                .as_ref()
                .map(|bundle| bundle.version.as_str()),
        ),
        ("wanted", answer.range.as_deref()),
        (
            "resolved",
            answer
                .resolved
                .as_ref()
                .map(|bundle| bundle.bundle.as_str()),
        ),
        ("catalog", answer.catalog.as_deref()),
        ("digest", answer.digest.as_deref()),
        ("verdict", Some(answer.verdict.as_str())),
        ("token", Some(answer.token.as_str())),
    ];
    for (field, value) in known {
        if let Some(value) = value {
            span.record(field, tracing::field::display(Shown(value)));
        }
    }
}

fn say(verdict: Verdict, begun: Instant) {
    let duration_ms = begun.elapsed().as_secs_f64() * 1000.0;
    match verdict {
        Verdict::Allow => debug!(duration_ms, "Allowed"),
        Verdict::NotJudged => debug!(duration_ms, "Not judged"),
        Verdict::Deny => info!(duration_ms, "Denied"),
        Verdict::Undecided => warn!(duration_ms, "Undecided"),
    }
}

/// A text as the log shows it.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.floor_char_boundary(LONGEST);
        f.write_str(&go::escape(self.0.get(..end).unwrap_or_default()))?;
        f.write_str(if end < self.0.len() { "..." } else { "" })
    }
}

/// The most bytes of a value in the log: no name that an API server takes is longer.
const LONGEST: usize = 253;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_is_bounded_and_printable() {
        assert_eq!(Shown("a\u{1b}\n").to_string(), "a\\x1b\\n");
        let long = "ä".repeat(500);
        let shown = Shown(&long).to_string();
        assert!(
            shown.len() <= LONGEST + 3 && shown.ends_with("ä..."),
            "{shown}"
        );
    }
}
