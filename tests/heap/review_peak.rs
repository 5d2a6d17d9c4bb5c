//! The memory for reading and answering one review without its body: the figures of `Limits`.
//!
//! The allocator counts for the whole process, so this is a single test.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use olmguard_engine::judge::Basis;
use olmguard_support::ALONE;
use std::fmt::Write;

use crate::ALLOCATOR;
use olmguard_admission::{Enforcement, Review};
use olmguard_engine::snapshot::Snapshot;
use olmguard_policy::Moment;

/// Before lists were limited to realistic lengths, a body of 7 MiB took 60 MiB and more.
#[test]
fn a_review_takes_no_more_than_is_reckoned_with() {
    let _alone = ALONE.blocking_lock();
    let shapes: [(&str, Shape); 12] = [
        ("channels", |size| {
            catalog("channels", &list(r#""a""#, size))
        }),
        ("other channels", |size| catalog("channels", &counted(size))),
        ("one channel", |size| {
            catalog("channels", &format!("[{}]", text("c", size)))
        }),
        ("escaped channels", |size| {
            catalog("channels", &list(r#""\u0001""#, size))
        }),
        ("labels", |size| selector("matchLabels", &labels(size))),
        ("requirements", |size| {
            selector(
                "matchExpressions",
                &list(r#"{"key":"a","operator":"Exists"}"#, size),
            )
        }),
        ("values", |size| {
            let values = list(r#""v""#, size);
            selector(
                "matchExpressions",
                &format!(r#"[{{"key":"a","operator":"In","values":{values}}}]"#),
            )
        }),
        ("one value", |size| {
            selector("matchLabels", &format!(r#"{{"a":{}}}"#, text("!", size)))
        }),
        ("version", |size| catalog("version", &text("1", size))),
        ("escaped version", |size| {
            catalog("version", &text("\\u0001", size))
        }),
        ("unknown fields", |size| {
            format!(r#"{{"spec":{}}}"#, labels(size))
        }),
        ("conditions", |size| {
            let conditions = list(r#"{"type":"T","status":"S","reason":"R"}"#, size);
            format!(
                r#"{{"status":{{"conditions":{conditions},"install":{{"bundle":{{"name":"n","version":{}}}}}}}}}"#,
                text("1", 100)
            )
        }),
    ];
    for (size, most) in [(16 << 10, 1 << 20), (7 << 20, 32 << 20)] {
        for (name, shape) in shapes {
            for is_same in [true, false] {
                let body = review(&shape(size / 2 - 400), is_same);
                assert!(
                    body.len() <= size && body.len() > size / 2,
                    "{name}: {}",
                    body.len()
                );
                let taken = taken(body.as_bytes());
                assert!(taken <= most, "{name}: {taken} bytes for a body of {size}");
            }
        }
    }
}

/// Returns the peak memory, without the body.
fn taken(body: &[u8]) -> usize {
    let snapshot = Snapshot::default();
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let review = Review::from_bytes(body, Moment::EPOCH).unwrap();
    let settled = review.settled();
    let answer = settled.unwrap_or_else(|| review.answer(Basis::without_policies(&snapshot)));
    let reply = review.reply(&answer, Enforcement::default()).to_bytes();
    assert!(reply.len() < 8 << 10, "{} bytes", reply.len());
    ALLOCATOR.peak_usage() - before
}

type Shape = fn(usize) -> String;

/// Returns an update of an object with these fields, which changes the package or nothing.
fn review(fields: &str, is_same: bool) -> String {
    let object = |package: &str| {
        let rest = fields.strip_prefix('{').unwrap();
        format!(
            r#"{{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterExtension","metadata":{{"name":"{package}"}},{rest}"#
        )
    };
    let old = object(if is_same { "a" } else { "b" });
    let old = if is_same {
        old
    } else {
        old.replacen("packageName\":\"p", "packageName\":\"q", 1)
    };
    format!(
        r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"u","operation":"UPDATE","object":{},"oldObject":{old}}}}}"#,
        object("a")
    )
}

fn catalog(field: &str, value: &str) -> String {
    format!(
        r#"{{"spec":{{"source":{{"sourceType":"Catalog","catalog":{{"packageName":"p","{field}":{value}}}}}}}}}"#
    )
}

fn selector(field: &str, value: &str) -> String {
    catalog("selector", &format!(r#"{{"{field}":{value}}}"#))
}

fn text(character: &str, size: usize) -> String {
    format!(r#""{}""#, character.repeat(size / character.len()))
}

fn list(item: &str, size: usize) -> String {
    format!("[{}]", vec![item; size / (item.len() + 1)].join(","))
}

fn counted(size: usize) -> String {
    let items = (0..).map(|at| format!("\"{at}\"")).scan(0, |length, item| {
        *length += item.len() + 1;
        (*length < size).then_some(item)
    });
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn labels(size: usize) -> String {
    let mut labels = String::from("{");
    for at in 0.. {
        if labels.len() + 16 > size {
            break;
        }
        let comma = if at == 0 { "" } else { "," };
        write!(labels, r#"{comma}"{at}":"""#).unwrap();
    }
    labels + "}"
}
