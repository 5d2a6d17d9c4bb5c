//! Rules about files and blobs that cannot be read, and about input that is too large to be checked.
//!
//! Upstream: [`alpha/declcfg/load.go`] and [`alpha/declcfg/declcfg.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go

use std::collections::HashSet;

use crate::lint::Rule;
use crate::lint::check::{Check, FaultCheck};
use crate::lint::finding::{Report, Words};
use crate::lint::rule::{RuleItem, rule};
use crate::lint::words::{names, q};
use crate::lint::written::{LoadFaultKind, WrittenCatalog};
use olmguard_catalog::blob::{Fault, JsonKind};
use olmguard_catalog::fbc::{FbcErrorKind, FileKind, NotAFile};
use olmguard_catalog::guardrail;
use olmguard_catalog::version::go::one_line;

pub(super) const INVALID_SYNTAX: RuleItem =
    rule!("invalid-syntax", Load, Error).on(Check::Fault(|fault| match &fault.what {
        LoadFaultKind::Syntax { malformed, hint } => Some(syntax(malformed, hint.as_deref())),
        // Labels that are not strings and duplicate keys have other rules.
        LoadFaultKind::Meta(
            FbcErrorKind::NotAString { .. } | FbcErrorKind::DuplicateKeys { .. },
        ) => None,
        LoadFaultKind::Meta(malformed) => Some(syntax(malformed, None)),
        _ => None,
    }));

fn syntax(malformed: &FbcErrorKind, hint: Option<&str>) -> Words {
    let hint = match hint {
        Some(line) => format!(
            "; a value that starts with \">\" is a block of text in YAML: write {} with quotes \
             around the value",
            q(line)
        ),
        None => String::new(),
    };
    format!("{}{hint}", one_line(&malformed.to_string())).into()
}

pub(super) const NOT_A_FILE: RuleItem =
    rule!("not-a-file", Load, Error).on(Check::Fault(|fault| match &fault.what {
        LoadFaultKind::NotAFile(found) => Some(not_a_file(*found, fault.file)),
        _ => None,
    }));

/// Reports an item that is not a file. Go reads a link to a directory as a file, and opm waits for the end of a pipe.
fn not_a_file(fault: NotAFile, path: &str) -> Words {
    match fault.0 {
        FileKind::LinkToFolder => {
            Words::with(fault.to_string(), format!("read {path}: is a directory"))
        }
        FileKind::LinkToOther | FileKind::Special => fault.to_string().into(),
    }
}

pub(super) const NOT_AN_OBJECT: RuleItem =
    rule!("not-an-object", Load, Error).on(Check::Fault(|fault| match &fault.what {
        LoadFaultKind::NotAnObject(found) => Some(not_an_object(*found)),
        _ => None,
    }));

fn not_an_object(found: JsonKind) -> Words {
    let message = format!("expected an object with schema, package and name, found {found}");
    match found {
        // To opm, null is an object without keys, and an empty document is null.
        JsonKind::Null => Words::with(
            format!(
                "{message}: the document is empty, or contains only comments; remove the \"---\" \
                 next to it"
            ),
            "object '' is missing root schema field".to_owned(),
        ),
        _ => format!("{message}; remove the document").into(),
    }
}

pub(super) const MISSING_SCHEMA: RuleItem =
    rule!("missing-schema", Load, Error).on(Check::Fault(|fault| match &fault.what {
        LoadFaultKind::MissingSchema => Some(missing_schema(fault.is_imposed)),
        _ => None,
    }));

/// Reports a blob without a schema. A file of guardrails is not part of a catalog, so it has another message.
fn missing_schema(is_imposed: bool) -> Words {
    if is_imposed {
        return format!(
            "the document has no schema: write schema: {}; for an UpgradeGuardrails object, use \
             --policy",
            guardrail::SCHEMA
        )
        .into();
    }
    Words::with(
        "the blob has no schema: expected a string such as \"olm.bundle\"".to_owned(),
        "is missing root schema field".to_owned(),
    )
}

pub(super) const LABEL_NOT_A_STRING: RuleItem =
    rule!("label-not-a-string", Load, Error).on(Check::Fault(|fault| {
        let LoadFaultKind::Meta(FbcErrorKind::NotAString { key, found }) = &fault.what else {
            return None;
        };
        let key = q(key);
        Some(Words::with(
            format!("the value of {key} is {found}: expected a string; put it in quotes"),
            format!("expected value for key {key} to be a string, got "),
        ))
    }));

pub(super) const DUPLICATE_KEYS: RuleItem =
    rule!("duplicate-keys", Load, Error).on(Check::Fault(|fault| {
        let LoadFaultKind::Meta(FbcErrorKind::DuplicateKeys { folded, spellings }) = &fault.what
        else {
            return None;
        };
        let folded = q(folded);
        Some(Words::with(
            format!(
                "the blob has the key {folded} more than once: {}; keep one",
                names(spellings.iter().map(|spelling| &**spelling))
            ),
            format!("duplicate keys for key {folded}: [{}]", spellings.join(" ")),
        ))
    }));

pub(super) const WRONG_TYPE: RuleItem =
    rule!("wrong-type", Load, Error).on(Check::Fault(|fault| match &fault.what {
        LoadFaultKind::WrongType { schema, fault } => Some(wrong_type(schema, fault)),
        _ => None,
    }));

fn wrong_type(schema: &str, fault: &Fault) -> Words {
    let (what, article) = match schema {
        "olm.package" => ("package", "an olm.package"),
        "olm.channel" => ("channel", "an olm.channel"),
        "olm.bundle" => ("bundle", "an olm.bundle"),
        _ => ("deprecation", "an olm.deprecations"),
    };
    Words::with(
        format!("{} in {article}", one_line(&fault.to_string())),
        format!("parse {what}: "),
    )
}

