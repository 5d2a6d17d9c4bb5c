//! What cannot be read. Upstream: [`alpha/declcfg/load.go`] and [`alpha/declcfg/declcfg.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go

use std::collections::{BTreeMap, HashSet};

use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::view::View;
use crate::lint::words::{self, Words};
use crate::lint::written::{LoadFault, LoadFaultKind, Spot, WrittenCatalog};
use olmguard_catalog::fbc::FbcErrorKind;

pub(super) fn check(view: &View<'_>, report: &mut Findings<'_>) {
    let written = view.written;
    let own = files_with_blobs(written);
    let mut foreign = BTreeMap::<Rule, (Spot, Words, Vec<&str>)>::new();
    for fault in &written.faults {
        let (spot, file) = (fault.spot, written.file(fault.spot));
        let (rule, words) = match &fault.what {
            LoadFaultKind::MissingSchema if written.is_imposed(spot) => {
                (Rule::MissingSchema, words::missing_guardrail_schema())
            }
            _ => words(fault, file),
        };
        if own.contains(&spot.file) || !written.is_in_directory(spot) {
            report.say(rule, spot, &fault.package, words);
            continue;
        }
        let (_, _, files) = foreign.entry(rule).or_insert((spot, words, Vec::new()));
        if files.last() != Some(&file) {
            files.push(file);
        }
    }
    for (rule, (spot, words, files)) in foreign {
        report.say(rule, spot, "", words.of_foreign_files(&files));
    }
}

/// The files that are part of the catalog. The directory can be a whole repository: what is wrong with its other
/// files is one finding for each rule.
fn files_with_blobs(written: &WrittenCatalog) -> HashSet<u32> {
    let packages = written.packages.iter().map(|blob| blob.spot.file);
    let channels = written.channels.iter().map(|blob| blob.spot.file);
    let bundles = written.bundles.iter().map(|blob| blob.spot.file);
    let deprecations = written.deprecations.iter().map(|blob| blob.spot.file);
    let guardrails = written.guardrails.iter().map(|blob| blob.spot.file);
    let others = written.others.iter().map(|blob| blob.spot.file);
    let unread = written.unread.iter().filter(|blob| !blob.schema.is_empty());
    let first = packages.chain(channels).chain(bundles).chain(deprecations);
    let rest = guardrails.chain(others).chain(unread.map(|blob| blob.file));
    first.chain(rest).collect()
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
