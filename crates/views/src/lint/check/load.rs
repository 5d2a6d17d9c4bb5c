//! What cannot be read. Upstream: [`alpha/declcfg/load.go`] and [`alpha/declcfg/declcfg.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go

use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::view::View;
use crate::lint::words::{self, Words};
use crate::lint::written::{LoadFault, LoadFaultKind};
use olmguard_catalog::fbc::FbcErrorKind;

pub(super) fn check(view: &View<'_>, report: &mut Findings<'_>) {
    for fault in &view.written.faults {
        let file = view.written.files.get(fault.spot.file as usize);
        let (rule, words) = match &fault.what {
            LoadFaultKind::MissingSchema if view.written.is_imposed(fault.spot) => {
                (Rule::MissingSchema, words::missing_guardrail_schema())
            }
            _ => words(fault, file.map_or("", |file| file)),
        };
        report.say(rule, fault.spot, &fault.package, words);
    }
}

fn words(fault: &LoadFault, file: &str) -> (Rule, Words) {
    match &fault.what {
        LoadFaultKind::Syntax { malformed, hint } => (
            Rule::InvalidSyntax,
            words::syntax(malformed, hint.as_deref()),
        ),
        LoadFaultKind::NotAFile(fault) => (Rule::NotAFile, words::not_a_file(*fault, file)),
        LoadFaultKind::Tag { tag, value } => (Rule::YamlTag, words::yaml_tag(tag, value)),
        LoadFaultKind::NotAnObject(found) => (Rule::NotAnObject, words::not_an_object(*found)),
        LoadFaultKind::Meta(FbcErrorKind::NotAString { key, found }) => (
            Rule::LabelNotAString,
            words::label_not_a_string(key, *found),
        ),
        LoadFaultKind::Meta(FbcErrorKind::DuplicateKeys { folded, spellings }) => (
            Rule::DuplicateKeys,
            words::duplicate_keys(folded, spellings),
        ),
        LoadFaultKind::Meta(other) => (Rule::InvalidSyntax, words::syntax(other, None)),
        LoadFaultKind::Unfilable(malformed) => (Rule::UnfilableName, words::unfilable(malformed)),
        LoadFaultKind::MissingSchema => (Rule::MissingSchema, words::missing_schema()),
        LoadFaultKind::WrongType { schema, fault } => {
            (Rule::WrongType, words::wrong_type(schema, fault))
        }
        LoadFaultKind::Object {
            bundle,
            index,
            fault: reason,
        } => (
            Rule::UnreadableObject,
            words::unreadable_object(&fault.package, bundle, *index, reason),
        ),
    }
}
