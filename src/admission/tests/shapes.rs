//! Each API shape by the object's own `apiVersion` and `kind`, through the bytes of a request.

use olmguard_engine::judge::Basis;
use serde_json::{Value, json};

use super::{installed, snapshot, update};
use crate::admission::decode::{Filters, decode};
use crate::admission::keep::FILTER;
use crate::admission::{Enforcement, Review};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::Token;

#[track_caller]
fn answer(row: &Value) -> Answer {
    let review = Review::from_bytes(row.to_string().as_bytes()).unwrap();
    review.answer(Basis::without_policies(&snapshot()))
}

fn object(api_version: &str, kind: &str, spec: &Value, status: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec, "status": status})
}

fn row(new: &Value, old: &Value) -> Value {
    super::review("UPDATE", new, old)
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
        assert_eq!(answer(&row(&new, &old)).token, expected, "{new} {old}");
    }
}

/// The same review with everything that an API server adds, and with what a newer API may add.
#[test]
fn what_nothing_reads_changes_no_byte_of_a_reply() {
    let reply = |row: &Value| {
        let review = Review::from_bytes(row.to_string().as_bytes()).unwrap();
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
        let read = Review::read(&row)
            .unwrap()
            .answer(Basis::without_policies(&snapshot()));
        assert_eq!(format!("{read:?}"), format!("{:?}", answer(&row)));
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
        let refused = answer(&wide);
        assert_eq!(refused.token, Token::InvalidSpec);
        assert_eq!(
            refused.message.unwrap(),
            "p: 1.0.0 -> 2.0.0 refused: spec.source.catalog has too many channels and entries of the selector: \
             expected at most 1024 in all [InvalidSpec]\n\
             Help: olmguard explain InvalidSpec"
        );
        channels(&mut wide, "oldObject", count);
        assert_eq!(answer(&wide).token, Token::InvalidSpec);

        let mut unchanged = update("2.0.0", "2.0.0");
        channels(&mut unchanged, "object", count);
        channels(&mut unchanged, "oldObject", count);
        assert_eq!(answer(&unchanged).token, Token::NotJudged);

        let mut mended = update("1.0.0", "1.1.0");
        channels(&mut mended, "oldObject", count);
        assert_eq!(answer(&mended).token, Token::Resolved);
    }
    let mut most = update("1.0.0", "2.0.0");
    channels(&mut most, "object", FILTER - 1);
    assert_eq!(answer(&most).token, Token::ChannelNotFound);
}

/// Also where it is written in another order, or turns the bypass off.
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
    assert_eq!(answer(&row).token, Token::NotJudged);
    catalog(
        &mut row,
        "oldObject",
        "upgradeConstraintPolicy",
        json!("SelfCertified"),
    );
    assert_eq!(answer(&row).token, Token::NotJudged);
    catalog(&mut row, "object", "version", json!("1.1.0"));
    assert_eq!(answer(&row).token, Token::InvalidSpec);
    catalog(&mut row, "object", "version", json!("2.0.0"));
    catalog(
        &mut row,
        "oldObject",
        "channels",
        names(&mut (1..2 * FILTER).rev()),
    );
    assert_eq!(answer(&row).token, Token::InvalidSpec);
}

/// As many entries as are kept are the same here; those after them count all the same.
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
        assert_ne!(answer(&row).token, Token::NotJudged);
    }
}

/// Offline a filter comes from JSON that was read whole.
#[test]
fn a_filter_past_its_limit_is_refused_in_the_same_words_by_every_door() {
    let mut row = update("1.0.0", "2.0.0");
    row["request"]["object"]["spec"]["source"]["catalog"]["channels"] =
        json!(vec!["c"; 2 * FILTER]);
    let offline = Review::read(&row)
        .unwrap()
        .answer(Basis::without_policies(&snapshot()));
    assert_eq!(offline.token, Token::InvalidSpec);
    assert_eq!(offline.message, answer(&row).message);
}

/// In a flat shape these fields mean nothing, so they are in nobody's way.
#[test]
fn a_limit_binds_only_the_shapes_that_have_the_field() {
    let spec = json!({"packageName": "p", "version": "1.0.0", "source": {"catalog": {"channels": vec!["c"; FILTER + 1]}}});
    let operator = object(
        "operators.operatorframework.io/v1alpha1",
        "Operator",
        &spec,
        &json!({}),
    );
    let row = super::review("CREATE", &operator, &json!(null));
    let body = row.to_string();
    assert_eq!(decode(body.as_bytes()).unwrap().filters, Filters::Different);
    assert_eq!(answer(&row).token, Token::Resolved);
}
