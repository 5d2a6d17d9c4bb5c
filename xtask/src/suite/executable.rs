//! The outputs of cargo, read from its messages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::program::root;

/// The outputs of one call of cargo.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// The test executables, in cargo's order.
    pub(crate) tests: Vec<Executable>,
    /// The programs, by name.
    pub(crate) programs: BTreeMap<String, PathBuf>,
    /// The programs with benches, by name.
    pub(crate) benches: BTreeMap<String, PathBuf>,
}

/// One test executable.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Executable {
    /// The source file, relative to the root, such as `tests/drain.rs`.
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    /// The directory of the package, in which tests run.
    pub(crate) package: PathBuf,
    /// The reason why it runs alone, if it does.
    pub(crate) alone: Option<&'static str>,
}

/// A message of cargo that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {line:?} from cargo: {source}")]
pub(crate) struct MessageError {
    line: String,
    source: serde_json::Error,
}

/// The messages of `--message-format json`.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact(Artifact),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    src_path: PathBuf,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

impl Built {
    /// Reads one message per line.
    pub(crate) fn read(messages: &str) -> Result<Self, MessageError> {
        let mut built = Self::default();
        for line in messages.lines() {
            let message = serde_json::from_str(line).map_err(|source| MessageError {
                line: line.to_owned(),
                source,
            })?;
            if let Message::CompilerArtifact(artifact) = message {
                built.add(artifact);
            }
        }
        Ok(built)
    }

    fn add(&mut self, artifact: Artifact) {
        let Some(file) = artifact.executable else {
            return;
        };
        let target = artifact.target;
        let is = |kind: &str| target.kind.iter().any(|known| known == kind);
        if is("bench") {
            self.benches.insert(target.name, file);
        } else if artifact.profile.test {
            self.tests.push(Executable {
                name: from_root(&target.src_path),
                file,
                package: artifact
                    .manifest_path
                    .parent()
                    .map(Path::to_owned)
                    .unwrap_or_default(),
                alone: None,
            });
        } else if is("bin") {
            self.programs.insert(target.name, file);
        }
    }
}

fn from_root(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.display().to_string()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::suite) fn executable(name: &str) -> Executable {
        Executable {
            name: name.to_owned(),
            file: PathBuf::from("/t").join(name),
            package: PathBuf::from("/p"),
            alone: None,
        }
    }

    #[test]
    fn tests_and_programs_are_taken_and_libraries_are_not() {
        let artifact = |kind: &str, name: &str, path: &str, test: bool, executable: &str| {
            let source = root().join(path);
            format!(
                "{{\"reason\":\"compiler-artifact\",\"package_id\":\"x\",\"manifest_path\":\"/p/Cargo.toml\",\
                 \"target\":{{\"name\":\"{name}\",\"kind\":[\"{kind}\"],\"src_path\":{source:?}}},\
                 \"profile\":{{\"test\":{test},\"opt_level\":\"1\"}},\"executable\":{executable}}}\n"
            )
        };
        let messages = [
            artifact("lib", "olmguard", "src/lib.rs", false, "null"),
            artifact("lib", "olmguard", "src/lib.rs", true, "\"/t/src/lib.rs\""),
            artifact("bin", "olmguard", "src/main.rs", false, "\"/d/olmguard\""),
            artifact(
                "test",
                "drain",
                "tests/drain.rs",
                true,
                "\"/t/tests/drain.rs\"",
            ),
            artifact(
                "bench",
                "benches",
                "benches/main.rs",
                true,
                "\"/d/benches\"",
            ),
            artifact(
                "custom-build",
                "build-script-build",
                "build.rs",
                false,
                "\"/b\"",
            ),
            "{\"reason\":\"build-finished\",\"success\":true}\n".to_owned(),
        ];
        let built = Built::read(&messages.concat()).unwrap();
        assert_eq!(
            built.tests,
            [executable("src/lib.rs"), executable("tests/drain.rs")]
        );
        let programs: Vec<_> = built.programs.iter().collect();
        assert_eq!(
            programs,
            [(&"olmguard".to_owned(), &PathBuf::from("/d/olmguard"))]
        );
        let benches: Vec<_> = built.benches.into_iter().collect();
        assert_eq!(
            benches,
            [("benches".to_owned(), PathBuf::from("/d/benches"))]
        );
    }

    #[test]
    fn a_line_that_is_no_message_is_named() {
        let error = Built::read("warning: x").unwrap_err().to_string();
        assert!(
            error.starts_with("cannot read \"warning: x\" from cargo: "),
            "{error}"
        );
    }
}
