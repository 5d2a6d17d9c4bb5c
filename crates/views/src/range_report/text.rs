//! The report as text for people: one fact a line, each behind its label.

use super::{CrdAnswer, RangeReport, Syntax, place};
use olmguard_catalog::version::suggestion::{self, Suggestion};
use olmguard_catalog::version::{RangeFault, crd, go};
use olmguard_engine::explain::range;
use olmguard_engine::explain::text::one_line;
use olmguard_report::{Text, Tone};

impl RangeReport {
    /// The report as it is printed with `-o text`, with its last line break.
    pub fn to_text(&self) -> Text {
        let mut text = Text::with_labels(16);
        match (&self.words, &self.fault) {
            (Some(words), _) => self.say_meaning(words, &mut text),
            (None, fault) => self.say_refusal(fault.as_ref(), &mut text),
        }
        if let Some(answer) = self.answer {
            self.say_crd(answer, &mut text);
        }
        if let Some(suggestion) = self.suggestion() {
            text.labelled("Fix", Tone::Good, &range::suggestion(&suggestion));
        }
        self.say_subjects(&mut text);
        let unreadable = self.invalid.iter().zip(&self.why_invalid);
        let unreadable =
            unreadable.map(|(name, why)| format!("{}: {}", go::escape(name), one_line(why)));
        text.under("Not valid", Tone::Bad, unreadable);
        text
    }

    /// What to write if something refuses the range.
    fn suggestion(&self) -> Option<Suggestion> {
        match self.syntax {
            Syntax::SkipRange if !self.is_range() => {
                suggestion::skip_range(&self.range).map(Suggestion::Range)
            }
            Syntax::Spec if !self.is_range() || self.answer == Some(CrdAnswer::Malformed) => {
                suggestion::constraint(&self.range)
            }
            Syntax::Spec | Syntax::SkipRange => None,
        }
    }

    fn say_meaning(&self, words: &str, text: &mut Text) {
        text.labelled("Range", Tone::Plain, &go::escape(&self.range));
        text.fact("Means", Tone::Plain, words);
        let (tone, bound) = match (self.open_above, self.syntax) {
            (Some(true), Syntax::Spec) => (Tone::Caution, OPEN),
            (Some(true), Syntax::SkipRange) => (Tone::Caution, OPEN_SKIP_RANGE),
            _ => (Tone::Good, self.bound.as_deref().unwrap_or(BOUNDED)),
        };
        text.labelled("Upper bound", tone, bound);
    }

    fn say_refusal(&self, fault: Option<&RangeFault>, text: &mut Text) {
        let (Some(fault), Some(error)) = (fault, &self.error) else {
            return;
        };
        let (range, column) = place(&self.range, fault.at);
        text.line(Tone::Plain, range);
        text.line(Tone::Bad, format!("{:column$}^", ""));
        text.line(Tone::Bad, one_line(error));
        text.line(Tone::Plain, range::fault(&self.range, fault));
        if self.syntax == Syntax::SkipRange {
            text.fact("OLM", Tone::Caution, IGNORED);
        }
    }

    fn say_crd(&self, answer: CrdAnswer, text: &mut Text) {
        let (tone, words) = match (answer, self.is_range()) {
            (CrdAnswer::Accepted, true) => (Tone::Good, "accepts it".to_owned()),
            (CrdAnswer::Accepted, false) => (Tone::Caution, STORED.to_owned()),
            (CrdAnswer::Malformed, _) => (Tone::Bad, MALFORMED.to_owned()),
            (CrdAnswer::TooLong, _) => (Tone::Bad, too_long(&self.range)),
        };
        text.fact("CRD", tone, &words);
    }

    fn say_subjects(&self, text: &mut Text) {
        let has_others = !self.others.is_empty() || !self.panics.is_empty();
        if self.matches.is_empty() && has_others {
            text.labelled(MATCHES, Tone::Caution, "none");
        }
        text.under(MATCHES, Tone::Good, escaped(&self.matches));
        text.under("Does not match", Tone::Plain, escaped(&self.others));
        text.under("Panics on", Tone::Bad, escaped(&self.panics));
    }
}

const OPEN: &str = "none: OLM upgrades to newer versions automatically";
const OPEN_SKIP_RANGE: &str = "none: it matches every newer version";
const BOUNDED: &str = "yes";
const IGNORED: &str = "ignores a skipRange that is not valid: it skips nothing";
const STORED: &str = "accepts it: the API server stores what OLM then cannot resolve";
const MALFORMED: &str = "rejects it: invalid version expression";

