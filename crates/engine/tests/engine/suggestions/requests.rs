//! The questions, from every bundle that can be installed.

use std::collections::BTreeSet;

use olmguard_catalog::version::BundleReleaseSupport;
use olmguard_catalog::{Bundle, Package};
use olmguard_engine::extension::{Installed, InstalledBundle};
use olmguard_engine::snapshot::Snapshot;
use serde_json::{Value, json};

/// The share of the questions that are put from one installed bundle: one of `n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    installed: usize,
    versions: usize,
    channels: usize,
}

/// A version of an unknown bundle that no release of OLM can read.
pub(crate) const UNREADABLE: &str = "not-a-version";

impl Sample {
    pub(crate) const EVERYTHING: Self = Self {
        installed: 1,
        versions: 1,
        channels: 1,
    };
    pub(crate) const SOME: Self = Self {
        installed: 1,
        versions: 2,
        channels: 2,
    };
    pub(crate) const MANY: Self = Self {
        installed: 1,
        versions: 37,
        channels: 7,
    };
    pub(crate) const FEW: Self = Self {
        installed: 5,
        versions: 41,
        channels: 17,
    };
}

/// Every `spec.source.catalog`, and the installed bundle.
pub(crate) fn requests(
    snapshot: &Snapshot,
    package: &str,
    sample: Sample,
) -> impl Iterator<Item = (Value, Installed)> {
    let packages: Vec<&Package> = snapshot
        .catalogs()
        .iter()
        .filter_map(|catalog| catalog.loaded()?.package(package)?.ok())
        .collect();
    let versions = versions(&packages);
    let channels = channels(&packages);
    let package = package.to_owned();
    let installed = installed(&packages, sample);
    installed
        .into_iter()
        .enumerate()
        .flat_map(move |(at, installed)| {
            let asked = asked(
                &package,
                &take(&versions, at, sample.versions),
                &take(&channels, at, sample.channels),
            );
            asked
                .into_iter()
                .map(move |asked| (asked, installed.clone()))
        })
}

/// Nothing, unknown bundles, and the bundles of all catalogs.
fn installed(packages: &[&Package], sample: Sample) -> Vec<Installed> {
    let stranger = |name: &str, version: &str| {
        Installed::Bundle(InstalledBundle {
            name: Some(name.to_owned()),
            version: version.to_owned(),
            release: None,
        })
    };
    let mut all = vec![
        Installed::Nothing,
        stranger("stranger.v0.0.1", "0.0.1"),
        stranger("stranger.v999.0.0", "999.0.0"),
        stranger("stranger", UNREADABLE),
    ];
    let bundles = packages.iter().flat_map(|package| package.bundles());
    let recorded = bundles.filter_map(|(_, bundle)| recorded(bundle));
    all.extend(recorded.step_by(sample.installed).map(Installed::Bundle));
    all
}

/// A bundle as it is recorded with the feature gate off, which every release of OLM can read.
fn recorded(bundle: &Bundle) -> Option<InstalledBundle> {
    let recorded = bundle
        .version
        .as_ref()
        .ok()?
        .recorded(BundleReleaseSupport::Disabled);
    Some(InstalledBundle {
        name: Some(bundle.name.to_string()),
        version: recorded.version,
        release: recorded.release,
    })
}

fn versions(packages: &[&Package]) -> Vec<String> {
    let bundles = packages.iter().flat_map(|package| package.bundles());
    let versions = bundles.filter_map(|(_, bundle)| bundle.version.as_ref().ok());
    let distinct: BTreeSet<_> = versions
        .map(|v| v.version.without_build().to_string())
        .collect();
    distinct.into_iter().collect()
}

fn channels(packages: &[&Package]) -> Vec<String> {
    let channels = packages.iter().flat_map(|package| package.channels());
    let distinct: BTreeSet<_> = channels.map(|channel| channel.name.to_string()).collect();
    distinct.into_iter().collect()
}

/// One of `step`, with another start for each installed bundle.
fn take(of: &[String], at: usize, step: usize) -> Vec<String> {
    of.iter()
        .skip((at * 7) % step)
        .step_by(step)
        .cloned()
        .collect()
}

fn asked(package: &str, versions: &[String], channels: &[String]) -> Vec<Value> {
    let ask = |fields: &[(&str, Value)]| {
        let named = [("packageName", json!(package))];
        named.iter().chain(fields).cloned().collect::<Value>()
    };
    let mut all = vec![
        ask(&[]),
        ask(&[("version", json!("999.x"))]),
        ask(&[("version", json!("foobar"))]),
        ask(&[
            ("version", json!("999.x")),
            ("upgradeConstraintPolicy", json!("SelfCertified")),
        ]),
        ask(&[("channels", json!(["no-such-channel"]))]),
        ask(&[
            ("channels", json!(["no-such-channel"])),
            ("version", json!("0.0.1")),
        ]),
        ask(&[("packageName", json!(format!("{package}s")))]),
    ];
    for version in versions {
        all.push(ask(&[("version", json!(version))]));
        all.push(ask(&[("version", json!(format!("<{version}")))]));
        all.push(ask(&[("version", json!(format!(">{version}")))]));
        let bypass = json!("SelfCertified");
        all.push(ask(&[
            ("version", json!(format!(">{version}"))),
            ("upgradeConstraintPolicy", bypass),
        ]));
    }
    for channel in channels {
        all.push(ask(&[("channels", json!([channel]))]));
        all.push(ask(&[("channels", json!([format!("{channel}x")]))]));
        for version in versions {
            all.push(ask(&[
                ("channels", json!([channel])),
                ("version", json!(version)),
            ]));
        }
    }
    all
}
