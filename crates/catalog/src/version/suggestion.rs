//! The nearest valid range to a text that is a range of npm, Maven, `NuGet`, pip or Cargo, or a range in words.
//!
//! A suggestion parses in the grammar that it is for, the CRD's pattern included: nothing else is returned.

mod parts;

use parts::Parts;

use super::constraint::Constraint;
use super::crd;
use super::masterminds::Masterminds;
use super::skip_range::SkipRange;

/// What to write in the place of a text that is not valid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Suggestion {
    /// This range.
    Range(String),
    /// No range at all: any version is meant.
    Nothing,
}

/// Which grammar a suggestion is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Target {
    /// The range of `spec.source.catalog.version`.
    Spec,
    /// A `skipRange`, which has no short versions, no `^` and no `~`.
    SkipRange,
    /// The range of `spec.source.catalog.version` that prereleases match as well.
    Prereleases,
}

/// What to write in `spec.source.catalog.version`.
pub fn constraint(text: &str) -> Option<Suggestion> {
    let text = cleaned(text);
    if ANY.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(Suggestion::Nothing);
    }
    let range = alternatives(&text, Target::Spec)?;
    let parses = Constraint::parse(&range, Masterminds::V3_5).is_ok();
    let is_valid = parses && crd::fits_pattern(&range) && crd::fits_length(&range);
    is_valid.then_some(Suggestion::Range(range))
}

/// The range that matches the same releases as this valid one, and prereleases too; none if it matches them already, or
/// no such range is known.
pub fn with_prereleases(text: &str) -> Option<String> {
    let range = alternatives(text, Target::Prereleases)?;
    let is_valid = crd::fits_pattern(&range) && crd::fits_length(&range);
    (is_valid && range != text).then_some(range)
}

/// What to write in a `skipRange`.
pub fn skip_range(text: &str) -> Option<String> {
    let range = alternatives(&cleaned(text), Target::SkipRange)?;
    SkipRange::parse(&range).is_ok().then_some(range)
}

/// Without quotes around it, and with the signs of the grammars. No longer text is a slip.
fn cleaned(text: &str) -> String {
    let text = text
        .get(..text.floor_char_boundary(LONGEST))
        .unwrap_or_default();
    let text = text.trim_matches(|sign: char| sign.is_whitespace() || "\"'`".contains(sign));
    let signs = [
        ("≥", ">="),
        ("≤", "<="),
        ("≠", "!="),
        ("–", "-"),
        ("—", "-"),
    ];
    let with = |text: String, (sign, plain): (&str, &str)| text.replace(sign, plain);
    signs.into_iter().fold(text.to_owned(), with)
}

fn alternatives(text: &str, target: Target) -> Option<String> {
    let ranges: Vec<_> = if text.starts_with(['[', '(']) {
        intervals(text, target)?
    } else {
        let all = text.split("||").flat_map(|part| part.split(" or "));
        all.map(|part| comparators(part, target))
            .collect::<Option<_>>()?
    };
    Some(ranges.join(" || "))
}

/// Maven and `NuGet`: `[1.0,2.0)`, `(,1.5]`, `[1.0]`, one after the other.
fn intervals(mut text: &str, target: Target) -> Option<Vec<String>> {
    let mut ranges = Vec::new();
    while !text.is_empty() {
        let lower = text.chars().next().filter(|sign| "[(".contains(*sign))?;
        let (inside, after) = text.get(1..)?.split_once([']', ')'])?;
        let upper = text.as_bytes().get(inside.len() + 1)?;
        let ends = match inside.split_once(',') {
            None => [("=", inside), ("", "")],
            Some((from, to)) => [
                (if lower == '[' { ">=" } else { ">" }, from),
                (if *upper == b']' { "<=" } else { "<" }, to),
            ],
        };
        let ends = ends
            .into_iter()
            .filter(|(_, version)| !version.trim().is_empty());
        let written = ends.map(|(operator, version)| {
            // `1.0` is one version there.
            Parts::read(version.trim())?
                .whole()
                .comparator(operator, target)
        });
        let written = written.collect::<Option<Vec<_>>>()?;
        (!written.is_empty()).then(|| ranges.push(written.join(" ")))?;
        text = after.trim_start_matches([',', ' ']);
    }
    Some(ranges)
}

