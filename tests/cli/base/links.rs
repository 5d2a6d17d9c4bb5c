//! Links: in a revision, they have their targets of that revision.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use super::repository::{CATALOG, Repository, removed, tokens};
use crate::check::scene::asking;

fn tower(version: &str) -> String {
    asking("tower", &format!("version: {version}"))
}

impl Repository {
    fn link(&self, target: &str, link: &str) {
        let path = self.path(link);
        fs::create_dir_all(path.parent().expect("in the folder")).expect(link);
        if path.is_symlink() {
            fs::remove_file(&path).expect(link);
        }
        symlink(target, path).expect(link);
    }

    /// Returns the results of a check of this directory.
    fn says(&self, folder: &str) -> Vec<String> {
        let ran = self.run(&["-f", folder, CATALOG, "-o=json", "--base=main"]);
        tokens(&ran.json())
    }
}

/// Returns a repository with two releases and a link to the first.
fn releases() -> Repository {
    let repository = Repository::new();
    repository.write(&[
        ("releases/v1/tower.yaml", &tower("1.0.0")),
        ("releases/v2/tower.yaml", &tower("1.3.0")),
    ]);
    repository.link("../releases/v1", "clusters/prod");
    repository.commit();
    repository
}

#[test]
fn a_link_that_leads_elsewhere_now_is_a_change() {
    let repository = releases();
    assert_eq!(repository.says("clusters/prod"), [""; 0]);
    repository.link("../releases/v2", "clusters/prod");
    let path = repository.path("releases/../clusters/prod");
    for folder in ["clusters/prod", "clusters/prod/", &path.to_string_lossy()] {
        assert_eq!(
            repository.says(folder),
            ["tower changed NotASuccessor"],
            "{folder}"
        );
    }
}

/// Otherwise, a pull request could make a pipeline read other files of its machine.
#[test]
fn a_link_out_of_the_directory_is_refused() {
    let repository = releases();
    fs::write(
        repository.beside("secret.json"),
        r#"{"token": 1, "token": 2}"#,
    )
    .expect("a file");
    repository.link("../../secret.json", "clusters/x.json");
    let ran = repository.run(&["-f", "clusters", CATALOG]);
    let out = "is a link out of the directory: expected a target inside it, so copy the target there, \
               or name it on its own\n";
    let words = format!("error: clusters/prod: {out}error: clusters/x.json: {out}");
    assert_eq!((ran.code, ran.stderr), (3, words));
}

#[test]
fn the_root_of_the_repository_may_be_named_through_a_link() {
    let repository = releases();
    symlink("repo", repository.beside("alias")).expect("a link");
    symlink("repo/clusters/prod", repository.beside("prod")).expect("a link");
    repository.link("../releases/v2", "clusters/prod");
    let changed = ["tower changed NotASuccessor"];
    assert_eq!(repository.says("../alias/clusters/prod"), changed);
    repository.write(&[("releases/v2/tower.yaml", &tower("1.2.0"))]);
    repository.commit();
    repository.write(&[("releases/v2/tower.yaml", &tower("1.3.0"))]);
    // A link from outside is read with its current target.
    assert_eq!(repository.says("../prod"), ["tower changed Resolved"]);
}

#[test]
fn a_folder_that_is_a_link_now_is_what_it_was() {
    let repository = Repository::with(&[("clusters/real/tower.yaml", &tower("1.0.0"))]);
    fs::create_dir(repository.path("shared")).expect("a folder");
    repository.git(&["mv", "clusters/real", "shared/real"]);
    repository.link("../shared/real", "clusters/real");
    repository.write(&[("shared/real/tower.yaml", &tower("1.3.0"))]);
    for folder in ["clusters/real", "shared/real", "."] {
        let said = repository.says(folder);
        assert_eq!(said[0], "tower changed NotASuccessor", "{folder}");
    }
}

#[test]
fn a_link_may_lead_through_others() {
    let repository = Repository::with(&[
        ("v1/prod/tower.yaml", &tower("1.0.0")),
        ("v1/other/none.yaml", ""),
    ]);
    repository.link("v1", "cur");
    repository.link("../cur/prod", "apps/prod");
    repository.link("v1/other", "deep");
    // The parent of a link, `..`, is that of its target.
    repository.link("../deep/../prod", "more/prod");
    repository.commit();
    repository.write(&[("v1/prod/tower.yaml", &tower("1.3.0"))]);
    for folder in ["apps/prod", "more/prod", "cur/prod", "cur/prod/tower.yaml"] {
        assert_eq!(
            repository.says(folder),
            ["tower changed NotASuccessor"],
            "{folder}"
        );
    }
}

#[test]
fn links_in_a_circle_lead_nowhere() {
    let repository = Repository::new();
    repository.link("two/x", "one");
    repository.link("one/x", "two");
    repository.link("../one/x", "apps/prod");
    repository.commit();
    fs::remove_file(repository.path("apps/prod")).expect("a link");
    repository.write(&[("apps/prod/tower.yaml", &tower("1.3.0"))]);
    assert_eq!(repository.says("apps"), ["tower added Resolved"]);
}

#[test]
fn a_broken_file_behind_a_link_is_there_still() {
    let broken = "kind: ClusterExtension\nmetadata: {a\n";
    let repository = Repository::with(&[("apps/lib/a.yaml", broken)]);
    repository.link("lib", "apps/all");
    repository.commit();
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=main"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.stderr.contains("error: main:apps/all/a.yaml:"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_way_into_a_submodule_leaves_it_open() {
    let repository = Repository::with(&[("prod/tower.yaml", &tower("1.0.0"))]);
    repository.git_in(".", &["init", "-q", "-b", "main", "above"]);
    repository.git_in("above", &["submodule", "--quiet", "add", "../repo", "sub"]);
    fs::create_dir(repository.beside("above/apps")).expect("a folder");
    let link = repository.beside("above/apps/prod");
    symlink("../sub/prod", &link).expect("a link");
    repository.commit_in("above");
    fs::remove_file(&link).expect("a link");
    fs::create_dir(&link).expect("a folder");
    fs::write(link.join("tower.yaml"), tower("1.3.0")).expect("a file");
    let hub = format!("--catalog=hub={}", repository.beside("hub").display());
    let ran = repository.run_in("above", &["-f", "apps", "--base=main", "-o=json", &hub]);
    assert_eq!(tokens(&ran.json()), ["tower unknown InstalledUnknown"]);
    assert_eq!(removed(&ran.json(), "name"), [""; 0]);
    let words = "error: main:apps/prod: goes through \"sub\", which is a submodule there: expected \
                 a path within the repository, so check the submodule separately\n";
    assert_eq!((ran.code, &*ran.stderr), (3, words));
}
