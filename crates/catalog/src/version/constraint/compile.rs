//! From operators and operands to comparators over the version order.
//!
//! Mirrors `parseConstraint` and the `constraint…` functions of [`constraints.go`]. What an operator
//! means depends on how much of the operand is written ([`Form`]); the prerelease is kept in every
//! form, so `1.x-beta` starts at 1.0.0-beta.
//!
//! [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

use std::borrow::Cow;

use super::error::{ConstraintErrorKind, LocatedFault};
use super::group::{self, Operator, WrittenComparator};
use super::{GatedComparator, Group, Prereleases};
use crate::version::comparator::{Comparator, PatchLine};
use crate::version::fault::ExpectedPart;
use crate::version::interval::{Span, VersionCut};
use crate::version::masterminds::operand::ScannedVersion;
use crate::version::masterminds::{
    Masterminds, MastermindsErrorKind, MastermindsVersion, PrereleaseGate,
};
use crate::version::point::{Core, Point};

/// Reads and compiles the text between two double bars.
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

/// How much of an operand is written: everything up to the first wildcard or missing component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `*`
    Any,
    /// `1`, `1.x`
    Major,
    /// `1.2`, `1.2.x`
    Minor,
    /// `1.2.3`
    Full,
}

impl Form {
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

    /// The version that upstream has its parser read.
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
    let form = Form::of(&written.operand);
    let point = MastermindsVersion::parse(&form.base(&written.operand), release)
        .map_err(|error| operand_fault(written, error.kind()))?
        .into_point();
    let is_ungated = release.rules().gate == PrereleaseGate::Comparator
        && written.operator == Operator::NotEqual
        && form == Form::Full;
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

fn compile(operator: Operator, form: Form, point: Point) -> Comparator {
    let core = point.core;
    Comparator::Within(match operator {
        Operator::Equal if form == Form::Full => Span::exactly(point),
        Operator::Equal | Operator::Tilde => {
            Span::new(VersionCut::before(point), tilde_end(form, core))
        }
        Operator::Caret => Span::new(VersionCut::before(point), caret_end(form, core)),
        Operator::NotEqual => return not_equal(form, point),
        Operator::Greater => Span::above(end(form, point)),
        Operator::GreaterOrEqual => Span::above(VersionCut::before(point)),
        Operator::Less => Span::below(VersionCut::before(point)),
        Operator::LessOrEqual if form == Form::Any => {
            Span::below(VersionCut::after_minor(Core::ZERO))
        }
        Operator::LessOrEqual => Span::below(end(form, point)),
    })
}

/// Above everything that the operand stands for. `>*` is above 0.0.0, unlike `<=*`.
fn end(form: Form, point: Point) -> VersionCut {
    match form {
        Form::Any | Form::Full => VersionCut::after(point),
        Form::Major => VersionCut::after_major(point.core),
        Form::Minor => VersionCut::after_minor(point.core),
    }
}

/// `~0.0.0` has no end: upstream takes it for `~*`.
fn tilde_end(form: Form, core: Core) -> VersionCut {
    match form {
        Form::Any => VersionCut::Unlimited,
        Form::Full if core == Core::ZERO => VersionCut::Unlimited,
        Form::Major => VersionCut::after_major(core),
        Form::Minor | Form::Full => VersionCut::after_minor(core),
    }
}

/// Up to the next version that changes the first number that is not 0. `^*` is `^0.0.0`.
fn caret_end(form: Form, core: Core) -> VersionCut {
    if core.major > 0 || form == Form::Major {
        VersionCut::after_major(core)
    } else if core.minor > 0 || form == Form::Minor {
        VersionCut::after_minor(core)
    } else {
        VersionCut::after(Point::release(core))
    }
}

/// `!=1.2` lets a version of 1.2 pass whose prerelease differs from the operand's; `!=1` does not.
fn not_equal(form: Form, point: Point) -> Comparator {
    match form {
        Form::Any | Form::Full => Comparator::Outside(Span::exactly(point)),
        Form::Major => Comparator::Outside(Span::major(point.core)),
        Form::Minor => Comparator::Unlike(PatchLine {
            major: point.core.major,
            minor: point.core.minor,
            prerelease: point.prerelease,
        }),
    }
}
