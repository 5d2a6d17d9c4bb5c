//! `.olmguard.yaml`: the values of flags for every call in a repository.
//!
//! The file is in the current directory, or in the nearest directory above it up to the root of the git repository.
//! Its paths are relative to the file. A flag or an environment variable overrides its value in the file. A flag that
//! names catalogs overrides all catalogs of the file. `serve` does not read the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, io};

use clap::builder::BoolishValueParser;

use crate::cli::args::catalogs::CatalogArgs;
use crate::cli::args::installed::{PartError, SaidArg};
use crate::cli::args::{UNDECIDED, heading};
use crate::manifest::{
    Document, DocumentError, DocumentField, FieldError, InputError, Inputs, documents,
};
use olmguard_admission::OnUndecided;

/// The flag of the commands that read the file.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct ProjectArgs {
    /// Ignore .olmguard.yaml
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::CATALOGS)]
    no_project: bool,
}

/// The contents of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Project {
    /// Manifests to check.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) catalogs: CatalogArgs,
    pub(crate) snapshot: Option<PathBuf>,
    pub(crate) guardrails: Vec<PathBuf>,
    pub(crate) policies: Vec<PathBuf>,
    /// Revision or directory to compare with.
    pub(crate) base: Option<String>,
    pub(crate) on_undecided: Option<OnUndecided>,
    /// The installed bundles, by the name of the extension.
    pub(crate) installed: BTreeMap<String, SaidArg>,
}

/// The reason why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProjectError {
    #[error("cannot find out the current directory: {0}")]
    Here(#[from] io::Error),
    #[error("{file}: {error}")]
    Input { file: String, error: InputError },
    #[error("{file}:{error}")]
    Document { file: String, error: DocumentError },
    #[error("{file}:{error}")]
    DocumentField { file: String, error: FieldError },
    #[error("{file}: found {found} documents: expected one")]
    Count { file: String, found: usize },
}

impl ProjectArgs {
    /// Reads the file for the current directory. Returns an empty project if no file exists, or if it is ignored.
    ///
    /// # Errors
    /// If a file exists that cannot be read.
    pub(crate) fn read(self) -> Result<Project, ProjectError> {
        if self.no_project {
            return Ok(Project::default());
        }
        let folder = folder(&env::current_dir()?);
        folder.map_or_else(|| Ok(Project::default()), |folder| Project::read(&folder))
    }
}

impl Project {
    fn read(folder: &Path) -> Result<Self, ProjectError> {
        let path = folder.join(FILE);
        let file = path.display().to_string();
        let Some(input) = Inputs::of_files([path]).next() else {
            return Ok(Self::default());
        };
        let bytes = input.bytes.map_err(|error| ProjectError::Input {
            file: file.clone(),
            error,
        })?;
        let read: Result<Vec<_>, _> = documents(&bytes).collect();
        let documents = read.map_err(|error| ProjectError::Document {
            file: file.clone(),
            error,
        })?;
        match documents.as_slice() {
            [document] => project(document, folder)
                .map_err(|error| ProjectError::DocumentField { file, error }),
            _ => Err(ProjectError::Count {
                file,
                found: documents.len(),
            }),
        }
    }
}

/// The directory of the file, relative to the current directory.
fn folder(here: &Path) -> Option<PathBuf> {
    let mut relative = PathBuf::new();
    for directory in here.ancestors() {
        if directory.join(FILE).is_file() {
            return Some(relative);
        }
        if directory.join(".git").exists() {
            return None;
        }
        relative.push("..");
    }
    None
}

const FILE: &str = ".olmguard.yaml";

/// Reads a document whose paths are relative to a directory.
fn project(document: &Document, folder: &Path) -> Result<Project, FieldError> {
    let root = DocumentField::root(document, "the file");
    root.mapping(&KEYS)?;
    root.need("schema", SCHEMA)?.word(&[(SCHEMA, ())])?;
    let paths = |key| root.optional(key, |field| paths(&field, folder));
    let undecided = UNDECIDED.map(|(name, value, _)| (name, value));
    if let (Some(_), Some(field)) = (root.get("catalogs"), root.get("snapshot")) {
        let text = "catalogs and snapshot cannot be used together: each of them gives the catalogs";
        return Err(field.error(text));
    }
    let catalogs = |field| catalogs(&field, folder);
    let installed = |field| installed(&field);
    Ok(Project {
        paths: paths("paths")?.unwrap_or_default(),
        catalogs: root.optional("catalogs", catalogs)?.unwrap_or_default(),
        snapshot: root.optional("snapshot", |field| path(&field, folder))?,
        guardrails: paths("guardrails")?.unwrap_or_default(),
        policies: paths("policies")?.unwrap_or_default(),
        base: root.optional("base", |field| base(&field, folder))?,
        on_undecided: root.optional("onUndecided", |field| field.word(&undecided))?,
        installed: root.optional("installed", installed)?.unwrap_or_default(),
    })
}

/// Parses a path. Standard input is only for flags, because every command would read it.
fn path(field: &DocumentField<'_>, folder: &Path) -> Result<PathBuf, FieldError> {
    match field.text()? {
        "-" => {
            let name = field.name();
            let why = format!("{name} is \"-\": expected a path; name standard input with a flag");
            Err(field.error(why))
        }
        text => Ok(folder.join(text)),
    }
}

