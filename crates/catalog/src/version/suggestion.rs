//! Suggests the nearest valid range for a text that is a range of npm, Maven, `NuGet`, pip or
//! Cargo, or a range in words.
//!
//! A suggestion always parses in its target grammar, matches the CRD's pattern if it is for the
//! CRD, and matches at least one version.

use crate::version::constraint::Constraint;
use crate::version::crd;
use crate::version::masterminds::Masterminds;
use crate::version::meaning::{self, Class};
use crate::version::skip_range::SkipRange;

/// The suggested replacement of an invalid text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Suggestion {
    /// This range.
    Range(String),
    /// No range at all, because the text means any version.
    Nothing,
}

/// The grammar of a suggestion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RangeGrammar {
    /// The range of `spec.source.catalog.version`.
    Spec,
    /// A `skipRange`, which has no short versions, no `^` and no `~`.
    SkipRange,
    /// The range of `spec.source.catalog.version`, extended so that it also matches prereleases.
    Prereleases,
}

/// Suggests a value for `spec.source.catalog.version`.
pub fn constraint(text: &str) -> Option<Suggestion> {
    let text = cleaned(text)?;
    if ANY.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(Suggestion::Nothing);
    }
    let range = alternatives(&text, RangeGrammar::Spec)?;
    let read = Constraint::parse(&range, Masterminds::V3_5).ok()?;
    // A range that only the CRD rejects already has a meaning, which the suggestion must keep.
    let text = Constraint::parse(&text, Masterminds::V3_5).ok();
    let is_other = text.is_some_and(|text| has_versions(&text) && !is_same(&text, &read));
    let is_valid = has_versions(&read) && crd::fits_pattern(&range) && crd::fits_length(&range);
    (is_valid && !is_other).then_some(Suggestion::Range(range))
}

fn has_versions(read: &Constraint) -> bool {
    let has_any =
        |class| meaning::constraint(read, class).is_ok_and(|intervals| !intervals.is_empty());
    has_any(Class::Releases) || has_any(Class::Prereleases)
}

fn is_same(one: &Constraint, other: &Constraint) -> bool {
    let taken = |read, class| meaning::constraint(read, class).ok();
    let mut classes = [Class::Releases, Class::Prereleases].into_iter();
    classes.all(|class| taken(one, class).is_some_and(|one| Some(one) == taken(other, class)))
}

/// Returns a range that matches the same releases as this valid one, and prereleases too. `None` if
/// the range matches prereleases already, or if no such range is known.
pub fn with_prereleases(text: &str) -> Option<String> {
    let range = alternatives(text, RangeGrammar::Prereleases)?;
    let is_valid = crd::fits_pattern(&range) && crd::fits_length(&range);
    (is_valid && range != text).then_some(range)
}

/// Suggests a value for a `skipRange`.
pub fn skip_range(text: &str) -> Option<String> {
    let range = alternatives(&cleaned(text)?, RangeGrammar::SkipRange)?;
    let read = SkipRange::parse(&range).ok()?;
    let is_empty = meaning::skip_range(&read).is_ok_and(|intervals| intervals.is_empty());
    (!is_empty).then_some(range)
}

/// Removes surrounding quotes, and replaces typographic signs with those of the grammars. `None` if
/// the text is longer than [`LONGEST`], because such a text is not a typo.
fn cleaned(text: &str) -> Option<String> {
    let text = Some(text).filter(|text| text.len() <= LONGEST)?;
    let text = text.trim_matches(|sign: char| sign.is_whitespace() || "\"'`".contains(sign));
    let signs = [
        ("≥", ">="),
        ("≤", "<="),
        ("≠", "!="),
        ("–", "-"),
        ("—", "-"),
    ];
    let with = |text: String, (sign, plain): (&str, &str)| text.replace(sign, plain);
    Some(signs.into_iter().fold(text.to_owned(), with))
}

fn alternatives(text: &str, target: RangeGrammar) -> Option<String> {
    let ranges: Vec<_> = if text.starts_with(['[', '(']) {
        intervals(text, target)?
    } else {
        let all = text.split("||").flat_map(|part| part.split(" or "));
        all.map(|part| comparators(part, target))
            .collect::<Option<_>>()?
    };
    Some(ranges.join(" || "))
}

