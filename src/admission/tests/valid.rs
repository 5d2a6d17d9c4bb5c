//! What every reply has to be, whatever it answers.

use serde_json::Value;

use crate::admission::annotations::LONGEST;
use crate::admission::reply::{FIELD, NAME};
use crate::admission::{Outcome, Reply};
use olmguard_engine::explain::{LINE_1, MESSAGE};

/// A reply has the fields of the API, texts within their limits, and the uid of its request.
#[track_caller]
pub(super) fn reply(reply: &Reply<'_>, uid: &str) {
    let written: Value = serde_json::from_slice(&reply.to_bytes()).unwrap();
    has_only(&written, &["apiVersion", "kind", "response"]);
    assert_eq!(written["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(written["kind"], "AdmissionReview");
    let response = &written["response"];
    has_only(
        response,
        &["uid", "allowed", "status", "warnings", "auditAnnotations"],
    );
    assert_eq!(response["uid"], uid);
    let refused = reply.outcome() == Outcome::Refused;
    assert_eq!(response["allowed"], !refused);
    assert_eq!(response.get("status").is_some(), refused);
    if let Some(found) = response.get("status") {
        status(found);
    }
    warnings(response.get("warnings"), reply.outcome());
    annotations(&response["auditAnnotations"]);
}

fn status(status: &Value) {
    has_only(status, &["status", "message", "reason", "details", "code"]);
    assert_eq!(status["status"], "Failure");
    assert_eq!(status["reason"], "Forbidden");
    assert_eq!(status["code"], 403);
    let message = status["message"].as_str().unwrap();
    assert!(message.len() <= MESSAGE, "{message}");
    assert!(message.lines().next().unwrap().len() <= LINE_1, "{message}");
    let is_line_break = |c: char| c.is_control() && c != '\n';
    assert!(!message.contains(is_line_break), "{message:?}");
    has_only(&status["details"], &["name", "group", "kind", "causes"]);
    line(&status["details"]["name"], NAME);
    for cause in status["details"]["causes"].as_array().unwrap() {
        has_only(cause, &["reason", "message", "field"]);
        line(&cause["message"], LINE_1);
        line(&cause["field"], FIELD);
    }
}

/// A text without control characters, of at most so many bytes; it may be absent.
fn line(text: &Value, most: usize) {
    let text = text.as_str().unwrap_or_default();
    let fits = text.len() <= most && !text.contains(char::is_control);
    assert!(fits, "{text:?}");
}

fn warnings(warnings: Option<&Value>, outcome: Outcome) {
    let warnings = warnings.and_then(Value::as_array);
    let texts = warnings.into_iter().flatten();
    let texts: Vec<&str> = texts.map(|text| text.as_str().unwrap()).collect();
    let lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    assert!(texts.len() <= 5, "{texts:?}");
    assert!(lengths.iter().all(|length| *length <= 120), "{texts:?}");
    assert!(lengths.iter().sum::<usize>() <= 1000, "{texts:?}");
    let is_line = |text: &&str| !text.is_empty() && !text.contains(char::is_control);
    assert!(texts.iter().all(is_line), "{texts:?}");
    assert!(outcome != Outcome::LetThrough || !texts.is_empty());
}

/// An API server puts `NAME/` before a key, and refuses one that is no qualified name then.
fn annotations(annotations: &Value) {
    let annotations = annotations.as_object().unwrap();
    assert!(annotations.contains_key("verdict") && annotations.contains_key("token"));
    for (key, value) in annotations {
        let is_name = !key.is_empty() && key.len() <= 63;
        assert!(
            is_name && key.chars().all(|c| c.is_ascii_alphanumeric()),
            "{key}"
        );
        let value = value.as_str().unwrap();
        let fits = value.len() <= LONGEST && !value.contains(char::is_control);
        assert!(fits, "{value:?}");
    }
}

fn has_only(object: &Value, fields: &[&str]) {
    for field in object.as_object().unwrap().keys() {
        assert!(fields.contains(&field.as_str()), "{field} of {object}");
    }
}