/// What is joined by blanks, commas or words.
fn comparators(text: &str, target: Target) -> Option<String> {
    let hyphen = text.split_once(" - ").or_else(|| text.split_once(" to "));
    if let Some((from, to)) = hyphen {
        let from = Parts::read(from.trim())?.comparator(">=", target)?;
        let to = Parts::read(to.trim())?.comparator("<=", target)?;
        return Some(format!("{from} {to}"));
    }
    let (mut rest, mut found) = (text, Vec::new());
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',', ';', '&']);
        let (operator, after) = operator(rest);
        let (word, after) = split(after, |sign| {
            sign.is_ascii_alphanumeric() || ".+-*".contains(sign)
        });
        rest = after;
        match (&*operator, word) {
            ("", "") if rest.is_empty() => break,
            ("", "and" | "AND") => {}
            (operator, word) => found.push(Parts::read(word)?.comparator(operator, target)?),
        }
    }
    (!found.is_empty()).then(|| found.join(" "))
}

/// An operator, perhaps with blanks inside it, and what follows them.
fn operator(text: &str) -> (String, &str) {
    let is_sign = |sign: char| "<>=!~^".contains(sign);
    let (signs, after) = split(text, |sign| is_sign(sign) || sign == ' ');
    (signs.chars().filter(|sign| is_sign(*sign)).collect(), after)
}

fn split(text: &str, is_inside: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|sign| !is_inside(sign));
    text.split_at(end.unwrap_or(text.len()))
}

/// Words for a version that OLM chooses without a range.
const ANY: [&str; 10] = [
    "latest",
    "newest",
    "any",
    "all",
    "stable",
    "current",
    "head",
    "latest.release",
    "lastest",
    "none",
];

