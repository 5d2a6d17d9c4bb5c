//! Laws that hold for every input: parsers answer, printing reads back, the order is total, and
//! faults point into the text.

use std::cmp::Ordering;

use olmguard_catalog::version::{
    Constraint, ExpectedPart, LegacyRelease, Masterminds, MastermindsErrorKind, MastermindsVersion,
    RangeFault, Release, ReleaseLimit, SkipRange, Version, VersionRelease, crd, go,
};
use olmguard_engine::explain::range as explain;
use proptest::prelude::*;

const RELEASES: [Masterminds; 4] = [
    Masterminds::V3_3_0,
    Masterminds::V3_3_1,
    Masterminds::V3_4,
    Masterminds::V3_5,
];

/// Any characters; those with a meaning in a range are more frequent.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[-0-9xX*|.+ ,<>=!~^va\t]{0,12}",
        2 => "1\\.[0-9x]\\.[0-9x](-[a-z0-9.]{1,4})? ?(- )?",
        1 => "\\PC{0,4}",
        1 => any::<String>(),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn version() -> impl Strategy<Value = Version> {
    let identifier = "0|[1-9][0-9]?|[0-9]?[a-c-][0-9a-c-]?";
    let tail = proptest::collection::vec(identifier, 0..3).prop_map(|list| list.join("."));
    ([0_u64..3, 0..3, 0..3], tail.clone(), tail).prop_map(|([major, minor, patch], pre, build)| {
        let sign = |sign: &str, text: String| match text.as_str() {
            "" => text,
            _ => format!("{sign}{text}"),
        };
        let text = format!(
            "{major}.{minor}.{patch}{}{}",
            sign("-", pre),
            sign("+", build)
        );
        Version::parse(&text).expect("the strategy makes versions")
    })
}

#[track_caller]
fn assert_points_into(text: &str, fault: RangeFault) {
    let found = text
        .get(fault.at..)
        .expect("a character boundary")
        .chars()
        .next();
    assert_eq!(fault.found, found, "{text:?}");
    let words = explain::fault(text, &fault);
    let begin = match fault.expected {
        ExpectedPart::NoLeadingZero => "a numeric prerelease identifier must not start with 0: ",
        _ => "expected ",
    };
    assert!(words.starts_with(begin), "{text:?}: {words}");
}

proptest! {
    #[test]
    fn constraints_answer_on_any_text(text in text(), version in version()) {
        for release in RELEASES {
            match Constraint::parse(&text, release) {
                Ok(constraint) => {
                    constraint.matches(&version);
                    constraint.is_open_above();
                    prop_assert!(!explain::constraint(&constraint).is_empty());
                    prop_assert_eq!(constraint.as_str(), text.as_str());
                }
                Err(error) => assert_points_into(&text, error.fault()),
            }
        }
    }

    #[test]
    fn skip_ranges_answer_on_any_text(text in text(), version in version()) {
        match SkipRange::parse(&text) {
            Ok(range) => {
                range.takes(&version);
                range.is_open_above();
                prop_assert!(!explain::skip_range(&range).is_empty());
                prop_assert_eq!(range.as_str(), text.as_str());
            }
            Err(error) => assert_points_into(&text, error.fault()),
        }
    }

    #[test]
    fn versions_print_what_was_read(text in text()) {
        match Version::parse(&text) {
            Ok(version) => prop_assert_eq!(version.to_string(), text),
            Err(error) => prop_assert!(text.get(error.at()..).is_some()),
        }
    }

    #[test]
    fn releases_print_what_was_read(text in "[0-9a-z.-]{0,24}") {
        if let Ok(release) = Release::parse(&text, ReleaseLimit::Unlimited) {
            prop_assert_eq!(release.to_string(), text.as_str());
            let limited = Release::parse(&text, ReleaseLimit::Bytes20);
            prop_assert_eq!(limited.is_ok(), text.len() <= 20);
        }
    }

    #[test]
    fn what_blang_reads_masterminds_reads_alike(version in version(), other in version()) {
        let read = |version: &Version| {
            MastermindsVersion::parse(&version.to_string(), Masterminds::V3_5)
                .expect("blang is stricter")
        };
        prop_assert_eq!(read(&version).to_string(), version.to_string());
        prop_assert!(read(&version).is_same(&version));
        let order = read(&version).cmp_precedence(&read(&other));
        prop_assert_eq!(order, version.cmp_precedence(&other));
    }

    #[test]
    fn the_order_is_total(a in version(), b in version(), c in version()) {
        let order = Version::cmp_precedence;
        prop_assert_eq!(order(&a, &b), order(&b, &a).reverse());
        if order(&a, &b) != Ordering::Greater && order(&b, &c) != Ordering::Greater {
            prop_assert_ne!(order(&a, &c), Ordering::Greater);
        }
        let has_same_text = a.without_build().to_string() == b.without_build().to_string();
        prop_assert_eq!(order(&a, &b) == Ordering::Equal, has_same_text);
    }

    #[test]
    fn a_legacy_release_is_the_build_metadata(version in version()) {
        let legacy = LegacyRelease::Read(ReleaseLimit::Bytes20);
        let read = VersionRelease::parse_legacy(&version.to_string(), legacy).expect("a version");
        let read_as = (read.release.as_ref().map_or("", Release::as_str), read.version.build());
        let text = version.build();
        let is_release = Release::parse(text, ReleaseLimit::Bytes20).is_ok();
        prop_assert_eq!(read_as, if is_release { (text, "") } else { ("", text) });
    }

    #[test]
    fn the_crd_and_quoting_answer_on_any_text(text in text()) {
        crd::fits_pattern(&text);
        prop_assert_eq!(crd::fits_length(&text), text.chars().count() <= 64);
        let quoted = go::quote(&text);
        prop_assert!(!quoted.contains(|character: char| character.is_control()));
        // At the start of a line, a colon is escaped too.
        let inside = go::escape(&format!("a{text}"));
        prop_assert_eq!(quoted, format!("\"{}\"", &inside[1..]));
    }
}

