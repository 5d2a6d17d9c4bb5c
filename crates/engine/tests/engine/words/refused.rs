//! Denials by the rows of the resolver.

use serde_json::{Value, json};

use crate::words::{ARGO, argo, argo_at, one, reads, updated};
use olmguard_engine::explain::{Answer, answer};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{Basis, Edit, FixValue, Requester};
use olmguard_engine::snapshot::{Age, CatalogState, OnOldCatalog};
use olmguard_fixtures::question::{ask, ask_at};
use olmguard_fixtures::written::written;

#[test]
fn invalid_selector() {
    reads(
        &argo_at("0.5.0").selector(json!({"matchExpressions": [{"key": "a", "operator": "In"}]})).answer(),
        "
            argocd-operator: 0.5.0 -> any version refused: the catalog selector is not valid [InvalidSelector]
            Use valid keys and values: In and NotIn need values, Exists and DoesNotExist take none.
            OLM: desired catalog selector is invalid: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty
        ",
    );
}

#[test]
fn invalid_version_range() {
    reads(
        &argo_at("0.5.0").range("latest").answer(),
        r#"
            argocd-operator: 0.5.0 -> latest refused: "latest" is not a version range [InvalidVersionRange]
            Range: expected a comparator such as >=1.2.3, found "l", at character 1; omit the version: OLM then installs the newest one that it can
            Allowed next: 0.6.0, 0.5.1
            Path: 0.5.0 -> 0.6.0 -> 0.7.0
            One edit: set spec.source.catalog.version to ">=0.5.0 <=0.7.0": OLM then upgrades to 0.7.0 in 2 steps
            Fix: set spec.source.catalog.version to "0.6.0" first
            OLM: desired version range "latest" is invalid: improper constraint: "latest"
        "#,
    );
    reads(
        &argo_at("0.5.0").range("==0.6.0").answer(),
        r#"
            argocd-operator: 0.5.0 -> ==0.6.0 refused: "==0.6.0" is not a version range [InvalidVersionRange]
            Range: expected a version that can be read, found "=", at character 2; write "0.6.0"
            Allowed next: 0.6.0, 0.5.1
            Path: 0.5.0 -> 0.6.0
            Fix: set spec.source.catalog.version to "0.6.0"
            OLM: desired version range "==0.6.0" is invalid: improper constraint: "==0.6.0"
        "#,
    );
    // 0.7.0 is not a successor of 0.5.0, so the message does not suggest it.
    reads(
        &argo_at("0.5.0").range("==0.7.0").answer(),
        r#"
            argocd-operator: 0.5.0 -> ==0.7.0 refused: "==0.7.0" is not a version range [InvalidVersionRange]
            Range: expected a version that can be read, found "=", at character 2
            Allowed next: 0.6.0, 0.5.1
            Path: 0.5.0 -> 0.6.0 -> 0.7.0
            One edit: set spec.source.catalog.version to ">=0.5.0 <=0.7.0": OLM then upgrades to 0.7.0 in 2 steps
            Fix: set spec.source.catalog.version to "0.6.0" first
            OLM: desired version range "==0.7.0" is invalid: improper constraint: "==0.7.0"
        "#,
    );
    reads(
        &argo().range("1.2.3.4").answer(),
        r#"
            argocd-operator: install of 1.2.3.4 refused: "1.2.3.4" is not a version range [InvalidVersionRange]
            Range: expected a blank, a comma or || before the next comparator, found ".", at character 6
            Fix: set spec.source.catalog.version to "0.8.0"
            OLM: desired version range "1.2.3.4" is invalid: improper constraint: "1.2.3.4"
        "#,
    );
}

/// An edit to any other version would be undecided, because the content is too old for an answer.
#[test]
fn invalid_version_range_in_an_old_catalog() {
    let too_old = |state: &mut CatalogState| state.age = Age::Old(OnOldCatalog::Undecided);
    reads(
        &argo_at("0.5.0")
            .state("operatorhubio", too_old)
            .range("latest")
            .answer(),
        r#"
            argocd-operator: 0.5.0 -> latest refused: "latest" is not a version range [InvalidVersionRange]
            Range: expected a comparator such as >=1.2.3, found "l", at character 1; omit the version: OLM then installs the newest one that it can
            Use comparators such as >=1.2.3, <2.0.0 or 1.x.
            OLM: desired version range "latest" is invalid: improper constraint: "latest"
        "#,
    );
}