/// Reads the intervals of Maven and `NuGet`: `[1.0,2.0)`, `(,1.5]`, `[1.0]`, in sequence.
fn intervals(mut text: &str, target: RangeGrammar) -> Option<Vec<String>> {
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
            // In these grammars `1.0` is a single version.
            ComparatorParts::read(version.trim())?
                .whole()
                .comparator(operator, target)
        });
        let written = written.collect::<Option<Vec<_>>>()?;
        (!written.is_empty()).then(|| ranges.push(written.join(" ")))?;
        text = after.trim_start_matches([',', ' ']);
    }
    Some(ranges)
}

/// Reads comparators that are joined by spaces, commas or words.
fn comparators(text: &str, target: RangeGrammar) -> Option<String> {
    let hyphen = text.split_once(" - ").or_else(|| text.split_once(" to "));
    if let Some((from, to)) = hyphen {
        let from = ComparatorParts::read(from.trim())?.comparator(">=", target)?;
        let to = ComparatorParts::read(to.trim())?.comparator("<=", target)?;
        return Some(format!("{from} {to}"));
    }
    let (mut rest, mut found, mut is_bare) = (text, Vec::new(), true);
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
            (operator, word) => {
                is_bare &= ["", "=", "==", "==="].contains(&operator);
                found.push(ComparatorParts::read(word)?.comparator(operator, target)?);
            }
        }
    }
    // No version equals two versions, so a list of versions means any of them.
    let separator = if is_bare { " || " } else { " " };
    (!found.is_empty()).then(|| found.join(separator))
}

/// Reads an operator, which may contain spaces, and returns it with the rest of the text.
fn operator(text: &str) -> (String, &str) {
    let is_sign = |sign: char| "<>=!~^".contains(sign);
    let (signs, after) = split(text, |sign| is_sign(sign) || sign == ' ');
    (signs.chars().filter(|sign| is_sign(*sign)).collect(), after)
}

fn split(text: &str, is_inside: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|sign| !is_inside(sign));
    text.split_at(end.unwrap_or(text.len()))
}

