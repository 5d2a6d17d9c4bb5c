//! Rows for what the vectors do not cover: ends of documents, positions of faults, limits.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn documents(text: &str, want: &[&str]) {
    let mut rest = text.as_bytes();
    let mut found = Vec::new();
    loop {
        match split(rest, true) {
            YamlPiece::Document { length, consumed } => {
                found.push(str::from_utf8(&rest[..length]).expect("UTF-8"));
                rest = &rest[consumed..];
            }
            YamlPiece::End => break,
            other => panic!("{text:?}: {other:?}"),
        }
    }
    assert_eq!(found, want, "{text:?}");
}

#[test]
fn documents_end_where_upstream_ends_them() {
    documents("", &[]);
    documents("a", &["a"]);
    documents("a\n---\nb\n", &["a\n", "b\n"]);
    documents("---\na\n---\nb", &["---\na\n", "b"]);
    documents("a\n---\n---\nb\n", &["a\n", "---\nb\n"]);
    documents("a\n--- # c\nb\n---", &["a\n", "b\n"]);
    documents("a\r\n---\r\nb\r\n", &["a\r\n", "b\r\n"]);
    documents(" ---\na\n", &[" ---\na\n"]);
    documents("---", &["---"]);
}

#[test]
fn a_separator_stands_alone() {
    for (text, at, found) in [
        ("a\n---b\n", 2, "b"),
        ("--- a\n", 0, "a"),
        ("a\n----\n", 2, "-"),
    ] {
        let malformed = FbcErrorKind::Separator {
            found: found.into(),
        };
        assert_eq!(
            split(text.as_bytes(), true),
            YamlPiece::Malformed {
                at,
                consumed: text.len(),
                malformed
            },
            "{text:?}"
        );
    }
}

#[test]
fn a_document_is_incomplete_until_its_separator_is_read() {
    for text in ["", "a\n", "a\n--", "a\n---", "a\n--- #", "---", "--- x"] {
        assert_eq!(
            split(text.as_bytes(), false),
            YamlPiece::Incomplete,
            "{text:?}"
        );
    }
}

#[track_caller]
fn fault(document: &[u8], want: &str) {
    let fault = to_json(document).expect_err("a fault");
    let found = format!("{}:{}: {}", fault.line, fault.column, fault.malformed);
    assert_eq!(found, want);
}

#[test]
fn faults_name_line_and_column() {
    fault(b"a: 1\nb: \xff", "2:4: invalid YAML: invalid UTF-8");
    fault(
        b"a: 1\n\xc3\xa9: \x00",
        "2:4: invalid YAML: control characters are not allowed",
    );
    fault(
        b"a: .nan",
        "1:4: invalid YAML: .nan is not a JSON number: expected a finite number, or quotes around \
         it",
    );
    fault(
        b"a: 1\n? [b]\n: 2",
        "2:3: invalid YAML: a mapping or list cannot be a key",
    );
    fault(
        b"~: 1",
        "1:1: invalid YAML: null cannot be a key: expected a string, or quotes around it",
    );
    fault(
        b"a: &x [*x]",
        "1:8: invalid YAML: an anchor's value contains itself",
    );
    fault(
        b"a:\n  <<: 5",
        "2:7: invalid YAML: map merge requires map or sequence of maps as the value",
    );
    fault(
        b"{\"a\n b\": 1}",
        "1:2: invalid YAML: a key continues past the end of its line",
    );
}

/// Nine anchors, each a list of nine aliases of the previous one.
fn bomb() -> String {
    let mut text = "a0: &a0 [xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx]\n".to_owned();
    for n in 1..9 {
        let aliases = vec![format!("*a{}", n - 1); 9].join(", ");
        text.extend(["a", &n.to_string(), ": &a", &n.to_string()]);
        text.extend([" [", &aliases, "]\n"]);
    }
    text
}

#[test]
fn aliases_are_bounded() {
    let fault = to_json(bomb().as_bytes()).expect_err("a fault");
    assert!(
        matches!(fault.malformed, FbcErrorKind::Aliases { .. }),
        "{fault:?}"
    );
}

#[test]
fn depth_is_bounded() {
    let flow = "[".repeat(100_000);
    let block = "- ".repeat(100_000);
    let lines = (0..20_000).map(|n| [&" ".repeat(n), "a:\n"].concat());
    let nested = lines.collect::<String>();
    for text in [flow, block, nested] {
        assert!(to_json(text.as_bytes()).is_err());
    }
}

proptest! {
    #[test]
    fn never_panics(text in "[-a{}\\[\\]:,&*!|>'\"%@#? \n\t~<.0-9]{0,80}") {
        let _: Result<Vec<u8>, YamlFault> = to_json(text.as_bytes());
    }

    /// JSON is YAML. Except for numbers, which are re-encoded, the output equals the input.
    #[test]
    fn json_stays_json(keys in prop::collection::btree_set("[a-z]{1,8}", 0..6), text in "[ -~\u{e9}\n]{0,40}") {
        let object: serde_json::Map<_, _> = keys.into_iter().map(|key| (key, text.clone().into())).collect();
        let json = serde_json::Value::from(object);
        let found = to_json(json.to_string().as_bytes()).expect("JSON is YAML");
        prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&found).expect("JSON"), json);
    }
}

#[test]
fn aliases_as_keys_and_nested_merges_are_bounded() {
    let is_refused = |text: &str| {
        let fault = to_json(text.as_bytes()).expect_err("far too large");
        matches!(fault.malformed, FbcErrorKind::Aliases { .. })
    };
    let keys = format!("a: &a {}\n", "x".repeat(512 << 10));
    let keys = keys + "b:\n" + &"  *a : 1\n".repeat(100);
    assert!(is_refused(&keys));
    let begin: Vec<String> = (0..200).map(|n| format!("<<: &a{n} {{")).collect();
    let merges = [
        &*begin.concat(),
        "k: ",
        &"x".repeat(512 << 10),
        &"}".repeat(200),
    ]
    .concat();
    assert!(is_refused(&merges));
}
