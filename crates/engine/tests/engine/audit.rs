//! Audits: the results for an extension without an edit.

mod change;
mod scene;

use olmguard_catalog::olm::Rules;
use olmguard_engine::audit::{Concern, Onward};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::Token;
use olmguard_engine::snapshot::Content;
use olmguard_fixtures::guardrails::catalog;
use olmguard_fixtures::question::content;
use olmguard_fixtures::written::written;
use serde_json::json;

use scene::{CHAIN, Scene, next, versions};

#[test]
fn the_newest_version_in_a_bounded_range_is_no_concern() {
    let scene = Scene::new(CHAIN, "1.2.0").range("1.2.0");
    assert_eq!(scene.concerns(), [""; 0]);
    scene.see(|audit| {
        let place = audit.place.as_ref().expect("a place");
        assert!(matches!(place.onward, Onward::Newest));
        assert_eq!((place.newer, place.newest.is_none()), (0, true));
        assert_eq!(audit.judgement.token(), Token::Unchanged);
    });
}

#[test]
fn an_open_range_moves_step_by_step() {
    let scene = Scene::new(CHAIN, "1.0.0").range(">=1.0.0");
    assert_eq!(scene.concerns(), ["moves", "unbounded"]);
    scene.see(|audit| {
        let walk = audit.automatic.as_ref().expect("a walk");
        assert_eq!(versions(&walk.steps), ["1.1.0", "1.2.0"]);
        assert_eq!(audit.judgement.token(), Token::Resolved);
    });
    // Edits are needed only for versions that the range excludes.
    let bounded = Scene::new(CHAIN, "1.0.0").range("<1.2.0");
    assert_eq!(bounded.concerns(), ["moves", "behind"]);
}

#[test]
fn a_pin_stays_and_one_edit_is_enough_for_all_steps() {
    let scene = Scene::new(CHAIN, "1.0.0").range("1.0.0");
    assert_eq!(scene.concerns(), ["behind"]);
    scene.see(|audit| {
        assert_eq!(versions(&next(audit).path), ["1.1.0", "1.2.0"]);
        let edit = next(audit).one_edit.as_ref().expect("one edit");
        assert_eq!(edit.value, ">=1.0.0 <=1.2.0");
        let place = audit.place.as_ref().expect("a place");
        assert_eq!(place.newer, 2);
        assert_eq!(versions(place.newest.as_slice()), ["1.2.0"]);
    });
}

#[test]
fn without_an_edge_to_a_newer_version_it_is_stranded() {
    let scene = Scene::new("a: 1.0.0; 2.0.0", "1.0.0").range("1.0.0");
    assert_eq!(scene.concerns(), ["stranded"]);
    // A newer version that is deprecated is no reason to upgrade.
    let deprecated = Scene::new("a: 1.0.0; 2.0.0\n(deprecated): 2.0.0", "1.0.0").range("1.0.0");
    assert_eq!(deprecated.concerns(), [""; 0]);
}

/// OLM cannot choose between catalogs of one priority, so every path is blocked. The concern about the request reports
/// this.
#[test]
fn where_catalogs_tie_it_is_not_stranded() {
    let scene = Scene::new(CHAIN, "1.0.0").range("1.0.0");
    let content = content(&written(CHAIN).fbc(), &Rules::default());
    let both = [("hub", content.clone()), ("mirror", content)];
    let extension = scene.extension();
    let concerns: Vec<_> = scene.see_in(&both, &extension, |audit| {
        audit.concerns().into_iter().collect()
    });
    assert_eq!(concerns, [Concern::Unresolvable]);
}

