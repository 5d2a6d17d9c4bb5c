//! `olm.semver`: channels and edges from nothing but versions.
//!
//! ```text
//! candidate, fast, stable: images --shelf--> versions --channels--> channels with edges
//! ```
//!
//! Keys are read as Go's strict decoder reads them: in any case, and none that is not known.
//! Upstream: operator-registry, [`alpha/template/semver/semver.go`].
//!
//! [`alpha/template/semver/semver.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/template/semver/semver.go

pub mod channels;
mod input;
mod package;

use std::collections::BTreeMap;

use self::channels::{Archetype, Release, Streams};
use super::TemplateError;
use crate::author::blob::BlobText;
use crate::author::shelf::Shelf;
use crate::author::written::CatalogText;
use input::Input;
use olmguard_catalog::version::Version;

/// The package, the channels and the bundles of a template, with the guardrails that stand beside it.
pub(super) fn render(
    template: &BlobText,
    guardrails: Vec<BlobText>,
    shelf: &Shelf,
) -> Result<CatalogText, TemplateError> {
    let input = Input::read(template)?;
    let lists = Archetype::ALL
        .into_iter()
        .map(|archetype| input.images(archetype));
    shelf.check(lists.flatten().map(|image| &**image))?;
    let mut bundles = BTreeMap::new();
    let mut package = None;
    let mut releases = Vec::new();
    for archetype in Archetype::ALL {
        let of_archetype = archetype_releases(archetype, &input, shelf, &mut package)?;
        for (release, bundle) in of_archetype {
            bundles.insert(bundle.text("image").to_owned(), bundle);
            releases.push((archetype, release));
        }
    }
    let package = package.ok_or(TemplateError::NoBundles)?;
    check_guardrails(&guardrails, &package)?;
    let streams = channels::generate(&package, &releases, input.kinds);
    let mut written = written(&package, streams, bundles);
    for blob in guardrails {
        written.push(blob);
    }
    Ok(written)
}

/// Checks that the guardrails are those of the package.
fn check_guardrails(guardrails: &[BlobText], package: &str) -> Result<(), TemplateError> {
    if guardrails.len() > 1 {
        return Err(TemplateError::SeveralGuardrails {
            found: guardrails.len(),
            package: package.into(),
        });
    }
    let foreign = guardrails.iter().find(|blob| blob.package() != package);
    foreign.map_or(Ok(()), |blob| {
        Err(TemplateError::ForeignGuardrails {
            found: blob.package().into(),
            package: package.into(),
        })
    })
}

/// The releases that one list names, with their bundles, by version.
fn archetype_releases<'a>(
    archetype: Archetype,
    input: &Input,
    shelf: &'a Shelf,
    package: &mut Option<Box<str>>,
) -> Result<Vec<(Release, &'a BlobText)>, TemplateError> {
    let mut by_name = BTreeMap::<_, (Release, &BlobText)>::new();
    for image in input.images(archetype) {
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
        let release = Release {
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

/// Why two bundles of a list cannot have one name.
fn duplicate(
    list: &'static str,
    first: &BlobText,
    second: &BlobText,
    release: &Release,
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

/// The package and version that a bundle says it is of.
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
fn tell_apart(releases: &[(Release, &BlobText)]) -> Result<(), TemplateError> {
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
    written.push(package::blob(
        package,
        &streams.default_channel,
        head.copied(),
    ));
    for channel in streams.channels {
        written.push(channel.into_blob());
    }
    for bundle in bundles.into_values() {
        written.push(bundle.clone());
    }
    written
}