/// Words that mean any version, so OLM selects it without a range.
const ANY: [&str; 11] = [
    "",
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

/// Maximum number of bytes of a text that is read. A range in the API has at most 64 characters.
const LONGEST: usize = 256;

// === A version as people write it, whole or short, and the comparators that it makes ===

/// The parts of a version.
#[derive(Clone, Debug)]
struct ComparatorParts {
    /// One to three numbers. Missing numbers and those after a wildcard are not included.
    numbers: Vec<u64>,
    /// Whether a wildcard follows the numbers.
    is_wild: bool,
    /// Prerelease and build metadata, with their signs.
    rest: String,
}

impl ComparatorParts {
    /// Parses a version; `None` if the text is not one.
    fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let core = text.find(|sign: char| !sign.is_ascii_digit() && !".*xX".contains(sign));
        // Gradle's wildcard is `1.2.+`.
        let core = core.filter(|at| !text.ends_with(".+") || at + 1 < text.len());
        let (core, rest) = text.split_at(core.unwrap_or(text.len()));
        let (mut numbers, mut is_wild) = (Vec::new(), false);
        for part in core.split('.') {
            if ["*", "x", "X", "+"].contains(&part) {
                is_wild = true;
            } else if !is_wild {
                numbers.push(part.parse().ok()?);
            }
        }
        let is_version = (1..=3).contains(&numbers.len()) && core.split('.').count() <= 3;
        let rest = match rest.chars().next() {
            Some(letter) if letter.is_ascii_alphabetic() => format!("-{rest}"),
            _ => rest.to_owned(),
        };
        is_version.then_some(Self {
            numbers,
            is_wild,
            rest,
        })
    }

    /// Replaces missing numbers with zeros.
    fn whole(mut self) -> Self {
        if !self.is_wild {
            self.numbers.resize(3, 0);
        }
        self
    }

    /// Writes the comparators for an operator; `None` if no tool has the operator.
    fn comparator(&self, operator: &str, target: RangeGrammar) -> Option<String> {
        let operator = match operator {
            "=" | "==" | "===" => "",
            "=>" => ">=",
            "=<" => "<=",
            "<>" | "!" | "!==" => "!=",
            "~>" => "~",
            other => other,
        };
        let is_known = ["", "!=", ">", "<", ">=", "<=", "~", "^"].contains(&operator);
        match (operator, target) {
            ("~=", _) => self.up_to(self.numbers.len().checked_sub(1).filter(|kept| *kept > 0)?),
            (_, RangeGrammar::Spec) if is_known => Some(format!("{operator}{}", self.written())),
            (_, RangeGrammar::SkipRange) if is_known => self.skipped(operator),
            (_, RangeGrammar::Prereleases) => self.with_prereleases(operator),
            _ => None,
        }
    }

    /// Adds the lowest prerelease, if the range then matches the same releases.
    fn with_prereleases(&self, operator: &str) -> Option<String> {
        let is_short = self.numbers.len() < 3;
        let keeps_releases = match operator {
            ">=" | "<" => true,
            "^" | "~" => !is_short,
            _ => false,
        };
        match self.rest.chars().next() {
            _ if self.is_wild => None,
            None => keeps_releases.then(|| format!("{operator}{}-0", self.padded())),
            Some('-') if !is_short => Some(format!("{operator}{}", self.written())),
            Some(_) => None,
        }
    }

    /// Writes the comparators for a `skipRange`, where versions are complete.
    fn skipped(&self, operator: &str) -> Option<String> {
        let given = self.numbers.len();
        let is_short = given < 3;
        match operator {
            "~" => self.up_to(given.min(2)),
            "^" => {
                let nonzero = self.numbers.iter().position(|number| *number > 0);
                self.up_to(nonzero.map_or(given, |at| at + 1))
            }
            "" if is_short => self.up_to(given),
            "!=" if is_short => None,
            ">" if is_short => Some(format!(">={}", self.next(given)?)),
            "<=" if is_short => Some(format!("<{}", self.next(given)?)),
            operator => Some(format!("{operator}{}", self.padded())),
        }
    }

    /// Writes the range from this version up to the next value of its first `kept` numbers.
    fn up_to(&self, kept: usize) -> Option<String> {
        Some(format!(">={} <{}", self.padded(), self.next(kept)?))
    }

    /// Returns the first version above all versions with the same first `kept` numbers.
    fn next(&self, kept: usize) -> Option<String> {
        let mut numbers = self.numbers.get(..kept)?.to_vec();
        let last = numbers.last_mut()?;
        *last = last.checked_add(1)?;
        let next = Self {
            numbers,
            is_wild: false,
            rest: String::new(),
        };
        Some(next.padded())
    }

    fn padded(&self) -> String {
        let mut whole = self.clone();
        whole.is_wild = false;
        whole.whole().written()
    }

    fn written(&self) -> String {
        let numbers = self.numbers.iter().map(u64::to_string);
        let wild = self.is_wild.then(|| "x".to_owned());
        let parts: Vec<_> = numbers.chain(wild).collect();
        format!("{}{}", parts.join("."), self.rest)
    }
}

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
            ("1.0.0,,2.0.0", "1.0.0 || 2.0.0"),
            ("1.0.0; 1.1.x", "1.0.0 || 1.1.x"),
            ("==1.0.0, ==2.0.0", "1.0.0 || 2.0.0"),
        ] {
            spec(text, expected);
        }
        for word in ["", "latest", "LATEST", " stable "] {
            assert_eq!(constraint(word), Some(Suggestion::Nothing));
        }
    }

    #[test]
    fn a_range_that_has_a_meaning_keeps_it() {
        // Commas and spaces mean AND; only the CRD rejects the leading zeros.
        for text in ["01.2.3, 1.2", "0.1.2-rc.1, 0.x.*", "1.2, 1.02.3"] {
            assert_eq!(constraint(text), None, "{text}");
        }
        for (text, expected) in [
            ("01.2.3", "1.2.3"),
            (">=1.02.0", ">=1.2.0"),
            ("1.2.3, 1.3.0", "1.2.3 || 1.3.0"),
        ] {
            let expected = Suggestion::Range(expected.to_owned());
            assert_eq!(constraint(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_like_no_range_gets_none() {
        for text in [
            "nonsense",
            "1.2.3.4",
            "[1.0",
            "[a,b]",
            "(,)",
            ">=",
            "${VERSION}",
            "1.0 -",
            ">=1.0.0 and 0.5.0",
            "^1.0.0 ^2.0.0;",
        ] {
            assert_eq!(constraint(text), None, "{text}");
            assert_eq!(skip_range(text), None, "{text}");
        }
        assert_eq!(constraint(&"1 ".repeat(400)), None);
    }

    /// The start of a text has another meaning than all of it.
    #[test]
    fn a_text_that_is_too_long_gets_none() {
        let padded = |bytes: usize| format!("^1.2{}|| 2.0", " ".repeat(bytes - "^1.2|| 2.0".len()));
        assert!(constraint(&padded(256)).is_some());
        assert!(skip_range(&padded(256)).is_some());
        assert_eq!(constraint(&padded(257)), None);
        assert_eq!(skip_range(&padded(257)), None);
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
