//! An edit of an extension whose past is told by a manifest: what of it the CRD refuses, what is installed,
//! and with what it is compared.

use serde_json::Value;

use olmguard_engine::explain::{self, Answer, plain};
use olmguard_engine::extension::schema::{self, Finding, SchemaRelease};
use olmguard_engine::extension::{Extension, Installed, Shape, SourceType, UnknownCause};
use olmguard_engine::judge::{Basis, Token, Verdict, pinned, resolved};

/// An extension as it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<'b> {
    /// The whole object.
    pub(super) value: &'b Value,
    /// None in a version that is not known.
    pub(super) extension: Option<&'b Extension>,
}

/// What the CRD refuses of an object, and of the edit that makes it.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) findings: Vec<Finding>,
    /// Whether it did not refuse all of it before.
    pub(super) breaks: bool,
}

impl Before<'_> {
    pub(super) fn refused(&self, shape: Shape, release: SchemaRelease, new: &Value) -> Refused {
        let mut findings = schema::check(shape, release, new);
        let old_shape = self.extension.map(|old| old.shape);
        let before = old_shape.map(|shape| schema::check(shape, release, self.value));
        let before = before.unwrap_or_default();
        let mut breaks = findings.iter().any(|finding| !before.contains(finding));
        if old_shape == Some(shape) {
            let of_edit = schema::check_edit(shape, release, self.value, new);
            breaks |= !of_edit.is_empty();
            findings.extend(of_edit);
        }
        Refused { findings, breaks }
    }

    /// What the edit is compared with.
    pub(super) fn old(&self, new: &Extension) -> Option<Extension> {
        let old = self.extension?;
        Some(Extension {
            // Of an upgrade that rolls out nothing is known but what the new one knows.
            rollout: new.rollout,
            ..old.clone()
        })
    }

    /// What is installed: what was pinned, else what a status says, else what was asked for resolves to.
    /// Where something was asked for and that is not what counts, also why not.
    pub(super) fn installed(
        &self,
        basis: Basis<'_>,
        new: &Extension,
    ) -> (Installed, Option<Token>) {
        let Some(old) = self.extension else {
            return (new.installed.clone(), None);
        };
        let filter = match &old.filter {
            _ if old.source_type != SourceType::Catalog => return (new.installed.clone(), None),
            Err(_) => return (new.installed.clone(), Some(Token::InvalidSpec)),
            Ok(filter) => filter,
        };
        let statuses = [&new.installed, &old.installed];
        let mut statuses = statuses.into_iter();
        let status = statuses.find(|status| **status != Installed::Nothing);
        let known = pinned(basis, filter).or_else(|| status.cloned());
        match known.map_or_else(|| resolved(basis, filter), Ok) {
            Ok(installed) => (installed, None),
            Err(ruled) => unresolved(ruled.ruling.token()),
        }
    }
}

/// Where the past resolves to nothing, nothing is installed; where that is not known, neither is this.
fn unresolved(token: Token) -> (Installed, Option<Token>) {
    if token.verdict() == Verdict::Undecided {
        let why = plain::undecided_base(token);
        return (Installed::Unknown(UnknownCause::NotInBase { why }), None);
    }
    (Installed::Nothing, Some(token))
}

/// Warns where it is judged as if nothing were installed though something was asked for.
pub(super) fn warn_of_doubt(answer: &mut Answer, doubt: Option<Token>) {
    if answer.verdict != Verdict::NotJudged {
        let doubt = doubt.map(explain::base_without_bundle);
        explain::warn_last(&mut answer.warnings, doubt);
    }
}
