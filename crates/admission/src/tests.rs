//! Reviews as rows: malformed ones, the parts that are judged, and the content of the reply.

mod malformed;
mod objects;
mod replies;
mod subjects;

use serde_json::{Value, json};

use crate::decode::{Filters, decode};
use crate::keep::FILTER;
use crate::reply::{FIELD, LONGEST, NAME};
use crate::{Enforcement, Mode, OnUndecided, Reply, Review, ReviewOutcome};
use olmguard_catalog::olm::Rules;
use olmguard_engine::explain::{Answer, LINE_1, MESSAGE};
use olmguard_engine::judge::{Basis, Token};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_fixtures::question::content;
use olmguard_policy::Moment;

/// `p.v1.0.0 <- p.v1.1.0 <- p.v2.0.0` in catalog `c`.
fn snapshot() -> Snapshot {
    let rules = Rules::default();
    let state = CatalogState::named("c", content(CATALOG, &rules));
    Snapshot::new(rules, [state])
}

fn unread() -> Snapshot {
    let content = Content::Unreadable("no such file".to_owned());
    Snapshot::new(Rules::default(), [CatalogState::named("c", content)])
}

/// An extension that requests a version of `p` and has this status.
fn extension(version: &str, status: &Value) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "x"},
        "spec": {"source": {"sourceType": "Catalog", "catalog": {
            "packageName": "p", "version": version
        }}},
        "status": status,
    })
}

fn installed(version: &str) -> Value {
    json!({"install": {"bundle": {"name": format!("p.v{version}"), "version": version}}})
}

fn review(operation: &str, object: &Value, old: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": "olm.operatorframework.io", "version": "v1", "kind": "ClusterExtension"},
            "name": "x",
            "operation": operation,
            "object": object,
            "oldObject": old,
        },
    })
}

/// An update of `p` from one version to another.
fn update(from: &str, to: &str) -> Value {
    let old = extension(from, &installed(from));
    review("UPDATE", &extension(to, &json!({})), &old)
}

#[track_caller]
fn answer(review: &Value) -> Answer {
    Review::read(review, Moment::EPOCH)
        .unwrap()
        .answer(Basis::without_policies(&snapshot()))
}

/// The reply as the API server receives it.
#[track_caller]
fn reply(review: &Value, snapshot: &Snapshot, on_undecided: OnUndecided) -> Value {
    let review = Review::read(review, Moment::EPOCH).unwrap();
    let enforcement = Enforcement {
        mode: Mode::Enforce,
        on_undecided,
    };
    let answer = review.answer(Basis::without_policies(snapshot));
    let reply = review.reply(&answer, enforcement);
    serde_json::from_slice(&reply.to_bytes()).unwrap()
}

