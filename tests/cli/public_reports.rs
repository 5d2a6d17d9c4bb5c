//! What users reported in public of OLM and its tools, as inputs of our own.

mod answers;
mod catalogs;
mod installed;
mod manifests;
mod named;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A directory with files, and the program run in it.
struct Scene(TempDir);

/// How a run ended: its code, and everything that it printed.
struct Ended {
    code: Option<i32>,
    text: String,
}

impl Scene {
    fn with(files: &[(&str, &str)]) -> Self {
        let scene = Self(tempfile::tempdir().expect("a directory"));
        for (name, text) in files {
            scene.write(name, text);
        }
        scene
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        let parent = path.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(parent).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    #[track_caller]
    fn run(&self, line: &str) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
        command
            .env_clear()
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        let output = command
            .args(line.split(' '))
            .output()
            .expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        Ended {
            code: output.status.code(),
            text: String::from_utf8(text).expect("UTF-8"),
        }
    }
}

impl Ended {
    /// Ends with a code, and prints each of these.
    #[track_caller]
    fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        for part in parts {
            assert!(self.text.contains(part), "{part}\n{}", self.text);
        }
    }
}