/// The path ends at the version that an administrator wants, regardless of further edges.
#[test]
fn an_edge_to_a_deprecated_version_is_no_path_onward() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0; 2.0.0 replaces 1.1.0\n(deprecated): 2.0.0";
    let newest = Scene::new(lines, "1.1.0").range("1.1.0");
    assert_eq!(newest.concerns(), [""; 0]);
    let behind = Scene::new(lines, "1.0.0").range("1.0.0");
    assert_eq!(behind.concerns(), ["behind"]);
    behind.see(|audit| {
        let place = audit.place.as_ref().expect("a place");
        assert_eq!(versions(place.newest.as_slice()), ["1.1.0"]);
        assert_eq!(versions(&next(audit).path), ["1.1.0"]);
    });
    // A step on the path may be deprecated if the path continues from there.
    let through = "a: 1.0.0; 1.1.0 replaces 1.0.0; 2.0.0 replaces 1.1.0\n(deprecated): 1.1.0";
    let through = Scene::new(through, "1.0.0").range("1.0.0");
    through.see(|audit| assert_eq!(versions(&next(audit).path), ["1.1.0", "2.0.0"]));
}

/// A prerelease is no reason to leave a release.
#[test]
fn a_prerelease_counts_if_one_is_installed() {
    let lines =
        "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0-rc.1 replaces 1.1.0; 1.2.0-rc.2 replaces 1.2.0-rc.1";
    let release = Scene::new(lines, "1.0.0").range("1.0.0");
    release.see(|audit| {
        let place = audit.place.as_ref().expect("a place");
        assert_eq!(
            (place.newer, versions(place.newest.as_slice())),
            (1, vec!["1.1.0".to_owned()])
        );
        assert_eq!(versions(&next(audit).path), ["1.1.0"]);
    });
    assert_eq!(
        Scene::new(lines, "1.1.0").range("1.1.0").concerns(),
        [""; 0]
    );
    let candidate = Scene::new(lines, "1.2.0-rc.1").range("1.2.0-rc.1");
    assert_eq!(candidate.concerns(), ["behind"]);
    candidate.see(|audit| assert_eq!(versions(&next(audit).path), ["1.2.0-rc.2"]));
    // A path can pass through a prerelease.
    let through = "a: 1.0.0; 1.1.0-rc.1 replaces 1.0.0; 1.1.0 replaces 1.1.0-rc.1";
    let through = Scene::new(through, "1.0.0").range("1.0.0");
    through.see(|audit| assert_eq!(versions(&next(audit).path), ["1.1.0-rc.1", "1.1.0"]));
    // OLM continues to a prerelease automatically, beyond each version that an edit can reach.
    let open = Scene::new(lines, "1.0.0");
    assert_eq!(
        open.concerns(),
        ["moves_to_prerelease", "moves", "unbounded"]
    );
    // Prereleases are nothing new to a user of one, nor to a user who excludes them.
    for (installed, range) in [("1.2.0-rc.1", "*"), ("1.0.0", "<1.2.0-0")] {
        let scene = Scene::new(lines, installed).range(range);
        assert!(
            !scene.concerns().contains(&"moves_to_prerelease"),
            "{range}"
        );
    }
    open.see(|audit| {
        let walk = audit.automatic.as_ref().expect("a walk");
        assert_eq!(versions(&walk.steps), ["1.1.0", "1.2.0-rc.1", "1.2.0-rc.2"]);
    });
}

#[test]
fn a_path_in_other_channels_alone_is_the_end_of_a_channel() {
    let lines = "a: 1.0.0\nb: 1.0.0; 2.0.0 replaces 1.0.0";
    let scene = Scene::new(lines, "1.0.0").range("1.0.0");
    assert_eq!(scene.concerns(), ["behind"]);
    let scene = scene.with("channels", json!(["a"]));
    assert_eq!(scene.concerns(), ["channel_ends"]);
    scene.see(|audit| {
        let Onward::OtherChannels(path) = &audit.place.as_ref().expect("a place").onward else {
            panic!("other channels");
        };
        assert_eq!(versions(path), ["2.0.0"]);
    });
}

