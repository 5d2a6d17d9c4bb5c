//! An edit whose past is another object, such as one of a base: what of it the CRD refuses, what is installed, and
//! with what it is compared.

use serde_json::Value;

use crate::extension::schema::{self, Finding, SchemaRelease};
use crate::extension::{Extension, Installed, Shape, SourceType, UnknownCause};
use crate::judge::{Basis, Token, Verdict, pinned, resolved};

/// An extension as it was.
#[derive(Clone, Copy, Debug)]
pub struct EarlierObject<'b> {
    /// The whole object.
    pub value: &'b Value,
    /// The extension in it; absent in a version that is not known.
    pub extension: Option<&'b Extension>,
}

/// What the CRD refuses of an object, and of the edit that makes it.
#[derive(Debug)]
pub struct SchemaRefusal {
    /// Everything that it refuses.
    pub findings: Vec<Finding>,
    /// Whether it did not refuse all of it before.
    pub is_new: bool,
}

impl EarlierObject<'_> {
    /// What the CRD refuses of the object as it is to be.
    pub fn refused(&self, shape: Shape, release: SchemaRelease, new: &Value) -> SchemaRefusal {
        let mut findings = schema::check(shape, release, new);
        let old_shape = self.extension.map(|old| old.shape);
        let before = old_shape.map(|shape| schema::check(shape, release, self.value));
        let before = before.unwrap_or_default();
        let mut is_new = findings.iter().any(|finding| !before.contains(finding));
        if old_shape == Some(shape) {
            let of_edit = schema::check_edit(shape, release, self.value, new);
            is_new |= !of_edit.is_empty();
            findings.extend(of_edit);
        }
        SchemaRefusal { findings, is_new }
    }

    /// What the edit is compared with.
    pub fn old(&self, new: &Extension) -> Option<Extension> {
        let old = self.extension?;
        Some(Extension {
            // Of an upgrade that rolls out nothing is known but what the new one knows.
            rollout: new.rollout,
            ..old.clone()
        })
    }

    /// What is installed: what was pinned, else what a status says, else what was asked for resolves to.
    /// Where something was asked for and that is not what counts, also why not.
    pub fn installed(&self, basis: Basis<'_>, new: &Extension) -> (Installed, Option<Token>) {
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
        let reason = token.as_str();
        let cause = UnknownCause::BaseUndecided { reason };
        return (Installed::Unknown(cause), None);
    }
    (Installed::Nothing, Some(token))
}
