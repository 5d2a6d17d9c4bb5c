//! The differences of an extension after the content of its catalog is replaced.

use olmguard_catalog::olm::Rules;
use olmguard_engine::audit::{Audit, Concern, Difference, Onward, differences};
use olmguard_engine::extension::Extension;
use olmguard_engine::judge::Verdict;
use olmguard_engine::snapshot::Content;
use olmguard_fixtures::question::content;
use olmguard_fixtures::written::written;
use proptest::prelude::*;
use serde_json::json;

use crate::audit::scene::{CHAIN, Scene, versions};

/// The chain with one more version.
const MORE: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0; 1.3.0 replaces 1.2.0";

/// The audits of an extension before and after.
fn compared<R>(
    scene: &Scene,
    before: &[(&str, Content)],
    after: &[(&str, Content)],
    see: impl FnOnce(&Audit<'_>, &Audit<'_>) -> R,
) -> R {
    let extension = scene.extension();
    scene.see_in(before, &extension, |old| {
        scene.see_in(after, &extension, |new| see(old, new))
    })
}

fn words(before: &Audit<'_>, after: &Audit<'_>) -> Vec<&'static str> {
    let found = differences(before, after);
    found.into_iter().map(Difference::as_str).collect()
}

fn hub(lines: &str) -> Vec<(&'static str, Content)> {
    vec![("hub", content(&written(lines).fbc(), &Rules::default()))]
}

#[track_caller]
fn check(scene: &Scene, after: &str, expected: &[&str]) {
    let found = compared(scene, &hub(scene.lines), &hub(after), words);
    assert_eq!(found, expected, "{} => {after}", scene.lines);
    let same = compared(scene, &hub(after), &hub(after), words);
    assert_eq!(same, [""; 0], "{after}");
}

fn pinned(lines: &'static str, installed: &str) -> Scene {
    Scene::new(lines, installed).range(installed)
}

#[test]
fn a_new_version_is_reachable_or_is_not() {
    check(&pinned(CHAIN, "1.0.0"), MORE, &["reach_gained"]);
    check(&pinned(CHAIN, "1.2.0"), MORE, &["reach_gained"]);
    check(&pinned(MORE, "1.0.0"), CHAIN, &["reach_lost"]);
    check(&pinned(MORE, "1.2.0"), CHAIN, &["reach_lost"]);
    let apart = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0; 2.0.0";
    check(&pinned(CHAIN, "1.0.0"), apart, &["newest"]);
    check(&pinned(CHAIN, "1.2.0"), apart, &["stranded"]);
    let direct = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skips 1.0.0";
    check(&pinned(CHAIN, "1.0.0"), direct, &["other_path"]);
}

#[test]
fn an_open_range_moves_elsewhere_or_stays() {
    let open = Scene::new(CHAIN, "1.0.0").range(">=1.0.0");
    check(&open, MORE, &["moves", "reach_gained"]);
    check(&open, "a: 1.0.0", &["reach_lost", "stays"]);
    check(&open, "a: 1.0.0; 1.2.0", &["stranded", "stays"]);
    let stays = Scene::new("a: 1.0.0; 1.2.0", "1.0.0").range(">=1.0.0");
    check(&stays, CHAIN, &["moves", "reach_gained"]);
}

#[test]
fn what_is_gone_is_named_once() {
    let scene = pinned(CHAIN, "1.1.0");
    let expected = ["unresolvable", "bundle_gone"];
    check(&scene, "a: 1.0.0; 1.2.0 replaces 1.1.0", &expected);
    let back = pinned("a: 1.0.0; 1.2.0 replaces 1.1.0", "1.1.0");
    check(&back, CHAIN, &["allowed", "bundle_back"]);
    let other = content(
        &olmguard_fixtures::written::Written {
            package: "Q",
            ..written(CHAIN)
        }
        .fbc(),
        &Rules::default(),
    );
    let found = compared(&scene, &hub(CHAIN), &[("hub", other)], words);
    assert_eq!(found, ["package_gone"]);
}