#[test]
fn deprecations_are_those_of_the_installed_bundle_its_package_and_the_requested_channels() {
    let lines = "a: 1.0.0\nb: 1.0.0\n(deprecated): 1.0.0; channel a; package";
    let all = [
        "package_deprecated",
        "bundle_deprecated",
        "channel_deprecated",
    ];
    let scene = Scene::new(lines, "1.0.0").range("1.0.0");
    assert_eq!(scene.concerns(), all[..2]);
    let requests = |channel| scene.clone().with("channels", json!([channel]));
    assert_eq!(requests("b").concerns(), all[..2]);
    assert_eq!(requests("a").concerns(), all);
    requests("a").see(|audit| {
        let deprecations = &audit.place.as_ref().expect("a place").deprecations;
        let channels = deprecations.of_channels.iter().map(|(name, _)| *name);
        assert_eq!(channels.collect::<Vec<_>>(), ["a"]);
    });
}

#[test]
fn a_bundle_that_no_catalog_has_is_named_as_such() {
    let scene = Scene::new("a: 1.1.0 replaces 1.0.0", "1.0.0").range("1.0.0");
    let expected = ["unresolvable", "not_in_catalog", "behind"];
    assert_eq!(scene.concerns(), expected);
}

#[test]
fn a_bypass_says_what_the_request_is_without_it() {
    let bypass = |range: &str, installed: &str| {
        let scene = Scene::new(CHAIN, installed).range(range);
        scene.with("upgradeConstraintPolicy", "SelfCertified")
    };
    let without = |scene: &Scene| scene.see(|audit| audit.without_bypass);
    let idle = bypass("1.2.0", "1.2.0");
    assert_eq!(idle.concerns(), ["bypass"]);
    assert_eq!(without(&idle), Some(Token::Unchanged));
    let needed = bypass("1.2.0", "1.0.0");
    assert_eq!(needed.concerns(), ["bypass", "moves", "behind"]);
    assert_eq!(without(&needed), Some(Token::NotASuccessor));
    // The path back follows edges, regardless of the bypass.
    needed.see(|audit| assert_eq!(versions(&next(audit).path), ["1.1.0", "1.2.0"]));
    assert_eq!(without(&Scene::new(CHAIN, "1.0.0")), None);
}

#[test]
fn a_spec_that_resolves_to_nothing_is_the_worst() {
    let scene = Scene::new(CHAIN, "1.0.0").range("1.2.0");
    assert_eq!(scene.concerns(), ["unresolvable", "behind"]);
    let unread = Scene::new(CHAIN, "1.0.0").range("x..y");
    assert_eq!(unread.concerns(), ["unresolvable", "behind"]);
    unread.see(|audit| assert_eq!(audit.is_unbounded, None));
}

#[test]
fn a_missing_fact_is_undecided_and_nothing_is_guessed() {
    let scene = Scene::new(CHAIN, "1.0.0").range("1.0.0");
    let broken = Content::Unreadable("broken".to_owned());
    scene.see_by(broken, &scene.extension(), |audit| {
        assert_eq!(audit.concerns(), [Concern::Undecided]);
        assert!(audit.place.is_none());
    });
    let unknown = Scene {
        installed: Installed::Unknown(olmguard_engine::extension::UnknownCause::Condition),
        ..scene
    };
    unknown.see(|audit| {
        assert_eq!(audit.concerns(), [Concern::Undecided]);
        assert!(audit.place.is_none() && audit.automatic.is_none());
    });
}

#[test]
fn an_object_that_is_being_deleted_has_no_concern() {
    let scene = Scene::new(CHAIN, "1.0.0");
    let deleting = Extension {
        deleting: true,
        ..scene.extension()
    };
    let content = content(&written(CHAIN).fbc(), &Rules::default());
    scene.see_by(content, &deleting, |audit| {
        assert_eq!(audit.judgement.token(), Token::NotJudged);
        assert_eq!(audit.concerns(), []);
    });
}

