//! Laws that hold for every answer, on random packages and on hostile texts.

use std::cmp::Ordering;

use olmguard_catalog::version::{
    LegacyRelease, Membership, ReleaseLimit, SkipRange, VersionRelease,
};
use olmguard_catalog::{BundleSet, Package};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Advice, Token, Verdict};
use olmguard_engine::resolve::Origin;
use olmguard_engine::snapshot::{Currency, Snapshot};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::properties::hostile::{Hostile, hostile};
use crate::properties::world::{Asked, World, asked, blobs, shuffled, world};
use olmguard_fixtures::question::{answer_to, content, extension, package, rules};

mod hostile;
mod reached;
mod world;

/// The whole text of an answer, as bytes.
fn bytes(snapshot: &Snapshot, asked: &Asked) -> String {
    let answer = answer_to(snapshot, &asked.spec(), &asked.installed());
    format!("{answer:?}")
}

proptest! {
    #[test]
    fn the_same_facts_give_the_same_bytes(world in world(), asked in asked(), seed: u64) {
        let first = bytes(&world.snapshot(), &asked);
        prop_assert_eq!(&first, &bytes(&world.snapshot(), &asked));
        let other_order = World {
            catalogs: world.catalogs.iter().rev().cloned().collect(),
        };
        let text = |blobs: &[Value]| shuffled(blobs, seed);
        prop_assert_eq!(&first, &bytes(&other_order.snapshot_of(text), &asked));
    }

    #[test]
    fn an_unrelated_package_changes_nothing(world in world(), asked in asked(), other in blobs()) {
        let mut more = world.clone();
        for catalog in &mut more.catalogs {
            let renamed = other.iter().map(|blob| in_package(blob, "unrelated"));
            catalog.blobs.extend(renamed);
        }
        prop_assert_eq!(bytes(&world.snapshot(), &asked), bytes(&more.snapshot(), &asked));
    }

    #[test]
    fn removing_an_edge_adds_no_successor(
        blobs in blobs(), asked in asked(), at: prop::sample::Index, field in 0..3_usize,
    ) {
        let mut fewer = blobs.clone();
        let entries = fewer.iter_mut().filter_map(|blob| blob.get_mut("entries")?.as_array_mut());
        let mut entries: Vec<_> = entries.flatten().filter(|entry| entry.get("name").is_some()).collect();
        if entries.is_empty() {
            return Ok(());
        }
        let entry = entries.swap_remove(at.index(entries.len()));
        let fields = entry.as_object_mut().expect("an entry");
        fields.remove(["replaces", "skips", "skipRange"][field]);
        let (before, after) = (edges(&blobs, &asked), edges(&fewer, &asked));
        prop_assert!(after.iter().all(|name| before.contains(name)), "{after:?} of {before:?}");
    }

    #[test]
    fn the_index_agrees_with_the_naive_rule(blobs in blobs(), asked in asked()) {
        prop_assert_eq!(edges(&blobs, &asked), naive_edges(&blobs, &asked));
        prop_assert_eq!(same(&blobs, &asked), naive_same(&blobs, &asked));
    }

    #[test]
    fn ways_lead_where_one_edit_after_the_other_leads(world in world(), asked in asked()) {
        let snapshot = world.snapshot();
        let extension = extension(&asked.spec());
        let filter = extension.filter.as_ref().expect("a filter").without_version();
        let installed = asked.installed();
        let origin = installed.bundle().map(|bundle| Origin::read(bundle, snapshot.rules()));
        let (Some(Ok(origin)), Some(offers)) = (origin, reached::offers(&snapshot, &filter)) else {
            return Ok(());
        };
        if !filter.bypasses() {
            let by_edits = reached::by_edits(&snapshot, &filter, &offers, &installed);
            prop_assert_eq!(reached::by_search(&snapshot, &offers, &origin), by_edits);
        }
    }

    #[test]
    fn rows_are_those_of_the_table(world in world(), asked in asked()) {
        let answer = answer_to(&world.snapshot(), &asked.spec(), &asked.installed());
        prop_assert!(Token::ALL.contains(&answer.token));
        prop_assert_eq!(answer.verdict(), answer.token.verdict());
        prop_assert_eq!(answer.resolved.is_some(), answer.verdict() == Verdict::Allow);
        prop_assert_eq!(answer.causes.is_empty(), answer.message.is_none());
        within_limits(&answer)?;
    }

    /// Row 5b replaces rows 6 to 15, and no others.
    #[test]
    fn superseded_content_never_denies(world in world(), asked in asked()) {
        let put = |currency| {
            answer_to(&world.snapshot_at(currency), &asked.spec(), &asked.installed())
        };
        let (current, superseded) = (put(Currency::Current), put(Currency::Superseded));
        let rests_on_content = (Token::PackageNotFound..Token::Guardrail).contains(&current.token);
        if rests_on_content {
            prop_assert_eq!(superseded.token, Token::CatalogOutdated);
            prop_assert_eq!(superseded.advice, Advice::default());
        } else {
            prop_assert_eq!(superseded.token, current.token);
            prop_assert_eq!(superseded.resolved, current.resolved);
        }
    }

    #[test]
    fn texts_stay_within_their_limits(hostile in hostile()) {
        within_limits(&hostile.answer())?;
    }

    #[test]
    fn unread_objects_stay_within_their_limits(object in hostile::object()) {
        within_limits(&Hostile::answer_to_object(&object))?;
    }
}

