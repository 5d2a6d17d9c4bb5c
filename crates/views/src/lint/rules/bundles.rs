//! Rules about single bundles. Upstream: `ConvertToModel`, [`alpha/declcfg/declcfg_to_model.go`]; `Validate` of
//! `Bundle`, [`alpha/model/model.go`].
//!
//! [`alpha/declcfg/declcfg_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg_to_model.go
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

use crate::lint::check::{BundleCheck, Check};
use crate::lint::finding::Words;
use crate::lint::rule::{RuleItem, rule};
use crate::lint::words::{meant, q};
use crate::lint::written::{PackageProperty, Text};
use olmguard_catalog::InstallFacts;
use olmguard_catalog::image_reference::{self, ReferenceError};
use olmguard_catalog::version::go::escape;
use olmguard_catalog::version::{Release, ReleaseError, ReleaseLimit, Version};

pub(super) const BUNDLE_WITHOUT_PACKAGE: RuleItem =
    rule!("bundle-without-package", Conversion, Error).on(Check::Catalog(|catalog, report| {
        let bundles = catalog.written.bundles.iter();
        for bundle in bundles.filter(|bundle| bundle.package.is_empty()) {
            let name = q(&bundle.name);
            report.say_opm(
                bundle.spot,
                format!("bundle {name} has no package; add the package that it belongs to"),
                format!("package name must be set for bundle {name}"),
            );
        }
    }));

pub(super) const BUNDLE_OF_UNKNOWN_PACKAGE: RuleItem =
    rule!("bundle-of-unknown-package", Conversion, Error).on(Check::Catalog(|catalog, report| {
        let bundles = catalog.written.bundles.iter();
        let named = bundles.filter(|bundle| !bundle.package.is_empty());
        for bundle in named.filter(|bundle| !catalog.defines(&bundle.package)) {
            let near = report.findings.guess(&bundle.package, catalog.defined());
            let (package, name) = (q(&bundle.package), q(&bundle.name));
            report.of(&bundle.package).say_opm(
                bundle.spot,
                format!(
                    "bundle {name} belongs to package {package}, which is not defined; {}",
                    meant(near, "add its olm.package")
                ),
                format!("unknown package {package} for bundle {name}"),
            );
        }
    }));

pub(super) const DUPLICATE_BUNDLE: RuleItem =
    rule!("duplicate-bundle", Conversion, Error).on(Check::Catalog(|catalog, report| {
        let keyed = catalog.written.bundles.iter().map(|bundle| {
            let package = &*bundle.package;
            ((package, &*bundle.name), bundle.spot, package)
        });
        report.say_seconds(keyed, |(package, bundle)| {
            let (package, bundle) = (q(package), q(bundle));
            Words::with(
                format!(
                    "package {package} has a second bundle {bundle}; keep one, or give it another \
                     name"
                ),
                format!("package {package} has duplicate bundle {bundle}"),
            )
        });
    }));

pub(super) const BUNDLE_IN_NO_CHANNEL: RuleItem = rule!("bundle-in-no-channel", Conversion, Error)
    .on(Check::Bundle(|check, report| {
        if !check.is_in_channel && check.facts.package.unread.channels.is_empty() {
            let (package, bundle) = (q(&check.bundle.package), q(&check.bundle.name));
            report.say_opm(
                check.bundle.spot,
                format!(
                    "bundle {bundle} of package {package} is in no channel; add an entry, or \
                     remove the bundle"
                ),
                format!("package {package}, bundle {bundle} not found in any channel entries"),
            );
        }
    }));

pub(super) const BUNDLE_WITHOUT_IMAGE: RuleItem =
    rule!("bundle-without-image", Model, Error).on(Check::Bundle(|check, report| {
        let bundle = check.bundle;
        if check.is_in_channel && bundle.image.text.is_empty() && !bundle.has_objects {
            let name = q(&bundle.name);
            report.say_opm(
                bundle.spot,
                format!("bundle {name} has neither an image nor manifests; add an image"),
                "bundle image must be set",
            );
        }
    }));

