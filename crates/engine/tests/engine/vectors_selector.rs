//! Compiling a selector against the recorded decisions of the real resolver.

use olmguard_catalog::selector::{LabelSelector, Selector, SelectorTexts};
use olmguard_fixtures::shared::shared;
use serde_json::Value;

/// The selector is what the resolver looks at first, so any other outcome means that it compiled.
#[test]
fn selectors_compile_or_fail_as_recorded() {
    let Some(folder) = shared() else {
        println!("left out: decisions/{{cases,synthetic}}.jsonl, no shared folder");
        return;
    };
    for file in ["cases.jsonl", "synthetic.jsonl"] {
        let text = std::fs::read_to_string(folder.join("vectors/decisions").join(file)).unwrap();
        let (mut compared, mut left_out) = (0, 0);
        for line in text.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let written = &case["spec"]["selector"];
            if written.is_null() {
                left_out += 1;
                continue;
            }
            let expect = &case["expect"];
            let recorded = (expect["errorKind"] == "selector").then(|| expect["error"].clone());
            let recorded = recorded.map(|error| error.as_str().unwrap().to_owned());
            assert_eq!(error(written), recorded, "{}", case["id"]);
            compared += 1;
        }
        println!("{file}: {compared} compared, {left_out} left out (no selector)");
        assert!(compared > 0, "{file}");
    }
}

/// What the resolver says of a selector that does not compile.
fn error(written: &Value) -> Option<String> {
    let selector = LabelSelector::read(written).expect("recorded selectors are well typed");
    let error = Selector::compile(&selector, SelectorTexts::JsonBytes).err()?;
    Some(format!("desired catalog selector is invalid: {error}"))
}