#[test]
fn a_closed_window_delays_the_edit_and_not_what_olm_does() {
    let windows =
        json!({"windows": [{"schedule": "0 22 * * *", "duration": "1h", "timeZone": "UTC"}]});
    let pinned = Scene::new(CHAIN, "1.0.0")
        .range("1.0.0")
        .ruled("nights", &windows);
    assert_eq!(pinned.concerns(), ["behind"]);
    pinned.see(|audit| {
        let Onward::Later(next, opening) = &audit.place.as_ref().expect("a place").onward else {
            panic!("later");
        };
        assert_eq!(versions(&next.path), ["1.1.0", "1.2.0"]);
        assert_eq!(opening.at.to_string(), "2026-11-20T22:00:00Z");
    });
    assert_eq!(pinned.pinned("1.1.0"), Token::Policy);
    let open = pinned.clone().at("2026-11-20T22:00:00Z");
    assert_eq!(open.pinned("1.1.0"), Token::Resolved);
    open.see(|audit| {
        let place = audit.place.as_ref().expect("a place");
        assert!(matches!(place.onward, Onward::Now(_)));
    });
    // The spec itself upgrades the extension. As an edit it would be denied, but OLM applies it anyway.
    let moving = pinned.range(">=1.0.0 <2.0.0");
    assert_eq!(moving.concerns(), ["forbidden", "moves"]);
}

#[test]
fn several_windows_must_be_open_together() {
    let windows = |schedule, duration| json!({"windows": [{"schedule": schedule, "duration": duration, "timeZone": "UTC"}]});
    let scene = Scene::new(CHAIN, "1.0.0").range("1.0.0");
    let scene = scene.ruled("nights", &windows("0 22 * * *", "1h"));
    let weekends = scene
        .clone()
        .ruled("weekends", &windows("0 0 * * 6", "48h"));
    weekends.see(|audit| {
        let Onward::Later(_, opening) = &audit.place.as_ref().expect("a place").onward else {
            panic!("later");
        };
        assert_eq!(opening.at.to_string(), "2026-11-21T22:00:00Z");
    });
    let never = scene.ruled("mornings", &windows("0 6 * * *", "1h"));
    assert_eq!(never.concerns(), ["path_forbidden"]);
}

#[test]
fn policies_that_forbid_every_step_close_the_path() {
    let scene = Scene::new(CHAIN, "1.0.0").range("1.0.0");
    let scene = scene.ruled("frozen", &json!({"versions": {"allow": "1.0.0"}}));
    assert_eq!(scene.concerns(), ["path_forbidden"]);
    scene.see(|audit| {
        let Onward::Forbidden(path) = &audit.place.as_ref().expect("a place").onward else {
            panic!("forbidden");
        };
        assert_eq!(versions(path), ["1.1.0", "1.2.0"]);
    });
}

#[test]
fn what_is_installed_against_a_policy_is_named() {
    let scene = Scene::new(CHAIN, "1.2.0").range("1.2.0");
    for (rules, expected) in [
        (json!({"versions": {"allow": "<1.2.0"}}), 1),
        (json!({"versions": {"deny": "1.2.0", "allow": "1.1.0"}}), 2),
        (json!({"catalogs": ["internal"]}), 1),
        (json!({"conditions": [{"expression": "to.minor < 2"}]}), 1),
        (
            json!({"versions": {"deny": "1.1.0"}, "step": "Patch", "prereleases": "Deny", "deprecated": "Deny"}),
            0,
        ),
        (
            json!({"conditions": [{"expression": "from == null || to.major == from.major"}]}),
            0,
        ),
        (
            json!({"windows": [{"schedule": "0 22 * * *", "duration": "1h"}], "range": "Pinned"}),
            0,
        ),
    ] {
        let ruled = scene.clone().ruled("newer", &rules);
        ruled.see(|audit| {
            let place = audit.place.as_ref().expect("a place");
            assert_eq!(place.violations.len(), expected, "{rules}");
        });
        let concerns = ruled.concerns();
        assert_eq!(
            concerns,
            ["against_policy"; 1][..expected.min(1)],
            "{rules}"
        );
    }
    // A rule about the edit concerns the spec.
    let bounded = Scene::new(CHAIN, "1.2.0").ruled("bounded", &json!({"range": "Bounded"}));
    assert_eq!(bounded.concerns(), ["forbidden", "unbounded"]);
}

