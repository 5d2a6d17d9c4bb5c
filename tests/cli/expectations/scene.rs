//! A folder with suites, in which the program is run.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A folder with these files, and the catalog `hub.yaml`: `lantern-operator`, of which 1.0.0, 1.1.0,
/// 1.2.0 and 1.3.0 follow each other.
pub(crate) struct Scene(TempDir);

/// What a run printed, and how it ended.
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

/// A suite of the catalog with these cases.
pub(crate) fn suite(cases: &str) -> String {
    format!("schema: olmguard.test/v1\ncatalogs: {{hub: hub.yaml}}\ncases:\n{cases}")
}

/// A case about the step from 1.0.0 to a version, which expects this.
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
