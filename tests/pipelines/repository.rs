//! A repository as pipelines see it, and the files that are run on it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use olmguard::manifest::documents;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with an extension in `apps`, and the content of catalog `hub` in `hub.yaml`. Beside it a
/// folder with `olmguard`, to be put on the PATH.
pub(crate) struct Repository(TempDir);

/// How something ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The three repositories: what is in the extension's file, and how a check of it ends.
pub(crate) fn repositories() -> [(Repository, i32); 3] {
    [(PASSES, 0), (FAILS, 1), (BROKEN, 3)].map(|(text, code)| (Repository::with(text), code))
}

impl Repository {
    pub(crate) fn with(extension: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        let repository = Self(folder);
        for folder in ["repository/apps", "path", "temp"] {
            fs::create_dir_all(repository.0.path().join(folder)).expect(folder);
        }
        repository.write("apps/lantern.yaml", extension);
        repository.write("hub.yaml", HUB);
        let program = env!("CARGO_BIN_EXE_olmguard");
        symlink(program, repository.bin().join("olmguard")).expect("a link");
        repository
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("repository")
    }

    /// Outside of what is checked.
    pub(crate) fn bin(&self) -> PathBuf {
        self.0.path().join("path")
    }

    /// For what a runner keeps.
    pub(crate) fn temp(&self) -> PathBuf {
        self.0.path().join("temp")
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.path().join(file), text).expect(file);
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).expect(file)
    }

    /// A program in this repository, in an environment of nothing but a PATH.
    pub(crate) fn command(&self, program: &str) -> Command {
        let system = std::env::var("PATH").expect("a PATH");
        let path = format!("{}:{system}", self.bin().display());
        let mut command = Command::new(program);
        command
            .current_dir(self.path())
            .env_clear()
            .env("PATH", path);
        command
    }
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().expect("it starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            code: status.code(),
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }
}

/// The documents of a file of this repository.
pub(crate) fn read(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let bytes = fs::read(path).expect(file);
    let documents = documents(&bytes).map(|document| document.expect(file).value);
    documents.collect()
}

/// Texts that would be run, were they part of a script.
pub(crate) const INJECTIONS: [&str; 5] = [
    "$(touch pwned)",
    "`touch pwned`",
    "\"; touch pwned; \"",
    "'; touch pwned; '",
    "\nLIST\ntouch pwned",
];

pub(crate) const PASSES: &str = "\
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: lantern
spec:
  namespace: lantern
  serviceAccount: {name: lantern-installer}
  source:
    sourceType: Catalog
    catalog:
      packageName: lantern-operator
      version: 1.1.0
";
pub(crate) const FAILS: &str = "\
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: lantern
spec:
  namespace: lantern
  serviceAccount: {name: lantern-installer}
  source:
    sourceType: Catalog
    catalog:
      packageName: lantern-operator
      version: 7.0.0
";
const BROKEN: &str = "kind: [";
const HUB: &str = include_str!("../../examples/Resolved/hub.yaml");
