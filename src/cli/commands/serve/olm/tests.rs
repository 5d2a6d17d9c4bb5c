//! The OLM that is used after each event about the OLM in the cluster.

use clap::Parser;
use serde_json::json;

use super::*;
use crate::cli::args::olm::OlmArgs;
use crate::cluster::{FaultClass, WatchFault};
use olmguard_catalog::olm::{OlmRelease, PreflightMode};
use olmguard_support::api::ApiServer;

#[derive(Debug, Parser)]
struct Flags {
    #[command(flatten)]
    olm: OlmArgs,
}

fn follower(flags: &[&str]) -> OlmFollower {
    let flags = std::iter::once("probe").chain(flags.iter().copied());
    OlmFollower {
        asked: OlmFlags {
            request: Flags::parse_from(flags).olm.request(),
            preflight: PreflightMode::default(),
            namespace: None,
        },
        board: Arc::default(),
        watches: Arc::clone(&Metrics::new().watches),
    }
}

/// The OLM of a Deployment with this image and these arguments.
async fn found(image: &str, args: &[&str]) -> RunningOlm {
    let api = ApiServer::start();
    api.serve("apps/v1", "deployments", "Deployment");
    let container = json!({"name": "manager", "image": image, "args": args});
    api.put(
        "/apis/apps/v1/namespaces/olmv1-system/deployments",
        json!({
            "metadata": {"name": "operator-controller-controller-manager"},
            "spec": {
                "selector": {},
                "template": {"spec": {"containers": [container]}},
            },
        }),
    );
    olm::find(&api.client(), None).await.unwrap()
}

/// Asserts what probes show.
#[track_caller]
fn is_known_as(follower: &OlmFollower, expected: OlmEvidence) {
    assert_eq!(follower.board.readiness().olm, Some(expected));
}

fn nowhere() -> OlmEvent {
    let namespaces = vec!["olmv1-system".to_owned()];
    OlmEvent::NotFound(FindError::Nowhere { namespaces })
}

/// The release, and whether it supports releases of bundles; `None` without rules.
fn taken(rules: Option<Rules>) -> Option<(&'static str, bool)> {
    let rules = rules?;
    let gated = rules.release_key == olmguard_catalog::olm::ReleaseKey::Honoured;
    Some((rules.olm.name(), gated))
}

#[tokio::test]
async fn what_was_found_counts_until_something_else_is_found() {
    let mut follower = follower(&[]);
    let old = found("registry.example/olm:v1.2.0", &[]).await;
    let new = found("registry.example/olm:v1.8.0", &[]).await;
    assert_eq!(
        taken(follower.take(OlmEvent::Found(old))),
        Some(("1.2", false))
    );
    assert_eq!(taken(follower.take(OlmEvent::Alive)), None);
    let fault = WatchFault {
        class: FaultClass::Forbidden,
        words: "it is forbidden".to_owned(),
    };
    // The tasks were restarted.
    let mut follower = OlmFollower {
        board: follower.board,
        ..self::follower(&[])
    };
    let gone = "not found any more: no operator-controller";
    for (event, rules, why) in [
        (nowhere(), Some(("1.2", false)), gone),
        (OlmEvent::Alive, None, gone),
        (
            OlmEvent::Lost(fault),
            None,
            "the cluster cannot be asked now: it is forbidden",
        ),
    ] {
        assert_eq!(taken(follower.take(event)), rules);
        is_known_as(&follower, OlmEvidence::Earlier);
        let words = follower.board.readiness().message;
        assert!(words.starts_with("OLM 1.2 "), "{words}");
        assert!(words.contains(why), "{words}");
    }
    assert_eq!(taken(follower.take(OlmEvent::Found(new))).unwrap().0, "1.8");
    is_known_as(&follower, OlmEvidence::Found);
    let words = follower.board.readiness().message;
    assert!(!words.contains("; "), "{words}");
}

#[test]
fn where_none_was_ever_found_it_is_the_newest_or_what_is_set() {
    let newest = OlmRelease::default().name();
    for (flags, release, how) in [
        (&[] as &[_], newest, "the newest known release: "),
        (&["--olm-release=1.4"], "1.4", "set with --olm-release: "),
    ] {
        let mut follower = follower(flags);
        assert_eq!(follower.board.readiness().message, "not known yet");
        is_known_as(&follower, OlmEvidence::Pending);
        assert_eq!(
            taken(follower.take(nowhere())),
            Some((release, false)),
            "{flags:?}"
        );
        is_known_as(&follower, OlmEvidence::Assumed);
        let words = follower.board.readiness().message;
        assert!(
            words.starts_with(&format!("checked as OLM {release}, {how}")),
            "{words}"
        );
    }
}

#[tokio::test]
async fn what_is_set_by_hand_counts_and_a_difference_is_told() {
    let gate = "--feature-gates=BundleReleaseSupport=true";
    let runs = found("registry.example/olm:v1.9.0", &[gate]).await;
    for (flags, expected, words) in [
        (&[] as &[_], ("1.9", true), ""),
        (
            &["--olm-release=1.10"],
            ("1.10", false),
            "OLM 1.9 runs in the cluster, but --olm-release sets 1.10, which olmguard uses",
        ),
        (
            &["--olm-feature-gates=BundleReleaseSupport=false"],
            ("1.9", false),
            "OLM runs with feature gates BundleReleaseSupport=true, but --olm-feature-gates sets \
             others",
        ),
        (
            &["--olm-feature-gates=ForceSemverUpgradeConstraints=true"],
            ("1.9", true),
            "",
        ),
    ] {
        let mut follower = follower(flags);
        let rules = follower.take(OlmEvent::Found(runs.clone()));
        assert_eq!(taken(rules), Some(expected), "{flags:?}");
        let said = follower.board.readiness().message;
        assert!(said.contains(words), "{flags:?}: {said}");
        assert_eq!(
            said.contains(", but --olm-"),
            !words.is_empty(),
            "{flags:?}: {said}"
        );
    }
}
