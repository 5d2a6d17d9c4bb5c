//! Compiles operators and operands to comparators over the version order.
//!
//! Mirrors `parseConstraint` and the `constraint…` functions of [`constraints.go`]. The meaning of
//! an operator depends on the form of its operand ([`OperandForm`]). Every form keeps the
//! prerelease, so `1.x-beta` starts at 1.0.0-beta.
//!
//! [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

use std::borrow::Cow;

use crate::version::comparator::{Comparator, Core, PatchLine, Span, VersionCut, VersionPoint};
use crate::version::constraint::{
    ConstraintErrorKind, GatedComparator, Group, LocatedFault, Operator, Prereleases,
    WrittenComparator, operand,
};
use crate::version::masterminds::{
    Masterminds, MastermindsErrorKind, MastermindsVersion, PrereleaseGate, ScannedVersion,
};
use crate::version::{ExpectedPart, RangeCursor, RangeFault, constraint as group};

/// Reads and compiles the text between two `||`.
pub(super) fn group(text: &str, release: Masterminds) -> Result<Group, LocatedFault> {
    let written = group::read(text).map_err(|(at, expected)| LocatedFault {
        kind: ConstraintErrorKind::Improper(text.into()),
        at,
        expected,
    })?;
    let mut gated = Vec::with_capacity(written.len());
    for written in &written {
        gated.push(comparator(written, release)?);
    }
    let is_open = gated
        .iter()
        .any(|gated| gated.prereleases == Prereleases::Admitted);
    if is_open && release.rules().gate == PrereleaseGate::Group {
        for gated in &mut gated {
            gated.prereleases = Prereleases::Admitted;
        }
    }
    Ok(Group(gated.into()))
}

/// The form of an operand: the components before the first wildcard or missing component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandForm {
    /// `*`
    Any,
    /// `1`, `1.x`
    Major,
    /// `1.2`, `1.2.x`
    Minor,
    /// `1.2.3`
    Full,
}

impl OperandForm {
    fn of(operand: &ScannedVersion<'_>) -> Self {
        let is_open = |component: Option<&str>| component.is_none_or(is_wildcard);
        if is_wildcard(operand.major) {
            Self::Any
        } else if is_open(operand.minor) {
            Self::Major
        } else if is_open(operand.patch) {
            Self::Minor
        } else {
            Self::Full
        }
    }

    /// The version that upstream passes to its parser.
    fn base<'t>(self, operand: &ScannedVersion<'t>) -> Cow<'t, str> {
        let minor = operand.minor.unwrap_or_default();
        let numbers = match self {
            Self::Any => "0.0.0".to_owned(),
            Self::Major => format!("{}.0.0", operand.major),
            Self::Minor => format!("{}.{minor}.0", operand.major),
            Self::Full => return Cow::Borrowed(operand.text),
        };
        Cow::Owned(match operand.prerelease {
            None => numbers,
            Some(prerelease) => format!("{numbers}-{prerelease}"),
        })
    }
}

fn is_wildcard(component: &str) -> bool {
    matches!(component, "x" | "X" | "*")
}

fn comparator(
    written: &WrittenComparator<'_>,
    release: Masterminds,
) -> Result<GatedComparator, LocatedFault> {
    let form = OperandForm::of(&written.operand);
    let point = MastermindsVersion::parse(&form.base(&written.operand), release)
        .map_err(|error| operand_fault(written, error.kind()))?
        .into_point();
    let is_ungated = release.rules().gate == PrereleaseGate::Comparator
        && written.operator == Operator::NotEqual
        && form == OperandForm::Full;
    let prereleases = if is_ungated || !point.prerelease.is_none() {
        Prereleases::Admitted
    } else {
        Prereleases::Refused
    };
    Ok(GatedComparator {
        comparator: compile(written.operator, form, point),
        prereleases,
    })
}

fn operand_fault(written: &WrittenComparator<'_>, kind: &MastermindsErrorKind) -> LocatedFault {
    let is_zero = *kind == MastermindsErrorKind::LeadingZero;
    let zero = written.operand.leading_zero().filter(|_| is_zero);
    let (at, expected) = match zero {
        Some(zero) => (written.at + zero, ExpectedPart::NoLeadingZero),
        None => (written.at, ExpectedPart::Version),
    };
    LocatedFault {
        kind: ConstraintErrorKind::Operand,
        at,
        expected,
    }
}

fn compile(operator: Operator, form: OperandForm, point: VersionPoint) -> Comparator {
    let core = point.core;
    Comparator::Within(match operator {
        Operator::Equal if form == OperandForm::Full => Span::exactly(point),
        Operator::Equal | Operator::Tilde => {
            Span::new(VersionCut::before(point), tilde_end(form, core))
        }
        Operator::Caret => Span::new(VersionCut::before(point), caret_end(form, core)),
        Operator::NotEqual => return not_equal(form, point),
        Operator::Greater => Span::above(end(form, point)),
        Operator::GreaterOrEqual => Span::above(VersionCut::before(point)),
        Operator::Less => Span::below(VersionCut::before(point)),
        Operator::LessOrEqual if form == OperandForm::Any => {
            Span::below(VersionCut::after_minor(Core::ZERO))
        }
        Operator::LessOrEqual => Span::below(end(form, point)),
    })
}

/// The cut above all versions that the operand matches. `>*` is above 0.0.0, unlike `<=*`.
fn end(form: OperandForm, point: VersionPoint) -> VersionCut {
    match form {
        OperandForm::Any | OperandForm::Full => VersionCut::after(point),
        OperandForm::Major => VersionCut::after_major(point.core),
        OperandForm::Minor => VersionCut::after_minor(point.core),
    }
}

