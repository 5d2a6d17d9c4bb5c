//! Objects as YAML documents, each after a line of `---`.

use serde_json::Value;

/// The documents; every string is quoted, so that none reads as a number or a boolean in YAML 1.1.
pub(super) fn documents(objects: &[Value]) -> String {
    let document = |object: &Value| {
        let options = serde_saphyr::ser_options! { quote_all: true, compact_list_indent: false };
        let text = serde_saphyr::to_string_with_options(object, options);
        format!("---\n{}", text.expect("a JSON value is one of YAML"))
    };
    objects.iter().map(document).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::manifest;

    #[test]
    fn a_manifest_as_people_write_it() {
        let object = json!({"kind": "X", "spec": {"version": "1.0", "channels": ["on"]}});
        let expected = "---\nkind: 'X'\nspec:\n  channels:\n    - 'on'\n  version: '1.0'\n";
        assert_eq!(documents(&[object]), expected);
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_it_was(texts in prop::collection::vec(".*", 1..4)) {
            let object = json!({"kind": "X", "spec": {"channels": texts, "version": "1.10"}});
            let written = documents(std::slice::from_ref(&object));
            let read: Vec<_> = manifest::documents(written.as_bytes()).collect();
            let [Ok(read)] = read.as_slice() else {
                return Err(TestCaseError::fail(format!("{read:?} of {written}")));
            };
            prop_assert_eq!(&read.value, &object);
        }
    }
}
