//! Expressions that are refused when they are read, and the place of the error.

use super::super::ExpressionError;
use super::compiled;

fn refusal(text: &str) -> (String, Option<usize>) {
    match compiled(text) {
        Err(ExpressionError { reason, at }) => (reason, at),
        Ok(_) => panic!("accepted: {text}"),
    }
}

#[test]
fn reasons_and_places() {
    let variables = "expected one of from, to, package, catalog, channels, labels, namespace, range, user, operation, bypass, deprecated";
    let functions =
        "expected one of contains, double, dyn, endsWith, int, size, startsWith, string, uint";
    for (text, reason, at) in [
        (
            "'a",
            "a text is not closed: expected a quotation mark",
            Some(0),
        ),
        (
            "to == \"a\nb\"",
            "a text is not closed: expected a quotation mark",
            Some(6),
        ),
        (
            "'''a''",
            "a text is not closed: expected a quotation mark",
            Some(0),
        ),
        (" (1", "a bracket is not closed: expected ')'", Some(1)),
        ("1)", "unexpected ')': no bracket that it closes", Some(1)),
        ("(1]", "unexpected ']': no bracket that it closes", Some(2)),
        ("to.major ≥ 1", "unexpected character '≥'", Some(9)),
        ("to.`major`", "unexpected character '`'", Some(3)),
        (
            "__pkg__ == 'a'",
            "names that start with __ are reserved",
            Some(0),
        ),
        (
            "form.major == 1",
            &format!("unknown variable \"form\": {variables}"),
            Some(0),
        ),
        (
            "true && frm == 1",
            &format!("unknown variable \"frm\": {variables}"),
            Some(8),
        ),
        (
            "'é' == 'é' && frm",
            &format!("unknown variable \"frm\": {variables}"),
            Some(16),
        ),
        (
            "to.majr == 1",
            "to has no field \"majr\": expected one of major, minor, patch, prerelease, version, bundle",
            Some(2),
        ),
        (
            "user.group == 1",
            "user has no field \"group\": expected one of name, groups",
            Some(4),
        ),
        (
            "now() == 1",
            &format!("unknown function \"now\": {functions}"),
            Some(3),
        ),
        (
            "package.matches('a')",
            &format!("unknown function \"matches\": {functions}"),
            Some(15),
        ),
        (
            "Foo{a: 1} == 1",
            "messages such as Name{field: value} are not supported",
            None,
        ),
    ] {
        let (found, place) = refusal(text);
        assert_eq!(found, reason, "{text}");
        if at.is_some() {
            assert_eq!(place, at, "{text}");
        }
    }
}

#[test]
fn a_list_of_what_has_no_order_is_refused() {
    for text in [
        "labels.map(k, k) == []",
        "[labels].map(k, k.map(v, v)) == []",
        "{1: 2}.filter(k, true) == []",
        "channels.map(c, {c: c}).map(m, m.map(k, k)) == []",
        "(bypass ? {1: 2} : {}).map(k, k) == []",
    ] {
        assert_eq!(
            refusal(text).0,
            "map and filter over a mapping have no defined order: expected a list",
            "{text}"
        );
    }
}

#[test]
fn the_parser_reports_the_rest() {
    for (text, reason, at) in [
        ("to.major ==", "unexpected end of the text", 11),
        ("1 1", "unexpected '1'", 2),
        ("a ? b", "unexpected end of the text", 5),
        ("'é' == == 1", "unexpected '=='", 8),
        ("true &&\n== 1", "unexpected '=='", 8),
        ("for == 1", "reserved identifier: for", 0),
        (".package == ''", "reserved identifier: .package", 1),
        ("a || .b.\n", "unexpected '.\\n'", 9),
    ] {
        let (found, place) = refusal(text);
        assert_eq!((found.as_str(), place), (reason, Some(at)), "{text:?}");
    }
}

/// Each shape is accepted while it is flat, and refused by the scan if it nests too deeply.
#[test]
fn shapes_that_nest() {
    let shapes: [(&str, &str, &str); 14] = [
        ("(", "true", ")"),
        ("[", "1", "]"),
        ("{1:", "1", "}"),
        ("!", "true", ""),
        ("- ", "1", ""),
        ("1+", "1", ""),
        ("1<", "1", ""),
        ("true?1:", "1", ""),
        ("true?", "1", ":1"),
        ("-(", "1", ")"),
        ("size(", "1", ")"),
        ("", "labels", ".a"),
        ("", "labels", "[0]"),
        ("[1][", "0", "]"),
    ];
    for (before, inner, after) in shapes {
        let text =
            |times: usize| [before.repeat(times), inner.to_owned(), after.repeat(times)].concat();
        assert!(refused_by_scan(&text(20)).is_none(), "{}", text(20));
        runs(&text(60));
        let reason = refused_by_scan(&text(65)).unwrap();
        assert_eq!(
            reason,
            "nested too deeply: expected at most 64 levels",
            "{}",
            text(65)
        );
    }
    let unclosed = refused_by_scan(&"([{".repeat(300)).unwrap();
    assert_eq!(unclosed, "nested too deeply: expected at most 64 levels");
}

