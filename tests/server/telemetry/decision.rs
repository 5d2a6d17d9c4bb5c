//! The log line of a decision.

use olmguard_engine::judge::Basis;
use std::time::Duration;

use olmguard::source::load_bytes;
use olmguard_admission::{Enforcement, Mode, Review, annotations};
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Snapshot;
use olmguard_policy::Moment;
use olmguard_server::telemetry::log::{
    DecisionLog, LogFormat, LogLevel, LogUser, LoggedAnswer, ReviewRequest,
};
use serde_json::{Value, json};

use super::captured::{lines, objects};

/// Two versions of one package, with an edge between them.
pub(crate) const CATALOG: &str = r#"
        {"schema": "olm.package", "name": "lantern"}
        {"schema": "olm.channel", "package": "lantern", "name": "stable", "entries": [
            {"name": "lantern.v1"}, {"name": "lantern.v2", "replaces": "lantern.v1"}]}
        {"schema": "olm.bundle", "package": "lantern", "name": "lantern.v1", "properties": [
            {"type": "olm.package", "value": {"packageName": "lantern", "version": "1.0.0"}}]}
        {"schema": "olm.bundle", "package": "lantern", "name": "lantern.v2", "properties": [
            {"type": "olm.package", "value": {"packageName": "lantern", "version": "2.0.0"}}]}"#;

/// Returns a snapshot with that catalog.
pub(crate) fn snapshot() -> Snapshot {
    let rules = Rules::default();
    let hub = load_bytes("hub", CATALOG.as_bytes(), &rules);
    Snapshot::new(rules, [hub])
}

/// Returns a review of a creation that requests a range of a package.
pub(crate) fn created(package: &str, range: &str) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "0f3c", "operation": "CREATE", "dryRun": true,
            "userInfo": {"username": "kube"},
            "object": {
                "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
                "metadata": {"name": "lamp"},
                "spec": {"source": {"sourceType": "Catalog", "catalog": {
                    "packageName": package, "version": range}}},
            },
        },
    })
}

/// Decides a review and logs its line.
pub(crate) fn say(snapshot: &Snapshot, review: &Value, user: LogUser) {
    let review = Review::read(review, Moment::EPOCH).expect("a review");
    let answer = review.answer(Basis::without_policies(snapshot));
    let observed = Enforcement {
        mode: Mode::Observe,
        ..Enforcement::default()
    };
    DecisionLog { user }.say(&LoggedAnswer {
        asked: ReviewRequest::from(&review),
        answer: &answer,
        outcome: review.reply(&answer, observed).outcome(),
        elapsed: Duration::from_nanos(1_234_567),
    });
}

#[test]
fn a_denial_is_one_line_with_everything_that_led_to_it() {
    let snapshot = snapshot();
    let logged = objects(LogLevel::Info, |_| {
        say(&snapshot, &created("lantern", ">=3"), LogUser::Omit);
    });
    assert_eq!(
        logged,
        [json!({
            "level": "INFO",
            "message": "Denied",
            "uid": "0f3c",
            "operation": "CREATE",
            "dry_run": true,
            "extension": "lamp",
            "package": "lantern",
            "requested": ">=3",
            "policy": "CatalogProvided",
            "catalog": "hub",
            "verdict": "deny",
            "token": "VersionNotFound",
            "outcome": "let_through",
            "duration_ms": 1.234,
            "target": "olmguard::telemetry::log::decision",
        })]
    );
}

#[test]
fn each_verdict_has_its_level() {
    let full = snapshot();
    let empty = Snapshot::new(Rules::default(), []);
    let mut other = created("lantern", "2");
    other["request"]["operation"] = "DELETE".into();
    for (snapshot, review, level, message) in [
        (&full, created("lantern", "3"), "INFO", "Denied"),
        (&empty, created("lantern", "2"), "WARN", "Undecided"),
        (&full, created("lantern", "2"), "DEBUG", "Allowed"),
        (&full, other, "DEBUG", "Not checked"),
    ] {
        let logged = objects(LogLevel::Debug, |_| say(snapshot, &review, LogUser::Omit));
        assert_eq!(logged.len(), 1);
        assert_eq!(logged[0]["level"], level, "{message}");
        assert_eq!(logged[0]["message"], message);
        let at_error = objects(LogLevel::Error, |_| say(snapshot, &review, LogUser::Omit));
        assert_eq!(at_error, [] as [Value; 0], "{message}");
    }
}

