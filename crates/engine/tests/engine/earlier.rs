//! The installed bundle according to another object, and the faults that the CRD reports in an edit
//! of it.

use olmguard_engine::extension::schema::SchemaRelease;
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape, UnknownCause};
use olmguard_engine::judge::{BaseDoubt, Basis, EarlierObject, Token, identify};
use olmguard_engine::snapshot::Snapshot;
use olmguard_fixtures::question::ask;
use olmguard_fixtures::written::written;
use serde_json::{Value, json};

/// Three bundles, and a name that only an edge mentions.
fn snapshot() -> Snapshot {
    let first = written("stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 skips 0.9.0");
    ask(&[("a", 0, &first)]).snapshot()
}

fn object(catalog: &Value, status: Option<&str>) -> Value {
    let bundle = |version: &str| json!({"name": format!("P.v{version}"), "version": version});
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "ext"},
        "spec": {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": catalog}},
        "status": status.map(|version| json!({"install": {"bundle": bundle(version)}})),
    })
}

fn bundle(name: Option<&str>, version: &str) -> InstalledBundle {
    InstalledBundle {
        name: name.map(str::to_owned),
        version: version.to_owned(),
        release: None,
    }
}

fn named(version: &str) -> Installed {
    let name = format!("P.v{version}");
    Installed::Bundle(bundle(Some(&name), version))
}

#[test]
fn a_version_without_a_name_is_the_bundle_or_the_name_that_fits() {
    let snapshot = snapshot();
    let extension = Extension::read(Shape::V1, &object(&json!({"packageName": "P"}), None));
    let filter = extension.filter.as_ref().expect("a filter");
    for (version, expected) in [
        ("1.1.0", named("1.1.0")),
        (
            "0.9.0",
            Installed::Inferred(bundle(Some("P.v0.9.0"), "0.9.0")),
        ),
        ("3.0.0", Installed::Bundle(bundle(None, "3.0.0"))),
    ] {
        let found = identify(&snapshot, filter, Installed::Bundle(bundle(None, version)));
        assert_eq!(found, expected, "{version}");
    }
    for known in [
        Installed::Nothing,
        named("7.0.0"),
        Installed::Bundle(bundle(Some("other"), "1.1.0")),
        Installed::Unknown(UnknownCause::Condition),
    ] {
        assert_eq!(identify(&snapshot, filter, known.clone()), known);
    }
}

/// A pin first, then a status, the newer one first, then the bundle that the range resolves to.
#[test]
fn what_is_installed_comes_from_the_pin_the_status_or_the_range() {
    let snapshot = snapshot();
    let basis = Basis::without_policies(&snapshot);
    let range = |version: &str| json!({"packageName": "P", "version": version});
    for (old, old_status, new_status, expected) in [
        (
            range("1.0.0"),
            Some("1.1.0"),
            Some("1.2.0"),
            (named("1.0.0"), None),
        ),
        (
            range("1.x"),
            Some("1.1.0"),
            Some("1.2.0"),
            (named("1.2.0"), None),
        ),
        (range("1.x"), Some("1.1.0"), None, (named("1.1.0"), None)),
        (
            range("1.x"),
            None,
            None,
            (named("1.2.0"), Some(BaseDoubt::Range)),
        ),
        (
            range("4.x"),
            None,
            None,
            (
                Installed::Nothing,
                Some(BaseDoubt::Unresolved(Token::VersionNotFound)),
            ),
        ),
        (
            json!({"packageName": "Q"}),
            None,
            None,
            (
                Installed::Nothing,
                Some(BaseDoubt::Unresolved(Token::PackageNotFound)),
            ),
        ),
        (
            json!({}),
            Some("1.1.0"),
            Some("1.0.0"),
            (named("1.0.0"), None),
        ),
        (json!({}), Some("1.1.0"), None, (named("1.1.0"), None)),
        (
            json!({}),
            None,
            None,
            (
                Installed::Nothing,
                Some(BaseDoubt::Unresolved(Token::InvalidSpec)),
            ),
        ),
    ] {
        let value = object(&old, old_status);
        let extension = Extension::read(Shape::V1, &value);
        let earlier = EarlierObject {
            value: &value,
            extension: Some(&extension),
        };
        let new = Extension::read(Shape::V1, &object(&range("1.1.0"), new_status));
        assert_eq!(
            earlier.installed(basis, &new),
            expected,
            "{old} {old_status:?} {new_status:?}"
        );
    }
}

#[test]
fn an_earlier_object_without_a_catalog_says_nothing() {
    let snapshot = snapshot();
    let basis = Basis::without_policies(&snapshot);
    let new = Extension::read(
        Shape::V1,
        &object(&json!({"packageName": "P"}), Some("1.1.0")),
    );
    let mut value = object(&json!({"packageName": "P", "version": "1.0.0"}), None);
    value["spec"]["source"]["sourceType"] = "Image".into();
    let elsewhere = Extension::read(Shape::V1, &value);
    for extension in [None, Some(&elsewhere)] {
        let earlier = EarlierObject {
            value: &value,
            extension,
        };
        assert_eq!(earlier.installed(basis, &new), (named("1.1.0"), None));
    }
}

#[test]
fn without_an_answer_of_the_catalogs_what_is_installed_is_unknown() {
    let nothing = ask(&[]).snapshot();
    let value = object(&json!({"packageName": "P"}), None);
    let extension = Extension::read(Shape::V1, &value);
    let earlier = EarlierObject {
        value: &value,
        extension: Some(&extension),
    };
    let reason = "NoCatalogs";
    let expected = Installed::Unknown(UnknownCause::BaseUndecided { reason });
    let found = earlier.installed(Basis::without_policies(&nothing), &extension);
    assert_eq!(found, (expected, None));
}

/// Whether the CRD refuses something, and whether the refusal is new.
#[test]
fn what_the_crd_refuses_is_new_unless_it_was_there() {
    let good = object(&json!({"packageName": "p"}), None);
    let bad = object(&json!({"packageName": "p", "version": "a b"}), None);
    let mut moved = good.clone();
    moved["spec"]["namespace"] = "other".into();
    for (old, new, expected) in [
        (&good, &good, (0, false)),
        (&good, &bad, (1, true)),
        (&bad, &bad, (1, false)),
        (&bad, &good, (0, false)),
        (&good, &moved, (1, true)),
    ] {
        let extension = Extension::read(Shape::V1, old);
        let earlier = EarlierObject {
            value: old,
            extension: Some(&extension),
        };
        let refused = earlier.refused(Shape::V1, SchemaRelease::v1(11), new);
        assert_eq!((refused.findings.len(), refused.is_new), expected, "{new}");
    }
    let unknown = EarlierObject {
        value: &bad,
        extension: None,
    };
    assert!(
        unknown
            .refused(Shape::V1, SchemaRelease::v1(11), &bad)
            .is_new
    );
}
