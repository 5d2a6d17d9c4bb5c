//! The parts of a review that are judged, and the origin of the facts.

use serde_json::{Map, Value, json};

use super::{answer, extension, installed, review, snapshot, update};
use crate::{Enforcement, Review};
use olmguard_engine::judge::{Basis, Token, UserInfo};
use olmguard_engine::resolve::Stop;
use olmguard_policy::{Moment, Subject, UpgradePolicy, limits};

#[test]
fn what_is_never_judged() {
    let with = |change: fn(&mut Value)| {
        let mut review = update("1.0.0", "2.0.0");
        change(&mut review);
        review
    };
    let rows = [
        with(|r| r["request"]["operation"] = json!("DELETE")),
        with(|r| {
            r["request"]["operation"] = json!("DELETE");
            r["request"]["object"] = json!(null);
        }),
        with(|r| r["request"]["operation"] = json!("CONNECT")),
        with(|r| r["request"]["operation"] = json!("PATCH")),
        with(|r| r["request"]["subResource"] = json!("status")),
        with(|r| r["request"]["object"]["kind"] = json!("ClusterCatalog")),
        with(|r| r["request"]["object"]["apiVersion"] = json!("v1")),
        with(|r| {
            r["request"]["object"]["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }),
        with(|r| r["request"]["oldObject"]["spec"] = r["request"]["object"]["spec"].clone()),
        with(|r| r["request"]["object"]["spec"]["source"]["sourceType"] = json!("Git")),
    ];
    for row in rows {
        let answer = answer(&row);
        assert_eq!(answer.token, Token::NotJudged, "{row}");
        assert!(answer.warnings.is_empty(), "{row}");
    }
}

#[test]
fn a_known_kind_in_an_unknown_version_is_warned_of() {
    let mut row = update("1.0.0", "2.0.0");
    row["request"]["object"]["apiVersion"] = json!("olm.operatorframework.io/v3");
    let answer = answer(&row);
    assert_eq!(answer.token, Token::NotJudged);
    assert_eq!(
        answer.warnings,
        [
            "ClusterExtension in olm.operatorframework.io/v3 is not known to this olmguard and was not checked"
        ]
    );
}

#[test]
fn the_kind_of_the_request_stands_in_for_that_of_the_object() {
    let mut row = update("1.0.0", "2.0.0");
    row["request"]["object"]
        .as_object_mut()
        .unwrap()
        .remove("kind");
    row["request"]["oldObject"]
        .as_object_mut()
        .unwrap()
        .remove("apiVersion");
    assert_eq!(answer(&row).token, Token::NotASuccessor);
    row["request"]["kind"] = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    assert_eq!(answer(&row).token, Token::NotJudged);
}

#[test]
fn the_name_is_the_object_s_own_whatever_stands_in_for_its_kind() {
    let mut row = review("CREATE", &extension("1.0.0", &json!({})), &json!(null));
    row["request"]["object"]["metadata"]["name"] = json!("own");
    for missing in ["kind", "apiVersion"] {
        let mut row = row.clone();
        row["request"]["object"]
            .as_object_mut()
            .unwrap()
            .remove(missing);
        let review = Review::read(&row, Moment::EPOCH).unwrap();
        assert_eq!(review.identity().name.as_deref(), Some("own"), "{missing}");
    }
}

#[test]
fn a_creation_installs_whatever_status_it_claims() {
    for status in [
        installed("2.0.0"),
        json!({"conditions": [{"type": "Installed", "status": "Unknown"}]}),
        json!({"conditions": [{"type": "Progressing", "reason": "RollingOut"}]}),
        json!("nonsense"),
    ] {
        let row = review("CREATE", &extension("1.0.0", &status), &json!(null));
        let answer = answer(&row);
        assert_eq!(answer.token, Token::Resolved, "{row}");
        assert!(
            answer.installed.is_none() && answer.warnings.is_empty(),
            "{row}"
        );
    }
}

#[test]
fn an_update_starts_from_the_old_status_alone() {
    let old = extension("1.0.0", &installed("1.0.0"));
    for forged in [installed("1.1.0"), json!({}), json!({"install": 7})] {
        let row = review("UPDATE", &extension("2.0.0", &forged), &old);
        let answer = answer(&row);
        assert_eq!(answer.token, Token::NotASuccessor, "{row}");
        assert_eq!(answer.installed.unwrap().version, "1.0.0");
    }
}

#[test]
fn a_rollout_is_that_of_the_old_status_alone() {
    let rolling = json!([{"type": "Progressing", "status": "True", "reason": "RollingOut"}]);
    let mut row = update("1.0.0", "1.1.0");
    row["request"]["object"]["status"]["conditions"] = rolling.clone();
    assert!(answer(&row).warnings.is_empty());
    row["request"]["oldObject"]["status"]["conditions"] = rolling;
    let warnings = answer(&row).warnings;
    assert_eq!(
        warnings,
        ["an upgrade is still rolling out: OLM applies this change after it"]
    );
}

#[test]
fn without_an_old_object_an_update_cannot_be_refused_for_its_step() {
    for old in [
        json!(null),
        json!("gone"),
        json!({"apiVersion": "v1", "kind": "ConfigMap"}),
        json!({"apiVersion": "olm.operatorframework.io/v9", "kind": "ClusterExtension"}),
    ] {
        let row = review("UPDATE", &extension("2.0.0", &installed("1.0.0")), &old);
        let answer = answer(&row);
        assert_eq!(answer.token, Token::InstalledUnknown, "{row}");
        let message = answer.message.unwrap();
        assert_eq!(
            message,
            "p: unknown -> 2.0.0 undecided: the installed version is unknown: \
             the request has no old object [InstalledUnknown]\n\
             Field: request.oldObject\n\
             The update request must hold the extension as it was.\n\
             Help: olmguard explain InstalledUnknown"
        );
    }
}

#[test]
fn a_status_of_the_wrong_form_is_an_unknown_one() {
    let mut row = update("1.0.0", "2.0.0");
    row["request"]["oldObject"]["status"]["install"]["bundle"]["version"] = json!(1);
    assert_eq!(answer(&row).token, Token::InstalledUnknown);
}

#[test]
fn the_crd_is_not_asked_again() {
    let mut row = review("CREATE", &extension("1.0.0", &json!({})), &json!(null));
    row["request"]["object"]["metadata"]["name"] = json!("NOT.A.DNS.NAME.");
    row["request"]["object"]["spec"]["unknownField"] = json!(1);
    assert_eq!(answer(&row).token, Token::Resolved);
}

#[test]
fn a_review_says_what_it_is_about() {
    let mut row = update("1.0.0", "1.1.0");
    row["request"]["dryRun"] = json!(true);
    row["request"]["object"]["metadata"] = json!({"generateName": "x-"});
    row["request"]["userInfo"] =
        json!({"username": "kubernetes-admin", "groups": ["system:masters"]});
    let read = Review::read(&row, Moment::EPOCH).unwrap();
    assert_eq!(read.user(), Some("kubernetes-admin"));
    assert!(read.is_dry_run());
    assert_eq!(read.operation().as_str(), "UPDATE");
    assert_eq!(read.identity().name.as_deref(), Some("x"));
    assert_eq!(read.identity().kind, "ClusterExtension");
    assert!(read.extension().is_some());
}

#[test]
fn a_uid_is_one_that_an_api_server_generates() {
    let longest = "u".repeat(64);
    for (uid, expected) in [
        (json!("705ab4f5"), Some("705ab4f5")),
        (json!(longest), Some(&*longest)),
        (json!(format!("{longest}u")), None),
        (json!(""), None),
        (json!(1), None),
    ] {
        let mut row = update("1.0.0", "1.1.0");
        row["request"]["object"]["metadata"]["uid"] = uid.clone();
        let read = Review::read(&row, Moment::EPOCH).unwrap();
        assert_eq!(read.object_uid(), expected, "{uid}");
    }
    assert_eq!(read(|_| {}).object_uid(), None);
}

#[test]
fn whoever_waits_gets_the_same_answer() {
    let snapshot = snapshot();
    let basis = Basis::without_policies(&snapshot);
    let deletion = review("DELETE", &json!(null), &extension("1.0.0", &json!({})));
    for row in [update("1.0.0", "1.1.0"), update("2.0.0", "1.0.0"), deletion] {
        let review = Review::read(&row, Moment::EPOCH).unwrap();
        let stop = Stop::default();
        let bytes = |answer| {
            let reply = review.reply(&answer, Enforcement::default());
            reply.to_bytes()
        };
        let waited = review.answer_until(basis, &stop, |_| {});
        assert_eq!(bytes(waited), bytes(review.answer(basis)));
    }
}

#[test]
fn a_name_that_is_still_to_be_made_is_shown_by_its_beginning() {
    let mut row = review("CREATE", &extension("1.0.0", &json!({})), &json!(null));
    row["request"]["object"]["metadata"] = json!({"generateName": "x-"});
    row["request"]["object"]["spec"]["source"]["catalog"]["version"] = json!(1);
    row["request"]["name"] = json!("");
    let read = Review::read(&row, Moment::EPOCH).unwrap();
    assert_eq!(read.identity().shown().as_deref(), Some("x-*"));
    assert_eq!(read.user(), None);
    let message = answer(&row).message.unwrap();
    assert!(
        message.starts_with("ClusterExtension x-* refused: "),
        "{message}"
    );
}

/// With another source type OLM did not read the catalog block at all.
#[test]
fn what_turns_to_a_catalog_asks_for_something_new() {
    let mut row = update("2.0.0", "2.0.0");
    row["request"]["oldObject"]["status"] = installed("1.0.0");
    assert_eq!(answer(&row).token, Token::NotJudged);
    row["request"]["oldObject"]["spec"]["source"]["sourceType"] = json!("Image");
    assert_eq!(answer(&row).token, Token::NotASuccessor);
}

#[test]
fn the_name_of_the_request_stands_in_for_that_of_the_object() {
    let mut row = update("1.0.0", "2.0.0");
    row["request"]["object"]["metadata"] = json!({});
    row["request"]["object"]["spec"]["source"]["catalog"]["version"] = json!(1);
    let message = answer(&row).message.unwrap();
    assert!(
        message.starts_with("ClusterExtension x refused: "),
        "{message}"
    );
}

// === The user, the subject and the time of a request, as upgrade policies read them ===

fn read(change: impl FnOnce(&mut Value)) -> Review {
    let mut body = update("1.0.0", "2.0.0");
    change(&mut body["request"]);
    let body = body.to_string();
    Review::from_bytes(body.as_bytes(), Moment::from_unix_seconds(AT)).expect("a review")
}

const AT: i64 = 1_700_000_000;

#[test]
fn the_user_the_groups_and_the_time_are_those_of_the_request() {
    let review = read(|request| {
        request["userInfo"] = json!({
            "username": "jane", "uid": "u", "groups": ["a", 7, "b"], "extra": {"x": ["y"]},
        });
    });
    assert_eq!(review.requester().at.unix_seconds(), AT);
    let user = user(&review);
    assert_eq!(user.name, "jane");
    assert_eq!(user.groups, ["a", "b"]);
    assert!(self::user(&read(|_| {})).groups.is_empty());
}

#[test]
fn labels_and_namespace_are_those_of_the_new_object() {
    let review = read(|request| {
        request["object"]["metadata"]["labels"] = json!({"tier": "production", "odd": 1});
        request["object"]["spec"]["namespace"] = json!("argocd");
        request["oldObject"]["metadata"]["labels"] = json!({"tier": "test"});
    });
    let subject = &review.extension().expect("an extension").subject;
    assert_eq!(subject.namespace, "argocd");
    let labels: Vec<_> = subject.labels.iter().collect();
    assert_eq!(labels, [(&"tier".to_owned(), &"production".to_owned())]);
}

#[test]
fn more_labels_and_groups_than_are_read_are_kept_as_too_many() {
    let many = |count: usize| (0..count).map(|number| format!("k{number:05}"));
    for (count, kept) in [(256, 256), (257, 257), (300, 257), (20_000, 257)] {
        let review = read(|request| {
            let labels: Map<_, _> = many(count).map(|key| (key, json!("v"))).collect();
            request["object"]["metadata"]["labels"] = labels.into();
            request["userInfo"]["groups"] = many(count).collect::<Vec<_>>().into();
        });
        let subject = &review.extension().expect("an extension").subject;
        assert_eq!(subject.labels.len(), kept, "{count}");
        assert_eq!(user(&review).groups.len(), kept, "{count}");
    }
}

/// A truncated name is still longer than the limit of policies.
#[test]
fn a_name_is_cut_beyond_what_is_read() {
    let long = "ä".repeat(limits::SCOPE_BYTES);
    let review = read(|request| request["userInfo"]["username"] = json!(long));
    assert_eq!(user(&review).name.len(), limits::SCOPE_BYTES + 2);
    assert_eq!(review.user(), Some(&*long));
    assert!(user(&review_of_nobody()).name.is_empty());
}

fn user(review: &Review) -> &UserInfo {
    let user = review.requester().user.as_ref();
    user.expect("a review has a user")
}

fn review_of_nobody() -> Review {
    Review::read(&review("CREATE", &json!({}), &json!(null)), Moment::EPOCH).expect("a review")
}

/// Additional labels cannot displace the label that a policy names.
#[test]
fn a_selector_matches_where_there_are_too_many_labels() {
    let policy = UpgradePolicy::read(&json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy", "metadata": {"name": "a"},
        "spec": {"match": {"extensionSelector": {"matchLabels": {"tier": "production"}}}},
    }));
    assert_eq!(policy.faults(), []);
    for (count, matches) in [(256, false), (257, true), (1_000, true)] {
        let review = read(|request| {
            let labels = (0..count).map(|number| (format!("a{number}"), json!("v")));
            request["object"]["metadata"]["labels"] = labels.collect::<Map<_, _>>().into();
        });
        let subject = &review.extension().expect("an extension").subject;
        let subject = Subject {
            package: "p",
            namespace: &subject.namespace,
            labels: &subject.labels,
        };
        assert_eq!(policy.matches(&subject), matches, "{count}");
    }
}
