//! Why a YAML document cannot be turned into JSON.

use granit_parser::ScanError;

use crate::fbc::error::FbcErrorKind;
use crate::yaml_scalar::ScalarError;

/// Why a document cannot be read, and where in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct YamlFault {
    /// Counted from 1, from the beginning of the document.
    pub(crate) line: u64,
    /// Counted from 1, in characters.
    pub(crate) column: u64,
    pub(crate) malformed: FbcErrorKind,
}

pub(super) fn scan_fault(fault: &ScanError) -> YamlFault {
    YamlFault {
        line: fault.marker().line() as u64,
        column: fault.marker().col() as u64 + 1,
        malformed: invalid(&fault.info()),
    }
}

pub(super) fn unreadable(fault: &ScalarError) -> FbcErrorKind {
    invalid(&fault.to_string())
}

pub(super) fn not_mergeable() -> FbcErrorKind {
    invalid("map merge requires map or sequence of maps as the value")
}

pub(super) fn invalid(reason: &str) -> FbcErrorKind {
    FbcErrorKind::Yaml {
        reason: reason.into(),
    }
}
