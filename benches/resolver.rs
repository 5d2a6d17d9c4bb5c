//! OLM's resolver as a process (`benches/peers/resolver`, in Go), which answers one line at a time.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// The request of an extension, and its installed bundle.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Request {
    pub(crate) package: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) channel: Option<String>,
    /// The name and the version of a bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) installed: Option<(String, String)>,
}

/// The process, which ends when this is dropped.
pub(crate) struct Resolver {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _catalog: NamedTempFile,
}

#[derive(Serialize)]
struct Turn<'a> {
    calls: u32,
    requests: &'a [Request],
}

#[derive(Deserialize)]
struct Answer {
    /// The time of all calls of all requests.
    nanoseconds: f64,
    /// The bundle that each request resolves to.
    bundles: Vec<Option<String>>,
}

impl Resolver {
    /// Starts a resolver with a catalog.
    pub(crate) fn start(program: &Path, catalog: &str) -> Self {
        let mut file = NamedTempFile::with_suffix(".json").expect("a file");
        file.write_all(catalog.as_bytes())
            .expect("a file to write to");
        let mut command = Command::new(program);
        command
            .arg(file.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("the resolver runs");
        let output = child.stdout.take().expect("piped");
        Self {
            input: child.stdin.take(),
            child,
            output: BufReader::new(output),
            _catalog: file,
        }
    }

    /// The bundle to which each request resolves, if any.
    pub(crate) fn resolved(&mut self, requests: &[Request]) -> Vec<Option<String>> {
        self.ask(requests, 1).bundles
    }

    /// The time of one call in seconds, if all requests are made this often.
    pub(crate) fn turn(&mut self, requests: &[Request], calls: u32) -> f64 {
        let all = f64::from(calls) * f64::from(u32::try_from(requests.len()).expect("few"));
        self.ask(requests, calls).nanoseconds / 1e9 / all
    }

    fn ask(&mut self, requests: &[Request], calls: u32) -> Answer {
        let turn = serde_json::to_string(&Turn { calls, requests }).expect("it is JSON");
        let input = self.input.as_mut().expect("open until the end");
        writeln!(input, "{turn}").expect("the resolver reads");
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("the resolver answers");
        serde_json::from_str(&line).expect("an answer")
    }
}

impl Drop for Resolver {
    /// Closes the standard input of the process, which then ends.
    fn drop(&mut self) {
        drop(self.input.take());
        drop(self.child.wait());
    }
}
