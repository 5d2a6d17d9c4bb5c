//! Bodies that are not reviews, and unusual reviews.

use serde_json::{Value, json};

use super::request::{JSON, Manner, Row, post, raw, review, row, with_head};

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = vec![row(
        "an empty body",
        post(b""),
        "400 not an AdmissionReview: the body is empty: expected JSON\n",
    )];
    rows.extend(no_json());
    rows.extend(no_review());
    rows.extend(odd());
    rows.extend(sizes());
    rows
}

fn no_json() -> Vec<Row> {
    let text = review().to_string();
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        row(
            "half a body",
            post(&text.as_bytes()[..20]),
            "400 not an AdmissionReview: not JSON: EOF while parsing a string at line 1 column 20: expected one value as in RFC 8259\n",
        ),
        row(
            "a NUL",
            post(b"\0"),
            "400 not an AdmissionReview: byte 0 of the body is 0: expected JSON in UTF-8\n",
        ),
        row(
            "a NUL at the end",
            post(format!("{text}\0").as_bytes()),
            "400 not an AdmissionReview: byte 368 of the body is 0: expected JSON in UTF-8\n",
        ),
        row(
            "200,000 open brackets",
            post("[".repeat(200_000).as_bytes()),
            "400 not an AdmissionReview: not JSON: EOF while parsing a list at line 1 column 200000: expected one value as in RFC 8259\n",
        ),
        row(
            "200,000 levels",
            post(format!("{}{}", "[".repeat(200_000), "]".repeat(200_000)).as_bytes()),
            "400 not an AdmissionReview: the body is array: expected an object\n",
        ),
        row(
            "a byte order mark",
            post(format!("\u{feff}{text}").as_bytes()),
            "400 not an AdmissionReview: the body begins with a byte order mark: expected JSON in UTF-8 without one\n",
        ),
        row(
            "no UTF-8",
            post(b"{\"kind\": \"\xff\"}"),
            "400 not an AdmissionReview: the body is not UTF-8 from byte 10 on: expected JSON in UTF-8\n",
        ),
        row(
            "UTF-16",
            post(&utf_16),
            "400 not an AdmissionReview: byte 1 of the body is 0: expected JSON in UTF-8\n",
        ),
        row(
            "half a surrogate",
            post(br#"{"kind": "\ud800"}"#),
            "400 not an AdmissionReview: not JSON: unexpected end of hex escape at line 1 column 17: expected one value as in RFC 8259\n",
        ),
        row(
            "two reviews",
            post(format!("{text}{text}").as_bytes()),
            "400 not an AdmissionReview: not JSON: trailing characters at line 1 column 369: expected one value as in RFC 8259\n",
        ),
        row(
            "YAML",
            post(b"kind: AdmissionReview"),
            "400 not an AdmissionReview: not JSON: expected value at line 1 column 1: expected one value as in RFC 8259\n",
        ),
        row(
            "gzip that is not named",
            post(b"\x1f\x8b\x08\0\0\0\0\0"),
            "400 not an AdmissionReview: the body is not UTF-8 from byte 1 on: expected JSON in UTF-8\n",
        ),
        row(
            "a number too large",
            post(b"1e9999"),
            "400 not an AdmissionReview: not JSON: number out of range at line 1 column 6: expected one value as in RFC 8259\n",
        ),
    ]
}

fn no_review() -> Vec<Row> {
    vec![
        row(
            "null",
            post(b"null"),
            "400 not an AdmissionReview: the body is null: expected an object\n",
        ),
        row(
            "an empty object",
            post(b"{}"),
            "400 not an AdmissionReview: kind is absent: expected AdmissionReview\n",
        ),
        changed(
            "a wrong kind",
            |r| r["kind"] = json!("Review"),
            "400 not an AdmissionReview: kind is \"Review\": expected AdmissionReview\n",
        ),
        changed(
            "a kind with a line break",
            |r| r["kind"] = json!("a\r\nb: c"),
            "400 not an AdmissionReview: kind is \"a\\r\\nb: c\": expected AdmissionReview\n",
        ),
        changed(
            "v1beta1",
            |r| r["apiVersion"] = json!("admission.k8s.io/v1beta1"),
            "400 not an AdmissionReview: apiVersion is \"admission.k8s.io/v1beta1\": expected admission.k8s.io/v1\n",
        ),
        changed(
            "request: null",
            |r| r["request"] = Value::Null,
            "400 not an AdmissionReview: request is null: expected an object\n",
        ),
        changed(
            "no request",
            |r| remove(r, "request"),
            "400 not an AdmissionReview: request is absent: expected an object\n",
        ),
        changed(
            "request: []",
            |r| r["request"] = json!([]),
            "400 not an AdmissionReview: request is array: expected an object\n",
        ),
        changed(
            "no uid",
            |r| remove(&mut r["request"], "uid"),
            "400 not an AdmissionReview: request.uid is absent: expected a string that is not empty\n",
        ),
        changed(
            "uid: \"\"",
            |r| r["request"]["uid"] = json!(""),
            "400 not an AdmissionReview: request.uid is \"\": expected a string that is not empty\n",
        ),
        changed(
            "uid: 7",
            |r| r["request"]["uid"] = json!(7),
            "400 not an AdmissionReview: request.uid is integer: expected a string that is not empty\n",
        ),
        changed(
            "no operation",
            |r| remove(&mut r["request"], "operation"),
            "400 not an AdmissionReview: request.operation is absent: expected a string that is not empty\n",
        ),
        changed(
            "subResource: 1",
            |r| r["request"]["subResource"] = json!(1),
            "400 not an AdmissionReview: request.subResource is integer: expected a string\n",
        ),
        changed(
            "object: null",
            |r| r["request"]["object"] = Value::Null,
            "400 not an AdmissionReview: request.object is null: expected an object\n",
        ),
        changed(
            "object: \"x\"",
            |r| r["request"]["object"] = json!("x"),
            "400 not an AdmissionReview: request.object is string: expected an object\n",
        ),
    ]
}

