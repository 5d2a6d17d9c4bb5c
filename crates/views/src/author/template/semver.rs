//! `olm.semver`: channels and edges that are generated from versions alone.
//!
//! ```text
//! candidate, fast, stable: images --shelf--> versions --channels--> channels with edges
//! ```
//!
//! Keys are read as in Go's strict decoder: in any case, and unknown keys are errors.
//! Upstream: operator-registry, [`alpha/template/semver/semver.go`].
//!
//! [`alpha/template/semver/semver.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/template/semver/semver.go

pub mod channels;

use std::collections::BTreeMap;

use crate::author::blob::{BlobText, PACKAGE, WrittenMembers, WrittenValue};
use crate::author::channel::AuthoredChannel;
use crate::author::template as csv;
use crate::author::template::TemplateError;
use crate::author::template::semver::channels::{
    Archetype, ChannelKind, ChannelRelease, Kinds, Streams,
};
use crate::author::written::{CatalogText, Shelf};
use olmguard_catalog::fbc::json::fold_of;
use olmguard_catalog::version::Version;

/// Renders the package, channels and bundles of a template, and adds the guardrails next to it.
pub(super) fn render(
    template: &BlobText,
    guardrails: Vec<BlobText>,
    shelf: &Shelf,
) -> Result<CatalogText, TemplateError> {
    let input = SemverInput::read(template)?;
    let images = input.lists.iter().flat_map(|(_, images)| images);
    shelf.check(images.map(|image| &**image))?;
    let mut bundles = BTreeMap::new();
    let mut package = None;
    let mut releases = Vec::new();
    for (archetype, images) in &input.lists {
        let of_archetype = archetype_releases(*archetype, images, shelf, &mut package)?;
        for (release, bundle) in of_archetype {
            bundles.insert(bundle.text("image").to_owned(), bundle);
            releases.push((*archetype, release));
        }
    }
    let package = package.ok_or(TemplateError::NoBundles)?;
    check_guardrails(&guardrails, &package)?;
    let streams = channels::generate(&package, &releases, input.kinds);
    let mut written = written(&package, streams, bundles);
    written.blobs.extend(guardrails);
    Ok(written)
}

/// Checks that the guardrails are for the package.
fn check_guardrails(guardrails: &[BlobText], package: &str) -> Result<(), TemplateError> {
    match guardrails {
        [] => Ok(()),
        [own] if own.package() == package => Ok(()),
        [other] => Err(TemplateError::ForeignGuardrails {
            found: other.package().into(),
            package: package.into(),
        }),
        several => Err(TemplateError::SeveralGuardrails {
            found: several.len(),
            package: package.into(),
        }),
    }
}

/// Returns the releases of one list with their bundles, by name.
fn archetype_releases<'a>(
    archetype: Archetype,
    images: &[Box<str>],
    shelf: &'a Shelf,
    package: &mut Option<Box<str>>,
) -> Result<Vec<(ChannelRelease, &'a BlobText)>, TemplateError> {
    let mut by_name = BTreeMap::<_, (ChannelRelease, &BlobText)>::new();
    for image in images {
        let bundle = shelf.bundle(image)?;
        let (own, version) = package_property(bundle)?;
        match package {
            Some(package) if **package != *own => {
                return Err(TemplateError::ForeignPackage {
                    found: own.into(),
                    package: package.clone(),
                });
            }
            _ => *package = Some(own.into()),
        }
        let name: Box<str> = bundle.name().into();
        let release = ChannelRelease {
            name: name.clone(),
            version,
        };
        if let Some((_, first)) = by_name.get(&name) {
            return Err(duplicate(archetype.as_str(), first, bundle, &release));
        }
        by_name.insert(name, (release, bundle));
    }
    let releases: Vec<_> = by_name.into_values().collect();
    tell_apart(&releases)?;
    Ok(releases)
}

/// Returns the error for two bundles of a list with the same name.
fn duplicate(
    list: &'static str,
    first: &BlobText,
    second: &BlobText,
    release: &ChannelRelease,
) -> TemplateError {
    let (bundle, image) = (release.name.clone(), second.text("image"));
    if first.text("image") == image {
        let image = image.into();
        return TemplateError::DuplicateImage {
            bundle,
            list,
            image,
        };
    }
    let stem = bundle.split(".v").next().unwrap_or_default();
    TemplateError::DuplicateBundle {
        list,
        images: (first.text("image").into(), image.into()),
        versioned: format!("{stem}.v{}", release.version),
        bundle,
    }
}

/// Returns the package and version from the `olm.package` property of a bundle.
fn package_property(bundle: &BlobText) -> Result<(&str, Version), TemplateError> {
    let properties: Vec<_> = bundle.properties("olm.package").collect();
    let [property] = properties[..] else {
        return Err(TemplateError::PackageProperties {
            bundle: bundle.name().into(),
            found: properties.len(),
        });
    };
    let version = property.text("version");
    let parsed = Version::parse(version).map_err(|source| TemplateError::Version {
        bundle: bundle.name().into(),
        version: version.into(),
        source,
    })?;
    Ok((property.text("packageName"), parsed))
}

