//! Rules about deprecations. Upstream: `ConvertToModel`, [`alpha/declcfg/declcfg_to_model.go`]; `Validate` of
//! `Deprecation`, [`alpha/model/model.go`].
//!
//! [`alpha/declcfg/declcfg_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg_to_model.go
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

use crate::lint::check::{Check, PackageCheck};
use crate::lint::finding::{Report, Words};
use crate::lint::rule::{RuleItem, rule};
use crate::lint::view::View;
use crate::lint::words::{meant, q};
use crate::lint::written::Deprecations;
use olmguard_catalog::version::go::escape;

pub(super) const DEPRECATION_WITHOUT_PACKAGE: RuleItem =
    rule!("deprecation-without-package", Conversion, Error).on(Check::Catalog(
        |catalog, report| {
            let blobs = catalog.written.deprecations.iter().enumerate();
            for (index, blob) in blobs.filter(|(_, blob)| blob.package.is_empty()) {
                report.say_opm(
                    blob.spot,
                    "the olm.deprecations has no package; add the package that it is about"
                        .to_owned(),
                    format!("package name must be set for deprecation item {index}"),
                );
            }
        },
    ));

/// Returns the blobs that name a package.
pub(in crate::lint) fn with_package<'w>(
    catalog: &View<'w>,
) -> impl Iterator<Item = &'w Deprecations> {
    let blobs = catalog.written.deprecations.iter();
    blobs.filter(|blob| !blob.package.is_empty())
}

pub(super) const DEPRECATION_OF_UNKNOWN_PACKAGE: RuleItem =
    rule!("deprecation-of-unknown-package", Conversion, Error).on(Check::Catalog(
        |catalog, report| {
            for blob in with_package(catalog).filter(|blob| !catalog.defines(&blob.package)) {
                let near = report.findings.guess(&blob.package, catalog.defined());
                let package = q(&blob.package);
                report.of(&blob.package).say_opm(
                    blob.spot,
                    format!(
                        "the olm.deprecations is about package {package}, which is not defined; {}",
                        meant(near, "add its olm.package")
                    ),
                    format!("cannot apply deprecations to an unknown package {package}"),
                );
            }
        },
    ));

pub(super) const DUPLICATE_DEPRECATIONS: RuleItem =
    rule!("duplicate-deprecations", Conversion, Error).on(Check::Catalog(|catalog, report| {
        let keyed = with_package(catalog).map(|blob| (&*blob.package, blob.spot, &*blob.package));
        report.say_seconds(keyed, |package| {
            let package = q(package);
            Words::with(
                format!("package {package} has a second olm.deprecations; merge their entries"),
                format!("expected a maximum of one deprecation per package: {package}"),
            )
        });
    }));

pub(super) const DUPLICATE_DEPRECATION: RuleItem =
    rule!("duplicate-deprecation", Conversion, Error).on(Check::Catalog(|catalog, report| {
        for blob in with_package(catalog) {
            let package = &*blob.package;
            let entries = blob.entries.iter().filter(|entry| !entry.schema.is_empty());
            let keyed = entries.map(|entry| ((&*entry.schema, &*entry.name), entry.spot, package));
            report.say_seconds(keyed, |(schema, name)| {
                let (package, schema, name) = (q(package), q(schema), q(name));
                Words::with(
                    format!(
                        "{schema} {name} of package {package} is deprecated a second time; merge \
                         the messages"
                    ),
                    format!(
                        "duplicate deprecation entry \
                         declcfg.PackageScopedReference{{Schema:{schema}, Name:{name}}} for \
                         package {package}"
                    ),
                )
            });
        }
    }));

pub(super) const DEPRECATION_WITHOUT_SCHEMA: RuleItem =
    rule!("deprecation-without-schema", Conversion, Error).on(Check::Deprecation(
        |check, report| {
            if check.entry.schema.is_empty() {
                let (index, package) = (check.index, q(check.package.name));
                report.say_opm(check.entry.spot, format!(
                "entry {index} of the deprecations of package {package} has no schema in its \
                     reference: expected olm.package, olm.channel or olm.bundle"
            ),
            format!("schema must be set for deprecation entry [{index}] for package {package}"),);
            }
        },
    ));

pub(super) const DEPRECATED_BUNDLE_UNKNOWN: RuleItem =
    rule!("deprecated-bundle-unknown", Conversion, Error).on(Check::Deprecation(
        |check, report| {
            let (package, entry) = (check.package, check.entry);
            let is_unread = package.unread.bundles.may_have(&entry.name);
            let exists = is_unread || package.bundle(&entry.name).is_some();
            if *entry.schema == *"olm.bundle" && !exists {
                let bundles = package.bundles.iter().map(|view| &*view.bundle.name);
                let near = report.findings.guess(&entry.name, bundles);
                let words = deprecated_unknown("bundle", package.name, &entry.name, near);
                report.say(entry.spot, words);
            }
        },
    ));

