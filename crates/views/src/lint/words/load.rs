//! About what cannot be read.

use super::{Words, names, q};
use olmguard_catalog::blob::{Fault, JsonKind};
use olmguard_catalog::fbc::{FbcErrorKind, FileKind, NotAFile};
use olmguard_catalog::guardrail;
use olmguard_catalog::version::go::one_line;

pub(in crate::lint) fn syntax(malformed: &FbcErrorKind, hint: Option<&str>) -> Words {
    let hint = match hint {
        Some(line) => format!(
            "; a value that starts with \">\" is a block of text in YAML: write {} with quotes \
             around the value",
            q(line)
        ),
        None => String::new(),
    };
    Words::own(format!("{}{hint}", one_line(&malformed.to_string())))
}

impl Words {
    /// The same of the first of some files in which there is nothing of a catalog.
    pub(in crate::lint) fn of_foreign_files(self, files: &[&str]) -> Self {
        if files.len() == 1 && self.message.contains(".indexignore") {
            return self;
        }
        let reason = self.message.split("; ").next().unwrap_or_default();
        let all = names(files.iter().copied());
        let foreign = match files.len() {
            1 => format!("{all} contains no blob of a catalog: list it in .indexignore"),
            count => format!(
                "{count} files contain no blob of a catalog: {all}; list them in .indexignore"
            ),
        };
        Self {
            message: format!("{reason}; {foreign}"),
            upstream: self.upstream,
        }
    }
}

/// What is in the directory and is not a file. Go's walk hands a link to a directory to the code that reads
/// files; with a pipe, opm waits for its end.
pub(in crate::lint) fn not_a_file(fault: NotAFile, path: &str) -> Words {
    match fault.0 {
        FileKind::LinkToFolder => {
            Words::with(fault.to_string(), format!("read {path}: is a directory"))
        }
        FileKind::LinkToOther | FileKind::Special => Words::own(fault.to_string()),
    }
}

pub(in crate::lint) fn yaml_tag(tag: &str, value: &str) -> Words {
    let left = match value {
        "" => "which is empty without it".to_owned(),
        value => format!("which is {} without it", q(value)),
    };
    Words::own(format!(
        "{} is a YAML tag and not part of the value, {left}; put the whole value in quotes",
        q(tag)
    ))
}

pub(in crate::lint) fn not_an_object(found: JsonKind) -> Words {
    let message = format!("expected an object with schema, package and name, found {found}");
    match found {
        // Null is an object without a key to opm; an empty document is null.
        JsonKind::Null => Words::with(
            format!(
                "{message}: the document is empty, or contains only comments; remove the \"---\" next to it"
            ),
            "object '' is missing root schema field".to_owned(),
        ),
        _ => Words::own(format!("{message}; remove the document")),
    }
}

pub(in crate::lint) fn label_not_a_string(key: &str, found: JsonKind) -> Words {
    let key = q(key);
    Words::with(
        format!("the value of {key} is {found}: expected a string; put it in quotes"),
        format!("expected value for key {key} to be a string, got "),
    )
}

pub(in crate::lint) fn duplicate_keys(folded: &str, spellings: &[Box<str>]) -> Words {
    let folded = q(folded);
    let all = spellings.join(" ");
    Words::with(
        format!(
            "the blob has the key {folded} more than once: {}; keep one",
            names(spellings.iter().map(|s| &**s))
        ),
        format!("duplicate keys for key {folded}: [{all}]"),
    )
}

pub(in crate::lint) fn unfilable(malformed: &FbcErrorKind) -> Words {
    Words::own(format!(
        "{}, so OLM v1 serves nothing from the catalog",
        one_line(&malformed.to_string())
    ))
}

/// Of a file of guardrails, which is no part of a catalog.
pub(in crate::lint) fn missing_guardrail_schema() -> Words {
    Words::own(format!(
        "the document has no schema: write schema: {}; for an UpgradeGuardrails object, use --policy",
        guardrail::SCHEMA
    ))
}

pub(in crate::lint) fn missing_schema() -> Words {
    Words::with(
        "the blob has no schema: expected a string such as \"olm.bundle\"".to_owned(),
        "is missing root schema field".to_owned(),
    )
}

pub(in crate::lint) fn wrong_type(schema: &str, fault: &Fault) -> Words {
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

pub(in crate::lint) fn unreadable_object(
    package: &str,
    bundle: &str,
    index: usize,
    fault: &Fault,
) -> Words {
    let (package, quoted) = (q(package), q(bundle));
    let upstream = match fault {
        Fault::ObjectData { .. } => {
            format!("convert bundle object property at index {index} to JSON: ")
        }
        _ => format!("parse property at index {index} as bundle object: "),
    };
    Words::with(
        format!(
            "bundle {quoted}: properties[{index}].{}",
            one_line(&fault.to_string())
        ),
        format!("read bundle objects: package {package}, bundle {quoted}: {upstream}"),
    )
}
