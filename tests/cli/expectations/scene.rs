//! A directory with suites. The program is run in it.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A directory with these files and the catalog `hub.yaml`: `lantern-operator` with 1.0.0, 1.1.0, 1.2.0 and 1.3.0, each
/// the successor of the one before.
pub(crate) struct Scene(TempDir);

/// The output of a run, and its exit code.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn scene(files: &[(&str, &str)]) -> Scene {
    let scene = Scene(TempDir::new().expect("a folder"));
    for (file, text) in [("hub.yaml", HUB)].iter().chain(files) {
        let path = scene.0.path().join(file);
        fs::create_dir_all(path.parent().expect("in the folder")).expect(file);
        fs::write(path, text).expect(file);
    }
    scene
}

/// Returns a suite with the catalog and these cases.
pub(crate) fn suite(cases: &str) -> String {
    format!("schema: olmguard.test/v1\ncatalogs: {{hub: hub.yaml}}\ncases:\n{cases}")
}

/// Returns a case about the step from 1.0.0 to a version, with this expectation.
pub(crate) fn case(name: &str, version: &str, expect: &str) -> String {
    format!(
        "- name: {name}\n  extension: {{catalog: {{packageName: lantern-operator, version: {version}}}}}\n  \
         installed: {{version: 1.0.0}}\n  expect: {expect}\n"
    )
}

impl Scene {
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
            .arg("test")
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .output()
            .expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

const HUB: &str = include_str!("../../../examples/Resolved/hub.yaml");
