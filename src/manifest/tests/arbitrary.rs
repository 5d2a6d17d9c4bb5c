//! Bytes that no one meant to be a manifest.

use proptest::prelude::*;

use crate::manifest::documents;

/// Pieces of which broken YAML and JSON are made.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        "[-:?,\\[\\]{}&*!|>'\"%@`# \t\r\n]{1,3}",
        Just("---\n".to_owned()),
        Just("...\n".to_owned()),
        Just("<<: *a\n".to_owned()),
        Just("&a ".to_owned()),
        Just("{{ x }}".to_owned()),
        Just("{\"é\": ".to_owned()),
        Just("\\ud800".to_owned()),
        Just("!!binary ".to_owned()),
        Just("\u{feff}".to_owned()),
        "[a-c0-9.]{1,3}",
    ];
    prop::collection::vec(scrap, 0..24).prop_map(|scraps| scraps.concat())
}

/// What holds for any file: indices rise, places lie within the file, errors are one line.
fn holds(file: &[u8]) -> Result<(), TestCaseError> {
    let breaks = file
        .iter()
        .filter(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    let mut next_index = 0;
    for outcome in documents(file) {
        let (index, at) = match outcome {
            Ok(document) => {
                prop_assert!(!document.value.is_null());
                (document.index, document.positions.nearest(&[]))
            }
            Err(error) => {
                prop_assert!(!error.to_string().contains(['\n', '\r']), "{error}");
                (error.index, error.at)
            }
        };
        prop_assert!(index >= next_index);
        prop_assert!(at.line >= 1 && at.line as usize <= breaks + 1, "{at}");
        prop_assert!(
            at.column >= 1 && at.column as usize <= file.len() + 1,
            "{at}"
        );
        next_index = index + 1;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_are_documents_or_errors(file in prop::collection::vec(any::<u8>(), 0..200)) {
        holds(&file)?;
    }

    #[test]
    fn any_scraps_are_documents_or_errors(file in scraps()) {
        holds(file.as_bytes())?;
    }

    #[test]
    fn a_document_before_stays_as_it_is(file in scraps()) {
        let file = format!("---\nfirst: 1\n---\n{file}");
        let first = documents(file.as_bytes()).next().expect("the first").expect("a good one");
        prop_assert_eq!(first.value, serde_json::json!({"first": 1}));
    }
}