#[test]
fn an_edit_that_is_not_judged_says_why() {
    let snapshot = snapshot();
    for (pointer, value, why) in [
        ("/operation", json!("DELETE"), "operation"),
        ("/subResource", json!("status"), "operation"),
        ("/object/kind", json!("Deployment"), "kind"),
        (
            "/object/apiVersion",
            json!("olm.operatorframework.io/v9"),
            "unknown_version",
        ),
        (
            "/object/metadata/deletionTimestamp",
            json!("2026-01-01T00:00:00Z"),
            "deleting",
        ),
        (
            "/object/spec/source/sourceType",
            json!("Elsewhere"),
            "source",
        ),
        ("/oldObject", updated("CatalogProvided"), "unchanged"),
        ("/oldObject", updated("SelfCertified"), "stricter"),
    ] {
        let mut review = created("lantern", "2");
        put(&mut review["request"], pointer, value);
        if pointer == "/oldObject" {
            review["request"]["operation"] = "UPDATE".into();
        }
        let logged = objects(LogLevel::Debug, |_| say(&snapshot, &review, LogUser::Omit));
        let told = [&logged[0]["verdict"], &logged[0]["why"]];
        assert_eq!(told, ["not_judged", why], "{pointer}");
    }
}

/// Returns the object of [`created`] with another policy.
fn updated(policy: &str) -> Value {
    let mut object = created("lantern", "2")["request"]["object"].take();
    object["spec"]["source"]["catalog"]["upgradeConstraintPolicy"] = policy.into();
    object
}

fn put(request: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    request.pointer_mut(parent).unwrap()[key] = value;
}

#[test]
fn bundles_are_told_in_the_words_of_the_audit_annotations() {
    let snapshot = snapshot();
    let mut review = created("lantern", "2");
    let mut old = updated("CatalogProvided");
    old["spec"]["source"]["catalog"]["version"] = "1".into();
    old["status"] = json!({"install": {"bundle": {"name": "lantern.v1", "version": "1.0.0"}}});
    put(&mut review["request"], "/oldObject", old);
    put(&mut review["request"], "/operation", "UPDATE".into());
    let logged = objects(LogLevel::Debug, |_| say(&snapshot, &review, LogUser::Omit));
    let answer = Review::read(&review, Moment::EPOCH)
        .unwrap()
        .answer(Basis::without_policies(&snapshot));
    let annotations = annotations(&answer);
    for (key, told) in [
        ("installed", "lantern.v1 1.0.0"),
        ("resolved", "lantern.v2 2.0.0"),
    ] {
        assert_eq!(logged[0][key], told);
        assert_eq!(annotations[key], told);
    }
}

#[test]
fn who_asked_is_told_as_far_as_it_is_asked_for() {
    let snapshot = snapshot();
    for (user, told) in [
        (LogUser::Omit, Value::Null),
        (LogUser::Hash, "7ab9b39a15b5b065".into()),
        (LogUser::Name, "kube".into()),
    ] {
        let logged = objects(LogLevel::Info, |_| {
            say(&snapshot, &created("lantern", "3"), user);
        });
        assert_eq!(logged[0]["user"], told);
    }
}

#[test]
fn what_someone_else_wrote_is_bounded_and_printable() {
    let mut review = created("lantern", "3");
    let long = "\u{1b}[31m\n\"".to_owned() + &"ä".repeat(10_000);
    review["request"]["uid"] = "\u{1b}[31m\n\"".into();
    review["request"]["userInfo"]["username"] = long.as_str().into();
    review["request"]["object"]["metadata"]["name"] = long.as_str().into();
    let logged = objects(LogLevel::Info, |_| say(&snapshot(), &review, LogUser::Name));
    assert_eq!(logged[0]["uid"], "\\x1b[31m\\n\\\"");
    for field in ["user", "extension"] {
        let told = logged[0][field].as_str().unwrap();
        assert!(told.starts_with("\\x1b[31m\\n\\\"ää"), "{told}");
        assert!(told.ends_with("ä...") && told.len() < 300, "{told}");
    }
}

#[test]
fn a_value_cannot_pass_for_a_field_of_a_line_of_text() {
    let snapshot = snapshot();
    let mut review = created("lantern", "1 verdict=allow");
    review["request"]["uid"] = "a\" token=\"Resolved".into();
    review["request"]["object"]["metadata"]["name"] = "a\nb verdict=allow".into();
    let logged = lines(LogFormat::Text, LogLevel::Info, |_| {
        say(&snapshot, &review, LogUser::Name);
    });
    let (_, fields) = logged[0].split_once(": Denied ").unwrap();
    let expected = [
        r#"uid="a\\\" token=\\\"Resolved""#,
        "operation=CREATE",
        "dry_run=true",
        r#"extension="a\\nb verdict=allow""#,
        "user=kube",
        "package=lantern",
        r#"requested="1 verdict=allow""#,
        "policy=CatalogProvided",
        "verdict=deny",
        "token=InvalidVersionRange",
        "outcome=let_through",
        "duration_ms=1.234",
    ];
    assert_eq!(fields.trim_end(), expected.join(" "));
}

#[test]
fn an_object_without_a_name_is_told_by_what_it_is_made_from() {
    let mut review = created("lantern", "3");
    review["request"]["object"]["metadata"] = json!({"generateName": "lamp-"});
    let logged = objects(LogLevel::Info, |_| say(&snapshot(), &review, LogUser::Omit));
    assert_eq!(logged[0]["extension"], "lamp-");
}
