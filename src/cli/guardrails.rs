//! `--guardrails FILE`: the rules of administrators, read from files of theirs.
//!
//! A document that cannot be read forbids every upgrade of its package, and of every package where it
//! is not known which it is about: a rule that somebody wrote is never an open door.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::guardrail::{self, Imposed, ImposedBy, Problem, Unread};
use crate::manifest::{
    Document, DocumentError, Input, Inputs, Position, Positions, Step, documents,
};

/// The flag for whoever judges.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GuardrailsArgs {
    /// Rules of your own about which upgrades are safe, for any package: YAML or JSON of schema
    /// olmguard.guardrails.v1alpha1, a document a package; they hold with the bypass too, but for
    /// those that say bypassable; may be repeated
    #[arg(
        long = "guardrails",
        value_name = "FILE",
        env = "OLMGUARD_GUARDRAILS",
        value_delimiter = ','
    )]
    files: Vec<PathBuf>,
}

impl From<Vec<PathBuf>> for GuardrailsArgs {
    fn from(files: Vec<PathBuf>) -> Self {
        Self { files }
    }
}

/// The rules, and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct ReadGuardrails {
    pub(crate) imposed: Imposed,
    pub(crate) faults: Vec<GuardrailsFault>,
}

/// Why some rules cannot be read, and where they stand.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("guardrails {place}: {why}")]
pub(crate) struct GuardrailsFault {
    place: String,
    why: String,
}

/// The files by name, and what they hold.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Files(Vec<(String, Vec<u8>)>);

impl GuardrailsArgs {
    /// Whether there are any.
    pub(crate) fn is_given(&self) -> bool {
        !self.files.is_empty()
    }

    /// Reads the files, whatever they hold.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub(crate) fn contents(&self) -> Result<Files, GuardrailsFault> {
        let inputs = Inputs::new(self.files.clone(), io::empty());
        let contents = inputs.map(|Input { path, bytes }| match bytes {
            Ok(bytes) => Ok((path, bytes)),
            Err(error) => Err(GuardrailsFault {
                place: path,
                why: error.to_string(),
            }),
        });
        contents.collect::<Result<_, _>>().map(Files)
    }

    /// Reads all of them. A file that cannot be read forbids every upgrade, too.
    pub(crate) fn read(&self) -> ReadGuardrails {
        match self.contents() {
            Ok(files) => ReadGuardrails::of(&files),
            Err(GuardrailsFault { place, why }) => {
                let mut read = ReadGuardrails::default();
                read.unread(place, Unread::whole(Problem::Text(why)));
                read
            }
        }
    }
}

impl ReadGuardrails {
    /// What some files say.
    pub(crate) fn of(files: &Files) -> Self {
        let mut read = Self::default();
        for (file, bytes) in &files.0 {
            read.bytes(file, bytes);
        }
        read
    }

    fn bytes(&mut self, file: &str, bytes: &[u8]) {
        for document in documents(bytes) {
            match document {
                Ok(document) => self.document(file, &document),
                Err(error) => {
                    let place = format!("{file}:{}", error.at.line);
                    self.unread(place, Unread::from(&error));
                }
            }
        }
    }

    fn document(&mut self, file: &str, document: &Document) {
        let value = &document.value;
        let place = |path: &str| {
            let Position { line, .. } = at(&document.positions, path);
            format!("{file}:{line}")
        };
        let package = match package(value) {
            Ok(package) => package,
            Err(unread) => return self.unread(place(&unread.path), unread),
        };
        let stated = guardrail::read(value);
        if let Err(unread) = &stated {
            self.faults.push(GuardrailsFault {
                place: place(&unread.path),
                why: unread.to_string(),
            });
        }
        let place = place("").into();
        self.imposed.add(package, ImposedBy { place, stated });
    }

    fn unread(&mut self, place: String, unread: Unread) {
        let why = unread.to_string();
        self.imposed.add_unread(place.as_str().into(), unread);
        self.faults.push(GuardrailsFault { place, why });
    }
}

/// The package that a document is about.
fn package(value: &Value) -> Result<&str, Unread> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let missing = |key: &str, expected| {
        let path = key.to_owned();
        let problem = Problem::Missing { expected };
        Err(Unread { path, problem })
    };
    if text("schema") != guardrail::SCHEMA {
        return missing("schema", guardrail::SCHEMA);
    }
    match text("package") {
        "" => missing("package", "the name of a package"),
        package => Ok(package),
    }
}

/// Where a field such as `rules[2].via` stands.
fn at(positions: &Positions, path: &str) -> Position {
    let steps = path.split(['.', '[']).filter(|step| !step.is_empty());
    let steps = steps.map(|step| {
        let index = step.strip_suffix(']').and_then(|index| index.parse().ok());
        index.map_or(Step::Key(step), Step::Index)
    });
    positions.nearest(&steps.collect::<Vec<_>>())
}

impl From<&DocumentError> for Unread {
    fn from(error: &DocumentError) -> Self {
        Self::whole(Problem::Text(error.to_string()))
    }
}
