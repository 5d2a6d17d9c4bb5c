//! The files that each minor version of olmguard accepts and writes, in `tests/releases`: this version can read all of
//! them. The fields `base` and `catalogs` of the project file are not covered, because they need a repository and
//! replace a snapshot.
//!
//! `OLMGUARD_BLESS=1` writes the files of this minor version again. Those of earlier versions never change.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use serde_json::Value;

use olmguard::manifest::documents;
use olmguard::source::archive::{ArchiveFacts, SavedExtensions, SavedPolicies};
use olmguard_engine::snapshot::{
    Availability, CatalogState, Content, Currency, Labels, ServingState,
};
use olmguard_fixtures::committed;

use crate::saved::{self, named};

const RELEASES: &str = "tests/releases";

/// This version without its patch number.
const MINOR: &str = concat!(
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR")
);

/// The name of the snapshot.
const SNAPSHOT: &str = "cluster.snapshot";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the directories of all minor versions.
fn releases() -> Vec<String> {
    let folders = fs::read_dir(root().join(RELEASES)).expect("the folder is there");
    let names = folders.map(|folder| folder.expect("an entry").file_name());
    names
        .map(|name| name.into_string().expect("UTF-8"))
        .collect()
}

fn olmguard(release: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(arguments)
        .env_clear()
        .current_dir(root().join(RELEASES).join(release))
        .output()
        .expect("the program starts")
}

/// Writes a snapshot with each state of a catalog, and with policies and extensions.
fn save(to: &Path) {
    let folder = to.parent().expect("a folder");
    let objects = |file: &str| -> Vec<Value> {
        let text = fs::read(folder.join(file)).expect(file);
        let documents = documents(&text).map(|document| document.expect(file).value);
        documents.collect()
    };
    let facts = ArchiveFacts {
        extensions: SavedExtensions::of(objects("extensions.yaml")),
        ..ArchiveFacts::new(
            "2026-11-29T12:00:00Z".to_owned(),
            Some(saved::olm("1.11", &["BundleReleaseSupport=true"])),
            SavedPolicies::Objects(objects("policies.yaml")),
        )
    };
    let hub = CatalogState {
        labels: Labels::with_name(
            "hub",
            BTreeMap::from([("team".to_owned(), "platform".to_owned())]),
        ),
        priority: 7,
        image_ref: Some("example.com/hub@sha256:1a2b".to_owned()),
        last_unpacked: Some("2026-11-29T10:00:00Z".to_owned()),
        ..named("hub")
    };
    let away = CatalogState {
        availability: Availability::Unavailable,
        serving: ServingState::KnownNot,
        currency: Currency::Superseded,
        ..CatalogState::named("away", Content::Unfetched("no route".to_owned()))
    };
    let content = folder.join("catalog.yaml");
    saved::write_all(to, &facts, &[(away, None), (hub, Some(&content))]);
}

/// Returns the results of `check` with the project file, and the exit codes of the commands that read the other files.
fn answers(release: &str) -> String {
    let at = ["--at", "2026-01-05T22:30:00Z"];
    let checked = olmguard(release, &[&["check", "--output", "json"][..], &at].concat());
    let error = String::from_utf8_lossy(&checked.stderr);
    let report: Value = serde_json::from_slice(&checked.stdout).expect(&error);
    let results = report["results"].as_array().expect("results");
    let line = |result: &Value| {
        let [name, verdict, token] =
            ["name", "verdict", "token"].map(|field| result[field].as_str().expect(field));
        format!("{name}: {verdict}, {token}\n")
    };
    let mut answers: Vec<_> = results.iter().map(line).collect();
    for arguments in [&["test", "suite.yaml"][..], &["snapshot", "show", SNAPSHOT]] {
        let code = olmguard(release, arguments).status.code();
        let code = code.expect("it ends by itself");
        answers.push(format!("{}: exit code {code}\n", arguments.join(" ")));
    }
    answers.concat()
}

#[test]
fn what_each_minor_version_accepts_and_writes_is_read() {
    let releases = releases();
    assert!(
        releases.iter().any(|release| release == MINOR),
        "copy those of the version before"
    );
    if env::var_os("OLMGUARD_BLESS").is_some_and(|bless| bless == "1") {
        save(&root().join(RELEASES).join(MINOR).join(SNAPSHOT));
    }
    for release in releases {
        let file = format!("{RELEASES}/{release}/answers.txt");
        if release == MINOR {
            committed::compare(&file, &answers(&release));
        } else {
            let expected = fs::read_to_string(root().join(&file)).expect("its answers");
            assert_eq!(answers(&release), expected, "{release}");
        }
    }
}