#[test]
fn package_not_found() {
    reads(
        &argo().package("argocd-operater").answer(),
        r#"
            argocd-operater: install of any version refused: catalog operatorhubio does not have this package [PackageNotFound]
            Nearest: argocd-operator
            Fix: set spec.source.catalog.packageName to "argocd-operator"
            OLM: no bundles found for package "argocd-operater"
        "#,
    );
    reads(
        &argo_at("0.5.0").package("redis").answer(),
        r#"
            redis: 0.5.0 -> any version refused: catalog operatorhubio does not have this package [PackageNotFound]
            Add a catalog with this package, or create another extension: packageName cannot be changed.
            OLM: error upgrading from currently installed version "0.5.0": no bundles found for package "redis"
        "#,
    );
    reads(
        &ask(&[("a", 0, &ARGO), ("b", 0, &ARGO)])
            .package("redis")
            .answer(),
        r#"
            redis: install of any version refused: none of the 2 catalogs has this package [PackageNotFound]
            Searched: a, b
            Add a catalog with this package, or set another packageName.
            OLM: no bundles found for package "redis"
        "#,
    );
}

/// The API server refuses to change the package of an existing object.
#[test]
fn package_not_found_for_an_update() {
    let asked = json!({"packageName": "argocd-operater"});
    let pinned = json!({"packageName": "argocd-operater", "version": "0.6.0"});
    reads(
        &updated(&asked, &pinned),
        r#"
            argocd-operater: install of 0.6.0 refused: catalog operatorhubio does not have this package [PackageNotFound]
            Nearest: argocd-operator
            Add a catalog with this package, or create another extension: packageName cannot be changed.
            OLM: no bundles found for package "argocd-operater" matching version "0.6.0"
        "#,
    );
}

/// The answer to an edit of the flat shape, which has no selector, with two catalogs of one priority.
fn without_a_selector(spec: &Value, installed: &Installed) -> Answer {
    let snapshot = ask(&[("a", 0, &ARGO), ("b", 0, &ARGO)]).snapshot();
    let object = json!({"metadata": {"name": "argocd"}, "spec": spec});
    let edit = Edit {
        new: &Extension::read(Shape::V1Alpha1Flat, &object),
        old: None,
        installed,
        schema: &[],
        requester: Requester::unknown(),
    };
    answer(Basis::without_policies(&snapshot), &edit)
}

/// The message for a shape without a selector does not mention one.
#[test]
fn ambiguous_catalogs_of_a_shape_without_a_selector() {
    let spec = json!({"packageName": "argocd-operator"});
    let answer = without_a_selector(&spec, &Installed::Nothing);
    let message = answer.message.expect("a refusal");
    assert!(
        message.contains("\nGive the catalogs different priorities.\n"),
        "{message}"
    );
    let fields: Vec<_> = answer.causes.iter().map(|cause| &*cause.field).collect();
    assert_eq!(fields, [""]);

    let spec = json!({"packageName": "argocd-operator", "version": "0.7.0"});
    let installed = Installed::Bundle(InstalledBundle {
        name: None,
        version: "0.5.0".to_owned(),
        release: None,
    });
    let answer = without_a_selector(&spec, &installed);
    let message = answer.message.expect("a refusal");
    assert!(
        message.contains("\nNo upgrade path from 0.5.0 to any of the 2 bundles in range.\n"),
        "{message}"
    );
}