pub(super) const INVALID_IMAGE: RuleItem =
    rule!("invalid-image", Conversion, Error).on(Check::Bundle(|check, report| {
        let (package, bundle) = (q(&check.bundle.package), q(&check.bundle.name));
        for invalid in &check.bundle.invalid_images {
            let field = match invalid.related {
                Some(index) => format!("relatedImages[{index}].image"),
                None => "image".to_owned(),
            };
            let image = q(&invalid.image.text);
            let fault = escape(&invalid.fault.to_string());
            report.say_opm(
                invalid.image.spot,
                format!("bundle {bundle}: {field} {image} cannot be pulled: {fault}"),
                format!(
                    "package {package} bundle {bundle} {field}: invalid image pull spec {image}: \
                     {fault}"
                ),
            );
        }
    }));

pub(super) const INVALID_PROPERTY: RuleItem =
    rule!("invalid-property", Conversion, Error).on(Check::Bundle(|check, report| {
        if let Some(property) = &check.bundle.property_fault {
            let (bundle, index, kind) = (q(&check.bundle.name), property.index, q(&property.kind));
            let fault = escape(&property.fault.to_string());
            report.say_opm(
                property.spot,
                format!("bundle {bundle}: property {index} of type {kind} is not valid: {fault}"),
                format!(
                    "parse properties for bundle {bundle}: parse property[{index}] of type {kind}: "
                ),
            );
        }
    }));

pub(super) const PACKAGE_PROPERTY_COUNT: RuleItem =
    rule!("package-property-count", Conversion, Error).on(Check::Bundle(|check, report| {
        let properties = &check.bundle.versions;
        let found = properties.len();
        if check.bundle.property_fault.is_some() || found == 1 {
            return;
        }
        let (package, bundle) = (q(&check.bundle.package), q(&check.bundle.name));
        let words = Words::with(
            format!("bundle {bundle} has {found} properties of type \"olm.package\": expected one"),
            format!(
                "package {package} bundle {bundle} must have exactly 1 \"olm.package\" property, \
                 found {found}"
            ),
        );
        let second = properties.get(1);
        report.say(
            second.map_or(check.bundle.spot, |second| second.spot),
            words,
        );
    }));

impl BundleCheck<'_, '_> {
    /// Returns the `olm.package` property, if all properties can be read and there is exactly one.
    fn property(&self) -> Option<&PackageProperty> {
        match self.bundle.versions.as_slice() {
            [property] if self.bundle.property_fault.is_none() => Some(property),
            _ => None,
        }
    }

    /// Returns the `olm.package` property with its version and release, if there is a release and both are valid.
    fn released(&self) -> Option<(&PackageProperty, Version, Release)> {
        let property = self.property()?;
        let version = Version::parse(&property.version).ok()?;
        let release = release(property).ok()?;
        (!release.is_empty()).then_some((property, version, release))
    }
}

fn release(property: &PackageProperty) -> Result<Release, ReleaseError> {
    Release::parse(&property.release, ReleaseLimit::Bytes20)
}

pub(super) const PACKAGE_PROPERTY_MISMATCH: RuleItem =
    rule!("package-property-mismatch", Conversion, Error).on(Check::Bundle(|check, report| {
        let package = &check.bundle.package;
        let named = check.property();
        if let Some(named) = named.filter(|property| property.name != *package) {
            let (bundle, package) = (q(&check.bundle.name), q(package));
            let property = q(&named.name);
            report.say_opm(
                named.spot,
                format!(
                    "bundle {bundle} belongs to package {package}, but its \"olm.package\" \
                     property names {property}; use the same name"
                ),
                format!("package {package} does not match \"olm.package\" property {property}"),
            );
        }
    }));

pub(super) const INVALID_VERSION: RuleItem =
    rule!("invalid-version", Conversion, Error).on(Check::Bundle(|check, report| {
        let Some(property) = check.property() else {
            return;
        };
        if let Err(error) = Version::parse(&property.version) {
            let hint = match property.version.strip_prefix('v') {
                Some(rest) if !rest.is_empty() => "; remove the v",
                _ => "; expected MAJOR.MINOR.PATCH",
            };
            let (bundle, version) = (q(&check.bundle.name), q(&property.version));
            let text = escape(&error.to_string()).replace("\\\"", "\"");
            report.say_opm(
                property.spot,
                format!("bundle {bundle}: version {version} is not valid: {text}{hint}"),
                format!("error parsing bundle {bundle} version {version}: {error}"),
            );
        }
    }));