pub(super) const UNREADABLE_OBJECT: RuleItem =
    rule!("unreadable-object", Load, Error).on(Check::Fault(|fault| {
        let LoadFaultKind::Object {
            bundle,
            index,
            fault: reason,
        } = &fault.what
        else {
            return None;
        };
        let (package, bundle) = (q(fault.package), q(bundle));
        let upstream = match reason {
            Fault::ObjectData { .. } => {
                format!("convert bundle object property at index {index} to JSON: ")
            }
            _ => format!("parse property at index {index} as bundle object: "),
        };
        let reason = one_line(&reason.to_string());
        Some(Words::with(
            format!("bundle {bundle}: properties[{index}].{reason}"),
            format!("read bundle objects: package {package}, bundle {bundle}: {upstream}"),
        ))
    }));

pub(super) const YAML_TAG: RuleItem = rule!("yaml-tag", Users, Warning).on(Check::Fault(|fault| {
    let LoadFaultKind::Tag { tag, value } = &fault.what else {
        return None;
    };
    let left = match &**value {
        "" => "which is empty without it".to_owned(),
        value => format!("which is {} without it", q(value)),
    };
    let tag = q(tag);
    let message = format!(
        "{tag} is a YAML tag and not part of the value, {left}; put the whole value in quotes"
    );
    Some(message.into())
}));

pub(super) const UNFILABLE_NAME: RuleItem =
    rule!("unfilable-name", Users, Error).on(Check::Fault(|fault| match &fault.what {
        LoadFaultKind::Unfilable(malformed) => {
            let why = one_line(&malformed.to_string());
            Some(format!("{why}, so OLM v1 serves nothing from the catalog").into())
        }
        _ => None,
    }));

/// Reports the faults that one rule is about. The directory can be a whole repository, so the faults of files
/// without a blob are a single finding.
pub(in crate::lint) fn report_faults(
    written: &WrittenCatalog,
    sentence: fn(&FaultCheck<'_>) -> Option<Words>,
    report: &mut Report<'_, '_>,
) {
    let own = files_with_blobs(written);
    let mut foreign = None;
    for fault in &written.faults {
        let (spot, file) = (fault.spot, written.file(fault.spot));
        let read = FaultCheck {
            what: &fault.what,
            package: &fault.package,
            file,
            is_imposed: written.is_imposed(spot),
        };
        let Some(words) = sentence(&read) else {
            continue;
        };
        if own.contains(&spot.file) || !written.is_in_directory(spot) {
            report.of(&fault.package).say(spot, words);
            continue;
        }
        let (_, _, files) = foreign.get_or_insert((spot, words, Vec::new()));
        if files.last() != Some(&file) {
            files.push(file);
        }
    }
    if let Some((spot, words, files)) = foreign {
        report.say(spot, of_foreign_files(words, &files));
    }
}

/// Turns the sentence about the first file without a blob into one about all of them.
fn of_foreign_files(words: Words, files: &[&str]) -> Words {
    if files.len() == 1 && words.message.contains(".indexignore") {
        return words;
    }
    let reason = words.message.split("; ").next().unwrap_or_default();
    let all = names(files.iter().copied());
    let foreign = match files.len() {
        1 => format!("{all} contains no blob of a catalog: list it in .indexignore"),
        count => {
            format!("{count} files contain no blob of a catalog: {all}; list them in .indexignore")
        }
    };
    Words {
        message: format!("{reason}; {foreign}"),
        upstream: words.upstream,
    }
}

/// Returns the files that are part of the catalog.
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

// === Omissions: what lint does not check or report, because it is larger than in any real catalog ===
//
// Omissions are findings, so that a missing finding does not look like a passed check.

/// A check or findings that are omitted.
#[derive(Clone, Copy, Debug)]
pub(in crate::lint) enum Omission {
    /// The steps of the ranges of a package.
    Ranges,
    /// The paths to the channel heads of a package.
    Paths,
    /// The cycles of a package beyond this number of edges.
    Cycles(usize),
    /// The guardrails of a package, because the package itself is too large.
    GuardedSteps,
    /// The guardrails of a package, because earlier packages used up the limit.
    GuardedPackage,
    /// Findings of a rule beyond the limit, with their number.
    Findings(Rule, usize),
}

pub(super) const LINT_LIMIT: RuleItem =
    rule!("lint-limit", Users, Warning).on(Check::Omission(sentence));

fn sentence(omission: Omission, package: &str) -> String {
    let package = q(package);
    match omission {
        Omission::Ranges => format!(
            "package {package} has too many skipRanges and versions to compare them all: lint does \
             not check what the ranges match, which versions are cut off or stranded, or which \
             deprecations have no replacement"
        ),
        Omission::Paths => format!(
            "package {package} has too many channels and edges to follow every upgrade path: lint \
             does not check which versions are cut off"
        ),
        Omission::Cycles(followed) => format!(
            "package {package} has more than {followed} edges that do not go to a higher version: \
             lint does not check whether the others form a cycle"
        ),
        Omission::GuardedSteps => format!(
            "package {package} has too many edges and guardrails to compare them all: lint does \
             not check what its guardrails forbid"
        ),
        Omission::GuardedPackage => format!(
            "the catalog has too many edges and guardrails to compare them all: lint does not \
             check what the guardrails of package {package} forbid"
        ),
        Omission::Findings(rule, left_out) => format!(
            "{left_out} more findings of {rule} are not shown from here on; fix the ones above \
             first"
        ),
    }
}
