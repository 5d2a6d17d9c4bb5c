//! A refusal that is known is the answer, however long the search for advice takes.

use olmguard_engine::judge::Basis;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::overload::{ask, deadlines, token};
use super::{LOOPBACK, review, start_with};
use crate::admission::Review;
use crate::server::{Judge, Limits, PendingReview};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{CatalogBuilder, fbc};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Stop, Token, Verdict};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};

/// Refuses each review by another token, and searches for advice until it is stopped.
#[derive(Debug, Default)]
struct Searching(AtomicUsize);

impl Judge for Searching {
    fn answer(&self, review: &Review, pending: &PendingReview) -> Answer {
        let turn = self.0.fetch_add(1, Ordering::Relaxed);
        let refusal = Answer {
            verdict: Verdict::Deny,
            token: denials()[turn],
            ..review.answer(Basis::without_policies(&Snapshot::default()))
        };
        pending.refuse(refusal);
        while !pending.stop().is_set() {
            std::thread::yield_now();
        }
        review.answer(Basis::without_policies(&Snapshot::default()))
    }
}

fn denials() -> Vec<Token> {
    let all = Token::ALL.iter().copied();
    all.filter(|token| token.verdict() == Verdict::Deny)
        .collect()
}

/// With one worker: each review finds it free, so the search before it has ended.
#[tokio::test]
async fn a_refusal_that_is_known_is_sent_at_the_deadline() {
    let limits = Limits {
        workers: NonZeroUsize::MIN,
        ..Limits::default()
    };
    let started = start_with(LOOPBACK, limits, Arc::new(Searching::default())).await;
    for expected in denials() {
        let response = ask(&started, "/validate?timeout=400ms", &review(0)).await;
        assert_eq!(token(&response), expected.as_str());
    }
    let refusals = u32::try_from(denials().len()).unwrap();
    assert_eq!(deadlines(&started), [0, 0, 0, refusals]);
}

/// Package `wide`, whose bundles all have a skipRange from 1.0.0 up, and package `chain`, each of whose
/// bundles replaces the one before.
fn large() -> Snapshot {
    let package = |package: &'static str, edge: fn(usize) -> Value| {
        let version = |at: usize| format!("1.{at}.0");
        let entry = move |at: usize| {
            let mut entry = edge(at);
            entry["name"] = json!(version(at));
            entry
        };
        let entries: Vec<_> = (0..BUNDLES).map(entry).collect();
        let channel =
            json!({"schema": "olm.channel", "package": package, "name": "c", "entries": entries});
        let bundles = (0..BUNDLES).map(move |at| {
            let value = json!({"packageName": package, "version": version(at)});
            json!({"schema": "olm.bundle", "package": package, "name": version(at),
                "properties": [{"type": "olm.package", "value": value}]})
        });
        bundles.chain([channel])
    };
    let wide = package(
        "wide",
        |at| json!({"skipRange": format!(">=1.0.0 <1.{at}.0")}),
    );
    let chain = package("chain", |at| match at.checked_sub(1) {
        Some(before) => json!({"replaces": format!("1.{before}.0")}),
        None => json!({}),
    });
    let lines: Vec<_> = wide.chain(chain).map(|blob| blob.to_string()).collect();
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("c", lines.join("\n").as_bytes(), &mut builder).unwrap();
    let content = Content::Loaded(Arc::new(builder.finish().expect("no bound")));
    Snapshot::new(rules, [CatalogState::named("c", content)])
}

/// An edit of an extension that has version 1.0.0.
fn edit(package: &str, range: &str) -> Review {
    let mut edit = review(0);
    let mut old = edit["request"]["object"].clone();
    old["spec"]["source"]["catalog"]["packageName"] = json!(package);
    old["status"] = json!({"install": {"bundle": {"name": "1.0.0", "version": "1.0.0"}}});
    edit["request"]["operation"] = json!("UPDATE");
    edit["request"]["object"] = old.clone();
    edit["request"]["object"]["spec"]["source"]["catalog"]["version"] = json!(range);
    edit["request"]["oldObject"] = old;
    Review::read(&edit).unwrap()
}

const BUNDLES: usize = 100_000;

const NOTE: &str = "\nNote: the search for an upgrade path was cut short; try a nearer version, or run olmguard path";

#[test]
fn a_refusal_over_a_hundred_thousand_bundles_waits_for_no_search() {
    let snapshot = large();
    for (package, range, expected, is_cut) in [
        ("wide", "9.9.9", "VersionNotFound", false),
        ("wide", "<1.0.0-0", "VersionNotFound", false),
        ("chain", "1.1999.0", "NotASuccessor", true),
        ("chain", "1.99999.0", "NotASuccessor", true),
    ] {
        let edit = edit(package, range);
        for is_stopped in [true, false] {
            let (stop, first) = (Stop::default(), Mutex::new(None));
            if is_stopped {
                stop.set();
            }
            let answer = edit.answer_until(Basis::without_policies(&snapshot), &stop, |refusal| {
                *first.lock().unwrap() = Some(refusal);
            });
            let first = first.into_inner().unwrap().unwrap();
            for (answer, is_cut) in [(&first, true), (&answer, is_cut || is_stopped)] {
                let message = answer.message.as_deref().unwrap();
                assert_eq!(answer.token.as_str(), expected, "{package} {range}");
                assert_eq!(message.contains(NOTE), is_cut, "{message}");
                assert!(message.len() <= 1024, "{message}");
            }
            // The versions after the installed one cost nothing more, so a stop does not take them away.
            assert!(first.advice.allowed_next.is_empty());
            assert!(!answer.advice.allowed_next.is_empty());
        }
    }
}
