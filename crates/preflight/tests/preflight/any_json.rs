//! Any JSON in place of a bundle, a CRD or a configuration gives an answer, and the same one every time.

use olmguard_catalog::InstallModes;
use olmguard_catalog::olm::{OlmRelease, Rules};
use olmguard_preflight::bundle::{RegistryBundle, WrongField};
use olmguard_preflight::config;
use olmguard_preflight::crd::{self, ComparedCrd, CrdGeneration};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Keys that something reads, so that values of any type reach the code that reads them.
const KEYS: [&str; 20] = [
    "name",
    "schema",
    "openAPIV3Schema",
    "properties",
    "items",
    "allOf",
    "not",
    "enum",
    "default",
    "required",
    "minimum",
    "additionalProperties",
    "dependencies",
    "oneOf",
    "a",
    "type",
    "env",
    "watchNamespace",
    "deploymentConfig",
    "resources",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        let member = (select(&KEYS[..]), inner.clone());
        let members = prop::collection::vec(member, 0..6);
        let object = members.prop_map(|members| {
            let members = members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value));
            Value::Object(members.collect::<Map<_, _>>())
        });
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::Array),
            object
        ]
    })
}

fn crd_of(schemas: &[Value]) -> Value {
    let names = ["v1", "v1beta1", "v2"];
    let versions = names.iter().zip(schemas).map(|(name, schema)| {
        json!({"name": name, "served": true, "schema": {"openAPIV3Schema": schema}})
    });
    json!({"metadata": {"name": "c"}, "spec": {"versions": versions.collect::<Vec<_>>()}})
}

fn compared(
    old: &ComparedCrd<'_>,
    new: &ComparedCrd<'_>,
    generation: CrdGeneration,
) -> Result<crd::CrdComparison, crd::CrdError> {
    crd::compare(old, new, generation, &mut crd::ComparisonBudget::default())
}

proptest! {
    #[test]
    fn schemas(one in prop::collection::vec(any_json(), 1..4), other in prop::collection::vec(any_json(), 1..4)) {
        let (old, new) = (crd_of(&one), crd_of(&other));
        let (old, new) = (ComparedCrd::read(&old).unwrap(), ComparedCrd::read(&new).unwrap());
        for generation in [CrdGeneration::V1_5, CrdGeneration::V1_9, CrdGeneration::V1_10] {
            let found = compared(&old, &new, generation);
            prop_assert_eq!(&found, &compared(&old, &new, generation));
            let same = compared(&old, &old, generation).unwrap();
            let is_steady = same.findings.iter().all(|finding| !finding.is_certain());
            prop_assert!(same.panics || is_steady, "{:?}", same);
        }
    }

    #[test]
    fn whole_objects(objects in prop::collection::vec(any_json(), 0..4), csv in any_json()) {
        for object in &objects {
            let _ = ComparedCrd::read(object).map(|crd| compared(&crd, &crd, CrdGeneration::V1_10));
        }
        let csv = json!({"kind": "ClusterServiceVersion", "spec": {"installModes": csv.clone(),
            "webhookdefinitions": csv.clone(), "install": {"spec": {"deployments": csv}}}});
        let bundle = RegistryBundle::of("p", objects.iter().cloned().chain([csv.clone()])).unwrap();
        prop_assert_eq!(bundle.faults(11), bundle.faults(11));
        for object in objects.iter().chain([&csv]) {
            prop_assert_eq!(WrongField::of(object), WrongField::of(object));
        }
    }

    #[test]
    fn configurations(inline in any_json(), all: bool, single: bool, own: bool) {
        let modes = InstallModes {
            all_namespaces: all,
            single_namespace: single,
            own_namespace: own,
            multi_namespace: false,
        };
        let wanted = json!({"configType": "Inline", "inline": inline});
        let rules = Rules::new(OlmRelease::default(), olmguard_catalog::olm::Gates::default());
        for settings in rules.installs {
            if let Err(faults) = config::check(modes, settings, 11, "ns", Some(&wanted)) {
                prop_assert_eq!(config::upstream(&faults), config::upstream(&faults));
            }
        }
    }
}