/// Checks that versions have an order.
fn tell_apart(releases: &[(ChannelRelease, &BlobText)]) -> Result<(), TemplateError> {
    let mut seen = std::collections::BTreeSet::new();
    for (release, _) in releases {
        let without_build = release.version.without_build().to_string();
        if !seen.insert(without_build.clone()) {
            return Err(TemplateError::OnlyBuildDiffers {
                version: release.version.to_string().into(),
                without_build: without_build.into(),
            });
        }
    }
    Ok(())
}

fn written(package: &str, streams: Streams, bundles: BTreeMap<String, &BlobText>) -> CatalogText {
    let mut written = CatalogText::default();
    let head = streams.head().and_then(|head| {
        let mut bundles = bundles.values();
        bundles.find(|bundle| bundle.name() == head)
    });
    written
        .blobs
        .push(blob(package, &streams.default_channel, head.copied()));
    let channels = streams.channels.into_iter();
    written
        .blobs
        .extend(channels.map(AuthoredChannel::into_blob));
    written.blobs.extend(bundles.into_values().cloned());
    written
}

/// The lists of images and the kinds of channels.
struct SemverInput {
    kinds: Kinds,
    /// The images of each list, in order.
    lists: Vec<(Archetype, Vec<Box<str>>)>,
}

impl SemverInput {
    fn read(template: &BlobText) -> Result<Self, TemplateError> {
        let members = &template.members;
        check_keys(
            members,
            "",
            &KEYS,
            "schema, generateMajorChannels, generateMinorChannels, \
            defaultChannelTypePreference, candidate, fast and stable",
        )?;
        let lists = Archetype::ALL.into_iter().map(|archetype| {
            let images = read_images(members, archetype.as_str())?;
            Ok((archetype, images))
        });
        Ok(Self {
            lists: lists.collect::<Result<_, TemplateError>>()?,
            kinds: read_kinds(members)?,
        })
    }
}

/// Reads the kinds of channels to generate. The default is minor channels only.
fn read_kinds(members: &WrittenMembers) -> Result<Kinds, TemplateError> {
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

fn read_images(members: &WrittenMembers, list: &str) -> Result<Vec<Box<str>>, TemplateError> {
    let Some(bundles) = object(members, list)? else {
        return Ok(Vec::new());
    };
    check_keys(bundles, &format!(" in {list}"), &["bundles"], "bundles")?;
    let items = match bundles.get("bundles") {
        None | Some(WrittenValue::Null) => &[],
        Some(WrittenValue::List(items)) => items.as_slice(),
        Some(other) => return Err(wrong_type(&format!("{list}.bundles"), "a list", other)),
    };
    let image = |(n, item): (usize, &WrittenValue)| {
        let path = format!("{list}.bundles[{n}]");
        let WrittenValue::Object(bundle) = item else {
            return Err(wrong_type(&path, "an object with image", item));
        };
        check_keys(bundle, &format!(" in {path}"), &["image"], "image")?;
        text(bundle, "image", &format!("{path}.")).map(Box::from)
    };
    items.iter().enumerate().map(image).collect()
}

fn check_keys(
    members: &WrittenMembers,
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

fn boolean(members: &WrittenMembers, key: &str) -> Result<bool, TemplateError> {
    match members.get(key) {
        None | Some(WrittenValue::Null) => Ok(false),
        Some(WrittenValue::Bool(value)) => Ok(*value),
        Some(other) => Err(wrong_type(key, "true or false", other)),
    }
}

fn text<'a>(members: &'a WrittenMembers, key: &str, path: &str) -> Result<&'a str, TemplateError> {
    match members.get(key) {
        None | Some(WrittenValue::Null) => Ok(""),
        Some(WrittenValue::String(text)) => Ok(text),
        Some(other) => Err(wrong_type(&format!("{path}{key}"), "a string", other)),
    }
}

fn object<'a>(
    members: &'a WrittenMembers,
    key: &str,
) -> Result<Option<&'a WrittenMembers>, TemplateError> {
    match members.get(key) {
        None | Some(WrittenValue::Null) => Ok(None),
        Some(WrittenValue::Object(members)) => Ok(Some(members)),
        Some(other) => Err(wrong_type(key, "an object with bundles", other)),
    }
}

fn wrong_type(path: &str, expected: &'static str, found: &WrittenValue) -> TemplateError {
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

/// Creates the package, with the icon and description from the CSV of the head of the default channel, if any.
fn blob(name: &str, default_channel: &str, head: Option<&BlobText>) -> BlobText {
    let mut blob = BlobText::of(
        PACKAGE,
        &[("name", name), ("defaultChannel", default_channel)],
    );
    let Some(csv) = head.and_then(csv::of) else {
        return blob;
    };
    let description = csv.text("description");
    if !description.is_empty() {
        blob.members.put("description", description.into());
    }
    if let Some(icon) = csv.get("icon").and_then(|icons| icons.items().first()) {
        let mut members = WrittenMembers::default();
        for key in ["base64data", "mediatype"] {
            members.put(key, icon.text(key).into());
        }
        blob.members.put("icon", WrittenValue::Object(members));
    }
    blob
}
