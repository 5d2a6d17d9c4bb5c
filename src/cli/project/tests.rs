use std::fs;

use super::*;

fn read(text: &str) -> Result<Project, String> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(FILE), text).expect("written");
    let read = Project::read(folder.path());
    let folder = format!("{}/", folder.path().display());
    read.map_err(|error| error.to_string().replace(&folder, ""))
}

#[test]
fn a_file_says_what_flags_would() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "schema: olmguard.project/v1\npaths: [apps, more]\ncatalogs: {hub: hub.yaml}\n\
                guardrails: rules.yaml\nbase: origin/main\nonUndecided: warn\n";
    fs::write(folder.path().join(FILE), text).expect("written");
    let project = Project::read(folder.path()).expect("a project");
    let within = |name: &str| folder.path().join(name);
    assert_eq!(project.paths, [within("apps"), within("more")]);
    let catalogs: Vec<_> = project.catalogs.paths().collect();
    assert_eq!(catalogs, [within("hub.yaml")]);
    assert_eq!(project.guardrails, [within("rules.yaml")]);
    assert_eq!(project.base.as_deref(), Some("origin/main"));
    assert_eq!(project.on_undecided, Some(OnUndecided::Warn));
    assert_eq!(project.snapshot, None);
}

#[test]
fn faults_name_line_and_way_out() {
    for (text, expected) in [
        (
            "paths: [a]\n",
            ".olmguard.yaml:1:1: schema is missing: expected olmguard.project/v1",
        ),
        (
            "schema: olmguard.project/v1\npath: a\n",
            ".olmguard.yaml:2:7: path is not known: did you mean paths?",
        ),
        (
            "schema: olmguard.project/v1\npaths: 1\n",
            ".olmguard.yaml:2:8: paths is a number: expected a list; put it in quotes to make it a string: \"1\"",
        ),
        (
            "schema: olmguard.project/v1\nonUndecided: no\n",
            ".olmguard.yaml:2:14: onUndecided is a boolean: expected a string; put it in quotes to \
             make it a string: \"no\"",
        ),
        (
            "schema: olmguard.project/v1\ncatalogs: {hub: a}\nsnapshot: b\n",
            ".olmguard.yaml:3:11: catalogs and snapshot cannot be used together: each of them gives \
             the catalogs",
        ),
        (
            "schema: olmguard.project/v1\nsnapshot: '-'\n",
            ".olmguard.yaml:2:11: snapshot is \"-\": expected a path; name standard input with a flag",
        ),
        ("", ".olmguard.yaml: found 0 documents: expected one"),
        (
            "a: 1\n---\nb: 1\n",
            ".olmguard.yaml: found 2 documents: expected one",
        ),
    ] {
        let error = read(text).expect_err(text);
        assert_eq!(error, expected, "{text}");
    }
}

#[test]
fn it_is_found_above_up_to_the_repository() {
    let root = tempfile::tempdir().expect("a folder");
    let deep = root.path().join("repository/apps/one");
    fs::create_dir_all(&deep).expect("folders");
    fs::write(root.path().join(FILE), "").expect("written");
    assert_eq!(folder(&deep), Some(PathBuf::from("../../..")));
    fs::create_dir(root.path().join("repository/.git")).expect("a folder");
    assert_eq!(folder(&deep), None, "it is not that of another repository");
    fs::write(root.path().join("repository").join(FILE), "").expect("written");
    assert_eq!(folder(&deep), Some(PathBuf::from("../..")));
    fs::write(deep.join(FILE), "").expect("written");
    assert_eq!(folder(&deep), Some(PathBuf::new()));
}
