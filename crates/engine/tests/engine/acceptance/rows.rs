//! The order and the conditions of rows that no table of the specification covers. Each line of these tables fails if
//! the condition is dropped or inverted.

use olmguard_engine::extension::{Installed, InstalledBundle, UnknownCause};
use olmguard_engine::judge::Token;
use olmguard_engine::snapshot::Content;

use olmguard_fixtures::question::{Question, ask, ask_at};
use olmguard_fixtures::written::{Written, written};

#[track_caller]
fn answers(rows: impl IntoIterator<Item = (&'static str, Question, Token)>) {
    for (why, question, expected) in rows {
        assert_eq!(question.answer().token, expected, "{why}");
    }
}

fn of(lines: &'static str) -> Question {
    ask(&[("c", 0, &written(lines))])
}

fn unknown(question: Question) -> Question {
    question.with_installed(Installed::Unknown(UnknownCause::Condition))
}

#[test]
fn what_is_installed_is_asked_between_the_catalogs_and_their_content() {
    let missing = || of("alpha: 1.0.0").state("c", |state| state.content = Content::Missing);
    answers([
        ("row 4 before 4a", unknown(ask(&[])), Token::NoCatalogs),
        (
            "row 4a before 5",
            unknown(missing()),
            Token::InstalledUnknown,
        ),
        (
            "the bypass lifts 4a",
            unknown(missing()).bypass(),
            Token::CatalogNotLoaded,
        ),
        ("row 5", missing(), Token::CatalogNotLoaded),
    ]);
}

/// Edges by name depend on the name, and no bundle has this version.
#[test]
fn without_a_name_an_answer_counts_if_each_name_gives_it() {
    let nameless = |lines, range| {
        let installed = InstalledBundle {
            name: None,
            version: "1.5.0".to_owned(),
            release: None,
        };
        of(lines)
            .with_installed(Installed::Bundle(installed))
            .range(range)
    };
    let by_name = "alpha: 1.0.0; 2.0.0 replaces 1.4.9";
    let by_range = "alpha: 1.0.0; 2.0.0 replaces 1.4.9 skipRange >=1.5.0 <2.0.0";
    answers([
        (
            "an edge can start at it",
            nameless(by_name, "2.0.0"),
            Token::InstalledUnknown,
        ),
        (
            "no name has an upgrade to it",
            nameless(by_name, "1.0.0"),
            Token::Downgrade,
        ),
        (
            "the range of the edge has it",
            nameless(by_range, "2.0.0"),
            Token::Resolved,
        ),
    ]);
}

/// Upstream v1.0 and v1.1 read the installed version before they look for the package. OpenShift's builds of v1.0 look
/// for the package first.
#[test]
fn releases_differ_in_whether_a_missing_package_is_walked() {
    const OTHER: Written<'_> = Written {
        package: "other",
        ..written("alpha: 1.0.0")
    };
    let at = |release| ask_at(release, &[], &[("c", 0, &OTHER)]).installed("garbage");
    answers([
        ("1.0", at("1.0"), Token::InstalledVersionInvalid),
        (
            "openshift-4.18",
            at("openshift-4.18"),
            Token::PackageNotFound,
        ),
        ("1.1", at("1.1"), Token::InstalledVersionInvalid),
        ("1.2", at("1.2"), Token::PackageNotFound),
    ]);
}

#[test]
fn a_channel_is_not_found_only_if_none_of_them_exists() {
    let asked = |channels| {
        of("alpha: 1.0.0\n beta: 2.0.0")
            .channels(channels)
            .range("9")
    };
    answers([
        (
            "one exists",
            asked(&["alpha", "gamma"]),
            Token::VersionNotFound,
        ),
        (
            "all exist",
            asked(&["alpha", "beta"]),
            Token::VersionNotFound,
        ),
        (
            "none exists",
            asked(&["gamma", "delta"]),
            Token::ChannelNotFound,
        ),
    ]);
}

#[test]
fn a_downgrade_is_one_only_if_every_candidate_is_older() {
    let lines = "alpha: 1.0.0; 1.1.0; 2.0.0; 3.0.0";
    let asked = |range| of(lines).installed("2.0.0").range(range);
    answers([
        ("all are older", asked("<2.0.0"), Token::Downgrade),
        (
            "one is newer",
            asked("<2.0.0 || >2.0.0"),
            Token::NotASuccessor,
        ),
        ("all are newer", asked(">2.0.0"), Token::NotASuccessor),
    ]);
}

#[test]
fn older_is_a_lower_version_or_else_a_lower_release() {
    let at = |lines| of(lines).installed("1.0.0+2");
    answers([
        ("a lower release", at("alpha: 1.0.0+1"), Token::Downgrade),
        (
            "a higher release",
            at("alpha: 1.0.0+3"),
            Token::NotASuccessor,
        ),
        (
            "a lower version of a higher release",
            at("alpha: 0.9.0+3"),
            Token::Downgrade,
        ),
        (
            "no release is the lowest",
            at("alpha: 1.0.0"),
            Token::Downgrade,
        ),
        (
            "what cannot be read is not older",
            at("alpha: 0.9.0; broken"),
            Token::NotASuccessor,
        ),
    ]);
}