fn too_long(range: &str) -> String {
    let (found, most) = (range.chars().count(), crd::MAX_CHARACTERS);
    format!("rejects it: {found} characters, at most {most} are allowed")
}

fn escaped(names: &[String]) -> Vec<String> {
    names.iter().map(|name| go::escape(name)).collect()
}

const MATCHES: &str = "Matches";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range_report::{Grammar, Subject};
    use olmguard_catalog::version::Masterminds;

    const SPEC: Grammar = Grammar::Spec(Masterminds::V3_5);

    #[track_caller]
    fn check(range: &str, grammar: Grammar, versions: &[&str], expected: &[&str]) {
        let subjects = versions.iter().map(|text| Subject::version(text));
        let text = RangeReport::new(range, grammar, subjects).to_text();
        assert_eq!(text.to_string(), expected.join("\n") + "\n");
    }

    #[test]
    fn a_bounded_range() {
        let versions = ["1.5.0", "1.0.0-rc.1", "1.9.9", "v2.0.0"];
        check(
            ">=1.0.0, <2.0.0",
            SPEC,
            &versions,
            &[
                "Range           >=1.0.0, <2.0.0",
                "Means           from 1.0.0 up to, but without, 2.0.0; releases only",
                "Upper bound     <2.0.0",
                "CRD             accepts it",
                "Matches         1.5.0",
                "                1.9.9",
                "Does not match  1.0.0-rc.1",
                "Not valid       v2.0.0: Invalid character(s) found in major number \"v2\"",
            ],
        );
    }

    #[test]
    fn an_open_range_that_the_crd_refuses() {
        check(
            "1, * || >=01",
            SPEC,
            &["0.9.0"],
            &[
                "Range           1, * || >=01",
                "Means           from 1.0.0; releases only",
                "Upper bound     none: OLM upgrades to newer versions automatically",
                "CRD             rejects it: invalid version expression",
                "Matches         none",
                "Does not match  0.9.0",
            ],
        );
    }

    #[test]
    fn what_the_crd_accepts_and_the_library_refuses() {
        check(
            ">=1.0.0 1.2.3-01",
            SPEC,
            &["1.0.0", ""],
            &[
                ">=1.0.0 1.2.3-01",
                "              ^",
                "constraint parser error",
                "a numeric prerelease identifier must not start with 0: -01",
                "CRD             accepts it: the API server stores what OLM then cannot resolve",
                "Not valid       : Version string empty",
            ],
        );
    }

    #[test]
    fn a_range_that_is_too_long_for_the_crd() {
        let range = format!("{:65}", ">=1.0.0");
        check(
            &range,
            SPEC,
            &[],
            &[
                &format!("Range           {range}"),
                "Means           from 1.0.0; releases only",
                "Upper bound     none: OLM upgrades to newer versions automatically",
                "CRD             rejects it: 65 characters, at most 64 are allowed",
            ],
        );
    }

    #[test]
    fn the_empty_range() {
        check(
            "",
            SPEC,
            &[],
            &[
                "",
                "^",
                "improper constraint: \"\"",
                "expected a comparator such as >=1.2.3, found the end",
                "CRD             rejects it: invalid version expression",
                "Fix             omit the version: OLM then installs the newest one that it can",
            ],
        );
    }

    #[test]
    fn a_skip_range_that_panics() {
        check(
            ">=2.0.0 || || 1.0.0",
            Grammar::SkipRange,
            &["2.1.0", "1.0.0"],
            &[
                "Range           >=2.0.0 || || 1.0.0",
                "Means           from 2.0.0; prereleases included; on every other version the",
                "                controller panics",
                "Upper bound     none: it matches every newer version",
                "Matches         2.1.0",
                "Panics on       1.0.0",
            ],
        );
    }

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        check(
            "漢\u{1b}[2J\u{202e} <2",
            Grammar::SkipRange,
            &["\u{7}1\n"],
            &[
                "漢\\x1b[2J\\u202e <2",
                "^",
                "Could not parse Range \"漢\\x1b[2J\\u202e\": Could not parse comparator \
                 \"漢\\x1b[\" in \"漢\\x1b[2J\\u202e\"",
                "expected an operator of this syntax, found \"漢\"",
                "OLM             ignores a skipRange that is not valid: it skips nothing",
                "Not valid       \\a1\\n: No Major.Minor.Patch elements found",
            ],
        );
    }
}