/// How many bytes of a text are looked at: a range of the API has at most 64 characters.
const LONGEST: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    #[track_caller]
    fn spec(text: &str, expected: &str) {
        let range = Suggestion::Range(expected.to_owned());
        assert_eq!(constraint(text), Some(range), "{text}");
    }

    #[test]
    fn forms_of_other_tools() {
        for (text, expected) in [
            ("1.0 - 2.0", ">=1.0 <=2.0"),
            ("2.4.1 - 2.4.9", ">=2.4.1 <=2.4.9"),
            ("v1.0 – v2.0", ">=1.0 <=2.0"),
            ("1.0.0 to 2.0.0", ">=1.0.0 <=2.0.0"),
            ("[1.0,2.0)", ">=1.0.0 <2.0.0"),
            ("(1.0, 2.0]", ">1.0.0 <=2.0.0"),
            ("[1.5,)", ">=1.5.0"),
            ("(,1.5]", "<=1.5.0"),
            ("[1.2.3]", "1.2.3"),
            ("[1.0,2.0),[3.0,4.0)", ">=1.0.0 <2.0.0 || >=3.0.0 <4.0.0"),
            ("~=1.4.2", ">=1.4.2 <1.5.0"),
            ("~=2.2", ">=2.2.0 <3.0.0"),
            ("==1.4.2", "1.4.2"),
            ("===1.4.2", "1.4.2"),
            ("==1.4.*", "1.4.x"),
            (">=1.0 and <2", ">=1.0 <2"),
            (">=1.0 && <2", ">=1.0 <2"),
            (">=1.0<2.0", ">=1.0 <2.0"),
            ("> =1.0", ">=1.0"),
            ("≥1.0 ≤2.0", ">=1.0 <=2.0"),
            ("<>1.0.0", "!=1.0.0"),
            ("V1.2.3", "1.2.3"),
            (">=V1.2.3", ">=1.2.3"),
            ("1.0 or 2.0", "1.0 || 2.0"),
            ("\">=1.0\"", ">=1.0"),
            ("01.2.3", "1.2.3"),
            ("1.2.+", "1.2.x"),
            ("1.0.0rc1", "1.0.0-rc1"),
            (">=1.2.*, <2.x", ">=1.2.x <2.x"),
        ] {
            spec(text, expected);
        }
        for word in ["latest", "LATEST", " stable "] {
            assert_eq!(constraint(word), Some(Suggestion::Nothing));
        }
    }

    #[test]
    fn what_is_like_no_range_gets_none() {
        for text in [
            "",
            "nonsense",
            "1.2.3.4",
            "[1.0",
            "[a,b]",
            "(,)",
            ">=",
            "${VERSION}",
            "1.0 -",
        ] {
            assert_eq!(constraint(text), None, "{text}");
            assert_eq!(skip_range(text), None, "{text}");
        }
        assert_eq!(constraint(&"1 ".repeat(400)), None);
    }

    #[test]
    fn skip_ranges_are_written_out() {
        for (text, expected) in [
            ("^1.2", ">=1.2.0 <2.0.0"),
            ("^0.2.3", ">=0.2.3 <0.3.0"),
            ("^0.0.3", ">=0.0.3 <0.0.4"),
            ("~1.2.3", ">=1.2.3 <1.3.0"),
            ("~1", ">=1.0.0 <2.0.0"),
            (">=1.0, <2.0", ">=1.0.0 <2.0.0"),
            (">=v1.0.0 <v2.0.0", ">=1.0.0 <2.0.0"),
            (">1.2 <=1.4", ">=1.3.0 <1.5.0"),
            ("1.2 - 1.4.1", ">=1.2.0 <=1.4.1"),
            ("1.2", ">=1.2.0 <1.3.0"),
            ("[1.0,2.0)", ">=1.0.0 <2.0.0"),
        ] {
            assert_eq!(skip_range(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_range_for_prereleases_too() {
        for (text, expected) in [
            (">=0.20.0", Some(">=0.20.0-0")),
            (">=1.2", Some(">=1.2.0-0")),
            (">=1.0, <2.0.0", Some(">=1.0.0-0 <2.0.0-0")),
            (">=1.0.0-rc.1 <2.0.0", Some(">=1.0.0-rc.1 <2.0.0-0")),
            ("^1.2.3 || ~2.1.0", Some("^1.2.3-0 || ~2.1.0-0")),
            (">=1.0.0-0 <2.0.0-0", None),
            // Each of these would match other releases.
            (">1.0.0", None),
            ("<=2.0.0", None),
            ("!=1.5.0", None),
            ("1.2.3", None),
            ("~1", None),
            ("1.2.x", None),
            (">=1.0.0+build", None),
            ("nonsense", None),
        ] {
            assert_eq!(with_prereleases(text).as_deref(), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_range_for_prereleases_matches_the_same_releases(
            text in "(>=|<|\\^|~)[0-2](\\.[0-2]){0,2}( (>=|<)[0-2](\\.[0-2]){0,2})?",
            numbers in proptest::array::uniform3(0..4_u8),
        ) {
            let of = |text: &str| Constraint::parse(text, Masterminds::V3_5).ok();
            let given = of(&text);
            let wider = with_prereleases(&text).map(|text| of(&text).expect("it parses"));
            if let Some((given, wider)) = given.zip(wider) {
                let [major, minor, patch] = numbers;
                let release = Version::parse(&format!("{major}.{minor}.{patch}")).expect("a version");
                proptest::prop_assert_eq!(given.matches(&release), wider.matches(&release));
            }
        }

        #[test]
        fn every_suggestion_parses(text in "[\\[\\(<>=!~^ ,v0-9.x*|\\-+a-c\\)\\]]{0,24}") {
            if let Some(Suggestion::Range(range)) = constraint(&text) {
                proptest::prop_assert!(crd::fits_pattern(&range) && crd::fits_length(&range));
                proptest::prop_assert!(Constraint::parse(&range, Masterminds::V3_5).is_ok());
            }
            if let Some(range) = skip_range(&text) {
                proptest::prop_assert!(SkipRange::parse(&range).is_ok());
            }
        }
    }
}
