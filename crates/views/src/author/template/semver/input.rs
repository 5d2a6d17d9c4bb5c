//! What a semver template says, read strictly.

use super::channels::{Archetype, ChannelKind, Kinds};
use crate::author::blob::BlobText;
use crate::author::template::TemplateError;
use crate::author::value::{Members, Value};
use olmguard_catalog::fbc::json::fold_of;

/// The lists of images and the kinds of channels.
pub(super) struct Input {
    pub(super) kinds: Kinds,
    images: [Vec<Box<str>>; 3],
}

impl Input {
    pub(super) fn read(template: &BlobText) -> Result<Self, TemplateError> {
        let members = template.members();
        check_keys(
            members,
            "",
            &KEYS,
            "schema, generateMajorChannels, generateMinorChannels, \
            defaultChannelTypePreference, candidate, fast and stable",
        )?;
        let mut images = <[Vec<Box<str>>; 3]>::default();
        for (images, archetype) in images.iter_mut().zip(Archetype::ALL) {
            *images = read_images(members, archetype.as_str())?;
        }
        let kinds = read_kinds(members)?;
        Ok(Self { kinds, images })
    }

    /// The images of one list, in its order.
    pub(super) fn images(&self, archetype: Archetype) -> &[Box<str>] {
        let [candidate, fast, stable] = &self.images;
        match archetype {
            Archetype::Candidate => candidate,
            Archetype::Fast => fast,
            Archetype::Stable => stable,
        }
    }
}

/// The kinds to generate; only minor channels where nothing is said.
fn read_kinds(members: &Members) -> Result<Kinds, TemplateError> {
    let major = boolean(members, "generateMajorChannels")?;
    let minor = boolean(members, "generateMinorChannels")?;
    let preferred = match text(members, "defaultChannelTypePreference", "")? {
        "" => None,
        "major" => Some(ChannelKind::Major),
        "minor" => Some(ChannelKind::Minor),
        found => {
            return Err(TemplateError::UnknownPreference {
                found: found.into(),
            });
        }
    };
    let only = |kind: ChannelKind| match preferred {
        Some(other) if other != kind => Err(TemplateError::IdlePreference {
            kind: other.as_str(),
        }),
        _ => Ok(Kinds::Only(kind)),
    };
    match (major, minor) {
        (true, true) => Ok(Kinds::Both(preferred.unwrap_or(ChannelKind::Minor))),
        (true, false) => only(ChannelKind::Major),
        (false, _) => only(ChannelKind::Minor),
    }
}

fn read_images(members: &Members, list: &str) -> Result<Vec<Box<str>>, TemplateError> {
    let Some(bundles) = object(members, list)? else {
        return Ok(Vec::new());
    };
    check_keys(bundles, &format!(" in {list}"), &["bundles"], "bundles")?;
    let items = match bundles.get("bundles") {
        None | Some(Value::Null) => &[],
        Some(Value::List(items)) => items.as_slice(),
        Some(other) => return Err(wrong_type(&format!("{list}.bundles"), "a list", other)),
    };
    let image = |(n, item): (usize, &Value)| {
        let path = format!("{list}.bundles[{n}]");
        let Value::Object(bundle) = item else {
            return Err(wrong_type(&path, "an object with image", item));
        };
        check_keys(bundle, &format!(" in {path}"), &["image"], "image")?;
        text(bundle, "image", &format!("{path}.")).map(Box::from)
    };
    items.iter().enumerate().map(image).collect()
}

fn check_keys(
    members: &Members,
    path: &str,
    known: &[&str],
    expected: &'static str,
) -> Result<(), TemplateError> {
    let is_known = |key: &str| known.iter().any(|name| fold_of(key, name).is_some());
    match members.iter().find(|(key, _)| !is_known(key)) {
        None => Ok(()),
        Some((key, _)) => Err(TemplateError::UnknownField {
            key: key.into(),
            path: path.into(),
            expected,
        }),
    }
}

fn boolean(members: &Members, key: &str) -> Result<bool, TemplateError> {
    match members.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(other) => Err(wrong_type(key, "true or false", other)),
    }
}

fn text<'a>(members: &'a Members, key: &str, path: &str) -> Result<&'a str, TemplateError> {
    match members.get(key) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(wrong_type(&format!("{path}{key}"), "a string", other)),
    }
}

fn object<'a>(members: &'a Members, key: &str) -> Result<Option<&'a Members>, TemplateError> {
    match members.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(members)) => Ok(Some(members)),
        Some(other) => Err(wrong_type(key, "an object with bundles", other)),
    }
}

fn wrong_type(path: &str, expected: &'static str, found: &Value) -> TemplateError {
    TemplateError::WrongType {
        path: path.into(),
        expected,
        found: found.kind(),
    }
}

const KEYS: [&str; 7] = [
    "schema",
    "generateMajorChannels",
    "generateMinorChannels",
    "defaultChannelTypePreference",
    "candidate",
    "fast",
    "stable",
];
