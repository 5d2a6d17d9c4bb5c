//! The worked promotions of the design, step by step, with the users who are left behind.

use super::*;
use crate::author::reach::{Course, reach};
use serde_json::json;

use crate::author::words;
use olmguard_catalog::olm::Rules;

/// A package `op` with these bundles, and channels as `NAME: VERSION<REPLACES`.
fn catalog(versions: &[&str], channels: &[&str]) -> CatalogText {
    let mut text = String::from(
        "{\"schema\": \"olm.package\", \"name\": \"op\", \"defaultChannel\": \"alpha\"}",
    );
    for version in versions {
        let value = json!({"packageName": "op", "version": version});
        let bundle = json!({"schema": "olm.bundle", "package": "op", "name": format!("op.v{version}"),
            "properties": [{"type": "olm.package", "value": value}]});
        text.push_str(&bundle.to_string());
    }
    for channel in channels {
        let (name, entries) = channel.split_once(": ").unwrap();
        let entries = entries.split(' ').map(|entry| {
            let (version, replaces) = entry.split_once('<').unwrap_or((entry, ""));
            let named = |version: &str| format!("op.v{version}");
            let before = if replaces.is_empty() {
                String::new()
            } else {
                named(replaces)
            };
            json!({"name": named(version), "replaces": before})
        });
        let channel = json!({"schema": "olm.channel", "package": "op", "name": name,
            "entries": entries.collect::<Vec<_>>()});
        text.push_str(&channel.to_string());
    }
    let mut written = CatalogText::default();
    written.read("catalog", text.as_bytes()).unwrap();
    written
}

fn stage_1() -> CatalogText {
    catalog(
        &["0.1.0", "0.2.0", "0.3.0"],
        &["alpha: 0.1.0 0.2.0<0.1.0 0.3.0<0.2.0"],
    )
}

fn stage_3() -> CatalogText {
    catalog(
        &["0.1.0", "0.2.0", "0.3.0", "0.4.0"],
        &[
            "alpha: 0.1.0 0.2.0<0.1.0 0.3.0<0.2.0 0.4.0<0.3.0",
            "beta: 0.2.0<0.1.0",
        ],
    )
}

fn asked<'a>(bundle: &'a str, channel: &'a str, method: Method) -> Promotion<'a> {
    Promotion {
        package: "op",
        bundle,
        channel,
        method,
    }
}

#[track_caller]
fn entry(catalog: &CatalogText, bundle: &str, channel: &str, method: Method) -> AuthoredEntry {
    let made = promote(catalog, asked(bundle, channel, method)).unwrap();
    made.entries.last().unwrap().clone()
}

#[test]
fn each_method_writes_the_entry_of_the_seeds() {
    use Method::{Replaces, SkipRange, Skips};
    let some = |version: &str| Some(Box::from(format!("op.v{version}")));
    let beta = entry(&stage_1(), "op.v0.2.0", "beta", Replaces);
    assert_eq!((beta.replaces, beta.skips.len()), (some("0.1.0"), 0));
    let beta = entry(&stage_3(), "op.v0.4.0", "beta", Replaces);
    assert_eq!((beta.replaces, beta.skips.len()), (some("0.2.0"), 0));
    let stable = entry(&stage_3(), "op.v0.4.0", "stable", Skips);
    assert_eq!(stable.replaces, some("0.1.0"));
    assert_eq!(stable.skips, ["op.v0.2.0", "op.v0.3.0"].map(Box::from));
    let beta = entry(&stage_3(), "op.v0.4.0", "beta", Skips);
    assert_eq!(
        (beta.replaces, &*beta.skips),
        (some("0.2.0"), &[Box::from("op.v0.3.0")][..])
    );
    let beta = entry(&stage_3(), "op.v0.4.0", "beta", SkipRange);
    assert_eq!(beta.skip_range.as_deref(), Some(">=0.1.0 <0.4.0"));
    assert_eq!(beta.replaces, some("0.2.0"));
}

#[test]
fn releases_of_one_version_are_in_order() {
    let versions = ["1.0.0", "1.0.0+1", "1.0.0+2", "1.0.0+10"];
    let catalog = catalog(&versions, &["alpha: 1.0.0+1", "beta: 1.0.0+10"]);
    let some = |version: &str| Some(Box::from(format!("op.v{version}")));
    let next = entry(&catalog, "op.v1.0.0+10", "alpha", Method::Skips);
    assert_eq!(next.replaces, some("1.0.0+1"));
    assert_eq!(next.skips, ["op.v1.0.0", "op.v1.0.0+2"].map(Box::from));
    let next = entry(&catalog, "op.v1.0.0+2", "alpha", Method::SkipRange);
    assert_eq!((next.replaces, next.skip_range), (some("1.0.0+1"), None));
    let down = promote(&catalog, asked("op.v1.0.0+2", "beta", Method::Replaces));
    assert!(
        matches!(down, Err(PromoteError::NotAbove { .. })),
        "{down:?}"
    );
}