#[test]
fn installed_version_invalid() {
    reads(
        &argo().installed_as("argocd-operator.v0.5", "0.5", None).answer(),
        "
            argocd-operator: 0.5 -> any version refused: the installed version cannot be read [InstalledVersionInvalid]
            Upgrades start at an installed version such as 1.2.3. From this one, only the override works.
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            OLM: error walking catalogs: error finding upgrade edges: failed to get version and release of installed bundle: No Major.Minor.Patch elements found
        ",
    );
    reads(
        &argo().installed_as("argocd-operator.v0.5", "0.5", None).range("9.9.9").answer(),
        "
            argocd-operator: 0.5 -> 9.9.9 refused: the installed version cannot be read [InstalledVersionInvalid]
            Upgrades start at an installed version such as 1.2.3. No upgrade starts at this version, and the override does not allow this request.
            OLM: error walking catalogs: error finding upgrade edges: failed to get version and release of installed bundle: No Major.Minor.Patch elements found
        ",
    );
}

#[test]
fn channel_not_found() {
    reads(
        &argo_at("0.5.0").channels(&["alfa"]).answer(),
        r#"
            argocd-operator: 0.5.0 -> any version refused: channel alfa does not exist [ChannelNotFound]
            Channels: alpha, beta, empty
            Fix: set spec.source.catalog.channels to ["alpha"]
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error upgrading from currently installed version "0.5.0": no bundles found for package "argocd-operator" in channels [alfa]
        "#,
    );
    reads(
        &argo().channels(&["x", "y"]).answer(),
        r#"
            argocd-operator: install of any version refused: none of the 2 requested channels exists [ChannelNotFound]
            Channels: alpha, beta, empty
            Fix: set spec.source.catalog.channels to ["alpha"]
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: no bundles found for package "argocd-operator" in channels [x y]
        "#,
    );
}

#[test]
fn not_in_channel() {
    reads(
        &argo_at("0.5.0").channels(&["beta"]).range("0.6.0").answer(),
        r#"
            argocd-operator: 0.5.0 -> 0.6.0 refused: no bundle matching 0.6.0 is in channel beta [NotInChannel]
            In channels: alpha
            Fix: set spec.source.catalog.channels to ["alpha"]
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error upgrading from currently installed version "0.5.0": no bundles found for package "argocd-operator" matching version "0.6.0" in channels [beta]
        "#,
    );
    reads(
        &argo().channels(&["empty"]).answer(),
        r#"
            argocd-operator: install of any version refused: no bundle is in channel empty [NotInChannel]
            In channels: alpha, beta
            Fix: set spec.source.catalog.channels to ["alpha"]
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: no bundles found for package "argocd-operator" in channels [empty]
        "#,
    );
}

#[test]
fn version_not_found() {
    reads(
        &argo_at("0.5.0").range("0.6.1").answer(),
        r#"
            argocd-operator: 0.5.0 -> 0.6.1 refused: no bundle matches 0.6.1 [VersionNotFound]
            Nearest: 0.6.0, 0.7.0, 0.5.1
            Allowed next: 0.6.0, 0.5.1
            Path: 0.5.0 -> 0.6.0
            Fix: set spec.source.catalog.version to "0.6.0"
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error upgrading from currently installed version "0.5.0": no bundles found for package "argocd-operator" matching version "0.6.1"
        "#,
    );
    reads(
        &argo().channels(&["beta"]).range("9").answer(),
        r#"
            argocd-operator: install of 9 refused: no bundle matches 9 [VersionNotFound]
            Nearest: 0.8.0, 0.4.0
            Fix: set spec.source.catalog.version to "0.8.0"
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: no bundles found for package "argocd-operator" matching version "9" in channels [beta]
        "#,
    );
}

