use proptest::prelude::*;

use super::*;
use crate::author::blob::{WrittenMembers, WrittenValue};

fn read(text: &str) -> CatalogText {
    let mut written = CatalogText::default();
    written.read("catalog", text.as_bytes()).unwrap();
    written
}

#[test]
fn blobs_are_written_in_opms_order() {
    let written = read(
        r#"{"schema": "com.example.root"}
        {"schema": "olm.deprecations", "package": "b", "entries": []}
        {"schema": "com.example.x", "package": "b"}
        {"schema": "olm.bundle", "package": "b", "name": "b2"}
        {"schema": "olm.bundle", "package": "b", "name": "b1"}
        {"schema": "olm.channel", "package": "b", "name": "c", "entries": []}
        {"schema": "olm.package", "name": "b"}
        {"schema": "olm.package", "name": "a"}"#,
    );
    let again = read(&written.to_text(Format::Json));
    let order: Vec<_> = again
        .blobs
        .iter()
        .map(|blob| (blob.schema(), blob.name()))
        .collect();
    assert_eq!(
        order,
        [
            ("olm.package", "a"),
            ("olm.package", "b"),
            ("olm.channel", "c"),
            ("olm.bundle", "b1"),
            ("olm.bundle", "b2"),
            ("com.example.x", ""),
            ("olm.deprecations", ""),
            ("com.example.root", ""),
        ]
    );
}

#[test]
fn bundles_without_an_image_do_not_clash() {
    let written = read(
        r#"{"schema": "olm.bundle", "package": "p", "name": "a"}
        {"schema": "olm.bundle", "package": "p", "name": "b"}"#,
    );
    let shelf = Shelf::of(&written).unwrap();
    assert!(shelf.bundle("").is_err());
}

#[test]
fn json_is_indented_by_four_and_safe_to_look_at() {
    let written =
        read("{\"schema\": \"x\", \"n\": 1.50, \"l\": [], \"t\": \"\\u001b\\u202e\u{e9}\"}");
    assert_eq!(
        written.to_text(Format::Json),
        "{\n    \"l\": [],\n    \"n\": 1.50,\n    \"schema\": \"x\",\n    \"t\": \"\\u001b\\u202e\u{e9}\"\n}\n"
    );
}

#[test]
fn yaml_quotes_what_could_mean_something_else() {
    let written = read(
        r#"{"schema": "x", "a": ["yes", "1.0", "- b", "a: b", "img:1", "", "a #b", "NULL", "\u007f"], "m": "one\ntwo\n", "y": {}}"#,
    );
    assert_eq!(
        written.to_text(Format::Yaml),
        "---\na:\n- \"yes\"\n- \"1.0\"\n- \"- b\"\n- \"a: b\"\n- img:1\n- \"\"\n- \"a #b\"\n- \"NULL\"\n- \
         \"\\x7f\"\nm: |\n  one\n  two\nschema: x\n\"y\": {}\n"
    );
}

#[test]
fn a_blob_that_is_not_of_its_schema_is_refused() {
    let mut written = CatalogText::default();
    let text = "schema: olm.channel\npackage: p\nname: c\nentries: 3\n";
    let error = written.read("c.yaml", text.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "c.yaml:1:1: olm.channel \"c\" of package \"p\": entries: expected a list, found a \
         number"
    );
    let error = written.read("c.yaml", b"schema: [").unwrap_err();
    assert!(error.to_string().starts_with("c.yaml:1:9: "), "{error}");
}

fn value() -> impl Strategy<Value = WrittenValue> {
    let text = prop_oneof!["[ -~\n]{0,12}", any::<String>()];
    let leaf = prop_oneof![
        Just(WrittenValue::Null),
        any::<bool>().prop_map(WrittenValue::Bool),
        any::<i64>().prop_map(|number| WrittenValue::Number(number.to_string().into())),
        text.prop_map(|text| WrittenValue::String(text.into())),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(WrittenValue::List),
            proptest::collection::btree_map("[ -~]{1,8}", inner, 0..4).prop_map(|members| {
                let mut object = WrittenMembers::default();
                for (key, value) in members {
                    object.put(&key, value);
                }
                WrittenValue::Object(object)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_comes_back_from_either_format(value in value()) {
        let mut members = WrittenMembers::default();
        members.put("schema", "com.example.x".into());
        members.put("value", value);
        let mut written = CatalogText::default();
        written.blobs.push(BlobText::new(members));
        for format in [Format::Json, Format::Yaml] {
            let text = written.to_text(format);
            let mut again = CatalogText::default();
            again.read("again", text.as_bytes()).map_err(|error| TestCaseError::fail(format!("{error}: {text:?}")))?;
            prop_assert_eq!(&again, &written, "{}", text);
        }
    }
}
