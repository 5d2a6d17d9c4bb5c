//! Rules about the names, default channels and versions of packages. Upstream: `ConvertToModel`,
//! [`alpha/declcfg/declcfg_to_model.go`]; `Validate` of `Package`, [`alpha/model/model.go`].
//!
//! [`alpha/declcfg/declcfg_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg_to_model.go
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::lint::check::Check;
use crate::lint::finding::{Report, Words};
use crate::lint::rule::{RuleItem, rule};
use crate::lint::view::{PackageView, View};
use crate::lint::words::{meant, names, q};
use crate::lint::written::Package;
use olmguard_catalog::dns1123;
use olmguard_catalog::version::{Release, ReleaseLimit};

pub(super) const PACKAGE_WITHOUT_NAME: RuleItem = rule!("package-without-name", Conversion, Error)
    .on(Check::Catalog(|catalog, report| {
        let packages = catalog.written.packages.iter();
        for package in packages.filter(|package| package.name.is_empty()) {
            report.say_opm(
                package.spot,
                "the olm.package has no name; add a name",
                "config contains package with no name",
            );
        }
    }));

pub(super) const DUPLICATE_PACKAGE: RuleItem =
    rule!("duplicate-package", Conversion, Error).on(Check::Catalog(|catalog, report| {
        let packages = named(catalog).map(|package| (&*package.name, package.spot, &*package.name));
        report.say_seconds(packages, |package| {
            let package = q(package);
            Words::with(
                format!("package {package} is defined a second time; keep one definition"),
                format!("duplicate package {package}"),
            )
        });
    }));

fn named<'w>(catalog: &View<'w>) -> impl Iterator<Item = &'w Package> {
    let packages = catalog.written.packages.iter();
    packages.filter(|package| !package.name.is_empty())
}

pub(super) const INVALID_PACKAGE_NAME: RuleItem = rule!("invalid-package-name", Conversion, Error)
    .on(Check::Catalog(|catalog, report| {
        let mut seen = HashSet::new();
        for package in named(catalog).filter(|package| seen.insert(&package.name)) {
            let faults = label_faults(&package.name);
            if !faults.is_empty() {
                let name = q(&package.name);
                report.of(&package.name).say_opm(
                    package.spot,
                    format!(
                        "package name {name} is not a valid RFC 1123 label; use lower-case \
                         letters, digits and inner hyphens, at most 63 characters"
                    ),
                    format!("invalid package name {name}: [{}]", faults.join(" ")),
                );
            }
        }
    }));

/// Returns the errors of apimachinery's `IsDNS1123Label` for a name.
fn label_faults(name: &str) -> Vec<&'static str> {
    let mut faults = Vec::new();
    if name.len() > LABEL_LIMIT {
        faults.push("must be no more than 63 characters");
    }
    if !dns1123::is_label(name) {
        faults.push(if dns1123::is_subdomain(name) {
            "must not contain dots"
        } else {
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
             and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', \
             regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        });
    }
    faults
}

const LABEL_LIMIT: usize = 63;

pub(super) const DEFAULT_CHANNEL_MISSING: RuleItem = rule!("default-channel-missing", Model, Error)
    .on(Check::Package(|facts, report| {
        let Some(package) = without_default(facts.package) else {
            return;
        };
        let fix = match facts.package.channels.as_slice() {
            [] => "set defaultChannel to the name of a channel".to_owned(),
            all => {
                let all = names(all.iter().map(|view| &*view.channel.name));
                format!("set defaultChannel to one of {all}")
            }
        };
        report.say_opm(
            package.default_channel.spot.or(package.spot),
            format!("package {} has no default channel; {fix}", q(&package.name)),
            "default channel must be set",
        );
    }));

/// Returns the definition of a package that has a name but no default channel.
fn without_default<'w>(view: &PackageView<'w>) -> Option<&'w Package> {
    let package = view.package.filter(|package| !package.name.is_empty());
    package.filter(|package| package.default_channel.text.is_empty())
}

pub(super) const PACKAGE_WITHOUT_CHANNEL: RuleItem = rule!("package-without-channel", Model, Error)
    .on(Check::Package(|facts, report| {
        let view = facts.package;
        let is_empty = view.channels.is_empty() && view.unread.channels.is_empty();
        // With a default channel, opm reports that the default channel is empty.
        if let Some(package) = without_default(view).filter(|_| is_empty) {
            report.say_opm(
                package.spot,
                format!(
                    "package {} has no channel; add an olm.channel",
                    q(view.name)
                ),
                "package must contain at least one channel",
            );
        }
    }));

pub(super) const DEFAULT_CHANNEL_UNKNOWN: RuleItem = rule!("default-channel-unknown", Model, Error)
    .on(Check::Package(|facts, report| {
        if let Some(package) = facts.package.package {
            default_channel_unknown(facts.package, package, report);
        }
    }));

