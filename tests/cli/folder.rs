//! A directory that the program runs in, without variables of its own.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The result of a run: the exit code, stdout and stderr.
pub(crate) type Ran = (Option<i32>, String, String);

pub(crate) struct Folder(TempDir);

impl Folder {
    /// Creates a directory with these files.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let folder = Self(TempDir::new().expect("a directory"));
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    /// Creates a directory with catalog `hub.yaml`: package `p`, whose versions are successors in
    /// this order in channel `a`.
    pub(crate) fn of_catalog(versions: &[&str]) -> Self {
        let before = [None].into_iter().chain(versions.iter().map(Some));
        let entries = versions.iter().zip(before).map(|(version, before)| {
            let replaces = before.map(|before| format!(", replaces: p.v{before}"));
            format!("- {{name: p.v{version}{}}}\n", replaces.unwrap_or_default())
        });
        let entries: String = entries.collect();
        let bundles = versions.iter().map(|version| {
            format!(
                "---\nschema: olm.bundle\npackage: p\nname: p.v{version}\nimage: example.com/p:{version}\n\
                 properties:\n- type: olm.package\n  value: {{packageName: p, version: {version}}}\n"
            )
        });
        let bundles: String = bundles.collect();
        let catalog = format!(
            "schema: olm.package\nname: p\n---\nschema: olm.channel\npackage: p\nname: a\nentries:\n{entries}{bundles}"
        );
        Self::of(&[("hub.yaml", &catalog)])
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
        fs::write(file, text).expect("it is written");
    }

    /// Returns a command that runs the program in it.
    pub(crate) fn olmguard(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
        command.env_clear().current_dir(self.path()).args(arguments);
        // This ignores the mirrors of this machine.
        command.env("CONTAINERS_REGISTRIES_CONF", "/dev/null");
        command
    }

    /// Runs the program in it, with this text on standard input.
    pub(crate) fn run(&self, arguments: &[&str], stdin: &str) -> Ran {
        run(&mut self.olmguard(arguments), stdin)
    }
}

/// Runs a program with this text on standard input.
pub(crate) fn run(command: &mut Command, stdin: &str) -> Ran {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    // A program that does not read its input closes the pipe.
    let _unread = input.write_all(stdin.as_bytes());
    drop(input);
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}
