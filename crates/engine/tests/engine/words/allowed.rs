//! Edits that are allowed or not judged, and their warnings.

use olmguard_engine::explain::not_judged;
use olmguard_engine::extension::{Installed, InstalledBundle};
use olmguard_engine::judge::Exemption;
use serde_json::json;

use crate::words::{argo, argo_at, one, reads, rolling_out, updated, updated_unknown};

#[test]
fn unchanged() {
    reads(
        &argo_at("0.8.0").answer(),
        "
            (Unchanged)
        ",
    );
}

#[test]
fn resolved() {
    reads(
        &argo().answer(),
        "
            (Resolved)
        ",
    );
    reads(
        &argo_at("0.5.0").answer(),
        "
            (Resolved)
            warning: 0.8.0 is the newest match but OLM does not get there: it installs 0.6.0 and stops at 0.7.0
        ",
    );
}

#[test]
fn bypassed() {
    reads(
        &argo_at("0.5.0").range("0.7.0").bypass().answer(),
        "
            (Bypassed)
            warning: upgradeConstraintPolicy is SelfCertified: this skips upgrade edges; data loss is possible
        ",
    );
    reads(
        &argo_at("0.7.0").range("0.6.0").bypass().answer(),
        "
            (Bypassed)
            warning: upgradeConstraintPolicy is SelfCertified: this is a downgrade; data loss is possible
        ",
    );
    reads(
        &argo_at("0.5.0").range("0.6.0").bypass().answer(),
        "
            (Resolved)
            warning: upgradeConstraintPolicy is SelfCertified: upgrade edges are not checked
        ",
    );
    reads(
        &argo().installed_as("stranger", "garbage", None).range("0.6.0").bypass().answer(),
        "
            (Bypassed)
            warning: upgradeConstraintPolicy is SelfCertified: a jump from an unknown installed version; data loss is possible
        ",
    );
    reads(
        &one("stable: 1.0.0+1; 1.0.0+2").installed("1.0.0+1").bypass().answer(),
        "
            (Bypassed)
            warning: upgradeConstraintPolicy is SelfCertified: this moves sideways, to another bundle of this version; data loss is possible
        ",
    );
}

#[test]
fn deprecations() {
    reads(
        &one("stable: 1.0.0; 1.1.0\n (deprecated): 1.1.0; package; channel stable")
            .range("1.1.0")
            .channels(&["stable"])
            .answer(),
        "
            (Resolved)
            warning: bundle P.v1.1.0 is deprecated: 1.1.0 is no longer kept
            warning: package P is deprecated: the package is no longer kept
            warning: channel stable is deprecated: stable is no longer kept
        ",
    );
}

#[test]
fn a_channel_beside_one_that_exists() {
    reads(
        &argo().channels(&["beta", "betta"]).answer(),
        "
            (Resolved)
            warning: channel betta does not exist and is ignored; the nearest is beta
        ",
    );
    reads(
        &argo().channels(&["beta", "unlike"]).answer(),
        "
            (Resolved)
            warning: channel unlike does not exist and is ignored
        ",
    );
}

#[test]
fn the_upper_bound_removed() {
    reads(
        &updated(&json!({"packageName": "argocd-operator", "version": "<1.0.0"}), &json!({"packageName": "argocd-operator"})),
        "
            (Resolved)
            warning: the range no longer has an upper bound: from now on the extension upgrades automatically
        ",
    );
}

/// If every edit of an open range gave a warning, soon no one would read it.
#[test]
fn a_range_that_never_had_an_upper_bound_loses_none() {
    let asked = |range: Option<&str>| json!({"packageName": "argocd-operator", "version": range});
    for (old, new, warns) in [
        (Some("<1.0.0"), Some(">=0.5.0"), true),
        (Some("<1.0.0"), None, true),
        (Some(">=0.4.0"), Some(">=0.5.0"), false),
        (Some(">=0.4.0"), None, false),
        (None, Some(">=0.5.0"), false),
        (Some("<1.0.0 || >=2.0.0"), Some(">=0.5.0"), false),
        (Some("<1.0.0"), Some("<2.0.0"), false),
    ] {
        let answer = updated(&asked(old), &asked(new));
        let is_told = answer
            .warnings
            .iter()
            .any(|warning| warning.contains("no longer has an upper bound"));
        assert_eq!(is_told, warns, "{old:?} -> {new:?}: {:?}", answer.warnings);
    }
}

/// OLM never prefers a deprecated bundle, so a deprecated bundle that cannot be reached needs no
/// warning.
#[test]
fn the_newest_is_the_newest_that_is_not_deprecated() {
    reads(
        &one("stable: 1.0.0; 1.1.0 replaces 1.0.0; 2.0.0\n (deprecated): 2.0.0")
            .installed("1.0.0")
            .answer(),
        "
            (Resolved)
        ",
    );
    reads(
        &one("stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.9.0; 2.0.0\n (deprecated): 2.0.0")
            .installed("1.0.0")
            .answer(),
        "
            (Resolved)
            warning: 1.9.0 is the newest match but OLM does not get there: it stops at 1.1.0
        ",
    );
}

#[test]
fn an_upgrade_rolling_out() {
    reads(
        &rolling_out(),
        "
            (Resolved)
            warning: an upgrade is still rolling out: OLM applies this change after it
        ",
    );
}

#[test]
fn an_installed_bundle_without_a_name() {
    reads(
        &argo().with_installed(Installed::Bundle(InstalledBundle { name: None, version: "0.8.0".to_owned(), release: None })).answer(),
        "
            (Resolved)
            warning: no catalog has the installed version: replaces and skips were not checked; bundle=NAME adds its name
        ",
    );
}

#[test]
fn an_installed_bundle_with_a_name_that_is_inferred() {
    reads(
        &argo().with_installed(Installed::Inferred(InstalledBundle { name: Some("argocd-operator.v0.8.0".to_owned()), version: "0.8.0".to_owned(), release: None })).answer(),
        "
            (Unchanged)
            warning: argocd-operator.v0.8.0 is assumed to be installed: the only name in the edges that fits the version
        ",
    );
}

#[test]
fn not_judged_stricter() {
    reads(
        &updated(
            &json!({"packageName": "argocd-operator", "version": "9", "upgradeConstraintPolicy": "SelfCertified"}),
            &json!({"packageName": "argocd-operator", "version": "9"}),
        ),
        "
            (NotJudged)
            warning: without the override this extension no longer resolves: VersionNotFound
        ",
    );
    reads(
        &updated_unknown(
            &json!({"packageName": "argocd-operator", "upgradeConstraintPolicy": "SelfCertified"}),
            &json!({"packageName": "argocd-operator"}),
        ),
        "
            (NotJudged)
            warning: it is not known whether this extension resolves without the override: InstalledUnknown
        ",
    );
}

#[test]
fn not_judged_unknown_version() {
    reads(
        &not_judged(&Exemption::UnknownVersion { api_version: "olm.operatorframework.io/v9".to_owned(), kind: "ClusterExtension".to_owned() }),
        "
            (NotJudged)
            warning: ClusterExtension in olm.operatorframework.io/v9 is not known to this olmguard and was not checked
        ",
    );
    reads(
        &not_judged(&Exemption::Deleting),
        "
            (NotJudged)
        ",
    );
}
