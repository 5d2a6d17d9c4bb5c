//! `.pre-commit-hooks.yaml`, as pre-commit reads a hook: it runs if the name of a changed file matches.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use super::repository::{Ran, Repository, read, repositories};

fn hook() -> Value {
    let mut documents = read(".pre-commit-hooks.yaml");
    let hooks = documents.remove(0);
    let hook = hooks[0].clone();
    assert_eq!(
        (documents.len(), hook["id"].as_str()),
        (0, Some("olmguard-check"))
    );
    hook
}

/// Runs the hook for these changed files, with the user's arguments in place of its own. Returns `None` if no file
/// matches.
pub(crate) fn run(
    repository: &Repository,
    changed: &[&str],
    arguments: Option<&[&str]>,
) -> Option<Ran> {
    let hook = hook();
    let pattern = hook["files"].as_str().expect("a pattern");
    changed
        .iter()
        .any(|file| fits(repository, pattern, file))
        .then(|| {
            let mut entry = hook["entry"].as_str().expect("an entry").split(' ');
            let mut command = repository.command(entry.next().expect("a program"));
            command.args(entry);
            let own = hook["args"].as_array().expect("arguments").iter();
            let own: Vec<_> = own.map(|word| word.as_str().expect("a text")).collect();
            command.args(arguments.unwrap_or(&own));
            assert_eq!(hook["pass_filenames"], false, "else the files follow");
            Ran::of(&mut command)
        })
}

/// Matches the pattern, which is one of Python. Extended patterns of grep have the same meaning for it.
fn fits(repository: &Repository, pattern: &str, file: &str) -> bool {
    let mut grep = repository.command("grep");
    let grep = grep.args(["-qE", pattern]).stdin(Stdio::piped()).spawn();
    let mut grep = grep.expect("grep");
    let mut stdin = grep.stdin.take().expect("it is piped");
    writeln!(stdin, "{file}").expect("it reads");
    drop(stdin);
    grep.wait().expect("it ends").success()
}

const CATALOG: &str = "--catalog=hub=hub.yaml";

#[test]
fn it_ends_as_the_check_ends() {
    for (repository, code) in repositories() {
        let arguments = ["--filename=apps", CATALOG];
        let ran = run(
            &repository,
            &["README.md", "apps/lantern.yaml"],
            Some(&arguments),
        );
        let ran = ran.expect("a manifest was changed");
        assert_eq!(ran.code, Some(code), "{ran:?}");
    }
}

#[test]
fn it_runs_for_manifests_alone() {
    let (repository, _) = &repositories()[0];
    for (file, is_one) in [
        ("a.yaml", true),
        ("a/b.yml", true),
        ("a.json", true),
        ("a.yaml.md", false),
        ("yaml", false),
    ] {
        assert_eq!(
            run(repository, &[file], Some(&["--help"])).is_some(),
            is_one,
            "{file}"
        );
    }
}

/// Without arguments of the user, the whole repository is read. No catalog is known then.
#[test]
fn its_own_arguments_read_the_whole_repository() {
    let (repository, _) = &repositories()[0];
    let ran = run(repository, &["hub.yaml"], None).expect("a manifest was changed");
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("apps/lantern.yaml:"), "{ran:?}");
}
