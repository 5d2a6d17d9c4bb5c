//! Bundles, one by one. Upstream: `ConvertToModel`, [`alpha/declcfg/declcfg_to_model.go`]; `Validate` of
//! `Bundle`, [`alpha/model/model.go`].
//!
//! [`alpha/declcfg/declcfg_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg_to_model.go
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

use std::collections::{HashMap, HashSet};

use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::view::{PackageView, View};
use crate::lint::words;
use crate::lint::written::{Bundle, PackageProperty};
use olmguard_catalog::version::{Release, ReleaseLimit, Version};

/// The bundles of a catalog, in the order of its files: where they belong.
pub(super) fn homes(view: &View<'_>, report: &mut Findings<'_>) {
    let mut seen = HashMap::new();
    for bundle in &view.written.bundles {
        let (spot, package, name) = (bundle.spot, &*bundle.package, &*bundle.name);
        if package.is_empty() {
            let words = words::bundle_without_package(name);
            report.say(Rule::BundleWithoutPackage, spot, package, words);
        } else if !super::conversion::is_defined(view, package) {
            let near = super::conversion::near(view, package, report);
            let words = words::bundle_of_unknown_package(package, name, near);
            report.say(Rule::BundleOfUnknownPackage, spot, package, words);
        }
        let place = (Rule::DuplicateBundle, spot, package);
        report.say_if_second(&mut seen, (package, name), place, || {
            words::duplicate_bundle(package, name)
        });
    }
}

/// The bundles of a package.
pub(super) fn check(view: &View<'_>, package: &PackageView<'_>, report: &mut Findings<'_>) {
    // The name of the package is a slip: what follows from it is not told again.
    if !super::conversion::is_defined(view, package.name) {
        return;
    }
    let entries = package.channels.iter().flat_map(|view| &view.entries);
    let in_channels: HashSet<_> = entries.filter_map(|view| view.bundle).collect();
    for (index, view) in package.bundles.iter().enumerate() {
        let bundle = view.bundle;
        properties(bundle, report);
        images(bundle, report);
        if in_channels.contains(&index) {
            content(bundle, report);
        } else if package.unread.channels.is_empty() {
            let words = words::bundle_in_no_channel(package.name, &bundle.name);
            report.say(Rule::BundleInNoChannel, bundle.spot, package.name, words);
        }
    }
}

fn properties(bundle: &Bundle, report: &mut Findings<'_>) {
    let (package, name) = (&*bundle.package, &*bundle.name);
    if let Some(fault) = &bundle.property_fault {
        let words = words::invalid_property(name, fault.index, &fault.kind, &fault.fault);
        report.say(Rule::InvalidProperty, fault.spot, package, words);
        return;
    }
    match bundle.versions.as_slice() {
        [property] => {
            if *property.name != *package {
                let words = words::package_property_mismatch(package, name, &property.name);
                report.say(Rule::PackagePropertyMismatch, property.spot, package, words);
            }
            version(bundle, property, report);
        }
        others => {
            let spot = others.get(1).map_or(bundle.spot, |second| second.spot);
            let words = words::package_property_count(package, name, others.len());
            report.say(Rule::PackagePropertyCount, spot, package, words);
        }
    }
}

fn version(bundle: &Bundle, property: &PackageProperty, report: &mut Findings<'_>) {
    let (package, name) = (&*bundle.package, &*bundle.name);
    let version = Version::parse(&property.version);
    if let Err(error) = &version {
        let words = words::invalid_version(name, &property.version, error);
        report.say(Rule::InvalidVersion, property.spot, package, words);
    }
    let release = match Release::parse(&property.release, ReleaseLimit::Bytes20) {
        Ok(release) => release,
        Err(error) => {
            let words = words::invalid_release(name, &property.release, &error);
            report.say(Rule::InvalidRelease, property.spot, package, words);
            return;
        }
    };
    let Ok(version) = version else { return };
    if release.is_empty() {
        return;
    }
    let expected = format!("{package}-v{version}-{release}");
    if *expected != *name {
        let words = words::bundle_name_not_normalized(name, &expected);
        report.say(Rule::BundleNameNotNormalized, property.spot, package, words);
    }
    if !version.build().is_empty() {
        let words = words::build_metadata_with_release(name, &property.version);
        report.say(
            Rule::BuildMetadataWithRelease,
            property.spot,
            package,
            words,
        );
    }
}

fn images(bundle: &Bundle, report: &mut Findings<'_>) {
    let (package, name) = (&*bundle.package, &*bundle.name);
    for invalid in &bundle.invalid_images {
        let text = &invalid.image.text;
        let words = words::invalid_image(package, name, invalid.related, text, &invalid.fault);
        report.say(Rule::InvalidImage, invalid.image.spot, package, words);
    }
}

fn content(bundle: &Bundle, report: &mut Findings<'_>) {
    if bundle.image.is_empty() && !bundle.has_objects {
        let words = words::bundle_without_image(&bundle.name);
        report.say(
            Rule::BundleWithoutImage,
            bundle.spot,
            &bundle.package,
            words,
        );
    }
}