/// The upper end of `~`. `~0.0.0` has no end, because upstream treats it as `~*`.
fn tilde_end(form: OperandForm, core: Core) -> VersionCut {
    match form {
        OperandForm::Any => VersionCut::Unlimited,
        OperandForm::Full if core == Core::ZERO => VersionCut::Unlimited,
        OperandForm::Major => VersionCut::after_major(core),
        OperandForm::Minor | OperandForm::Full => VersionCut::after_minor(core),
    }
}

/// The upper end of `^`: before the next version that changes the first number other than 0. `^*`
/// is `^0.0.0`.
fn caret_end(form: OperandForm, core: Core) -> VersionCut {
    if core.major > 0 || form == OperandForm::Major {
        VersionCut::after_major(core)
    } else if core.minor > 0 || form == OperandForm::Minor {
        VersionCut::after_minor(core)
    } else {
        VersionCut::after(VersionPoint::release(core))
    }
}

/// Compiles `!=`. `!=1.2` admits versions of 1.2 whose prerelease differs from the operand's; `!=1`
/// does not.
fn not_equal(form: OperandForm, point: VersionPoint) -> Comparator {
    match form {
        OperandForm::Any | OperandForm::Full => Comparator::Outside(Span::exactly(point)),
        OperandForm::Major => Comparator::Outside(Span::major(point.core)),
        OperandForm::Minor => Comparator::Unlike(PatchLine {
            major: point.core.major,
            minor: point.core.minor,
            prerelease: point.prerelease,
        }),
    }
}

// === Hyphen ranges: `1.2 - 2.3` is rewritten to `>= 1.2, <= 2.3 ` before the rest is read ===
//
// Mirrors `rewriteRange` ([`constraints.go`]), which works on the raw text. It first finds all
// matches. Then it replaces, for each match, the *first occurrence* of the matched text in the
// constraint as rewritten so far, wherever that is. So `1 - 2<3` works, and `1 - 2||3 - 4` does
// not.
//
// [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

/// A constraint after its hyphen ranges were rewritten.
pub(super) struct RewrittenConstraint<'t> {
    typed: &'t str,
    pub(super) text: Cow<'t, str>,
    extent: Option<OperandExtent>,
}

/// The part of the text as typed that has hyphen ranges, in bytes.
#[derive(Clone, Copy)]
struct OperandExtent {
    start: usize,
    end: usize,
    /// The hyphen of the first range.
    hyphen: usize,
}

impl<'t> RewrittenConstraint<'t> {
    pub(super) fn of(typed: &'t str) -> Self {
        let ranges = ranges(typed);
        let extent = ranges
            .first()
            .zip(ranges.last())
            .map(|(first, last)| OperandExtent {
                start: first.start,
                end: last.start + last.text.len(),
                hyphen: first.hyphen,
            });
        let text = ranges.iter().fold(Cow::Borrowed(typed), |text, range| {
            text.replacen(
                range.text,
                &format!(">= {}, <= {} ", range.from, range.to),
                1,
            )
            .into()
        });
        Self {
            typed,
            text,
            extent,
        }
    }

    /// Maps byte `at` of the rewritten text to a fault in the text as typed.
    ///
    /// The two texts can be equal before the first range and after the last one. Otherwise the
    /// fault is attributed to the first hyphen.
    pub(super) fn fault(&self, at: usize, expected: ExpectedPart) -> RangeFault {
        let Some(OperandExtent { start, end, hyphen }) = self.extent else {
            return RangeFault::new(self.typed, at, expected);
        };
        let (before, behind) = self.text.split_at_checked(at).unwrap_or((&self.text, ""));
        if at < start && self.typed.starts_with(before) {
            return RangeFault::new(self.typed, at, expected);
        }
        match self.typed.len().checked_sub(behind.len()) {
            Some(at) if at >= end && self.typed.ends_with(behind) => {
                RangeFault::new(self.typed, at, expected)
            }
            _ => RangeFault::new(self.typed, hyphen, ExpectedPart::HyphenRange),
        }
    }
}

/// A hyphen range with the white space around it.
struct HyphenRange<'t> {
    start: usize,
    text: &'t str,
    from: &'t str,
    to: &'t str,
    hyphen: usize,
}

fn ranges(text: &str) -> Vec<HyphenRange<'_>> {
    let mut ranges = Vec::new();
    // A cheap test that suffices for nearly every constraint.
    if !text.contains('-') {
        return ranges;
    }
    let mut start = 0;
    while start < text.len() {
        let mut cursor = RangeCursor::starting(text, start);
        if let Some(range) = range(&mut cursor) {
            ranges.push(range);
            start = cursor.at();
        } else {
            start += 1;
        }
    }
    ranges
}

fn range<'t>(cursor: &mut RangeCursor<'t>) -> Option<HyphenRange<'t>> {
    let start = cursor.at();
    cursor.eat_blanks();
    let from = operand(cursor)?.text;
    let before = cursor.eat_blanks();
    let hyphen = cursor.at();
    let is_hyphen = cursor.eat("-");
    if before == 0 || !is_hyphen || cursor.eat_blanks() == 0 {
        return None;
    }
    let to = operand(cursor)?.text;
    cursor.eat_blanks();
    Some(HyphenRange {
        start,
        text: cursor.since(start),
        from,
        to,
        hyphen,
    })
}
