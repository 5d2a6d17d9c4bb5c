//! The facts of an earlier object for an edit: the installed bundle, and the faults that the CRD already refused.

use serde_json::Value;

use crate::extension::schema::{self, Finding, SchemaRelease};
use crate::extension::{
    Extension, Filter, Installed, InstalledBundle, Shape, SourceType, UnknownCause,
};
use crate::judge::walk::recorded;
use crate::judge::{Basis, Request, RuledEdit, Token, Verdict, identify, rule};
use crate::resolve::EditContext;
use olmguard_catalog::version::Constraint;

/// The bundle that an earlier filter pins; `None` if the filter matches several versions.
///
/// The name of the bundle is looked up. If no catalog has a bundle with exactly this version and release, the pin may
/// still resolve to a bundle that has its own release. That bundle is then the result.
pub fn pinned(basis: Basis<'_>, earlier: &Filter) -> Option<Installed> {
    let range = Constraint::parse(earlier.range()?, basis.snapshot.rules().masterminds).ok()?;
    let version = InstalledBundle {
        version: range.only()?,
        ..InstalledBundle::default()
    };
    let pinned = identify(basis.snapshot, earlier, Installed::Bundle(version));
    Some(match &pinned {
        Installed::Inferred(_) | Installed::Bundle(InstalledBundle { name: None, .. }) => {
            resolved(basis, earlier).unwrap_or(pinned)
        }
        _ => pinned,
    })
}

/// The bundle that an earlier filter resolves to today if nothing is installed.
///
/// # Errors
/// The ruling that explains why the filter resolves to nothing.
pub fn resolved<'s>(basis: Basis<'s>, earlier: &Filter) -> Result<Installed, Box<RuledEdit<'s>>> {
    let request = Request {
        filter: earlier,
        installed: &Installed::Nothing,
        context: EditContext::unknown(),
    };
    let ruled = rule(basis, &request);
    let choice = ruled.resolved();
    let bundle = choice.and_then(|choice| recorded(choice, basis.snapshot.rules()));
    bundle.map(Installed::Bundle).ok_or(Box::new(ruled))
}

// === An edit whose earlier state is another object, for example from a base revision ===

/// An extension before an edit.
#[derive(Clone, Copy, Debug)]
pub struct EarlierObject<'b> {
    /// The whole object.
    pub value: &'b Value,
    /// The extension in the object; absent if its `apiVersion` is not known.
    pub extension: Option<&'b Extension>,
}

/// Everything that the CRD refuses about an object, and about the edit that produces it.
#[derive(Debug)]
pub struct SchemaRefusal {
    /// The findings, one for each refusal.
    pub findings: Vec<Finding>,
    /// Whether a finding is new, that is, the CRD did not refuse it in the earlier object.
    pub is_new: bool,
}

/// Why it is not certain which bundle a base has installed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BaseDoubt {
    /// The request of the base resolves to nothing, with the token of the row.
    Unresolved(Token),
    /// The base pins no version. The bundle that it resolves to today counts, but another version may be installed.
    Range,
}

impl EarlierObject<'_> {
    /// Everything that the CRD refuses about the new object, and about the change from the old one.
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

    /// The extension that the edit is compared with.
    pub fn old(&self, new: &Extension) -> Option<Extension> {
        let old = self.extension?;
        Some(Extension {
            // Only the new object shows whether an upgrade is rolling out.
            rollout: new.rollout,
            ..old.clone()
        })
    }

    /// The installed bundle: the pinned version, otherwise the bundle in a status, otherwise the bundle that the filter
    /// resolves to, with a doubt.
    pub fn installed(&self, basis: Basis<'_>, new: &Extension) -> (Installed, Option<BaseDoubt>) {
        let Some(old) = self.extension else {
            return (new.installed.clone(), None);
        };
        if old.source_type != SourceType::Catalog {
            return (new.installed.clone(), None);
        }
        let filter = old.filter.as_ref();
        let pin = filter.ok().and_then(|filter| pinned(basis, filter));
        let statuses = [&new.installed, &old.installed];
        let mut statuses = statuses.into_iter();
        let status = statuses.find(|status| **status != Installed::Nothing);
        match (pin.or_else(|| status.cloned()), filter) {
            (Some(known), _) => (known, None),
            (None, Err(_)) => unresolved(Token::InvalidSpec),
            (None, Ok(filter)) => match resolved(basis, filter) {
                Ok(today) => (today, Some(BaseDoubt::Range)),
                Err(ruled) => unresolved(ruled.ruling.token()),
            },
        }
    }
}

/// If the earlier request resolves to nothing, nothing is installed. If that is undecided, the installed bundle is
/// unknown.
fn unresolved(token: Token) -> (Installed, Option<BaseDoubt>) {
    if token.verdict() == Verdict::Undecided {
        let reason = token.as_str();
        let cause = UnknownCause::BaseUndecided { reason };
        return (Installed::Unknown(cause), None);
    }
    (Installed::Nothing, Some(BaseDoubt::Unresolved(token)))
}