pub(super) const DEPRECATED_CHANNEL_UNKNOWN: RuleItem =
    rule!("deprecated-channel-unknown", Conversion, Error).on(Check::Deprecation(
        |check, report| {
            let (package, entry) = (check.package, check.entry);
            // For opm, the default channel exists even if it is not defined.
            let default = package.package.map(|own| &*own.default_channel.text);
            let is_default = !entry.name.is_empty() && default == Some(&*entry.name);
            let is_unread = package.unread.channels.may_have(&entry.name);
            let exists = is_default || is_unread || package.channel(&entry.name).is_some();
            if *entry.schema == *"olm.channel" && !exists {
                let channels = package.channels.iter().map(|view| &*view.channel.name);
                let near = report.findings.guess(&entry.name, channels);
                let words = deprecated_unknown("channel", package.name, &entry.name, near);
                report.say(entry.spot, words);
            }
        },
    ));

fn deprecated_unknown(what: &str, package: &str, name: &str, nearest: Option<&str>) -> Words {
    let (package, name) = (q(package), q(name));
    let fix = meant(nearest, "remove the entry");
    Words::with(
        format!("{what} {name} of package {package} is deprecated, but does not exist; {fix}"),
        format!("cannot deprecate {what} {name} for package {package}: {what} not found"),
    )
}

pub(super) const DEPRECATED_PACKAGE_NAMED: RuleItem =
    rule!("deprecated-package-named", Conversion, Error).on(Check::Deprecation(|check, report| {
        let entry = check.entry;
        if *entry.schema == *"olm.package" && !entry.name.is_empty() {
            let (package, name) = (q(check.package.name), q(&entry.name));
            report.say_opm(
                entry.spot,
                format!(
                    "the deprecation of package {package} has the name {name}; remove the name"
                ),
                format!(
                    "package name must be empty for deprecated package {package} (specified {name})"
                ),
            );
        }
    }));

pub(super) const DEPRECATION_SCHEMA_UNKNOWN: RuleItem =
    rule!("deprecation-schema-unknown", Conversion, Error).on(Check::Deprecation(
        |check, report| {
            let (index, entry) = (check.index, check.entry);
            if matches!(
                &*entry.schema,
                "" | "olm.package" | "olm.channel" | "olm.bundle"
            ) {
                return;
            }
            let package = q(check.package.name);
            let (schema, name) = (q(&entry.schema), q(&entry.name));
            report.say_opm(
                entry.spot,
                format!(
                    "entry {index} of the deprecations of package {package} refers to {schema}: \
                 expected olm.package, olm.channel or olm.bundle"
                ),
                format!(
                    "cannot deprecate object declcfg.PackageScopedReference{{Schema:{schema}, \
                 Name:{name}}} referenced by entry {index} for package {package}: object schema \
                 unknown"
                ),
            );
        },
    ));

pub(super) const DEPRECATION_WITHOUT_MESSAGE: RuleItem =
    rule!("deprecation-without-message", Model, Error).on(Check::Deprecation(|check, report| {
        let entry = check.entry;
        if entry.schema.is_empty() || !entry.message.is_empty() {
            return;
        }
        let what = match &*entry.schema {
            "olm.package" => "the deprecation of the package".to_owned(),
            schema => format!("the deprecation of {} {}", escape(schema), q(&entry.name)),
        };
        report.say_opm(
            entry.spot,
            format!("{what} has no message; say what to use instead"),
            "invalid deprecation: message must be set",
        );
    }));

pub(super) const DEPRECATED_WITHOUT_REPLACEMENT: RuleItem =
    rule!("deprecated-without-replacement", Users, Warning).on(Check::Package(|facts, report| {
        // Users of a deprecated package have nothing to upgrade to anyway.
        if !facts.is_deprecated("olm.package", "") && facts.has_all_edges() {
            without_replacement(facts, report);
        }
    }));

fn without_replacement(facts: &PackageCheck<'_, '_>, report: &mut Report<'_, '_>) {
    let package = facts.package;
    let Some(deprecations) = package.deprecations else {
        return;
    };
    let good = package.bundles.iter().enumerate();
    let good = good.filter(|(_, view)| !facts.is_deprecated("olm.bundle", &view.bundle.name));
    let reaching = facts.steps.leading_to(good.map(|(index, _)| index));
    let mut channels = package.channels.iter();
    let is_left = channels.all(|view| facts.is_deprecated("olm.channel", &view.channel.name));
    for entry in &deprecations.entries {
        let bundle = package.by_name.get(&*entry.name);
        let what = match &*entry.schema {
            "olm.bundle" if bundle.is_some_and(|bundle| !reaching.contains(bundle)) => "bundle",
            "olm.channel" if is_left && package.channel(&entry.name).is_some() => "channel",
            _ => continue,
        };
        let message = format!(
            "{what} {} is deprecated, and no {what} replaces it that is not deprecated; publish a \
             successor",
            q(&entry.name)
        );
        report.say(entry.spot, message);
    }
}