/// OLM before 1.8 does not read a release from build metadata: both bundles have the same version, and the first one is
/// named.
#[test]
fn of_equal_versions_that_are_nearest_the_first_one_is_named() {
    for (asked, expected) in [
        ("1.1.0", "Nearest: 1.0.0, 1.2.0+a\n"),
        ("1.3.0", "Nearest: 1.2.0+a, 1.0.0\n"),
    ] {
        let package = written("stable: 1.0.0; 1.2.0+a; 1.2.0+b");
        let question = ask_at("1.7", &[], &[("c", 0, &package)]);
        let message = question.range(asked).answer().message.expect("a refusal");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn broken_skip_range() {
    reads(
        &one("stable: 1.0.0; 1.1.0 skipRange <1.0.0 || || >2.0.0; 1.2.0 replaces 1.0.0")
            .installed("1.0.0")
            .answer(),
        r#"
            P: 1.0.0 -> any version refused: OLM crashes on the skipRange of P.v1.1.0: it has an empty OR group [BrokenSkipRange]
            Allowed next: 1.2.0
            Path: 1.0.0 -> 1.2.0
            Fix: set spec.source.catalog.version to "1.2.0"
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            Catalog: c
        "#,
    );
}

#[test]
fn broken_skip_range_on_the_way() {
    // From 1.1.0, OLM crashes while it tests 1.2.0. It does not crash while it tests 1.0.1, which has an edge by name.
    let lines = "stable: 1.1.0; 1.0.1 replaces 1.1.0; 1.2.0 replaces 1.0.1\n\
                 other: 1.2.0 skipRange >=2.0.0 || || <1.0.0";
    let answer = one(lines).installed("1.1.0").range("1.2.0").answer();
    assert_eq!(answer.token.as_str(), "BrokenSkipRange");
    let message = answer.message.expect("a refusal");
    for line in [
        "Path: 1.1.0 -> 1.0.1 -> 1.2.0\n",
        "Fix: set spec.source.catalog.version to \"1.0.1\" first\n",
    ] {
        assert!(message.contains(line), "{message}");
    }
}

#[test]
fn downgrade() {
    reads(
        &argo_at("0.7.0").range("0.6.0").answer(),
        r#"
            argocd-operator: 0.7.0 -> 0.6.0 refused: 0.6.0 is older than 0.7.0 and not a successor of it in catalog operatorhubio [Downgrade]
            No upgrade path from 0.7.0 to 0.6.0. Only the catalog author can add one.
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error upgrading from currently installed version "0.7.0": no bundles found for package "argocd-operator" matching version "0.6.0"
        "#,
    );
    reads(
        &argo_at("0.7.0").range("<0.7.0").answer(),
        r#"
            argocd-operator: 0.7.0 -> <0.7.0 refused: all 4 bundles in range are older than 0.7.0 and none is its successor; the best is 0.6.0 in catalog operatorhubio [Downgrade]
            No upgrade path from 0.7.0 to any of the 4 bundles in range. Only the catalog author can add one.
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error upgrading from currently installed version "0.7.0": no bundles found for package "argocd-operator" matching version "<0.7.0"
        "#,
    );
}

#[test]
fn not_a_successor() {
    reads(
        &argo_at("0.5.0").range("0.7.0").answer(),
        r#"
            argocd-operator: 0.5.0 -> 0.7.0 refused: 0.7.0 is not a successor of 0.5.0 in catalog operatorhubio [NotASuccessor]
            Allowed next: 0.6.0, 0.5.1
            Path: 0.5.0 -> 0.6.0 -> 0.7.0
            One edit: set spec.source.catalog.version to ">=0.5.0 <=0.7.0": OLM then upgrades to 0.7.0 in 2 steps
            Fix: set spec.source.catalog.version to "0.6.0" first
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error upgrading from currently installed version "0.5.0": no bundles found for package "argocd-operator" matching version "0.7.0"
        "#,
    );
    reads(
        &argo_at("0.5.0").range(">=0.7.0").answer(),
        r#"
            argocd-operator: 0.5.0 -> >=0.7.0 refused: none of the 2 bundles in range is a successor of 0.5.0; the best is 0.8.0 in catalog operatorhubio [NotASuccessor]
            Allowed next: 0.6.0, 0.5.1
            Path: 0.5.0 -> 0.6.0 -> 0.7.0
            One edit: set spec.source.catalog.version to ">=0.5.0 <=0.7.0": OLM then upgrades to 0.7.0 in 2 steps
            Fix: set spec.source.catalog.version to "0.6.0" first
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error upgrading from currently installed version "0.5.0": no bundles found for package "argocd-operator" matching version ">=0.7.0"
        "#,
    );
    reads(
        &argo_at("0.5.0").range("0.8.0").answer(),
        r#"
            argocd-operator: 0.5.0 -> 0.8.0 refused: 0.8.0 is not a successor of 0.5.0 in catalog operatorhubio [NotASuccessor]
            Allowed next: 0.6.0, 0.5.1
            No upgrade path from 0.5.0 to 0.8.0. Highest reachable: 0.7.0. Only the catalog author can add one.
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error upgrading from currently installed version "0.5.0": no bundles found for package "argocd-operator" matching version "0.8.0"
        "#,
    );
    reads(
        &argo().installed_as("stranger", "0.0.1", None).answer(),
        r#"
            argocd-operator: 0.0.1 -> any version refused: none of the 6 bundles of the package is a successor of 0.0.1; the best is 0.8.0 in catalog operatorhubio [NotASuccessor]
            No upgrade path from 0.0.1 to any of the 6 bundles of the package. Only the catalog author can add one.
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error upgrading from currently installed version "0.0.1": no bundles found for package "argocd-operator"
        "#,
    );
}

#[test]
fn a_path_that_only_channels_close_is_named() {
    let lines = "a: 1.0.0; 2.0.0\nb: 1.0.0; 1.1.0 replaces 1.0.0; 2.0.0 replaces 1.1.0";
    let asked = |channel, range| {
        one(lines)
            .installed("1.0.0")
            .channels(&[channel])
            .range(range)
    };
    reads(
        &asked("a", "2.0.0").answer(),
        r#"
            P: 1.0.0 -> 2.0.0 refused: 2.0.0 is not a successor of 1.0.0 in catalog c [NotASuccessor]
            No upgrade path from 1.0.0 to 2.0.0. Without channels, olmguard path shows one to 2.0.0.
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            Catalog: c
            OLM: error upgrading from currently installed version "1.0.0": no bundles found for package "P" matching version "2.0.0" in channels [a]
        "#,
    );
    reads(
        &asked("x", "2.0.0").answer(),
        r#"
            P: 1.0.0 -> 2.0.0 refused: channel x does not exist [ChannelNotFound]
            Channels: a, b
            Without channels, olmguard path shows the steps to 2.0.0.
            Catalog: c
            OLM: error upgrading from currently installed version "1.0.0": no bundles found for package "P" matching version "2.0.0" in channels [x]
        "#,
    );
    let answer = asked("x", "1.1.0").answer();
    let message = answer.message.expect("a message");
    let fix = "Fix: set spec.source.catalog.channels to [\"b\"]\n";
    assert!(message.contains(fix), "{message}");
    // The API accepts no name with capital letters, so there is no fix.
    let capitals = one("Fast: 1.0.0; 1.1.0 replaces 1.0.0").installed("1.0.0");
    let answer = capitals.channels(&["fast"]).range("1.1.0").answer();
    let message = answer.message.expect("a message");
    let fix = "Fix: set spec.source.catalog.channels to []\n";
    assert!(message.contains(fix), "{message}");
    // A prerelease is near only if a range names one.
    let answer = one("a: 1.0.0; 2.0.0-rc.1").range("3.0.0").answer();
    let message = answer.message.expect("a message");
    assert!(message.contains("Nearest: 1.0.0\n"), "{message}");
    reads(
        &one("a: 2.0.0").installed("1.0.0").range("3.0.0").answer(),
        r#"
            P: 1.0.0 -> 3.0.0 refused: no bundle matches 3.0.0 [VersionNotFound]
            Nearest: 2.0.0
            No other version can be installed in one edit.
            Catalog: c
            OLM: error upgrading from currently installed version "1.0.0": no bundles found for package "P" matching version "3.0.0"
        "#,
    );
}

#[test]
fn prereleases_come_after_releases_and_are_called_so() {
    let lines = "stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0-rc.1 skips 1.0.0; 1.2.0-rc.2 skips 1.0.0; 2.0.0";
    reads(
        &one(lines).installed("1.0.0").range("2.0.0").answer(),
        r#"
            P: 1.0.0 -> 2.0.0 refused: 2.0.0 is not a successor of 1.0.0 in catalog c [NotASuccessor]
            Allowed next: 1.1.0; prerelease: 1.2.0-rc.2, 1.2.0-rc.1
            No upgrade path from 1.0.0 to 2.0.0. Highest reachable: 1.1.0. Highest prerelease: 1.2.0-rc.2. Only the catalog author can add one.
            Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible
            Catalog: c
            OLM: error upgrading from currently installed version "1.0.0": no bundles found for package "P" matching version "2.0.0"
        "#,
    );
    // Of two candidates without a fault, the release is suggested, although the prerelease is higher.
    let answer = one(
        "stable: 1.0.0; 1.1.0 skips 1.0.0; 1.2.0-rc.1 skips 1.0.0; 1.2.0 skips 1.0.0\n (requires): 1.2.0 olm.package.required",
    )
    .installed("1.0.0")
    .range(">=1.1.0-0")
    .answer();
    let fix = answer.advice.fix.expect("another candidate");
    assert_eq!(fix.value, FixValue::Text("1.1.0".to_owned()));
}

#[test]
fn a_path_that_only_a_second_catalog_closes_is_named() {
    reads(
        &ask(&[("a", 0, &ARGO), ("b", 0, &ARGO)])
            .package("argocd-operator")
            .installed("0.5.0")
            .range("0.7.0")
            .answer(),
        r#"
            argocd-operator: 0.5.0 -> 0.7.0 refused: none of the 2 bundles in range is a successor of 0.5.0; the best is 0.7.0 in catalog a [NotASuccessor]
            No upgrade path from 0.5.0 to any of the 2 bundles in range. With a selector for catalog a alone, a path leads to 0.7.0.
            Catalog: a
            OLM: error upgrading from currently installed version "0.5.0": no bundles found for package "argocd-operator" matching version "0.7.0"
        "#,
    );
}

#[test]
fn ambiguous_catalogs() {
    reads(
        &ask(&[("a", 0, &ARGO), ("b", 0, &ARGO)])
            .package("argocd-operator")
            .answer(),
        r#"
            argocd-operator: install of any version refused: 2 catalogs of the same priority (0) offer it [AmbiguousCatalogs]
            Catalogs: a (priority 0), b (priority 0)
            Fix: set spec.source.catalog.selector.matchLabels["olm.operatorframework.io/metadata.name"] to "a"
            OLM: found bundles for package "argocd-operator" in multiple catalogs with the same priority [a b]
        "#,
    );
}

#[test]
fn bundle_version_invalid() {
    reads(
        &one("stable: 1.0").answer(),
        r#"
            P: install of any version refused: the version of bundle P.v1.0 cannot be read [BundleVersionInvalid]
            The catalog author must fix the version of the bundle.
            Catalog: c
            OLM: error getting resolved bundle version for bundle "P.v1.0": No Major.Minor.Patch elements found
        "#,
    );
}

#[test]
fn unsupported_dependency() {
    reads(
        &one("stable: 1.0.0; 1.1.0 replaces 1.0.0\n (requires): 1.1.0 olm.gvk.required")
            .installed("1.0.0")
            .answer(),
        r#"
            P: 1.0.0 -> any version refused: P.v1.1.0 declares olm.gvk.required, which OLM v1 does not support [UnsupportedDependency]
            Fix: set spec.source.catalog.version to "1.0.0"
            Catalog: c
            OLM: validating bundle "P.v1.1.0": bundle "P.v1.1.0" has a dependency declared via property "olm.gvk.required" which is currently not supported
        "#,
    );
    reads(
        &one("stable: 1.0.0\n (requires): 1.0.0 olm.constraint").answer(),
        r#"
            P: install of any version refused: P.v1.0.0 declares olm.constraint, which OLM v1 does not support [UnsupportedDependency]
            Only a bundle without dependencies can be installed.
            Catalog: c
            OLM: validating bundle "P.v1.0.0": bundle "P.v1.0.0" has a dependency declared via property "olm.constraint" which is currently not supported
        "#,
    );
}