const CATALOG: &str = r#"
{"schema": "olm.package", "name": "p"}
{"schema": "olm.channel", "package": "p", "name": "stable", "entries": [
  {"name": "p.v1.0.0"},
  {"name": "p.v1.1.0", "replaces": "p.v1.0.0"},
  {"name": "p.v2.0.0", "replaces": "p.v1.1.0"}]}
{"schema": "olm.bundle", "package": "p", "name": "p.v1.0.0", "image": "example.com/i:1", "properties": [
  {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}
{"schema": "olm.bundle", "package": "p", "name": "p.v1.1.0", "image": "example.com/i:1", "properties": [
  {"type": "olm.package", "value": {"packageName": "p", "version": "1.1.0"}}]}
{"schema": "olm.bundle", "package": "p", "name": "p.v2.0.0", "image": "example.com/i:1", "properties": [
  {"type": "olm.package", "value": {"packageName": "p", "version": "2.0.0"}}]}
"#;

// === The properties of every reply, whatever the answer ===

/// A reply has the fields of the API, texts within their limits, and the uid of its request.
#[track_caller]
fn assert_valid_reply(reply: &Reply<'_>, uid: &str) {
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
    let refused = reply.outcome() == ReviewOutcome::Refused;
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

/// Checks a text without control characters, of at most `most` bytes; it may be absent.
fn line(text: &Value, most: usize) {
    let text = text.as_str().unwrap_or_default();
    let fits = text.len() <= most && !text.contains(char::is_control);
    assert!(fits, "{text:?}");
}

fn warnings(warnings: Option<&Value>, outcome: ReviewOutcome) {
    let warnings = warnings.and_then(Value::as_array);
    let texts = warnings.into_iter().flatten();
    let texts: Vec<&str> = texts.map(|text| text.as_str().unwrap()).collect();
    let lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    assert!(texts.len() <= 5, "{texts:?}");
    assert!(lengths.iter().all(|length| *length <= 120), "{texts:?}");
    assert!(lengths.iter().sum::<usize>() <= 1000, "{texts:?}");
    let is_line = |text: &&str| !text.is_empty() && !text.contains(char::is_control);
    assert!(texts.iter().all(is_line), "{texts:?}");
    assert!(outcome != ReviewOutcome::LetThrough || !texts.is_empty());
}

/// An API server puts `NAME/` before a key, and refuses the result if it is not a qualified name.
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

// === Each API shape by the object's own `apiVersion` and `kind`, through the bytes of a request ===

#[track_caller]
fn answer_row(row: &Value) -> Answer {
    let review = Review::from_bytes(row.to_string().as_bytes(), Moment::EPOCH).unwrap();
    review.answer(Basis::without_policies(&snapshot()))
}

fn object(api_version: &str, kind: &str, spec: &Value, status: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec, "status": status})
}

fn row(new: &Value, old: &Value) -> Value {
    review("UPDATE", new, old)
}

#[test]
fn each_shape_is_judged_from_what_it_says_is_installed() {
    let nested = |version: &str| json!({"source": {"sourceType": "Catalog", "catalog": {"packageName": "p", "version": version}}});
    let flat = |version: &str| json!({"packageName": "p", "version": version});
    let bundle = json!({"installedBundle": {"name": "p.v1.0.0", "version": "1.0.0"}});
    let image = json!({"installedBundleResource": "example.com/p@sha256:1"});
    let (v1, alpha) = (
        "olm.operatorframework.io/v1",
        "olm.operatorframework.io/v1alpha1",
    );
    let operators = "operators.operatorframework.io/v1alpha1";
    for (api_version, kind, spec, status, expected) in [
        (
            v1,
            "ClusterExtension",
            &nested as &dyn Fn(&str) -> Value,
            installed("1.0.0"),
            Token::NotASuccessor,
        ),
        (
            alpha,
            "ClusterExtension",
            &nested,
            installed("1.0.0"),
            Token::NotASuccessor,
        ),
        (
            alpha,
            "ClusterExtension",
            &nested,
            bundle.clone(),
            Token::NotASuccessor,
        ),
        (
            alpha,
            "ClusterExtension",
            &flat,
            bundle,
            Token::NotASuccessor,
        ),
        (
            alpha,
            "ClusterExtension",
            &flat,
            image.clone(),
            Token::InstalledUnknown,
        ),
        (operators, "Operator", &flat, image, Token::InstalledUnknown),
        (alpha, "Operator", &flat, json!({}), Token::Resolved),
    ] {
        let new = object(api_version, kind, &spec("2.0.0"), &json!({}));
        let old = object(api_version, kind, &spec("1.0.0"), &status);
        assert_eq!(answer_row(&row(&new, &old)).token, expected, "{new} {old}");
    }
}

/// The same review with everything that an API server adds, and with fields that a newer API may
/// add.
#[test]
fn what_nothing_reads_changes_no_byte_of_a_reply() {
    let reply = |row: &Value| {
        let review = Review::from_bytes(row.to_string().as_bytes(), Moment::EPOCH).unwrap();
        let answer = review.answer(Basis::without_policies(&snapshot()));
        let reply = review.reply(&answer, Enforcement::default());
        reply.to_bytes()
    };
    for (from, to) in [("1.0.0", "1.1.0"), ("1.0.0", "2.0.0"), ("1.0.0", "1.0.0")] {
        let plain = update(from, to);
        let mut full = plain.clone();
        full["request"]["dryRun"] = json!(true);
        full["request"]["options"] = json!({"kind": "PatchOptions", "force": true});
        full["request"]["userInfo"] =
            json!({"username": "a", "groups": ["b"], "extra": {"c": ["d"]}});
        full["request"]["object"]["status"] = installed("2.0.0");
        full["request"]["object"]["spec"]["someDayThereIsThis"] = json!({"a": [1]});
        for object in ["object", "oldObject"] {
            let metadata = &mut full["request"][object]["metadata"];
            metadata["managedFields"] = json!([{"fieldsV1": {"f:spec": {}}}]);
            metadata["labels"] = json!({"a": "b"});
            metadata["ownerReferences"] = json!([{}]);
        }
        assert_eq!(reply(&plain), reply(&full), "{from} -> {to}");
    }
}

#[test]
fn bytes_and_json_give_the_same_answer() {
    for row in [update("1.0.0", "1.1.0"), update("1.0.0", "2.0.0")] {
        let read = Review::read(&row, Moment::EPOCH)
            .unwrap()
            .answer(Basis::without_policies(&snapshot()));
        assert_eq!(format!("{read:?}"), format!("{:?}", answer_row(&row)));
    }
}

#[test]
fn a_filter_past_its_limit_is_refused_unless_it_stays_as_it_is() {
    let channels = |row: &mut Value, object: &str, count: usize| {
        row["request"][object]["spec"]["source"]["catalog"]["channels"] = json!(vec!["c"; count]);
    };
    for count in [FILTER, FILTER + 1] {
        let mut wide = update("1.0.0", "2.0.0");
        channels(&mut wide, "object", count);
        let refused = answer_row(&wide);
        assert_eq!(refused.token, Token::InvalidSpec);
        assert_eq!(
            refused.message.unwrap(),
            "p: 1.0.0 -> 2.0.0 refused: spec.source.catalog has too many channels and entries of the selector: \
             expected at most 1024 in all [InvalidSpec]\n\
             Help: olmguard explain InvalidSpec"
        );
        channels(&mut wide, "oldObject", count);
        assert_eq!(answer_row(&wide).token, Token::InvalidSpec);

        let mut unchanged = update("2.0.0", "2.0.0");
        channels(&mut unchanged, "object", count);
        channels(&mut unchanged, "oldObject", count);
        assert_eq!(answer_row(&unchanged).token, Token::NotJudged);

        let mut mended = update("1.0.0", "1.1.0");
        channels(&mut mended, "oldObject", count);
        assert_eq!(answer_row(&mended).token, Token::Resolved);
    }
    let mut most = update("1.0.0", "2.0.0");
    channels(&mut most, "object", FILTER - 1);
    assert_eq!(answer_row(&most).token, Token::ChannelNotFound);
}

/// The filters are also equal in a different order, or if the bypass is turned off.
#[test]
fn a_filter_past_its_limit_is_compared_as_a_set() {
    let names = |order: &mut dyn Iterator<Item = usize>| -> Value {
        order.map(|at| format!("c{at}")).collect()
    };
    let mut row = update("2.0.0", "2.0.0");
    let catalog = |row: &mut Value, object: &str, field: &str, value: Value| {
        row["request"][object]["spec"]["source"]["catalog"][field] = value;
    };
    catalog(&mut row, "object", "channels", names(&mut (0..2 * FILTER)));
    catalog(
        &mut row,
        "oldObject",
        "channels",
        names(&mut (0..2 * FILTER).rev()),
    );
    assert_eq!(answer_row(&row).token, Token::NotJudged);
    catalog(
        &mut row,
        "oldObject",
        "upgradeConstraintPolicy",
        json!("SelfCertified"),
    );
    assert_eq!(answer_row(&row).token, Token::NotJudged);
    catalog(&mut row, "object", "version", json!("1.1.0"));
    assert_eq!(answer_row(&row).token, Token::InvalidSpec);
    catalog(&mut row, "object", "version", json!("2.0.0"));
    catalog(
        &mut row,
        "oldObject",
        "channels",
        names(&mut (1..2 * FILTER).rev()),
    );
    assert_eq!(answer_row(&row).token, Token::InvalidSpec);
}

/// The entries up to the limit are equal, but those after them count as well.
#[test]
fn a_change_past_the_limit_is_a_change() {
    let channels = |last: &[&str]| json!([vec!["c"; FILTER], last.to_vec()].concat());
    for (new, old) in [
        (channels(&["a"]), channels(&["b"])),
        (json!(["c"]), channels(&["a"])),
        (channels(&["a"]), json!(["c"])),
    ] {
        let mut row = update("1.0.0", "1.0.0");
        row["request"]["object"]["spec"]["source"]["catalog"]["channels"] = new;
        row["request"]["oldObject"]["spec"]["source"]["catalog"]["channels"] = old;
        assert_ne!(answer_row(&row).token, Token::NotJudged);
    }
}

/// Offline, a filter comes from JSON that was read completely.
#[test]
fn a_filter_past_its_limit_is_refused_in_the_same_words_by_every_door() {
    let mut row = update("1.0.0", "2.0.0");
    row["request"]["object"]["spec"]["source"]["catalog"]["channels"] =
        json!(vec!["c"; 2 * FILTER]);
    let offline = Review::read(&row, Moment::EPOCH)
        .unwrap()
        .answer(Basis::without_policies(&snapshot()));
    assert_eq!(offline.token, Token::InvalidSpec);
    assert_eq!(offline.message, answer_row(&row).message);
}

/// In a flat shape these fields have no meaning, so their size must not matter.
#[test]
fn a_limit_binds_only_the_shapes_that_have_the_field() {
    let spec = json!({"packageName": "p", "version": "1.0.0", "source": {"catalog": {"channels": vec!["c"; FILTER + 1]}}});
    let operator = object(
        "operators.operatorframework.io/v1alpha1",
        "Operator",
        &spec,
        &json!({}),
    );
    let row = review("CREATE", &operator, &json!(null));
    let body = row.to_string();
    assert_eq!(decode(body.as_bytes()).unwrap().filters, Filters::Different);
    assert_eq!(answer_row(&row).token, Token::Resolved);
}
