//! Public reports of users about OLM and its tools, reproduced with our own inputs.

mod answers;
mod catalogs;
mod installed;
mod manifests;
mod named;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A directory with files, and runs of the program in it.
struct Scene(TempDir);

/// The result of a run: the exit code, and the whole output.
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
    /// Checks the exit code, and that the output contains each of these texts.
    #[track_caller]
    fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        for part in parts {
            assert!(self.text.contains(part), "{part}\n{}", self.text);
        }
    }
}