fn paths(field: &DocumentField<'_>, folder: &Path) -> Result<Vec<PathBuf>, FieldError> {
    if field.value().is_string() {
        return Ok(vec![path(field, folder)?]);
    }
    field
        .items()?
        .iter()
        .map(|item| path(item, folder))
        .collect()
}

fn catalogs(field: &DocumentField<'_>, folder: &Path) -> Result<CatalogArgs, FieldError> {
    for (_, place) in field.members()? {
        path(&place, folder)?;
    }
    CatalogArgs::of_field(field, folder)
}

/// Parses `EXTENSION: VERSION[,bundle=NAME][,release=R]`, the same as the flag after its `=`.
fn installed(field: &DocumentField<'_>) -> Result<BTreeMap<String, SaidArg>, FieldError> {
    let members = field.members()?.into_iter();
    let said = members.map(|(name, place)| {
        let said = place.parsed(|text| text.parse().map_err(|e: PartError| e.to_string()))?;
        Ok((name.to_owned(), said))
    });
    said.collect()
}

/// Parses a git revision, or a path, which starts with `./`, `../` or `/`.
fn base(field: &DocumentField<'_>, folder: &Path) -> Result<String, FieldError> {
    let text = field.text()?;
    let is_path = ["./", "../", "/"]
        .iter()
        .any(|start| text.starts_with(start));
    if !is_path {
        return Ok(text.to_owned());
    }
    let path = Path::new("./").join(folder).join(text);
    Ok(path.display().to_string())
}

const KEYS: [&str; 9] = [
    "schema",
    "paths",
    "catalogs",
    "snapshot",
    "guardrails",
    "policies",
    "base",
    "onUndecided",
    "installed",
];

const SCHEMA: &str = "olmguard.project/v1";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(text: &str) -> Result<Project, String> {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(FILE), text).expect("written");
        let read = Project::read(folder.path());
        let folder = format!("{}/", folder.path().display());
        read.map_err(|error| error.to_string().replace(&folder, ""))
    }

    #[test]
    fn a_file_says_what_flags_would() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "schema: olmguard.project/v1\npaths: [apps, more]\ncatalogs: {hub: hub.yaml}\n\
                    guardrails: rules.yaml\nbase: origin/main\nonUndecided: warn\n";
        fs::write(folder.path().join(FILE), text).expect("written");
        let project = Project::read(folder.path()).expect("a project");
        let within = |name: &str| folder.path().join(name);
        assert_eq!(project.paths, [within("apps"), within("more")]);
        let catalogs: Vec<_> = project.catalogs.paths().collect();
        assert_eq!(catalogs, [within("hub.yaml")]);
        assert_eq!(project.guardrails, [within("rules.yaml")]);
        assert_eq!(project.base.as_deref(), Some("origin/main"));
        assert_eq!(project.on_undecided, Some(OnUndecided::Warn));
        assert_eq!(project.snapshot, None);
    }

    #[test]
    fn faults_name_line_and_way_out() {
        for (text, expected) in [
            (
                "paths: [a]\n",
                ".olmguard.yaml:1:1: schema is missing: expected olmguard.project/v1",
            ),
            (
                "schema: olmguard.project/v1\npath: a\n",
                ".olmguard.yaml:2:7: path is not known: did you mean paths?",
            ),
            (
                "schema: olmguard.project/v1\npaths: 1\n",
                ".olmguard.yaml:2:8: paths is a number: expected a list; put it in quotes to make it a string: \"1\"",
            ),
            (
                "schema: olmguard.project/v1\nonUndecided: no\n",
                ".olmguard.yaml:2:14: onUndecided is a boolean: expected a string; put it in quotes to \
                 make it a string: \"no\"",
            ),
            (
                "schema: olmguard.project/v1\ncatalogs: {hub: a}\nsnapshot: b\n",
                ".olmguard.yaml:3:11: catalogs and snapshot cannot be used together: each of them gives \
                 the catalogs",
            ),
            (
                "schema: olmguard.project/v1\nsnapshot: '-'\n",
                ".olmguard.yaml:2:11: snapshot is \"-\": expected a path; name standard input with a flag",
            ),
            ("", ".olmguard.yaml: found 0 documents: expected one"),
            (
                "a: 1\n---\nb: 1\n",
                ".olmguard.yaml: found 2 documents: expected one",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert_eq!(error, expected, "{text}");
        }
    }

    #[test]
    fn it_is_found_above_up_to_the_repository() {
        let root = tempfile::tempdir().expect("a folder");
        let deep = root.path().join("repository/apps/one");
        fs::create_dir_all(&deep).expect("folders");
        fs::write(root.path().join(FILE), "").expect("written");
        assert_eq!(folder(&deep), Some(PathBuf::from("../../..")));
        fs::create_dir(root.path().join("repository/.git")).expect("a folder");
        assert_eq!(folder(&deep), None, "it is not that of another repository");
        fs::write(root.path().join("repository").join(FILE), "").expect("written");
        assert_eq!(folder(&deep), Some(PathBuf::from("../..")));
        fs::write(deep.join(FILE), "").expect("written");
        assert_eq!(folder(&deep), Some(PathBuf::new()));
    }
}
