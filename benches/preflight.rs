//! Whether the CRDs of a bundle can replace those before: 200 of 300 KB, read and compared.

use std::hint::black_box;

use olmguard_figures::{Aim, Figure, Unit};
use olmguard_preflight::crd::{ComparedCrd, CrdGeneration, compare};
use serde_json::{Map, Value, json};

use crate::run::Run;
use crate::turns::each;

pub(crate) fn measure(run: &Run) {
    let generation = CrdGeneration::of(11);
    let (old, new) = (crd(9), crd(8));
    let size = old.to_string().len();
    assert!((300_000..320_000).contains(&size), "{size} bytes");
    let count = run.count(200, 1);
    let seconds = each(run, || {
        for _ in 0..count {
            let read = |object| ComparedCrd::read(object).expect("a CRD");
            let compared = compare(&read(black_box(&old)), &read(&new), generation);
            let compared = compared.expect("within the limits");
            assert!(!compared.worst_first().is_empty(), "a bound has changed");
        }
    });
    run.note(&Figure {
        aim: Some(Aim::AtMost(200.0)),
        ..run.figure(
            "200 CRDs of 300 KB, each with one stricter bound",
            Unit::Milliseconds,
            seconds * 1e3,
        )
    });
}

/// A CRD with a large schema, in which one field has this maximum.
fn crd(maximum: u32) -> Value {
    let mut spec = properties(2);
    spec.insert(
        "size".to_owned(),
        json!({"type": "integer", "maximum": maximum}),
    );
    let schema =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "lanterns.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Lantern", "plural": "lanterns"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
        "status": {"storedVersions": ["v1"]},
    })
}

/// Fields as a pod template has them: a few levels of objects, with leaves of all types and descriptions.
fn properties(levels: u32) -> Map<String, Value> {
    let fields = (0..FIELDS).map(|number| {
        let description = format!("What field {number} means to the operator, in a sentence of usual length.");
        let field = match number % 4 {
            _ if levels > 0 && number < FIELDS / 2 => json!({
                "type": "object", "description": description, "properties": properties(levels - 1),
            }),
            0 => json!({"type": "string", "description": description, "maxLength": 253, "pattern": "^[a-z]"}),
            1 => json!({"type": "integer", "description": description, "minimum": 0, "maximum": 9}),
            2 => json!({"type": "array", "description": description, "items": {"type": "string"}, "maxItems": 8}),
            _ => json!({"type": "string", "description": description, "enum": ["Always", "Never"]}),
        };
        (format!("field{number}"), field)
    });
    fields.collect()
}

const FIELDS: u32 = 20;
