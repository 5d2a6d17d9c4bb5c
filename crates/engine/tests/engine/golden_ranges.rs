//! The hand-picked tables of ranges: the versions that they match, their errors, and the answers of
//! the CRD.

use olmguard_catalog::version::{Constraint, Masterminds, Membership, SkipRange, Version, crd};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
struct Row {
    range: String,
    error: Option<String>,
    holds: Vec<String>,
    holds_not: Vec<String>,
    #[serde(default)]
    crashes: Vec<String>,
}

impl Row {
    #[track_caller]
    fn check(&self, got: Result<impl Fn(&Version) -> Membership, String>) {
        let takes = match (got, &self.error) {
            (Ok(takes), None) => takes,
            (got, error) => {
                assert_eq!(got.err().as_ref(), error.as_ref(), "{:?}", self.range);
                return;
            }
        };
        let answers = [
            (&self.holds, Membership::Holds),
            (&self.holds_not, Membership::HoldsNot),
            (&self.crashes, Membership::Crashes),
        ];
        for (versions, expected) in answers {
            for text in versions {
                let version = Version::parse(text).expect(text);
                assert_eq!(takes(&version), expected, "{:?} on {text}", self.range);
            }
        }
    }
}

fn rows<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let rows: Vec<_> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    assert!(!rows.is_empty());
    rows
}

#[test]
fn constraints() {
    for row in rows::<Row>(include_str!(
        "../../../../tests/vectors/golden/constraints.jsonl"
    )) {
        let constraint = Constraint::parse(&row.range, Masterminds::V3_5);
        row.check(
            constraint
                .map_err(|error| error.to_string())
                .map(|constraint| {
                    move |version: &Version| {
                        if constraint.matches(version) {
                            Membership::Holds
                        } else {
                            Membership::HoldsNot
                        }
                    }
                }),
        );
    }
}

#[test]
fn skip_ranges() {
    for row in rows::<Row>(include_str!(
        "../../../../tests/vectors/golden/skip-ranges.jsonl"
    )) {
        let range = SkipRange::parse(&row.range);
        let takes = range.map(|range| move |version: &Version| range.takes(version));
        row.check(takes.map_err(|error| error.to_string()));
    }
}

#[derive(Deserialize)]
struct CrdRow {
    range: String,
    crd: bool,
    error: Option<String>,
}

#[test]
fn crd_beside_masterminds() {
    for CrdRow { range, crd, error } in
        rows(include_str!("../../../../tests/vectors/golden/crd.jsonl"))
    {
        let accepted = crd::fits_pattern(&range) && crd::fits_length(&range);
        let got = Constraint::parse(&range, Masterminds::V3_5)
            .err()
            .map(|e| e.to_string());
        assert_eq!((accepted, got), (crd, error), "{range:?}");
    }
}

/// A number beyond 64 bits is not a version, so no version is above the highest one.
#[test]
fn ranges_without_an_upper_bound() {
    let open = [
        "*",
        "x-0",
        ">=1",
        ">1.2",
        "!=1.0.0",
        "!=1.x",
        "!=1.2.x",
        "!=1.2.x-alpha",
        "~0.0.0",
        "~*",
        "<1.0.0 || >=2.0.0",
        ">=1.0.0 !=2.x",
        "<1.0.0-0 || >=3.0.0",
    ];
    let bounded = [
        "1.2.3",
        "1.x",
        "^*",
        "<=*",
        "<*",
        "1 - *",
        "1 - 2",
        ">=2.0.0 <1.0.0",
        "~1.2",
        "^0.0.3",
        ">18446744073709551615",
        "!=18446744073709551615",
        "18446744073709551615",
    ];
    for (texts, expected) in [(open.as_slice(), true), (bounded.as_slice(), false)] {
        for text in texts {
            let constraint = Constraint::parse(text, Masterminds::V3_5).expect(text);
            assert_eq!(constraint.is_open_above(), expected, "{text:?}");
        }
    }
}

#[test]
fn skip_ranges_without_an_upper_bound() {
    let rows = [
        (">=1.0.0", true),
        ("!1.0.0", true),
        ("<1.0.0 || >2.0.0", true),
        (">=1.0.0 || || <0.5.0", true),
        (">=1.0.0 <2.0.0", false),
        ("!1.x", false),
        ("1.0.0", false),
        // Upstream never parses beyond the empty group.
        ("<1.0.0 || || >2.0.0", false),
    ];
    for (text, expected) in rows {
        let range = SkipRange::parse(text).expect(text);
        assert_eq!(range.is_open_above(), expected, "{text:?}");
    }
}
