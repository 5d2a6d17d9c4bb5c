//! Rows for the differences from `serde_json`, properties for what must be equal.

use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::*;
use crate::fbc::FbcErrorKind;

/// Reads a whole text, which must be one value.
fn walk(text: &[u8]) -> CursorResult<()> {
    // Only the byte after a number ends it.
    let text = [text, b"\n"].concat();
    let mut cursor = Cursor::new(&text);
    cursor.skip()?;
    let rest = text.get(cursor.at()..).unwrap_or_default();
    if skip_space(rest) == rest.len() {
        Ok(())
    } else {
        cursor.malformed_at(cursor.at(), FbcErrorKind::Truncated)
    }
}

fn serde_accepts(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

#[track_caller]
fn agrees(text: &str) {
    assert_eq!(
        walk(text.as_bytes()).is_ok(),
        serde_accepts(text.as_bytes()),
        "{text:?}"
    );
}

#[test]
fn accepts_what_serde_json_accepts() {
    for text in [
        "null",
        "true",
        "false",
        "nul",
        "nulll",
        "tru",
        "0",
        "-0",
        "00",
        "01",
        "-",
        "1.",
        "1.5",
        ".5",
        "1e5",
        "1E+5",
        "1e-5",
        "1e",
        "1e+",
        "+1",
        "0x1",
        "\"\"",
        "\"a",
        "\"\\\"\"",
        "\"\\u00e9\"",
        "\"\\u00\"",
        "\"\\x\"",
        "\"\t\"",
        "\"\u{7f}\"",
        "[]",
        "[1]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1,2]",
        "[",
        "]",
        "{}",
        "{\"a\":1}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":{\"b\":[{}]}}",
        "{\"a\":1}}",
        "{]",
        "[}",
        "",
        " ",
        "1 2",
        "\u{feff}{}",
        "[\n1\r,\t2 ]",
        "[\u{b}1]",
    ] {
        agrees(text);
    }
}

#[test]
fn differs_from_serde_json_as_go_does() {
    // Bytes that are not UTF-8, and lone surrogates, are allowed in strings.
    assert_eq!(walk(b"\"\xff\""), Ok(()));
    assert_eq!(walk(b"\"\\ud800\""), Ok(()));
    // A number must fit a float.
    let range = |at| {
        Err(Halt::Malformed {
            at,
            malformed: FbcErrorKind::NumberRange,
        })
    };
    assert_eq!(walk(b"[1e999]"), range(1));
    assert_eq!(walk(&[b'9'; 310]), range(0));
    assert_eq!(walk(b"[1e-999, 1.7e308]"), Ok(()));
}

#[test]
fn depth_is_limited() {
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert_eq!(walk(nested(10_000).as_bytes()), Ok(()));
    let malformed = FbcErrorKind::TooDeep { limit: 10_000 };
    let fault = Err(Halt::Malformed {
        at: 10_000,
        malformed,
    });
    assert_eq!(walk(nested(10_001).as_bytes()), fault);
    assert!(walk("{\"a\":".repeat(200_000).as_bytes()).is_err());
}

#[test]
fn every_beginning_of_a_value_is_incomplete() {
    let text = br#"{"a":[1.5e-3,"x\n\u00e9",true,null,{"b":[]}],"c":-0}"#;
    for end in 0..text.len() {
        let mut cursor = Cursor::new(&text[..end]);
        assert_eq!(cursor.skip(), Err(Halt::Incomplete), "{end} bytes");
    }
}

#[track_caller]
fn says(text: &[u8], want: &str) {
    let mut cursor = Cursor::new(text);
    assert_eq!(cursor.text().expect("a string"), want);
    assert_eq!(cursor.at(), text.len());
}

#[test]
fn strings_say_what_go_reads() {
    says(br#""""#, "");
    says(br#""plain""#, "plain");
    says(br#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t");
    says(br#""\u0041\u00e9\u20ac""#, "A\u{e9}\u{20ac}");
    says(br#""\ud83d\ude00""#, "\u{1f600}");
    says(br#""\ud83d""#, "\u{fffd}");
    says(br#""\ud83dx""#, "\u{fffd}x");
    says(br#""\ud83d\u0041""#, "\u{fffd}A");
    says(br#""\ude00\ud83d""#, "\u{fffd}\u{fffd}");
    says(br#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}");
    says(b"\"a\xffb\"", "a\u{fffd}b");
    says(b"\"\xe2\x82\"", "\u{fffd}\u{fffd}");
    says(b"\"\\n\xf0\x9f\x98\"", "\n\u{fffd}\u{fffd}\u{fffd}");
}

#[test]
fn faults_name_place_found_and_expected() {
    for (text, want) in [
        ("[1,]", "invalid JSON: expected a value, found ']' at 3"),
        (
            "{\"a\":1,}",
            "invalid JSON: expected a key in quotes, found '}' at 7",
        ),
        (
            "{\"a\" 1}",
            "invalid JSON: expected a colon after a key, found '1' at 5",
        ),
        (
            "[1 2]",
            "invalid JSON: expected a comma or the end of the object or list, found '2' at 3",
        ),
        (
            "\"\u{1}\"",
            "invalid JSON: expected no control character in a string, found byte 0x01 at 1",
        ),
        (
            "\"\\q\"",
            "invalid JSON: expected an escape such as \\n, found 'q' at 2",
        ),
        (
            "\"\\u12x4\"",
            "invalid JSON: expected four hexadecimal digits after \\u, found 'x' at 5",
        ),
        ("-x", "invalid JSON: expected a digit, found 'x' at 1"),
        (
            "trap",
            "invalid JSON: expected true, false or null, found 'a' at 2",
        ),
    ] {
        let Err(Halt::Malformed { at, malformed }) = walk(text.as_bytes()) else {
            panic!("{text:?} has no fault");
        };
        assert_eq!(format!("{malformed} at {at}"), want);
    }
}

#[test]
fn keys_fold_as_in_go() {
    for (key, name, want) in [
        ("skipRange", "skipRange", true),
        ("SKIPRANGE", "skipRange", true),
        ("\u{17f}\u{212a}iprange", "skipRange", true),
        ("skip_range", "skipRange", false),
        ("skipRang", "skipRange", false),
        ("skipRangee", "skipRange", false),
    ] {
        assert_eq!(fold_of(key, name).is_some(), want, "{key}");
    }
}

/// JSON text, mostly valid.
fn json_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec!["{", "}", "[", "]", ",", ":", "\"a\":", "\"", " ", "1", "-", "0", ".5", "e3", "null", "true"]),
        1 => prop::sample::select(vec!["\"b\"", "\\", "\\n", "\n", "\u{1}", "\u{e9}", "\u{2028}"]),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
            prop::collection::hash_map(any::<String>(), inner, 0..8)
                .prop_map(|map| map.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn accepts_exactly_what_serde_json_accepts(text in json_like()) {
        prop_assert_eq!(walk(text.as_bytes()).is_ok(), serde_accepts(text.as_bytes()));
    }

    #[test]
    fn accepts_what_serde_json_writes(value in json_value()) {
        prop_assert_eq!(walk(value.to_string().as_bytes()), Ok(()));
    }

    #[test]
    fn strings_decode_as_in_serde_json(text in any::<String>()) {
        let json = serde_json::to_string(&text).expect("a string");
        let mut cursor = Cursor::new(json.as_bytes());
        prop_assert_eq!(cursor.text().expect("a string"), text);
    }

    #[test]
    fn runs_end_where_a_loop_would_end_them(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let naive = bytes.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\');
        prop_assert_eq!(plain_run(&bytes), naive.unwrap_or(bytes.len()));
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _: CursorResult<()> = walk(&bytes);
    }
}

fn rewritten(text: &str) -> String {
    let mut cursor = Cursor::new(text.as_bytes());
    cursor.rewritten(0).expect("JSON")
}

#[test]
fn what_catalogd_would_write() {
    for (text, expected) in [
        (
            r#"{"b":1, "a" : [true,null]}"#,
            r#"{"a":[true,null],"b":1}"#,
        ),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (
            r"[1.0,1e2,-0.5,9007199254740993]",
            "[1,100,-0.5,9007199254740992]",
        ),
        (r#"["\ud800","<"]"#, "[\"\u{fffd}\",\"<\"]"),
        (r"[[[[[[[[[1]]]]]]]]]", "[[[[[[[[null]]]]]]]]"),
    ] {
        assert_eq!(rewritten(text), expected, "{text}");
    }
}

#[test]
fn any_depth_is_walked_without_recursion_beyond_the_levels() {
    let deep = format!("{}1{}", "[".repeat(9_000), "]".repeat(9_000));
    assert_eq!(rewritten(&deep), "[[[[[[[[null]]]]]]]]");
}
