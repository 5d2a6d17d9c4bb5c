//! The packages, and runs of the program with one of them.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// A package in its own catalog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Example {
    /// The name of the catalog file, also used in the compared files.
    pub(crate) file: &'static str,
    pub(crate) package: &'static str,
}

pub(crate) const A: Example = example("a", "beacon-operator");
pub(crate) const B: Example = example("b", "buoy-operator");
pub(crate) const B_LATER: Example = example("b-later", "buoy-operator");
pub(crate) const C: Example = example("c", "pilot-operator");
pub(crate) const D: Example = example("d", "tide-operator");

const fn example(file: &'static str, package: &'static str) -> Example {
    Example { file, package }
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Example {
    /// Returns `hub=PATH` of its catalog.
    pub(crate) fn catalog(&self) -> String {
        format!("hub=tests/guardrails/cases/{}.yaml", self.file)
    }

    /// Runs a command with its catalog.
    pub(crate) fn run(&self, words: &[&str], stdin: &str) -> Ran {
        let catalog = format!("--catalog={}", self.catalog());
        run(&[words, &[&*catalog]].concat(), stdin)
    }

    /// Returns an extension that requests the package, with a version installed.
    pub(crate) fn extension(&self, installed: &str, range: Option<&str>) -> Value {
        let mut catalog = json!({"packageName": self.package});
        if let Some(range) = range {
            catalog["version"] = range.into();
        }
        json!({
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": {"name": "light"},
            "spec": {"namespace": "light", "serviceAccount": {"name": "light-installer"},
                "source": {"sourceType": "Catalog", "catalog": catalog}},
            "status": {"install": {"bundle": {"name": format!("{}.v{installed}", self.package),
                "version": installed}}},
        })
    }

    /// Returns the exit code and the result of `check` for such an extension.
    pub(crate) fn check(&self, extension: &Value) -> (Option<i32>, Value) {
        let ran = self.run(&["check", "-f", "-", "-o", "json"], &extension.to_string());
        assert_eq!(ran.stderr, "", "{extension}");
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        olmguard_support::schema::assert_fits("schemas/olmguard.check.v1.json", &report);
        (ran.code, report["results"][0].clone())
    }
}

/// Runs a command at the root of the repository.
pub(crate) fn run(words: &[&str], stdin: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .env_clear()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    // A program that does not read its input closes the pipe.
    let _unread = input.write_all(stdin.as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}
