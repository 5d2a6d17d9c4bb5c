//! Deprecations. Upstream: `ConvertToModel`, [`alpha/declcfg/declcfg_to_model.go`]; `Validate` of
//! `Deprecation`, [`alpha/model/model.go`].
//!
//! [`alpha/declcfg/declcfg_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg_to_model.go
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

use std::collections::HashMap;

use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::view::{PackageView, View};
use crate::lint::words;
use crate::lint::written::{Deprecation, Deprecations};

pub(super) fn check(view: &View<'_>, report: &mut Findings<'_>) {
    let mut seen = HashMap::new();
    for (index, blob) in view.written.deprecations.iter().enumerate() {
        let (spot, package) = (blob.spot, &*blob.package);
        if package.is_empty() {
            let words = words::deprecation_without_package(index);
            report.say(Rule::DeprecationWithoutPackage, spot, package, words);
            continue;
        }
        if !super::conversion::is_defined(view, package) {
            let near = super::conversion::near(view, package, report);
            let words = words::deprecation_of_unknown_package(package, near);
            report.say(Rule::DeprecationOfUnknownPackage, spot, package, words);
        }
        let place = (Rule::DuplicateDeprecations, spot, package);
        report.say_if_second(&mut seen, package, place, || {
            words::duplicate_deprecations(package)
        });
        if let Some(found) = view.packages.get(package) {
            entries(blob, found, report);
        }
    }
}

fn entries(blob: &Deprecations, package: &PackageView<'_>, report: &mut Findings<'_>) {
    let mut seen = HashMap::new();
    for (index, entry) in blob.entries.iter().enumerate() {
        let (schema, name) = (&*entry.schema, &*entry.name);
        let second = (Rule::DuplicateDeprecation, entry.spot, package.name);
        if !schema.is_empty() {
            report.say_if_second(&mut seen, (schema, name), second, || {
                words::duplicate_deprecation(package.name, schema, name)
            });
        }
        let mut say = |rule, words| report.say(rule, entry.spot, package.name, words);
        if schema.is_empty() {
            let words = words::deprecation_without_schema(package.name, index);
            say(Rule::DeprecationWithoutSchema, words);
            continue;
        }
        match schema {
            "olm.bundle" => bundle(entry, package, report),
            "olm.channel" => channel(entry, package, report),
            "olm.package" if name.is_empty() => {}
            "olm.package" => {
                let words = words::deprecated_package_named(package.name, name);
                say(Rule::DeprecatedPackageNamed, words);
            }
            other => {
                let words = words::deprecation_schema_unknown(package.name, index, other, name);
                say(Rule::DeprecationSchemaUnknown, words);
            }
        }
        if entry.message.is_empty() {
            let words = words::deprecation_without_message(schema, name);
            let rule = Rule::DeprecationWithoutMessage;
            report.say(rule, entry.spot, package.name, words);
        }
    }
}

fn bundle(entry: &Deprecation, package: &PackageView<'_>, report: &mut Findings<'_>) {
    let is_unread = package.unread.bundles.contains(&*entry.name);
    if is_unread || package.by_name.contains_key(&*entry.name) {
        return;
    }
    let names = package.bundles.iter().map(|view| &*view.bundle.name);
    let near = report.guess(&entry.name, names);
    let words = words::deprecated_bundle_unknown(package.name, &entry.name, near);
    report.say(
        Rule::DeprecatedBundleUnknown,
        entry.spot,
        package.name,
        words,
    );
}

/// The default channel exists for opm, defined or not.
fn channel(entry: &Deprecation, package: &PackageView<'_>, report: &mut Findings<'_>) {
    let default = package
        .package
        .map(|package| &*package.default_channel.text);
    let is_default = !entry.name.is_empty() && default == Some(&*entry.name);
    let is_unread = package.unread.channels.contains(&*entry.name);
    if is_default || is_unread || package.channel(&entry.name).is_some() {
        return;
    }
    let names = package.channels.iter().map(|view| &*view.channel.name);
    let near = report.guess(&entry.name, names);
    let words = words::deprecated_channel_unknown(package.name, &entry.name, near);
    report.say(
        Rule::DeprecatedChannelUnknown,
        entry.spot,
        package.name,
        words,
    );
}
