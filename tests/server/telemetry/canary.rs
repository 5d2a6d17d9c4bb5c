//! Secrets that must never be logged: a secret anywhere in an object is in no line, at any level.

use olmguard_admission::Review;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Snapshot;
use olmguard_policy::Moment;
use olmguard_server::telemetry::log::{LogFormat, LogLevel, LogUser};
use serde_json::{Value, json};

use super::captured::lines;
use super::decision::{created, say, snapshot};

pub(crate) const SECRET: &str = "c4n4ry-s3cr3t";

/// Returns a review whose object has the secret everywhere where it does not affect the decision.
pub(crate) fn review(operation: &str, range: &str) -> Value {
    let mut review = created("lantern", range);
    let request = &mut review["request"];
    request["operation"] = operation.into();
    request["userInfo"]["extra"] = json!({"token": [SECRET]});
    request["userInfo"]["groups"] = json!([SECRET]);
    request["options"] = json!({"fieldManager": SECRET});
    let object = &mut request["object"];
    for field in ["annotations", "labels"] {
        object["metadata"][field] = json!({"password": SECRET, SECRET: "password"});
    }
    object["metadata"]["managedFields"] = json!([{"manager": SECRET}]);
    object["spec"]["config"] = json!({"configType": "Inline", "inline": {"key": SECRET}});
    object["spec"][SECRET] = json!({"key": SECRET});
    object["status"] = json!({"conditions": [{"type": "Installed", "message": SECRET}]});
    request["oldObject"] = request["object"].clone();
    review
}

#[test]
fn a_secret_in_an_object_is_in_no_line_at_any_level() {
    let snapshots = [snapshot(), Snapshot::new(Rules::default(), [])];
    for level in LogLevel::ALL {
        for format in [LogFormat::Json, LogFormat::Text] {
            let logged = lines(format, level, |_| {
                for snapshot in &snapshots {
                    for operation in ["CREATE", "UPDATE", "DELETE"] {
                        for range in ["2", "3", "not a range"] {
                            say(snapshot, &review(operation, range), LogUser::Name);
                        }
                    }
                }
            });
            assert_eq!(logged.is_empty(), level == LogLevel::Error);
            let leaked = logged.iter().find(|line| line.contains(SECRET));
            assert_eq!(leaked, None, "{level}");
        }
    }
}

/// A refusal is logged in one line, too. It quotes fields of a review, but never of an object.
#[test]
fn a_secret_is_in_no_text_of_a_review_that_is_refused() {
    for (pointer, value) in [
        ("/kind", json!("Review")),
        ("/request/uid", json!(7)),
        ("/request/object", json!([SECRET])),
        ("/request/operation", json!({"a": SECRET})),
    ] {
        let mut review = review("CREATE", "3");
        *review.pointer_mut(pointer).unwrap() = value;
        let error = Review::read(&review, Moment::EPOCH)
            .unwrap_err()
            .to_string();
        assert!(!error.contains(SECRET), "{error}");
    }
}