pub(super) const INVALID_RELEASE: RuleItem =
    rule!("invalid-release", Conversion, Error).on(Check::Bundle(|check, report| {
        let Some(property) = check.property() else {
            return;
        };
        if let Err(error) = release(property) {
            let (bundle, release) = (q(&check.bundle.name), q(&property.release));
            report.say_opm(
                property.spot,
                format!(
                    "bundle {bundle}: release {release} is not valid; use dot-separated letters, \
                     digits and hyphens, at most 20 characters, and numbers without leading zeros"
                ),
                format!("error parsing bundle {bundle} release version {release}: {error}"),
            );
        }
    }));

pub(super) const BUNDLE_NAME_NOT_NORMALIZED: RuleItem =
    rule!("bundle-name-not-normalized", Model, Error).on(Check::Bundle(|check, report| {
        let Some((property, version, release)) = check.released() else {
            return;
        };
        let (package, name) = (&check.bundle.package, &*check.bundle.name);
        let expected = format!("{package}-v{version}-{release}");
        if expected != *name {
            let (name, expected) = (q(name), q(&expected));
            report.say_opm(
                property.spot,
                format!("bundle {name} has a release, so its name must be {expected}; rename it"),
                format!("name {name} does not match normalized name {expected}"),
            );
        }
    }));

pub(super) const BUILD_METADATA_WITH_RELEASE: RuleItem =
    rule!("build-metadata-with-release", Model, Error).on(Check::Bundle(|check, report| {
        let released = check.released();
        let with_build = released.filter(|(_, version, _)| !version.build().is_empty());
        if let Some((property, ..)) = with_build {
            report.say_opm(
                property.spot,
                format!(
                    "bundle {} has a release and build metadata in its version {}; remove the + \
                     and what follows",
                    q(&check.bundle.name),
                    q(&property.version)
                ),
                "cannot use build metadata in version with a release version",
            );
        }
    }));

pub(super) const UNSUPPORTED_DEPENDENCY: RuleItem = rule!("unsupported-dependency", Users, Warning)
    .on(Check::Package(|facts, report| {
        for bundle in facts.package.bundles.iter().map(|view| view.bundle) {
            if let Some((kind, spot)) = bundle.dependency {
                let message = format!(
                    "bundle {} declares a dependency with {}, so OLM v1 does not install it",
                    q(&bundle.name),
                    kind.as_str()
                );
                report.say(spot, message);
            }
        }
    }));

pub(super) const UNSUPPORTED_INSTALL_MODE: RuleItem =
    rule!("unsupported-install-mode", Users, Warning).on(Check::Package(|facts, report| {
        let bundles = facts.package.bundles.iter().map(|view| view.bundle);
        let is_refused = |install: &InstallFacts| !install.modes.all_namespaces;
        for bundle in bundles.filter(|bundle| bundle.install.as_ref().is_some_and(is_refused)) {
            let message = format!(
                "bundle {} does not support the install mode AllNamespaces, so OLM v1 does not \
                 install it",
                q(&bundle.name)
            );
            report.say(bundle.spot, message);
        }
    }));

pub(super) const UNSUPPORTED_IMAGE: RuleItem =
    rule!("unsupported-image", Users, Warning).on(Check::Package(|facts, report| {
        for bundle in facts.package.bundles.iter().map(|view| view.bundle) {
            let Text { spot, text } = &bundle.image;
            if let Some(lack) = image_reference::check(text).err().as_ref().and_then(lack) {
                let message = format!(
                    "bundle {}: image {} {lack}, so OLM v1 does not install it",
                    q(&bundle.name),
                    q(text)
                );
                report.say(*spot, message);
            }
        }
    }));

/// Returns why OLM v1 refuses a reference. An invalid reference is the finding `invalid-image`.
fn lack(error: &ReferenceError) -> Option<&'static str> {
    match error {
        ReferenceError::Invalid { .. } => None,
        ReferenceError::NotCanonical { .. } => {
            Some("does not name its registry and repository in full")
        }
        ReferenceError::TagAndDigest => Some("has both a tag and a digest"),
        ReferenceError::NeitherTagNorDigest { .. } => Some("has neither a tag nor a digest"),
    }
}
