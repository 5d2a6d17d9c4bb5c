//! What OLM installs automatically, before and after.

use crate::audit::Audit;
use crate::resolve::Choice;

/// What OLM installs automatically before and after a change.
#[derive(Debug)]
pub struct Moves<'b, 'a> {
    /// Before it, in this order.
    pub before: Vec<Choice<'b>>,
    /// After it, in this order.
    pub after: Vec<Choice<'a>>,
}

impl<'b, 'a> Moves<'b, 'a> {
    /// The differences between two audits.
    pub fn of(before: &Audit<'b>, after: &Audit<'a>) -> Self {
        Self {
            before: before.moves(),
            after: after.moves(),
        }
    }

    /// Whether they are the same bundles, whatever their images.
    pub(super) fn are_alike(&self) -> bool {
        are_alike(&self.before, &self.after)
    }
}

/// The bundles that OLM installs or keeps before and after a change, as they were and as they are, if their images
/// differ.
pub fn other_images<'b, 'a>(
    before: &Audit<'b>,
    after: &Audit<'a>,
) -> Vec<(Choice<'b>, Choice<'a>)> {
    let (olds, news) = (named(before), named(after));
    let pairs = news.into_iter().filter_map(|new| {
        let old = olds.iter().find(|old| is_same(**old, new))?;
        Some((*old, new))
    });
    pairs
        .filter(|(old, new)| old.bundle().image != new.bundle().image)
        .collect()
}

/// Each bundle that the spec resolves to, or that OLM installs automatically, once.
fn named<'s>(audit: &Audit<'s>) -> Vec<Choice<'s>> {
    let mut named: Vec<Choice<'s>> = Vec::new();
    let resolved = audit.judgement.ruled.resolved();
    for choice in resolved.into_iter().chain(audit.moves()) {
        if !named.iter().any(|known| is_same(*known, choice)) {
            named.push(choice);
        }
    }
    named
}

/// Whether two lists name the same bundles in the same order.
pub(super) fn are_alike(one: &[Choice<'_>], other: &[Choice<'_>]) -> bool {
    let pairs = || one.iter().zip(other);
    one.len() == other.len() && pairs().all(|(one, other)| is_same(*one, *other))
}

/// Whether two choices are of one name and one version.
pub(super) fn is_same(one: Choice<'_>, other: Choice<'_>) -> bool {
    let (one, other) = (one.bundle(), other.bundle());
    let is_same_version = match (&one.version, &other.version) {
        (Ok(one), Ok(other)) => {
            one.cmp_precedence(other).is_eq() && one.version.build() == other.version.build()
        }
        (one, other) => one.is_err() && other.is_err(),
    };
    one.name == other.name && is_same_version
}