/// The path onward agrees with the judgement of each of its edits.
#[test]
fn the_next_edit_is_admitted() {
    for range in ["1.0.0", ">=1.0.0", "<1.2.0", "1.2.0"] {
        let scene = Scene::new(CHAIN, "1.0.0").range(range);
        let first = scene.see(|audit| versions(&next(audit).path).remove(0));
        assert_eq!(scene.pinned(&first), Token::Resolved, "{range}");
    }
}

#[test]
fn the_words_of_concerns_are_a_closed_set() {
    let words: Vec<_> = Concern::ALL
        .iter()
        .map(|concern| concern.as_str())
        .collect();
    let mut distinct = words.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!((distinct.len(), words.len()), (19, 19));
    assert!(Concern::ALL.is_sorted());
    assert_eq!(words.first(), Some(&"unresolvable"));
}

/// OLM does not know guardrails. A forbidden step happens if the range allows it, but no edit may request it.
#[test]
fn a_step_that_guardrails_forbid_and_olm_takes_is_named() {
    let rules = json!([{"id": "via", "kind": "PassThrough", "via": ">=1.1.0 <1.2.0", "reason": "migrates"}]);
    let mut blobs = catalog::blobs(&["1.0.0", "1.1.0", "1.2.0"], "1.0.0");
    blobs.push(catalog::guardrails("Catalog", &rules));
    let mut scene = Scene::new("", "1.0.0").with("packageName", "p");
    let see = |scene: &Scene| {
        let content = catalog::content(&blobs);
        scene.see_by(content, &scene.extension(), |audit| {
            let path = versions(&next(audit).path);
            (audit.concerns(), path)
        })
    };
    scene.installed = Installed::Bundle(InstalledBundle {
        name: Some(catalog::name("1.0.0")),
        version: "1.0.0".to_owned(),
        release: None,
    });
    let (concerns, path) = see(&scene.clone().range(">=1.0.0 <2.0.0"));
    let expected = [
        Concern::ForbiddenMove,
        Concern::Forbidden,
        Concern::Moves,
        Concern::Behind,
    ];
    assert_eq!(concerns, expected);
    // The path onward respects the guardrails.
    assert_eq!(path, ["1.1.0", "1.2.0"]);
    let (concerns, _) = see(&scene.range("1.0.0"));
    assert_eq!(concerns, [Concern::Behind]);
}

/// An edit uses the field of the object's own shape.
#[test]
fn the_one_edit_is_of_the_shape_of_the_object() {
    let scene = Scene::new(CHAIN, "1.0.0");
    let flat = Extension::read(
        Shape::V1Alpha1Flat,
        &json!({"metadata": {"name": "ext"}, "spec": {"packageName": "P", "version": "1.0.0"}}),
    );
    let content = content(&written(CHAIN).fbc(), &Rules::default());
    scene.see_by(content, &flat, |audit| {
        let edit = next(audit).one_edit.as_ref().expect("one edit");
        assert_eq!(
            (&*edit.field, &*edit.value),
            ("spec.version", ">=1.0.0 <=1.2.0")
        );
    });
}

/// The policy can be about other extensions, and an extension at rest does not move.
#[test]
fn a_policy_whose_match_cannot_be_read_is_no_violation_at_rest() {
    let scene = |field: &str| {
        let mut scene = Scene::new(CHAIN, "1.2.0").range("1.2.0");
        scene.policies.push(json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": "p"},
            "spec": {"match": {field: ["ns"]}, "rules": {"versions": {"deny": "*"}}},
        }));
        scene.concerns()
    };
    assert_eq!(scene("namespaces"), ["against_policy"]);
    assert_eq!(scene("namespace"), [""; 0]);
}

/// No one edits in an audit.
#[test]
fn a_condition_on_the_user_is_no_concern() {
    let rules = |expression: &str| json!({"conditions": [{"expression": expression}]});
    let scene = Scene::new(CHAIN, "1.2.0").range("1.2.0");
    let of_user = rules("user.groups.exists(g, g == 'platform')");
    assert_eq!(scene.clone().ruled("p", &of_user).concerns(), [""; 0]);
    let of_range = rules("range != '1.2.0'");
    assert_eq!(scene.ruled("p", &of_range).concerns(), ["forbidden"]);
}
