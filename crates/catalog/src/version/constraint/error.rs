//! Why a constraint is refused.

use std::fmt;

use crate::version::fault::{ExpectedPart, Fault};
use crate::version::go;
use crate::version::masterminds::{ImproperText, Masterminds};

/// Why Masterminds refuses a constraint; printed in the words of its release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintError {
    kind: ConstraintErrorKind,
    fault: Fault,
    release: Masterminds,
}

impl ConstraintError {
    pub(super) fn new(kind: ConstraintErrorKind, fault: Fault, release: Masterminds) -> Self {
        Self {
            kind,
            fault,
            release,
        }
    }

    /// What is wrong.
    pub fn kind(&self) -> &ConstraintErrorKind {
        &self.kind
    }

    /// Where, in the text as typed.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// The same fault in the words of another release.
    #[must_use]
    pub fn worded_by(&self, release: Masterminds) -> Self {
        Self::new(self.kind.clone(), self.fault, release)
    }
}

impl fmt::Display for ConstraintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = self.release.rules();
        match &self.kind {
            ConstraintErrorKind::TooLong(most) => {
                write!(f, "constraint string is too long (max {most} bytes)")
            }
            ConstraintErrorKind::TooManyGroups(most) => {
                write!(f, "too many constraint groups (max {most})")
            }
            ConstraintErrorKind::Improper(group) => match rules.improper {
                ImproperText::AsWritten => write!(f, "improper constraint: {group}"),
                ImproperText::Quoted => write!(f, "improper constraint: {}", go::quote(group)),
            },
            ConstraintErrorKind::Operand => f.write_str(rules.texts.operand),
        }
    }
}

impl std::error::Error for ConstraintError {}

/// What Masterminds finds wrong with a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConstraintErrorKind {
    /// More bytes than this.
    TooLong(usize),
    /// More OR groups than this.
    TooManyGroups(usize),
    /// This group, as it reads once hyphen ranges are rewritten, is no list of comparators.
    Improper(Box<str>),
    /// An operand is no version.
    Operand,
}

/// A fault inside one group: what, and the byte offset in the group's text.
pub(super) struct LocatedFault {
    pub(super) kind: ConstraintErrorKind,
    pub(super) at: usize,
    pub(super) expected: ExpectedPart,
}
