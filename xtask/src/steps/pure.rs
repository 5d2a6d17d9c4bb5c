//! Checks that the pure crates stay pure: no crate that does I/O is among their dependencies.
//! `tests/pages/layering.rs` checks the sources.

use std::collections::BTreeSet;

use super::StepError;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let tree =
        Program::cargo("tree --package olmguard-views --edges normal --prefix none --format {p}");
    let names = tree.output()?;
    let names = crate_names(&names);
    let crates = impure(&names);
    if !crates.is_empty() {
        return Err(StepError::ImpureDependencies { crates });
    }
    let (count, none_of) = (names.len(), IMPURE.join(", "));
    report.notes.push(format!(
        "the pure part is {count} crates; none is of {none_of}"
    ));
    Ok(())
}

/// The names in lines of the form `NAME vVERSION ...`.
fn crate_names(tree: &str) -> BTreeSet<&str> {
    tree.lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

/// The crates of one of the families. For example, `kube-client` is in the family `kube`.
fn impure(names: &BTreeSet<&str>) -> Vec<String> {
    let is_of = |name: &str, family: &str| {
        let rest = name.strip_prefix(family);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
    };
    names
        .iter()
        .filter(|name| IMPURE.iter().any(|family| is_of(name, family)))
        .map(|name| (*name).to_owned())
        .collect()
}

const IMPURE: [&str; 8] = [
    "anyhow", "clap", "hyper", "kube", "mio", "rustls", "socket2", "tokio",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_whole_families_and_nothing_else() {
        let tree = "olmguard v0.1.0 (/x)\nkube-client v5.0.0\nserde v1.0.0 (*)\nkubert v1.0.0\n\
                    tokio v1.0.0\nclap_lex v1.0.0\nserde v1.0.0\n";
        let names = crate_names(tree);
        assert_eq!(names.len(), 6);
        assert_eq!(impure(&names), ["clap_lex", "kube-client", "tokio"]);
    }
}
