//! A directory with manifests and one catalog. The program is run in it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, thread};

use serde_json::Value;
use tempfile::TempDir;

use olmguard_support::schema::assert_fits;

/// A directory that is removed at the end of its test. `hub.yaml` is the catalog:
/// `lantern-operator` with 1.0.0, 1.1.0, 1.2.0 and 1.3.0, each the successor of the one before, in
/// channel `stable`.
pub(crate) struct Scene(TempDir);

/// The output of a run, and its exit code.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns a scene with these files in addition to the catalog.
pub(crate) fn scene(files: &[(&str, &str)]) -> Scene {
    let scene = Scene(TempDir::new().expect("a folder"));
    let hub = [("hub.yaml", HUB)];
    for (file, text) in hub.iter().chain(files) {
        let path = scene.path().join(file);
        fs::create_dir_all(path.parent().expect("in the folder")).expect(file);
        fs::write(path, text).expect(file);
    }
    scene
}

/// Returns an extension that requests a version of `lantern-operator`, with nothing installed.
pub(crate) fn extension(name: &str, version: &str) -> String {
    asking(name, &format!("version: \"{version}\""))
}

/// Returns an extension with this additional field of the catalog filter.
pub(crate) fn asking(name: &str, field: &str) -> String {
    format!(
        "apiVersion: olm.operatorframework.io/v1\n\
         kind: ClusterExtension\n\
         metadata:\n  name: {name}\n\
         spec:\n  namespace: lantern\n  source:\n    sourceType: Catalog\n    catalog:\n      \
         packageName: lantern-operator\n      {field}\n"
    )
}

/// Returns a `ClusterCatalog` with these additional lines.
pub(crate) fn cluster_catalog(name: &str, more: &str) -> String {
    format!(
        "apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata:\n  \
         name: {name}\n{more}"
    )
}

impl Scene {
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns `olmguard check` in this directory, without variables of its own.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
        command
            .arg("check")
            .args(arguments)
            .current_dir(self.path())
            .env_clear();
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs it with this text on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], stdin: &str) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut input = child.stdin.take().expect("it is piped");
        let stdin = stdin.to_owned();
        // A program that does not read its input closes the pipe, which is allowed.
        let writer = thread::spawn(move || drop(input.write_all(stdin.as_bytes())));
        let output = child.wait_with_output().expect("the program ends");
        writer.join().expect("nothing in it panics");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran {
            code: output.status.code().expect("no signal"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Returns the exit code and the JSON, validated by its schema.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let ran = self.run(&[arguments, &["-o", "json"]].concat());
        (ran.code, ran.json())
    }

    /// Returns the exit code and the reason code of each result.
    #[track_caller]
    pub(crate) fn tokens(&self, arguments: &[&str]) -> (i32, Vec<String>) {
        let (code, report) = self.json(arguments);
        let results = report["results"].as_array().expect("a list");
        let token = |result: &Value| result["token"].as_str().expect("a text").to_owned();
        (code, results.iter().map(token).collect())
    }

    /// Checks that nothing is checked, for this reason.
    #[track_caller]
    pub(crate) fn misused(&self, arguments: &[&str], words: &str) {
        let ran = self.run(arguments);
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
    }
}

impl Ran {
    /// Returns the output, validated by its schema.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let report = serde_json::from_str(&self.stdout);
        let report = report.unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert_fits("schemas/olmguard.check.v1.json", &report);
        report
    }
}

/// The flag with the content of the catalog.
pub(crate) const CATALOG: &str = "--catalog=hub=hub.yaml";

const HUB: &str = include_str!("../../../examples/Resolved/hub.yaml");
