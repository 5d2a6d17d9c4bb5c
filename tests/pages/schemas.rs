//! The JSON schemas of the output, compared with the types that they are generated from.
//!
//! `OLMGUARD_BLESS=1` writes them again.

use olmguard::cli::commands::{catalogs, check, diff, doctor, generate, lint, test, version};
use olmguard_catalog::version::Masterminds;
use olmguard_views::audit_change::AuditChangeReport;
use olmguard_views::audit_report::AuditReport;
use olmguard_views::bundle_report::ReleaseReport;
use olmguard_views::fleet::FleetReport;
use olmguard_views::migrate::MigrationReport;
use olmguard_views::packages::PackagesReport;
use olmguard_views::path::PathReport;
use olmguard_views::picture::json::GraphJson;
use olmguard_views::range_report::Grammar;
use olmguard_views::range_report::RangeReport;
use olmguard_views::range_report::Subject;
use olmguard_views::readiness::{CatalogCounts, CheckReadiness, OlmEvidence, Readiness};
use olmguard_views::step::StepReport;
use olmguard_views::versions::VersionsReport;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Value, json};

use olmguard_fixtures::committed::compare;

/// Returns the schema of the serialized form of `T`. Its objects must have no other members.
fn schema<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if !OPEN.contains(&&*T::schema_name()) {
        close(&mut schema);
    }
    let definitions = schema.get_mut("$defs").and_then(Value::as_object_mut);
    for (name, definition) in definitions.into_iter().flatten() {
        if !OPEN.contains(&&**name) {
            close(definition);
        }
    }
    schema
}

fn close(schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut() else {
        return;
    };
    if keywords.contains_key("properties") {
        let key = "additionalProperties".to_owned();
        keywords.entry(key).or_insert(json!(false));
    }
    let inner = keywords.iter_mut().filter(|(key, _)| *key != "$defs");
    for (_, inner) in inner {
        match inner {
            Value::Array(items) => items.iter_mut().for_each(close),
            inner => close(inner),
        }
    }
}

/// The types whose objects can get additional members.
const OPEN: [&str; 9] = [
    "olmguard.range/v1",
    "olmguard.graph/v1",
    "ChannelJson",
    "EntryJson",
    "ForbiddenJson",
    "RangeJson",
    "StepJson",
    "VersionJson",
    "WalkJson",
];

#[track_caller]
fn compare_schema<T: JsonSchema>(file: &str) {
    let mut schema = schema::<T>();
    // The file `olmguard.NAME.vN.json` describes `olmguard.NAME/vN`.
    let (kind, version) = (file.trim_end_matches(".json").rsplit_once('.')).expect("a version");
    let name = schema.pointer_mut("/properties/schema").expect("a name");
    name["const"] = json!(format!("{kind}/{version}"));
    jsonschema::meta::validate(&schema).expect("a schema");
    let text = serde_json::to_string_pretty(&schema).expect("string keys only");
    compare(&format!("schemas/{file}"), &format!("{text}\n"));
}

#[track_caller]
fn fits<T: JsonSchema + Serialize>(printed: &T) {
    let printed = serde_json::to_value(printed).expect("string keys only");
    let fault = jsonschema::validate(&schema::<T>(), &printed).err();
    let fault = fault.map(|fault| fault.to_string());
    assert_eq!(fault, None, "{printed}");
}

#[test]
fn bundle_v1() {
    compare_schema::<ReleaseReport>("olmguard.bundle.v1.json");
}

#[test]
fn migrate_v1() {
    compare_schema::<MigrationReport>("olmguard.migrate.v1.json");
}

#[test]
fn range_v1() {
    compare_schema::<RangeReport>("olmguard.range.v1.json");
}

#[test]
fn audit_v1() {
    compare_schema::<AuditReport>("olmguard.audit.v1.json");
}

#[test]
fn audit_change_v1() {
    compare_schema::<AuditChangeReport>("olmguard.audit-change.v1.json");
}

#[test]
fn fleet_v1() {
    compare_schema::<FleetReport>("olmguard.fleet.v1.json");
}

#[test]
fn check_v1() {
    compare_schema::<check::Report>("olmguard.check.v1.json");
}

#[test]
fn tested_v1() {
    compare_schema::<test::Report>("olmguard.tested.v1.json");
}

#[test]
fn doctor_v1() {
    compare_schema::<doctor::Report>("olmguard.doctor.v1.json");
}

#[test]
fn readiness_v1() {
    compare_schema::<Readiness>("olmguard.readiness.v1.json");
    fits(&Readiness::new(Err("shutting down".to_owned()), Vec::new()));
    let check = CheckReadiness::new("a", Ok("b".to_owned()));
    let of_catalogs = CheckReadiness {
        catalogs: Some(CatalogCounts::default()),
        ..check.clone()
    };
    let of_olm = CheckReadiness {
        olm: Some(OlmEvidence::Earlier),
        ..check.clone()
    };
    fits(&Readiness::new(Ok(()), vec![check, of_catalogs, of_olm]));
}

#[test]
fn lint_v1() {
    compare_schema::<lint::Report<'static>>("olmguard.lint.v1.json");
    let text = b"schema: olm.package\nname: p\n---\nname: q\n";
    let findings = olmguard_views::lint::lint(&[olmguard_views::lint::written("c", text)]);
    fits(&lint::Report::of(&findings));
}

#[test]
fn graph_v1() {
    compare_schema::<GraphJson<'static>>("olmguard.graph.v1.json");
}

#[test]
fn catalogs_v1() {
    compare_schema::<catalogs::Report>("olmguard.catalogs.v1.json");
}

#[test]
fn diff_v1() {
    compare_schema::<diff::Report>("olmguard.diff.v1.json");
}

#[test]
fn promotion_v1() {
    compare_schema::<generate::PromotionReport>("olmguard.promotion.v1.json");
}

#[test]
fn version_v1() {
    compare_schema::<version::Report>("olmguard.version.v1.json");
}

#[test]
fn versions_v1() {
    compare_schema::<VersionsReport>("olmguard.versions.v1.json");
}

#[test]
fn packages_v1() {
    compare_schema::<PackagesReport>("olmguard.packages.v1.json");
}

#[test]
fn path_v1() {
    compare_schema::<PathReport>("olmguard.path.v1.json");
}

#[test]
fn explain_v1() {
    compare_schema::<StepReport>("olmguard.explain.v1.json");
}

#[test]
fn every_kind_of_range_report_fits_its_schema() {
    let spec = Grammar::Spec(Masterminds::V3_5);
    for grammar in [spec, Grammar::SkipRange] {
        for range in ["", ">=1.0.0", "1.0.0 || || 2.0.0", "1.x", "<2.0.0, 1"] {
            let versions = ["1.0.0", "3.0.0", "v1"].map(Subject::version);
            fits(&RangeReport::new(range, grammar, versions));
        }
    }
}

#[test]
fn what_lacks_a_key_or_has_a_wrong_one_does_not_fit() {
    let grammar = Grammar::Spec(Masterminds::V3_5);
    let report = RangeReport::new("1", grammar, []);
    let whole = serde_json::to_value(&report).expect("string keys only");
    let schema = schema::<RangeReport>();
    let fits = |value: &Value| jsonschema::is_valid(&schema, value);
    assert!(fits(&whole));
    for key in whole.as_object().expect("an object").keys() {
        let mut without = whole.clone();
        without.as_object_mut().expect("an object").remove(key);
        assert!(!fits(&without), "without {key}");
        let mut wrong = whole.clone();
        wrong[key] = json!(1);
        assert!(!fits(&wrong), "{key} is 1");
    }
}