#[test]
fn a_channel_that_is_gone_is_named_also_if_another_remains() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0\nb: 1.0.0; 1.1.0 replaces 1.0.0";
    let scene = pinned(lines, "1.0.0");
    let one = scene.clone().with("channels", json!(["b"]));
    let expected = ["channel_gone", "unresolvable", "channel_ends"];
    check(&one, "a: 1.0.0; 1.1.0 replaces 1.0.0", &expected);
    let both = scene.clone().with("channels", json!(["b", "a"]));
    check(&both, "a: 1.0.0; 1.1.0 replaces 1.0.0", &["channel_gone"]);
    check(&scene, "a: 1.0.0; 1.1.0 replaces 1.0.0", &[]);
    let missing = pinned("a: 1.0.0", "1.0.0").with("channels", json!(["a", "b"]));
    check(&missing, "a: 1.0.0\nb: 1.0.0", &["channel_back"]);
    compared(&both, &hub(lines), &hub("a: 1.0.0"), |before, after| {
        assert_eq!(before.lost_channels(after), ["b"]);
    });
}

#[test]
fn deprecations_begin_and_end() {
    let lines = "a: 1.0.0\nb: 1.0.0";
    let scene = pinned(lines, "1.0.0").with("channels", json!(["a"]));
    let all = "a: 1.0.0\nb: 1.0.0\n(deprecated): 1.0.0; channel a; package";
    let begin = [
        "package_deprecated",
        "bundle_deprecated",
        "channel_deprecated",
    ];
    check(&scene, all, &begin);
    check(&scene, "a: 1.0.0\nb: 1.0.0\n(deprecated): channel b", &[]);
    let deprecated = pinned(all, "1.0.0").with("channels", json!(["a"]));
    check(&deprecated, lines, &["undeprecated"]);
    // A bundle that no catalog has any more is gone, not undeprecated.
    let gone = ["unresolvable", "bundle_gone", "reach_gained"];
    check(&deprecated, "a: 1.1.0 replaces 1.0.0\nb: 1.1.0", &gone);
}

#[test]
fn a_second_catalog_with_the_package_makes_the_choice_ambiguous() {
    let scene = pinned(CHAIN, "1.0.0");
    let both = [hub(CHAIN), vec![("mirror", hub(CHAIN).remove(0).1)]].concat();
    let found = compared(&scene, &hub(CHAIN), &both, words);
    assert_eq!(found, ["ambiguous"]);
    let found = compared(&scene, &both, &hub(CHAIN), words);
    assert_eq!(found, ["reach_gained", "allowed"]);
}

#[test]
fn what_becomes_unknown_hides_everything_and_what_becomes_known_counts_as_new() {
    let scene = Scene::new(CHAIN, "1.0.0").range(">=1.0.0");
    let broken = [("hub", Content::Unreadable("broken".to_owned()))];
    let found = compared(&scene, &hub(CHAIN), &broken, words);
    assert_eq!(found, ["undecided"]);
    let found = compared(&scene, &broken, &hub(CHAIN), words);
    assert_eq!(found, ["moves", "reach_gained", "decided"]);
    let missing = [("hub", Content::Missing)];
    assert_eq!(compared(&scene, &broken, &missing, words), [""; 0]);
}

#[test]
fn policies_apply_to_the_new_content_too() {
    let frozen = Scene::new("a: 1.0.0", "1.0.0")
        .range(">=1.0.0")
        .ruled("frozen", &json!({"versions": {"allow": "1.0.0"}}));
    let expected = ["forbidden", "path_forbidden", "moves"];
    check(&frozen, "a: 1.0.0; 1.1.0 replaces 1.0.0", &expected);
}

#[test]
fn the_same_verdict_for_another_reason_is_a_difference() {
    let scene = Scene::new(CHAIN, "1.0.0").range("1.2.0");
    check(
        &scene,
        "a: 1.0.0; 1.1.0 replaces 1.0.0",
        &["reach_lost", "other_reason"],
    );
}

#[test]
fn a_bypass_that_is_needed_no_longer_is_named() {
    let scene = Scene::new(CHAIN, "1.0.0").range("1.2.0");
    let scene = scene.with("upgradeConstraintPolicy", "SelfCertified");
    let direct = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skips 1.0.0";
    check(&scene, direct, &["bypass", "other_path"]);
}