fn within_limits(answer: &Answer) -> Result<(), TestCaseError> {
    let refuses = matches!(answer.verdict(), Verdict::Deny | Verdict::Undecided);
    prop_assert_eq!(answer.message.is_some(), refuses);
    if let Some(message) = &answer.message {
        let first = message.lines().next().unwrap_or_default();
        let token = format!("[{}]", answer.token.as_str());
        prop_assert!(first.len() <= 200, "{} bytes: {first}", first.len());
        prop_assert!(first.ends_with(&token), "{first}");
        prop_assert!(message.len() <= 1024, "{} bytes: {message}", message.len());
        prop_assert!(
            !message.chars().any(|c| c.is_control() && c != '\n'),
            "{message:?}"
        );
        prop_assert!(message.lines().all(|line| !line.is_empty()), "{message:?}");
    }
    prop_assert!(answer.warnings.len() <= 5, "{:?}", answer.warnings);
    for warning in &answer.warnings {
        prop_assert!(warning.chars().count() <= 120, "{warning}");
        prop_assert!(!warning.chars().any(char::is_control), "{warning:?}");
    }
    for cause in &answer.causes {
        prop_assert!(!cause.message.chars().any(char::is_control), "{cause:?}");
    }
    Ok(())
}

/// Upgrade edges according to the index, as sorted names.
fn edges(blobs: &[Value], asked: &Asked) -> Vec<String> {
    let read = |package: &Package| {
        let channels = package.ask_channels(&asked.channels);
        let installed = &asked.version().version;
        package
            .successors(Some(&asked.name()), installed, &channels)
            .edges
    };
    of_index(blobs, read)
}

/// The stay rule according to the index, as sorted names.
fn same(blobs: &[Value], asked: &Asked) -> Vec<String> {
    of_index(blobs, |package| package.same_version(&asked.version()))
}

fn of_index(blobs: &[Value], read: impl FnOnce(&Package) -> BundleSet) -> Vec<String> {
    if blobs.is_empty() {
        return Vec::new();
    }
    let content = content(&world::text(blobs), &rules("1.11", &[]));
    let package = package(&content, "P");
    let found = read(package);
    let mut names: Vec<_> = found
        .iter()
        .map(|index| package.bundle(index).name.to_string())
        .collect();
    names.sort_unstable();
    names
}

/// The successor rule of upstream, entry by entry.
fn naive_edges(blobs: &[Value], asked: &Asked) -> Vec<String> {
    let installed = asked.version().version;
    let holds = |range: &str| {
        SkipRange::parse(range).is_ok_and(|range| range.takes(&installed) == Membership::Holds)
    };
    let leads = |entry: &Value| {
        let skips = entry["skips"]
            .as_array()
            .is_some_and(|skips| skips.contains(&json!(asked.name())));
        entry["replaces"] == *asked.name()
            || skips
            || entry["skipRange"].as_str().is_some_and(holds)
    };
    let is_asked = |blob: &&Value| {
        let of = |channel: &String| blob["name"] == **channel;
        blob["schema"] == "olm.channel"
            && (asked.channels.is_empty() || asked.channels.iter().any(of))
    };
    let channels: Vec<_> = blobs.iter().filter(is_asked).collect();
    bundles(blobs, |bundle| {
        let entries = channels
            .iter()
            .filter_map(|blob| blob["entries"].as_array())
            .flatten();
        entries
            .filter(|entry| entry["name"] == bundle["name"])
            .any(leads)
    })
}

/// The stay rule of upstream: the same version and release.
fn naive_same(blobs: &[Value], asked: &Asked) -> Vec<String> {
    bundles(blobs, |bundle| {
        let version = bundle.pointer("/properties/0/value/version");
        let version = version.and_then(Value::as_str).unwrap_or_default();
        let read =
            VersionRelease::parse_legacy(version, LegacyRelease::Read(ReleaseLimit::Bytes20));
        read.is_ok_and(|read| read.cmp_precedence(&asked.version()) == Ordering::Equal)
    })
}

fn bundles(blobs: &[Value], keep: impl Fn(&Value) -> bool) -> Vec<String> {
    let kept = blobs
        .iter()
        .filter(|blob| blob["schema"] == "olm.bundle" && keep(blob));
    let mut names: Vec<_> = kept
        .filter_map(|blob| blob["name"].as_str().map(str::to_owned))
        .collect();
    names.sort_unstable();
    names
}

/// The blob, changed to another package.
fn in_package(blob: &Value, package: &str) -> Value {
    let mut fields = blob.as_object().expect("a blob").clone();
    let field = if blob["schema"] == "olm.package" {
        "name"
    } else {
        "package"
    };
    fields.insert(field.to_owned(), json!(package));
    Value::Object(fields)
}

#[test]
fn the_random_worlds_reach_most_rows() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut tokens = std::collections::BTreeSet::new();
    for _ in 0..2000 {
        let case = (world(), asked())
            .new_tree(&mut runner)
            .expect("a case")
            .current();
        let answer = answer_to(&case.0.snapshot(), &case.1.spec(), &case.1.installed());
        tokens.insert(answer.token);
    }
    for token in [
        Token::PackageNotFound,
        Token::ChannelNotFound,
        Token::NotInChannel,
        Token::VersionNotFound,
        Token::BrokenSkipRange,
        Token::Downgrade,
        Token::NotASuccessor,
        Token::AmbiguousCatalogs,
        Token::BundleVersionInvalid,
        Token::UnsupportedDependency,
        Token::Unchanged,
        Token::Bypassed,
        Token::Resolved,
    ] {
        assert!(tokens.contains(&token), "never {}", token.as_str());
    }
}
