//! The extension that a case is about: in a file, or in the suite itself.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::commands::{BadInput, all_objects};
use crate::manifest::{DocumentField, FieldError, Inputs, ManifestObject};
use olmguard_engine::extension::{RecognisedObject, recognise};

/// The source of the object.
#[derive(Debug)]
pub(super) enum SuiteSubject {
    /// A file, with the name of the extension if the file has several.
    File { file: PathBuf, name: Option<String> },
    /// An object in the suite.
    Object(Value),
    /// A `spec.source.catalog` in the suite. The rest of the object has default values.
    Catalog(Value),
}

/// The reason why there is no object.
#[derive(Debug, thiserror::Error)]
pub(super) enum SubjectError {
    #[error("{0}")]
    Unreadable(Box<BadInput>),
    #[error("{file}: has no extension{named}{instead}", named = called(.name.as_deref()))]
    None {
        file: String,
        name: Option<String>,
        instead: String,
    },
    #[error("{file}: has {found} extensions: add name next to file, with the name of one of them")]
    Several { file: String, found: usize },
    #[error("{0}")]
    Installed(String),
}

impl SuiteSubject {
    pub(super) fn read(field: &DocumentField<'_>) -> Result<Self, FieldError> {
        field.mapping(&["file", "name", "catalog", "manifest"])?;
        let (file, name) = (field.get("file"), field.get("name"));
        match (file, field.get("catalog"), field.get("manifest")) {
            (Some(file), None, None) => Ok(Self::File {
                file: PathBuf::from(file.text()?),
                name: field.optional("name", |name| name.text().map(str::to_owned))?,
            }),
            (None, Some(catalog), None) if name.is_none() => {
                catalog.members()?;
                Ok(Self::Catalog(catalog.value().clone()))
            }
            (None, None, Some(manifest)) if name.is_none() => Self::of_manifest(&manifest),
            _ => Err(field.error(format!("{} {ONE_OF}", field.name()))),
        }
    }

    fn of_manifest(manifest: &DocumentField<'_>) -> Result<Self, FieldError> {
        manifest.members()?;
        if recognise(manifest.value()) == RecognisedObject::Other {
            let field = manifest.name();
            let text = format!("{field} is not an extension: expected its apiVersion and kind");
            return Err(manifest.error(text));
        }
        Ok(Self::Object(manifest.value().clone()))
    }

    /// The object. A file is relative to this directory.
    pub(super) fn object(&self, folder: &Path) -> Result<Value, SubjectError> {
        match self {
            Self::Object(value) => Ok(value.clone()),
            Self::Catalog(catalog) => Ok(served(catalog)),
            Self::File { file, name } => find(&folder.join(file), name.as_deref()),
        }
    }
}

/// The new and the old state of an extension. If one of them has only the fields of its catalog, its other fields come
/// from the other state, because no edit changes them.
pub(super) fn both(
    new: &SuiteSubject,
    old: &SuiteSubject,
    folder: &Path,
) -> Result<(Value, Value), SubjectError> {
    if let SuiteSubject::Catalog(catalog) = new {
        let old = old.object(folder)?;
        return Ok((asking(&old, catalog), old));
    }
    let new = new.object(folder)?;
    let old = match old {
        SuiteSubject::Catalog(catalog) => asking(&new, catalog),
        SuiteSubject::File { .. } | SuiteSubject::Object(_) => old.object(folder)?,
    };
    Ok((new, old))
}

/// The same object with these fields in its `spec.source.catalog`. An object without that field is replaced as a
/// whole.
fn asking(object: &Value, catalog: &Value) -> Value {
    let mut object = object.clone();
    match object.pointer_mut("/spec/source/catalog") {
        None => served(catalog),
        Some(place) => {
            *place = catalog.clone();
            object
        }
    }
}

/// An object of the API version that OLM v1 serves.
fn served(catalog: &Value) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "extension"},
        "spec": {
            "namespace": "extension",
            "serviceAccount": {"name": "extension"},
            "source": {"sourceType": "Catalog", "catalog": catalog},
        },
    })
}

fn find(path: &Path, name: Option<&str>) -> Result<Value, SubjectError> {
    let mut extensions =
        all_objects(Inputs::of_files([path.to_owned()])).map_err(SubjectError::Unreadable)?;
    extensions.retain(|object| recognise(&object.value) != RecognisedObject::Other);
    let names = extensions.iter().filter_map(|object| object.name.clone());
    let names: Vec<_> = names.collect();
    let is_asked =
        |object: &ManifestObject| name.is_none_or(|name| object.name.as_deref() == Some(name));
    let mut asked = extensions.into_iter().filter(is_asked);
    let file = path.display().to_string();
    match (asked.next(), asked.count()) {
        (Some(object), 0) => Ok(object.value),
        (Some(_), more) => Err(SubjectError::Several {
            file,
            found: more + 1,
        }),
        (None, _) => Err(SubjectError::None {
            file,
            name: name.map(str::to_owned),
            instead: match names.as_slice() {
                [] => String::new(),
                names => format!(": expected one of {}", names.join(", ")),
            },
        }),
    }
}

fn called(name: Option<&str>) -> String {
    name.map(|name| format!(" {name:?}")).unwrap_or_default()
}

const ONE_OF: &str = "is missing or given twice: expected file (and name, if the file has several \
                      extensions), catalog (the fields of spec.source.catalog) or manifest";