#[test]
fn each_token_nests_as_it_does_in_the_tree() {
    for (text, expected) in [
        ("1", 0),
        ("name", 0),
        ("1+1", 1),
        ("1 +\t1 -\r\n1", 2),
        ("1 == 1 != 1", 2),
        ("1 <= 1 >= 1 < 1", 3),
        ("!true", 1),
        ("-1 * -1 / 1 % 1", 5),
        ("a in b", 1),
        ("a.b.c", 2),
        ("a + 1 && a + 1 || a + 1", 1),
        ("a + 1 ? a + 1 : a + 1", 2),
        ("a ? b : c ? d : e", 2),
        ("[a ? b : c, d ? e : f]", 2),
        ("[1 + 1, 1 + 1]", 2),
        ("[[1], [1]]", 2),
        ("(1) + [1] + {1: 1}", 3),
        ("f(1)", 2),
        ("f(1) + f(1)", 4),
        ("a.f(1)", 3),
        ("a[0][0]", 3),
        ("'a'[0]", 2),
        ("a.map(b, c)", 3),
        ("1.5e-3 + .5 + 0xffu", 3),
        ("1.e", 1),
        ("1 // ((((", 0),
        ("1 // ((((\n+ (1)", 2),
        ("'((' + \"((\" + r'((' + b\"((\" + Rb'(('", 4),
        ("'\\'((' + r'\\' + ('')", 3),
        ("'''('(\n(''' + \"\"\"(\"\"(\"\"\"", 1),
    ] {
        assert_eq!(nesting(text), expected, "{text}");
    }
}

/// Measures the levels that the scan counts in a text, by the number of further levels that it
/// accepts around it.
fn nesting(text: &str) -> usize {
    let around = |levels| ["(".repeat(levels), format!("{text}\n"), ")".repeat(levels)].concat();
    let accepted = (0..=64).take_while(|levels| refused_by_scan(&around(*levels)).is_none());
    64 - accepted.last().expect("the text alone is accepted")
}

#[test]
fn lengths_and_comprehensions() {
    assert!(refused_by_scan(&["true", &" && true".repeat(127)].concat()).is_none());
    let long = format!("'{}'", "a".repeat(1023));
    assert_eq!(
        refused_by_scan(&long).unwrap(),
        "too long: expected at most 1024 bytes"
    );
    assert_eq!(refused_by_scan(&format!("'{}'", "a".repeat(1022))), None);
    let two = "channels.all(a, channels.exists(b, a == b))";
    assert!(compiled(two).is_ok());
    let three = "channels.all(a, channels.exists(b, channels.filter(c, c == b) == []))";
    assert_eq!(
        refusal(three).0,
        "comprehensions are nested too deeply: expected at most 2"
    );
    for name in ["all", "exists", "exists_one", "existsOne", "filter", "map"] {
        let three = format!("channels.{name}(a, channels.{name}(b, channels.{name}(c, c == b)))");
        let refused = refused_by_scan(&three).expect("three levels");
        assert!(
            refused.starts_with("comprehensions are nested"),
            "{refused}"
        );
    }
    let one_after_the_other = "channels.filter(a, a != 'x').map(a, a).exists(a, a == 'y')";
    assert!(compiled(one_after_the_other).is_ok());
}

#[test]
fn what_would_grow_is_refused() {
    let doubled = ["user.groups", &".map(g, g + g + g)".repeat(20), " == []"].concat();
    assert_eq!(
        refusal(&doubled).0,
        "a value can become too large: expected fewer + and map"
    );
    let pairs = "user.groups.map(a, user.groups.map(b, a + b)) == []";
    assert_eq!(
        refusal(pairs).0,
        "a value can become too large: expected fewer + and map"
    );
    let squared = [
        "user.groups.all(a, user.groups.all(b, a == b",
        &" && a == b".repeat(20),
        "))",
    ]
    .concat();
    assert_eq!(
        refusal(&squared).0,
        "the conditions of the policy are too costly together: expected fewer comprehensions, or over smaller lists"
    );
}

/// `tests/properties.rs` does the same with little stack.
fn runs(text: &str) {
    if let Ok(compiled) = compiled(text) {
        let _ = super::evaluate(
            &compiled,
            &mut super::ConditionScope::of(&super::Facts::new().change()),
        );
    }
}

fn refused_by_scan(text: &str) -> Option<String> {
    super::scan::scan(text).err().map(|refusal| refusal.reason)
}