#[test]
fn a_bundle_with_another_image_is_named() {
    let scene = pinned(CHAIN, "1.0.0");
    let written = written(CHAIN).fbc();
    let after = written.replace("example.com/bundle", "example.com/rebuilt");
    let after = [("hub", content(&after, &Rules::default()))];
    let found = compared(&scene, &hub(CHAIN), &after, words);
    assert_eq!(found, ["other_image"]);
}

#[test]
fn an_object_that_is_being_deleted_has_no_difference() {
    let scene = Scene::new(CHAIN, "1.0.0");
    let deleting = Extension {
        deleting: true,
        ..scene.extension()
    };
    scene.see_in(&hub(CHAIN), &deleting, |before| {
        scene.see_in(&hub("a: 1.0.0"), &deleting, |after| {
            assert_eq!(differences(before, after), []);
        });
    });
}

#[test]
fn the_words_of_differences_are_a_closed_set() {
    let words: Vec<_> = Difference::ALL.iter().map(|one| one.as_str()).collect();
    let mut distinct = words.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!((distinct.len(), words.len()), (34, 34));
    assert!(Difference::ALL.is_sorted());
}

/// The compared parts of a preview, as it is printed.
fn facts(audit: &Audit<'_>) -> (Verdict, Vec<Concern>, Vec<String>, Vec<String>, Vec<String>) {
    let place = audit.place.as_ref();
    let next = place.map(|place| match &place.onward {
        Onward::Now(next) | Onward::Later(next, _) => versions(&next.path),
        Onward::Forbidden(path) | Onward::OtherChannels(path) => versions(path),
        Onward::NotInstallable(found) => versions(&found.path),
        Onward::Newest | Onward::Tied | Onward::Stranded | Onward::NotFound => Vec::new(),
    });
    let newest = place.map(|place| versions(place.newest.as_slice()));
    (
        audit.judgement.verdict(),
        audit.concerns(),
        versions(&audit.moves()),
        next.unwrap_or_default(),
        newest.unwrap_or_default(),
    )
}

/// Catalogs of three versions with any edges, deprecations and gaps.
fn catalogs() -> impl Strategy<Value = String> {
    let edges = (any::<[bool; 4]>(), any::<[bool; 4]>(), any::<bool>());
    edges.prop_map(|(has, links, is_named)| {
        let versions = ["1.0.0", "1.1.0", "1.2.0", "2.0.0"];
        let channel = |name: &str, links: [bool; 4]| {
            let present = versions.iter().zip(has).filter(|(_, has)| *has);
            let entries = present.map(|(version, _)| {
                let at = versions.iter().position(|one| one == version).unwrap_or(0);
                match links[at].then(|| at.checked_sub(1)).flatten() {
                    Some(below) => format!("{version} replaces {}", versions[below]),
                    None => (*version).to_owned(),
                }
            });
            format!("{name}: {}\n", entries.collect::<Vec<_>>().join("; "))
        };
        let second = is_named.then(|| channel("b", [true; 4]));
        let deprecated = (links[0] && has[0]).then_some("(deprecated): 1.0.0\n");
        let lines = [channel("a", links), second.unwrap_or_default()].concat();
        lines + deprecated.unwrap_or_default()
    })
}

proptest! {
    /// Everything in the output of an audit that changes is explained, and nothing else is.
    #[test]
    fn there_is_a_difference_exactly_if_the_facts_differ(
        before in catalogs(),
        after in catalogs(),
        range in prop::sample::select(vec!["1.0.0", ">=1.0.0", "<2.0.0", "1.2.0", "3.0.0"]),
        channels in prop::sample::select(vec![vec![], vec!["a"], vec!["b"], vec!["a", "b"]]),
    ) {
        let scene = Scene::new("", "1.0.0").range(range).with("channels", json!(channels));
        compared(&scene, &hub(&before), &hub(&after), |old, new| {
            let found = differences(old, new);
            let tokens = old.judgement.token() == new.judgement.token()
                || old.judgement.verdict() == Verdict::Allow && new.judgement.verdict() == Verdict::Allow;
            let is_same = facts(old) == facts(new)
                && tokens
                && old.requested == new.requested;
            prop_assert_eq!(found.is_empty(), is_same, "{:?}\n{} => {}", found, before, after);
            Ok(())
        })?;
    }
}
