//! The file as it is written, schema `olmguard.project/v1`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::admission::OnUndecided;
use crate::cli::args::catalogs::{CatalogArg, CatalogArgs};
use crate::cli::args::installed::{PartError, SaidArg};
use crate::cli::project::Project;
use crate::manifest::{Document, Field, FieldError, FieldFault};

/// Reads a document whose paths are relative to a directory.
pub(super) fn project(document: &Document, folder: &Path) -> Result<Project, FieldError> {
    let root = Field::root(document, "the file");
    root.mapping(&KEYS)?;
    root.need("schema", SCHEMA)?.word(&[(SCHEMA, ())])?;
    let paths = |key| root.get(key).map(|field| paths(&field, folder)).transpose();
    let snapshot = root.get("snapshot").map(|field| path(&field, folder));
    let catalogs = root.get("catalogs").map(|field| catalogs(&field, folder));
    let base = root.get("base").map(|field| base(&field, folder));
    let installed = root.get("installed").map(|field| installed(&field));
    let undecided = root.get("onUndecided").map(|field| field.word(&UNDECIDED));
    if let (Some(_), Some(field)) = (root.get("catalogs"), root.get("snapshot")) {
        let text = "catalogs and snapshot cannot be used together: each of them gives the catalogs";
        let text = text.to_owned();
        return Err(field.error(FieldFault::Other { text }));
    }
    Ok(Project {
        paths: paths("paths")?.unwrap_or_default(),
        catalogs: catalogs.transpose()?.unwrap_or_default(),
        snapshot: snapshot.transpose()?,
        guardrails: paths("guardrails")?.unwrap_or_default(),
        policies: paths("policies")?.unwrap_or_default(),
        base: base.transpose()?,
        on_undecided: undecided.transpose()?,
        installed: installed.transpose()?.unwrap_or_default(),
    })
}

/// Standard input is for flags: every command would read it.
fn path(field: &Field<'_>, folder: &Path) -> Result<PathBuf, FieldError> {
    match field.text()? {
        "-" => Err(field.error(FieldFault::Value {
            field: field.name(),
            found: "-".to_owned(),
            expected: "a path; name standard input with a flag".to_owned(),
        })),
        text => Ok(folder.join(text)),
    }
}

fn paths(field: &Field<'_>, folder: &Path) -> Result<Vec<PathBuf>, FieldError> {
    if field.value().is_string() {
        return Ok(vec![path(field, folder)?]);
    }
    field
        .items()?
        .iter()
        .map(|item| path(item, folder))
        .collect()
}

fn catalogs(field: &Field<'_>, folder: &Path) -> Result<CatalogArgs, FieldError> {
    let members = field.members()?.into_iter();
    let catalogs = members.map(|(name, place)| {
        path(&place, folder)?;
        place.parsed(|text| {
            CatalogArg::within(folder, name, text).map_err(|error| error.to_string())
        })
    });
    catalogs.collect()
}

/// `EXTENSION: VERSION[,bundle=NAME][,release=R]`, as the flag has it after the `=`.
fn installed(field: &Field<'_>) -> Result<BTreeMap<String, SaidArg>, FieldError> {
    let members = field.members()?.into_iter();
    let said = members.map(|(name, place)| {
        let said = place.parsed(|text| text.parse().map_err(|e: PartError| e.to_string()))?;
        Ok((name.to_owned(), said))
    });
    said.collect()
}

/// A revision of git, or a path, which begins as one.
fn base(field: &Field<'_>, folder: &Path) -> Result<String, FieldError> {
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

const UNDECIDED: [(&str, OnUndecided); 2] =
    [("warn", OnUndecided::Warn), ("deny", OnUndecided::Deny)];

const SCHEMA: &str = "olmguard.project/v1";