#[test]
fn an_entry_that_replaces_itself_is_not_copied() {
    let catalog = catalog(&["0.1.0", "0.2.0"], &["alpha: 0.1.0 0.2.0<0.2.0"]);
    let beta = entry(&catalog, "op.v0.2.0", "beta", Method::Replaces);
    assert_eq!(beta.replaces, None);
}

/// Returns the versions that an installed version reaches in a channel, with OLM v1 and OLM v0.
fn course(catalog: &CatalogText, channel: &str, version: &str) -> (Course, Course) {
    let reach = reach(catalog, &Rules::default(), "op", channel).unwrap();
    let name = format!("op.v{version}");
    let row = reach
        .rows
        .into_iter()
        .find(|row| *row.name == *name)
        .unwrap();
    (row.v1.unwrap(), row.v0)
}

fn promoted(mut catalog: CatalogText, bundle: &str, channel: &str, method: Method) -> CatalogText {
    let made = promote(&catalog, asked(bundle, channel, method)).unwrap();
    catalog.put_channel("op", made);
    catalog
}

#[test]
fn replaces_alone_strands_who_is_ahead() {
    let to = |version: &str| Course::ToHead(vec![Box::from(format!("op.v{version}"))]);
    // P7: 0.3.0 of alpha has no upgrade path in beta at stage 2.
    let stage_2 = promoted(stage_1(), "op.v0.2.0", "beta", Method::Replaces);
    assert_eq!(
        course(&stage_2, "beta", "0.1.0"),
        (to("0.2.0"), to("0.2.0"))
    );
    assert_eq!(
        course(&stage_2, "beta", "0.2.0"),
        (Course::AtHead, Course::AtHead)
    );
    assert_eq!(
        course(&stage_2, "beta", "0.3.0"),
        (Course::Fails, Course::Stranded)
    );
    // P8, K1 and K2: the same at stage 3.
    let stage_3 = promoted(stage_3(), "op.v0.4.0", "beta", Method::Replaces);
    assert_eq!(
        course(&stage_3, "beta", "0.2.0"),
        (to("0.4.0"), to("0.4.0"))
    );
    assert_eq!(
        course(&stage_3, "beta", "0.3.0"),
        (Course::Fails, Course::Stranded)
    );
}

#[test]
fn who_comes_only_to_a_bundle_that_is_never_installed_is_blocked() {
    let dependency =
        json!({"type": "olm.gvk.required", "value": {"group": "g", "kind": "K", "version": "v1"}});
    for (field, value) in [
        ("image", json!("short:1")),
        ("properties", json!([dependency])),
    ] {
        let mut bundle = json!({"schema": "olm.bundle", "package": "op", "name": "op.v0.3.0",
            "properties": [{"type": "olm.package", "value": {"packageName": "op", "version": "0.3.0"}}]});
        match bundle[field].as_array_mut() {
            Some(items) => items.extend(value.as_array().unwrap().clone()),
            None => bundle[field] = value,
        }
        let mut written = catalog(
            &["0.1.0", "0.2.0"],
            &["alpha: 0.1.0 0.2.0<0.1.0 0.3.0<0.2.0"],
        );
        written
            .read("bundle", bundle.to_string().as_bytes())
            .unwrap();
        let named = |version: &str| Box::from(format!("op.v{version}"));
        let blocked = |after| Course::Blocked {
            after,
            by: named("0.3.0"),
        };
        let way = Course::ToHead(vec![named("0.2.0"), named("0.3.0")]);
        assert_eq!(
            course(&written, "alpha", "0.1.0"),
            (blocked(vec![named("0.2.0")]), way)
        );
        let way = Course::ToHead(vec![named("0.3.0")]);
        assert_eq!(
            course(&written, "alpha", "0.2.0"),
            (blocked(Vec::new()), way)
        );
        let words = [vec![named("0.2.0")], Vec::new()].map(|after| words::course(&blocked(after)));
        let selects = "selects op.v0.3.0 and does not install it";
        assert_eq!(
            words,
            [format!("-> op.v0.2.0, then {selects}"), selects.to_owned()]
        );
    }
}

