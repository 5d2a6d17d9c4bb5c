use serde::Deserialize;
use serde_json::Value;

use granit_parser::{ScalarStyle, Tag};

use super::{CORE_PREFIX, Scalar, ScalarError, resolve};

/// One scalar as sigs.k8s.io/yaml reads it.
#[derive(Deserialize)]
struct Row {
    text: String,
    style: RowStyle,
    tag: String,
    /// The value's JSON text; `None` if the scalar is rejected.
    json: Option<String>,
    /// The member name; `None` if the scalar is rejected as a key.
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum RowStyle {
    Plain,
    Quoted,
}

fn rows() -> impl Iterator<Item = (usize, Row)> {
    let text = include_str!("../../../../tests/vectors/yaml-scalars.jsonl");
    let lines = text.lines().enumerate().skip(1);
    lines.map(|(n, line)| {
        (
            n + 1,
            serde_json::from_str(line).expect("vectors are well formed"),
        )
    })
}

/// The tag with this name; none for an empty name.
fn core(name: &str) -> Option<Tag> {
    Some(Tag::new(CORE_PREFIX, name)).filter(|_| !name.is_empty())
}

fn resolved(row: &Row) -> Result<Scalar<'_>, ScalarError> {
    let style = match row.style {
        RowStyle::Plain => ScalarStyle::Plain,
        RowStyle::Quoted => ScalarStyle::DoubleQuoted,
    };
    let tag = match row.tag.strip_prefix("!!") {
        Some(suffix) => core(suffix),
        None => Some(Tag::new("", &row.tag)).filter(|_| !row.tag.is_empty()),
    };
    resolve(&row.text, style, tag.as_ref())
}

#[test]
fn values_agree_with_sigs_yaml() {
    for (line, row) in rows() {
        let got = resolved(&row).and_then(Scalar::into_json).ok();
        let want = row
            .json
            .as_deref()
            .map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(
            got, want,
            "yaml-scalars.jsonl:{line}: {:?} {}",
            row.text, row.tag
        );
    }
}

#[test]
fn keys_agree_with_sigs_yaml() {
    // A plain `<<` is handled by the mapping, not by the scalar.
    let merge_key = |row: &Row| row.text == "<<" && matches!(row.style, RowStyle::Plain);
    for (line, row) in rows().filter(|(_, row)| !merge_key(row)) {
        let got = resolved(&row).and_then(Scalar::into_key).ok();
        assert_eq!(
            got.as_deref(),
            row.key.as_deref(),
            "yaml-scalars.jsonl:{line}: {:?} {}",
            row.text,
            row.tag
        );
    }
}

#[test]
fn each_byte_of_binary_text_that_is_no_character_is_replaced() {
    let decoded = resolve("4oJB", ScalarStyle::Plain, core("binary").as_ref());
    let expected = Scalar::Str("\u{fffd}\u{fffd}A".into());
    assert_eq!(decoded, Ok(expected));
}

#[track_caller]
fn refused(text: &str, tag: &str, want: &str) {
    let tag = core(tag);
    let outcome = resolve(text, ScalarStyle::Plain, tag.as_ref()).and_then(Scalar::into_json);
    assert_eq!(outcome.unwrap_err().to_string(), want);
}

#[track_caller]
fn refused_key(text: &str, want: &str) {
    let outcome = resolve(text, ScalarStyle::Plain, None).and_then(Scalar::into_key);
    assert_eq!(outcome.unwrap_err().to_string(), want);
}

#[test]
fn refusals_name_text_and_way_out() {
    refused(
        "1.5",
        "int",
        r#"scalar "1.5" is not a valid !!int: expected text of that type, or no tag"#,
    );
    let long = "x".repeat(100);
    let cut = "x".repeat(40);
    refused(
        &long,
        "bool",
        &format!(
            r#"scalar "{cut}..." is not a valid !!bool: expected text of that type, or no tag"#
        ),
    );
    refused(
        ".inf",
        "",
        ".inf is not a JSON number: expected a finite number, or quotes around it",
    );
    refused(
        "-.Inf",
        "",
        "-.inf is not a JSON number: expected a finite number, or quotes around it",
    );
    refused(
        ".NaN",
        "float",
        ".nan is not a JSON number: expected a finite number, or quotes around it",
    );
    let base64 =
        r#"scalar under !!binary is not base64: expected groups of four letters, padded with "=""#;
    refused("a", "binary", base64);
}

#[test]
fn refused_keys_name_the_way_out() {
    refused_key(
        "~",
        "null cannot be a key: expected a string, or quotes around it",
    );
    let huge = "number 18446744073709551615 cannot be a key: expected a number below \
                9223372036854775808, or quotes around it";
    refused_key("18446744073709551615", huge);
}

proptest::proptest! {
    #[test]
    fn any_text_is_typed_without_a_panic(text in "[-+.0-9a-fxobEnN_:ytTZ ]{0,24}") {
        if let Ok(scalar) = resolve(&text, ScalarStyle::Plain, None) {
            drop(scalar.clone().into_key());
            drop(scalar.into_json());
        }
        for tag in ["int", "float", "timestamp", "binary"].map(core) {
            drop(resolve(&text, ScalarStyle::Plain, tag.as_ref()));
        }
    }

    #[test]
    fn quoted_text_stays_as_written(text in ".*") {
        let scalar = resolve(&text, ScalarStyle::DoubleQuoted, None);
        proptest::prop_assert_eq!(scalar, Ok(Scalar::Str(text.as_str().into())));
    }
}