/// Returns unusual but valid reviews.
fn odd() -> Vec<Row> {
    let text = review().to_string();
    let twice = text.replacen('{', r#"{"kind": "Other", "request": null, "#, 1);
    vec![
        row(
            "two of each key, of which the last counts",
            post(twice.as_bytes()),
            "200 u-1 allowed Resolved",
        ),
        changed(
            "an unknown operation",
            |r| r["request"]["operation"] = json!("PATCH"),
            "200 u-1 allowed NotJudged",
        ),
        changed(
            "CONNECT",
            |r| r["request"]["operation"] = json!("CONNECT"),
            "200 u-1 allowed NotJudged",
        ),
        changed(
            "DELETE without an object",
            |r| {
                r["request"]["operation"] = json!("DELETE");
                r["request"]["object"] = Value::Null;
            },
            "200 u-1 allowed NotJudged",
        ),
        changed(
            "a subresource",
            |r| r["request"]["subResource"] = json!("status"),
            "200 u-1 allowed NotJudged",
        ),
        changed(
            "UPDATE without the old object",
            |r| r["request"]["operation"] = json!("UPDATE"),
            "200 u-1 allowed InstalledUnknown",
        ),
        changed(
            "dryRun: \"yes\"",
            |r| r["request"]["dryRun"] = json!("yes"),
            "200 u-1 allowed Resolved",
        ),
        changed(
            "a kind of somebody else",
            |r| r["request"]["object"]["kind"] = json!("Pod"),
            "200 u-1 allowed NotJudged",
        ),
        changed(
            "a spec of no shape",
            |r| r["request"]["object"]["spec"] = json!([1]),
            "200 u-1 denied InvalidSpec",
        ),
        changed(
            "a uid of line breaks",
            |r| r["request"]["uid"] = json!("u\r\n\u{1b}\"1"),
            "200 u\r\n\u{1b}\"1 allowed Resolved",
        ),
    ]
}

fn sizes() -> Vec<Row> {
    let padded = |length: usize| format!("{}{}", review(), " ".repeat(length));
    let large = padded(8 << 20);
    let chunked = "transfer-encoding: chunked\r\n";
    let head =
        |more: &str, body: &[u8]| raw("POST /validate HTTP/1.1", &format!("{JSON}{more}"), body);
    let chunks = |body: &str| -> Vec<u8> {
        let chunks = body.as_bytes().chunks(1 << 16);
        let chunks = chunks.flat_map(|chunk| {
            [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat()
        });
        chunks.chain(*b"0\r\n\r\n").collect()
    };
    let ended = |name, bytes, expected| Row {
        manner: Manner::Ended,
        ..row(name, bytes, expected)
    };
    vec![
        row(
            "6.5 MiB",
            post(padded(6_500 << 10).as_bytes()),
            "200 u-1 allowed Resolved",
        ),
        row("8 MiB", post(large.as_bytes()), TOO_LARGE),
        row(
            "8 MiB of unknown length",
            head(chunked, &chunks(&large)),
            TOO_LARGE,
        ),
        row(
            "chunks",
            head(chunked, &chunks(&review().to_string())),
            "200 u-1 allowed Resolved",
        ),
        row(
            "a chunk of no size",
            head(chunked, b"xyz\r\n{}\r\n0\r\n\r\n"),
            "400 body cannot be read: Invalid chunk size line: missing size digit\n",
        ),
        row(
            "a chunk of an endless size",
            head(chunked, b"fffffffffffffffff\r\n{}\r\n"),
            "400 body cannot be read: invalid chunk size: overflow\n",
        ),
        ended(
            "a body cut off",
            head("content-length: 500\r\n", b"{\"kind\""),
            "400 body cannot be read: end of file before message length reached\n",
        ),
        ended(
            "chunks cut off",
            head(chunked, b"5\r\n{}"),
            "400 body cannot be read: end of file before message length reached\n",
        ),
        row(
            "a length too short",
            head("content-length: 2\r\n", review().to_string().as_bytes()),
            "400 not an AdmissionReview: not JSON: EOF while parsing a string at line 1 column 2: expected one value as in RFC 8259\n",
        ),
        row(
            "gzip",
            with_head(
                "POST /validate HTTP/1.1",
                &format!("{JSON}content-encoding: gzip\r\n"),
                b"\x1f\x8b\x08\0\0\0\0\0",
            ),
            "415 content-encoding is not identity: expected a body that is not compressed\n",
        ),
        row(
            "identity in another case",
            with_head(
                "POST /validate HTTP/1.1",
                &format!("{JSON}content-encoding: Identity\r\n"),
                review().to_string().as_bytes(),
            ),
            "200 u-1 allowed Resolved",
        ),
        row(
            "chunks of gzip",
            head(
                "transfer-encoding: gzip, chunked\r\n",
                &chunks(&review().to_string()),
            ),
            "501 transfer-encoding is not supported: expected chunked, or a content-length\n",
        ),
    ]
}

fn changed(name: &'static str, change: fn(&mut Value), expected: &'static str) -> Row {
    let mut review = review();
    change(&mut review);
    row(name, post(review.to_string().as_bytes()), expected)
}

fn remove(object: &mut Value, key: &str) {
    object.as_object_mut().unwrap().remove(key).unwrap();
}

const TOO_LARGE: &str = "413 body larger than 7340032 bytes: expected an AdmissionReview\n";