#[test]
fn faults_of_constraints() {
    let rows = [
        (">=1.0.0<2.0.0", 7, ExpectedPart::Separator),
        (">=1.0.0, ", 9, ExpectedPart::Comparator),
        (">= ", 3, ExpectedPart::Version),
        ("1.0.0 || latest", 9, ExpectedPart::Comparator),
        ("1.2.3.4", 5, ExpectedPart::Separator),
        (">1.0.0 >=1.2.3-01", 15, ExpectedPart::NoLeadingZero),
        ("^1.2-rc.01+7", 8, ExpectedPart::NoLeadingZero),
        ("1 - 2 - 3", 6, ExpectedPart::Comparator),
        (">=1 - 2", 4, ExpectedPart::HyphenRange),
        ("foo || 1 - 2", 0, ExpectedPart::Comparator),
        ("1 - 2 || foo", 9, ExpectedPart::Comparator),
        (">=1.0.0 1.2.3-01 - 2", 17, ExpectedPart::HyphenRange),
        ("", 0, ExpectedPart::Comparator),
    ];
    for (text, at, expected) in rows {
        let fault = Constraint::parse(text, Masterminds::V3_5)
            .expect_err(text)
            .fault();
        assert_eq!((fault.at, fault.expected), (at, expected), "{text:?}");
    }
}

#[test]
fn a_leading_zero_in_a_prerelease_is_named() {
    for (text, identifier) in [
        ("1.0.0-01", "-01"),
        (">=1.2 <2.0.0-rc.007.1+build", ".007"),
        ("1.2.x-00", "-00"),
    ] {
        let fault = Constraint::parse(text, Masterminds::V3_5)
            .expect_err(text)
            .fault();
        let expected =
            format!("a numeric prerelease identifier must not start with 0: {identifier}");
        assert_eq!(explain::fault(text, &fault), expected);
    }
}

#[test]
fn faults_of_skip_ranges() {
    let rows = [
        (">=1.0.0, <2.0.0", 6, ExpectedPart::Version),
        (">1.2", 4, ExpectedPart::Version),
        (">= 1. 2 <2.0.0", 5, ExpectedPart::Version),
        (">1.0.0 ~1.2.3", 7, ExpectedPart::Operator),
        (">1.0.0 AND <2.0.0", 7, ExpectedPart::Version),
        ("1.0.0 ||", 8, ExpectedPart::Comparator),
        ("|| 1.0.0", 0, ExpectedPart::Comparator),
        (">1.0.0-next", 0, ExpectedPart::Version),
        (">=1.0.0-0.00", 10, ExpectedPart::NoLeadingZero),
    ];
    for (text, at, expected) in rows {
        let fault = SkipRange::parse(text).expect_err(text).fault();
        assert_eq!((fault.at, fault.expected), (at, expected), "{text:?}");
    }
}

#[test]
fn older_masterminds_refuse_in_their_own_words() {
    use Masterminds::{V3_3_0, V3_3_1, V3_4, V3_5};
    let rows = [
        ("1.0.0.0", V3_3_0, "Invalid Semantic Version"),
        ("1.0.0-01", V3_3_0, "Version segment starts with 0"),
        ("1.0.0-01", V3_3_1, "Invalid Semantic Version"),
        ("01.0.0", V3_3_1, "Invalid Semantic Version"),
        ("1.0.0.0", V3_4, "invalid semantic version"),
        ("1.0.0-01", V3_5, "version segment starts with 0"),
        (
            "18446744073709551616.0.0",
            V3_3_0,
            "Error parsing version segment: strconv.ParseUint: parsing \"18446744073709551616\": \
             value out of range",
        ),
    ];
    for (text, release, expected) in rows {
        let error = MastermindsVersion::parse(text, release).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text:?}");
    }
    for release in [V3_3_0, V3_4, V3_5] {
        let read = MastermindsVersion::parse("v01.2+b", release).map(|version| version.to_string());
        assert_eq!(read.as_deref(), Ok("1.2.0+b"));
    }
    let error = MastermindsVersion::parse("x", V3_5).expect_err("no version");
    assert_eq!(error.kind(), &MastermindsErrorKind::Invalid);
}

#[test]
fn improper_constraints_are_quoted_since_3_5() {
    let rows = [
        (Masterminds::V3_3_1, "improper constraint: >=1.0.0 foo"),
        (Masterminds::V3_4, "improper constraint: >=1.0.0 foo"),
        (Masterminds::V3_5, "improper constraint: \">=1.0.0 foo\""),
    ];
    for (release, expected) in rows {
        let error = Constraint::parse(">=1.0.0 foo", release).expect_err("foo is no version");
        assert_eq!(error.to_string(), expected);
    }
}
