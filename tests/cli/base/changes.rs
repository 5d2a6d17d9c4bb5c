//! Every kind of change, in one repository and alone, in each format.

use serde_json::Value;

use super::repository::{CATALOG, Repository, removed};
use super::table::{Change, Said, changes};

/// Returns a repository with these changes in its work tree. Its only commit has the state before.
pub(crate) fn changed<'c>(changes: impl IntoIterator<Item = &'c Change> + Clone) -> Repository {
    let repository = Repository::new();
    repository.write(&[("README.md", "# apps\n")]);
    write(&repository, changes.clone(), |change| &change.before);
    repository.commit();
    for change in changes.clone() {
        for (file, _) in &change.before {
            repository.remove(file);
        }
    }
    repository.write(&[("apps/none.yaml", "")]);
    write(&repository, changes, |change| &change.after);
    repository
}

fn write<'c>(
    repository: &Repository,
    changes: impl IntoIterator<Item = &'c Change>,
    files: impl Fn(&'c Change) -> &'c Vec<(String, String)>,
) {
    for change in changes {
        for (file, text) in files(change) {
            repository.write(&[(file, text)]);
        }
    }
}

impl Said {
    fn results(&self) -> &'static [&'static str] {
        match self {
            Self::Results(results) | Self::Removed(_, results) => results,
            Self::Unchanged | Self::Skipped | Self::Unread => &[],
        }
    }

    /// Returns the exit code of a run with only this change.
    fn code(&self) -> i32 {
        let denies = |result: &&str| result.contains(" deny ");
        match self {
            Self::Unread => 3,
            _ => i32::from(self.results().iter().any(denies)),
        }
    }
}

/// Returns `NAME CHANGE VERDICT TOKEN` of each result, sorted.
fn results(report: &Value) -> Vec<String> {
    let results = report["results"].as_array().expect("a list").iter();
    let said = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut lines: Vec<_> = results
        .map(|result| {
            let change = said(&result["base"]["change"]);
            let (name, verdict) = (said(&result["name"]), said(&result["verdict"]));
            format!("{name} {change} {verdict} {}", said(&result["token"]))
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn each_change_has_its_verdict_by_itself() {
    for change in changes() {
        let repository = changed([&change]);
        let (code, report) = repository.json("HEAD", &[]);
        let name = change.name;
        assert_eq!(results(&report), change.said.results(), "{name}: {report}");
        assert_eq!(code, change.said.code(), "{name}: {report}");
        let gone = match change.said {
            Said::Removed(gone, _) => vec![gone],
            _ => Vec::new(),
        };
        assert_eq!(removed(&report, "name"), gone, "{name}: {report}");
        let unchanged = &report["summary"]["unchanged"];
        let is_unchanged = matches!(change.said, Said::Unchanged);
        assert_eq!(*unchanged != 0, is_unchanged, "{name}: {report}");
        let is_skipped = matches!(change.said, Said::Skipped);
        assert_eq!(report["skipped"].is_array(), is_skipped, "{name}: {report}");
    }
}

#[test]
fn all_changes_have_their_verdicts_in_one_repository() {
    let changes = changes();
    let repository = changed(&changes);
    let (code, report) = repository.json("main", &[]);
    let said = changes.iter().flat_map(|change| change.said.results());
    let mut said: Vec<_> = said.copied().collect();
    said.sort_unstable();
    assert_eq!(
        (code, results(&report)),
        (3, said.iter().map(|s| (*s).to_owned()).collect())
    );
    assert_eq!(
        removed(&report, "name"),
        ["deletion", "rename-old", "split"]
    );
    assert_eq!(report["summary"]["unchanged"], 6);
    assert_eq!(report["summary"]["removed"], 3);
    assert_eq!(report["summary"]["skipped"], 1);
    let base = &report["base"];
    assert_eq!(base["revision"], "main");
    assert_eq!(
        base["commit"],
        Value::from(repository.git(&["rev-parse", "main"]))
    );
}

#[test]
fn the_text_ends_with_how_many_of_each() {
    let repository = changed(&changes());
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=main"]);
    let summary = "7 denied, 11 allowed, 3 not judged; 6 unchanged; 3 removed; 1 template skipped";
    assert_eq!(ran.stdout.lines().last(), Some(summary), "{}", ran.stdout);
    let words = "error: apps/conflict.yaml:11:1: found the conflict marker \"<<<<<<<\"";
    assert!(ran.stderr.starts_with(words), "{}", ran.stderr);
    let line = "apps/template.yaml:11:16: skipped\n  a template; ";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
}