fn default_channel_unknown(view: &PackageView<'_>, package: &Package, report: &mut Report<'_, '_>) {
    let default = &package.default_channel;
    let is_unread = view.unread.channels.may_have(&default.text);
    let is_left_out = package.name.is_empty() || default.text.is_empty() || is_unread;
    if is_left_out || view.channel(&default.text).is_some() {
        return;
    }
    let channels = view.channels.iter().map(|view| &*view.channel.name);
    let near = report.findings.guess(&default.text, channels);
    let fix = meant(near, "use a channel that exists");
    let (package, default_name) = (q(view.name), q(&default.text));
    report.say_opm(
        default.spot,
        format!("the default channel {default_name} of package {package} does not exist; {fix}"),
        "channel must contain at least one bundle",
    );
}

pub(super) const DUPLICATE_VERSION: RuleItem =
    rule!("duplicate-version", Model, Error).on(Check::Package(|facts, report| {
        let duplicates = duplicate_versions(facts.package);
        for (index, (version, bundles)) in duplicates.iter().enumerate() {
            let second = bundles.get(1).and_then(|name| facts.package.bundle(name));
            let spot = second.map_or_else(|| facts.package.spot(), |view| view.bundle.spot);
            // opm has one message for all versions, which the first finding has.
            let all = if index == 0 {
                in_opm(&duplicates)
            } else {
                String::new()
            };
            report.say_opm(
                spot,
                format!(
                    "version {} is used by several bundles: {}; give each its own version or \
                     release",
                    q(version),
                    names(bundles.iter().copied())
                ),
                format!("duplicate versions found in bundles: [{all}"),
            );
        }
    }));

/// Returns the versions, with release, that several bundles in channels have, and the names of the bundles.
fn duplicate_versions<'w>(package: &PackageView<'w>) -> Vec<(String, Vec<&'w str>)> {
    let mut by_version = BTreeMap::<String, BTreeSet<&str>>::new();
    let entries = package.channels.iter().flat_map(|view| &view.entries);
    for index in entries.filter_map(|view| view.bundle) {
        if let Some((name, version)) = name_and_version(package, index) {
            by_version.entry(version).or_default().insert(name);
        }
    }
    let duplicates = by_version.into_iter().filter(|(_, all)| all.len() > 1);
    let duplicates = duplicates.map(|(version, all)| (version, all.into_iter().collect()));
    duplicates.collect()
}

/// Returns a bundle with its version and release, as opm compares them: build metadata makes versions different.
fn name_and_version<'w>(package: &PackageView<'w>, index: usize) -> Option<(&'w str, String)> {
    let view = package.bundles.get(index)?;
    let version = view.version.as_ref()?;
    let property = view.bundle.versions.first()?;
    let release = Release::parse(&property.release, ReleaseLimit::Bytes20).ok()?;
    let version = if release.is_empty() {
        version.to_string()
    } else {
        format!("{version}-{release}")
    };
    Some((&*view.bundle.name, version))
}

fn in_opm(all: &[(String, Vec<&str>)]) -> String {
    let each = all.iter();
    let each = each.map(|(version, bundles)| format!("{{{version}: [{}]}}", bundles.join(", ")));
    format!("{}]", each.collect::<Vec<_>>().join(" "))
}

pub(super) const MIN_KUBE_VERSION_IGNORED: RuleItem =
    rule!("min-kube-version-ignored", Users, Note).on(Check::Package(|facts, report| {
        let bundles = facts.package.bundles.iter().map(|view| view.bundle);
        let stating = bundles.filter(|bundle| !bundle.min_kube_version.text.is_empty());
        let stating: Vec<_> = stating.collect();
        if let Some(first) = stating.first() {
            let message = format!(
                "bundles of package {} set a minKubeVersion, which OLM v1 ignores: {}",
                q(facts.package.name),
                names(stating.iter().map(|bundle| &*bundle.name))
            );
            report.say(first.min_kube_version.spot, message);
        }
    }));

pub(super) const AMBIGUOUS_PACKAGE: RuleItem =
    rule!("ambiguous-package", Users, Note).on(Check::Package(|facts, report| {
        let package = facts.package;
        let offers = |other: &&View<'_>| {
            let found = other.packages.get(package.name);
            !std::ptr::eq(other.written, facts.catalog.written)
                && found.is_some_and(|found| !found.bundles.is_empty())
        };
        let others: Vec<_> = facts.all.iter().filter(offers).collect();
        if others.is_empty() || package.bundles.is_empty() || package.name.is_empty() {
            return;
        }
        let message = format!(
            "package {} is also offered by {}; OLM v1 does not choose unless their priorities \
             differ",
            q(package.name),
            names(others.iter().map(|other| &*other.written.name))
        );
        report.say(package.spot(), message);
    }));