#[test]
fn a_panic_of_olm_is_no_lack_of_an_edge() {
    let mut written = catalog(&["0.1.0", "0.2.0", "0.3.0"], &[]);
    let broken = "0.2.0 || || 1.0.0";
    let channel = json!({"schema": "olm.channel", "package": "op", "name": "alpha", "entries": [
        {"name": "op.v0.1.0"}, {"name": "op.v0.2.0", "replaces": "op.v0.1.0"},
        {"name": "op.v0.3.0", "replaces": "op.v0.2.0", "skipRange": broken}]});
    written
        .read("channel", channel.to_string().as_bytes())
        .unwrap();
    let (v1, _) = course(&written, "alpha", "0.1.0");
    assert_eq!(v1, Course::Crashes(Vec::new()));
    assert_eq!(words::course(&v1), "panics on a skipRange");
    assert!(v1.is_left_behind());
    let after = Course::Crashes(vec!["op.v0.2.0".into()]);
    assert_eq!(
        words::course(&after),
        "-> op.v0.2.0, then panics on a skipRange"
    );
}

#[test]
fn the_other_methods_carry_everyone_along() {
    for method in [Method::Skips, Method::SkipRange] {
        for channel in ["beta", "stable"] {
            let made = promoted(stage_3(), "op.v0.4.0", channel, method);
            for version in ["0.1.0", "0.2.0", "0.3.0", "0.4.0"] {
                let (v1, v0) = course(&made, channel, version);
                assert!(
                    !v1.is_left_behind() && !v0.is_left_behind(),
                    "{version}: {v1:?} {v0:?}"
                );
            }
        }
    }
}

#[test]
fn a_bundle_without_a_place_is_refused() {
    let rows = [
        (
            "op.v9.9.9",
            "beta",
            "package \"op\" has no bundle \"op.v9.9.9\": expected the name of an olm.bundle of the catalog",
        ),
        (
            "op.v0.2.0",
            "beta",
            "channel \"beta\" has bundle \"op.v0.2.0\" already: expected one that it does not name",
        ),
        (
            "op.v0.0.1",
            "beta",
            "bundle \"op.v0.0.1\" is not above \"op.v0.2.0\", the head of channel \"beta\": expected a higher version",
        ),
        (
            "op.v0.4.0",
            "two",
            "channel \"two\": multiple channel heads found in graph: op.v0.1.0, op.v0.2.0; mend the channel first, as opm validate wants it",
        ),
        (
            "op.vx",
            "beta",
            "bundle \"op.vx\" has no version that can be read: expected one olm.package property with a semantic version",
        ),
    ];
    let versions = ["0.0.1", "0.1.0", "0.2.0", "0.4.0", "x"];
    let catalog = catalog(&versions, &["beta: 0.2.0<0.1.0", "two: 0.1.0 0.2.0"]);
    for (bundle, channel, expected) in rows {
        let error = promote(&catalog, asked(bundle, channel, Method::Replaces)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_range_that_olm_does_not_read_is_not_written() {
    for version in ["1.1.0-rc.x1", "1.1.0-rc.x"] {
        let catalog = catalog(&["1.0.0", version], &["alpha: 1.0.0"]);
        let bundle = format!("op.v{version}");
        let error = promote(&catalog, asked(&bundle, "alpha", Method::SkipRange)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "skipRange \">=1.0.0 <{version}\" does not end at its version: OLM reads an x in a prerelease as a \
                 wildcard; use --method skips"
            )
        );
    }
}

#[test]
fn who_is_left_behind_is_told_before_and_after() {
    let before = stage_3();
    let after = promoted(before.clone(), "op.v0.4.0", "beta", Method::Replaces);
    let [before, after] =
        [before, after].map(|catalog| reach(&catalog, &Rules::default(), "op", "beta").unwrap());
    let asked = asked("op.v0.4.0", "beta", Method::Replaces);
    assert_eq!(
        words::promotion(asked, &before, &after),
        "promote op.v0.4.0 to channel \"beta\" of package \"op\" with replaces\n\
         \n\
         op.v0.4.0\n  before     OLM v1: error, it is not in the channel and has no edge into it\n\
         \x20            OLM v0: stranded, no upgrade edge\n  after      is the head\n\
         op.v0.3.0\n  unchanged  OLM v1: error, it is not in the channel and has no edge into it\n\
         \x20            OLM v0: stranded, no upgrade edge\n\
         op.v0.2.0\n  before     is the head\n  after      -> op.v0.4.0\n\
         op.v0.1.0\n  before     -> op.v0.2.0\n  after      -> op.v0.2.0 -> op.v0.4.0\n\
         \n\
         Cannot reach the head before: op.v0.4.0, op.v0.3.0\n\
         Cannot reach the head after:  op.v0.3.0\n"
    );
}
