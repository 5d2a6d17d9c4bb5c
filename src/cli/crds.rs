//! The files of `deploy/crds`, which are written from the types in `src/cluster/objects`.
//!
//! The test writes them with `OLMGUARD_BLESS=1`.

use serde_json::{Value, json};

use crate::cli::output::yaml;
use crate::cluster::objects::definitions;
use olmguard_fixtures::committed::compare;

#[test]
fn the_definitions_are_those_of_the_types() {
    for (name, mut definition) in definitions() {
        let metadata = &mut definition["metadata"];
        metadata["labels"] = json!({
            "app.kubernetes.io/name": "olmguard", "app.kubernetes.io/part-of": "olmguard",
        });
        metadata["annotations"] = json!({ KEEP: "keep" });
        let text = format!("{TITLE}{}", yaml::document(&definition));
        assert_eq!(read(&text), definition);
        compare(&format!("deploy/crds/{name}.yaml"), &text);
        let template = format!("{{{{- if .Values.crds.enabled }}}}\n{text}{{{{- end }}}}\n");
        compare(
            &format!("deploy/chart/templates/crd-{name}.yaml"),
            &template,
        );
    }
}

fn read(text: &str) -> Value {
    let mut documents = crate::manifest::documents(text.as_bytes());
    documents.next().expect("one").expect("YAML").value
}

const TITLE: &str = "\
# From the types in src/cluster/objects. This test writes the file: OLMGUARD_BLESS=1 cargo test --lib crds
";

/// `helm uninstall` keeps the definitions, and with them every policy. kubectl ignores the annotation.
const KEEP: &str = "helm.sh/resource-policy";
