//! A repository for pipelines, and the files that are run in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use olmguard::manifest::documents;
use serde_json::Value;
use tempfile::TempDir;

use olmguard_support::git::{commit, git};

/// A directory with an extension in `apps`, and the content of catalog `hub` in `hub.yaml`. Next to it is a directory
/// with `olmguard` for the PATH.
pub(crate) struct Repository(TempDir);

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The history that a clone has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum History {
    Whole,
    /// One commit.
    Last,
    /// One commit of each of the two branches.
    LastAndBase,
}

/// Returns the three repositories, each with the exit code of a check.
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

    /// The directory for the PATH, outside of the checked files.
    pub(crate) fn bin(&self) -> PathBuf {
        self.0.path().join("path")
    }

    /// The directory for the files of a runner.
    pub(crate) fn temp(&self) -> PathBuf {
        self.0.path().join("temp")
    }

    /// Writes a file, and creates its directory if necessary.
    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect(file);
        fs::write(path, text).expect(file);
    }

    /// Returns a clone of a repository whose branch `change` requests 1.3.0 and `main` requests 1.0.0. That branch is
    /// checked out.
    pub(crate) fn pull_request(history: History) -> Self {
        let repository = Self::with(&PASSES.replace("1.1.0", "1.0.0"));
        repository.write("catalogs/hub/hub.yaml", HUB);
        let path = repository.path();
        git(&path, &["init", "-q", "-b", "main"]);
        commit(&path);
        git(&path, &["switch", "-q", "-c", "change"]);
        repository.write("apps/lantern.yaml", &PASSES.replace("1.1.0", "1.3.0"));
        commit(&path);
        // So no commit of the branch names one of `main` in a clone of depth one.
        commit(&path);
        let origin = repository.0.path().join("origin");
        fs::rename(&path, &origin).expect("a folder");
        repository.clone_from(&format!("file://{}", origin.display()), history);
        repository
    }

    fn clone_from(&self, origin: &str, history: History) {
        let depth: &[&str] = match history {
            History::Whole => &[],
            History::Last | History::LastAndBase => &["--depth=1"],
        };
        let clone = ["clone", "-q", "--branch=change", origin, "repository"];
        git(self.0.path(), &[&clone[..3], depth, &clone[3..]].concat());
        if history == History::LastAndBase {
            let main = "main:refs/remotes/origin/main";
            git(&self.path(), &["fetch", "-q", "--depth=1", "origin", main]);
        }
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).expect(file)
    }

    /// Returns a command in this repository, with only a PATH in its environment.
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
    /// Returns the whole output, stdout and stderr.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

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

/// Returns the documents of a file of this repository.
pub(crate) fn read(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let bytes = fs::read(path).expect(file);
    let documents = documents(&bytes).map(|document| document.expect(file).value);
    documents.collect()
}

/// Texts that would be run as part of a script.
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
const HUB: &str = include_str!("../../../examples/Resolved/hub.yaml");
