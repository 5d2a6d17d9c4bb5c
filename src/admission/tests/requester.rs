//! Who asks about what, and when: what upgrade policies are judged by.

use serde_json::{Map, Value, json};

use super::{review, update};
use crate::admission::Review;
use olmguard_policy::{Moment, Subject, UpgradePolicy, limits};

fn read(change: impl FnOnce(&mut Value)) -> Review {
    let mut body = update("1.0.0", "2.0.0");
    change(&mut body["request"]);
    Review::from_bytes(body.to_string().as_bytes()).expect("a review")
}

#[test]
fn the_user_the_groups_and_the_time_are_those_of_the_request() {
    let review = read(|request| {
        request["userInfo"] = json!({
            "username": "jane", "uid": "u", "groups": ["a", 7, "b"], "extra": {"x": ["y"]},
        });
    });
    let moment = Moment::from_unix_seconds(1_700_000_000);
    let requester = review.at(moment).requester().clone();
    assert_eq!(requester.user, "jane");
    assert_eq!(requester.groups, ["a", "b"]);
    assert_eq!(requester.at, moment);
    assert!(read(|_| {}).requester().groups.is_empty());
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
        assert_eq!(review.requester().groups.len(), kept, "{count}");
    }
}

/// A name that is cut is still longer than policies read.
#[test]
fn a_name_is_cut_beyond_what_is_read() {
    let long = "ä".repeat(limits::SCOPE_BYTES);
    let review = read(|request| request["userInfo"]["username"] = json!(long));
    let user = &review.requester().user;
    assert_eq!(user.len(), limits::SCOPE_BYTES + 2);
    assert_eq!(review.user(), Some(&*long));
    assert!(review_of_nobody().requester().user.is_empty());
}

fn review_of_nobody() -> Review {
    Review::read(&review("CREATE", &json!({}), &json!(null))).expect("a review")
}

/// Labels cannot push out the one that a policy names.
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
