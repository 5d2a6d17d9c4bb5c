//! 8.4: filters, order and validation.

use olmguard_catalog::version::{Constraint, Masterminds, Version};
use olmguard_engine::judge::Token;

use olmguard_fixtures::question::{Question, ask, content, package, rules};
use olmguard_fixtures::written::{Written, written};

/// The versions of the candidates in the only catalog.
fn candidates(question: &Question) -> Vec<String> {
    question.ruled(|ruled| {
        let [only] = ruled.matched.as_slice() else {
            return Vec::new();
        };
        let name = |index| only.package.bundle(index).name.to_string();
        only.candidates.iter().map(name).collect()
    })
}

#[test]
fn rows_8_4_filters() {
    let ranged = written("(none): 1.0.0; 0.0.1; broken");
    assert_eq!(
        candidates(&ask(&[("a", 0, &ranged)]).range(">=1.0.0")),
        ["P.v1.0.0"]
    );
    let in_channels = written("alpha: 1.0.0; 2.0.0\n stable: 1.0.0\n (none): 3.0.0");
    let of = |channel| candidates(&ask(&[("a", 0, &in_channels)]).channels(&[channel]));
    assert_eq!(of("alpha"), ["P.v2.0.0", "P.v1.0.0"]);
    assert_eq!(of("stable"), ["P.v1.0.0"]);
}

#[test]
fn rows_8_4_version_ranges() {
    for (range, version, expected) in [
        ("1.0.0+1", "1.0.0", true),
        ("1.0.0+1", "1.0.0+1", true),
        ("1.0.0+1", "1.0.0+2", true),
        ("1.0.0", "1.0.0", true),
        ("1.0.0", "1.0.0+1", true),
        (">=2.0.0", "1.0.0", false),
    ] {
        let constraint = Constraint::parse(range, Masterminds::V3_5).expect("a range");
        let version = Version::parse(version).expect("a version");
        assert_eq!(
            constraint.matches(&version),
            expected,
            "8.4: {range} of {version}"
        );
    }
    assert!(Constraint::parse("not-a-valid-version", Masterminds::V3_5).is_err());
}

#[test]
fn rows_8_4_order() {
    let lines = "(none): 1.0.0-alpha+1; 0.0.1; 1.0.0-alpha+2; 1.0.0";
    let unreadable = r#"
        {"schema": "olm.bundle", "package": "P", "name": "empty",
         "properties": [{"type": "olm.package", "value": {"packageName": "P"}}]}
        {"schema": "olm.bundle", "package": "P", "name": "without"}"#;
    let content = content(&(written(lines).fbc() + unreadable), &rules("1.11", &[]));
    let names: Vec<_> = package(&content, "P")
        .bundles()
        .map(|(_, bundle)| &*bundle.name)
        .collect();
    let expected = [
        "P.v1.0.0",
        "P.v1.0.0-alpha+2",
        "P.v1.0.0-alpha+1",
        "P.v0.0.1",
        "empty",
        "without",
    ];
    assert_eq!(names, expected);
}

/// OLM sorts only by version and release, and otherwise keeps the order of the files `NAME.json`.
#[test]
fn of_equal_rank_the_first_file_in_olms_cache_is_preferred() {
    let bundle = |name: &str| {
        format!(
            r#"{{"schema": "olm.bundle", "package": "P", "name": "{name}", "properties": [
             {{"type": "olm.package", "value": {{"packageName": "P", "version": "1.0.0"}}}}]}}"#
        )
    };
    let names = |order: &[&str]| -> Vec<String> {
        let blobs: Vec<_> = order.iter().map(|name| bundle(name)).collect();
        let content = content(&blobs.join("\n"), &rules("1.11", &[]));
        let bundles = package(&content, "P").bundles();
        bundles.map(|(_, bundle)| bundle.name.to_string()).collect()
    };
    for expected in [
        // `-`, `+` and a space sort before the `.` of `.json`; digits and letters sort after it.
        ["P.v1-01", "P.v1", "P.v10"],
        ["P.v1 a", "P.v1+2", "P.v1"],
        ["P.v1", "P.v1a", "P.v2"],
        // A directory is visited in the order of its own name.
        ["P.v1/b", "P.v1-a", "P.v1"],
    ] {
        let [a, b, c] = expected;
        for order in [[a, b, c], [b, c, a], [c, b, a], [c, a, b]] {
            assert_eq!(names(&order), expected, "{order:?}");
        }
    }
}

#[test]
fn rows_8_4_deprecation_order() {
    // a and b are deprecated, c and d are not; a and c are the higher ones of each pair.
    let lines = "(none): 4.0.0; 3.0.0; 2.0.0; 1.0.0\n (deprecated): 4.0.0; 3.0.0";
    let [a, b, c, d] = ["4.0.0", "3.0.0", "2.0.0", "1.0.0"];
    let content = content(&written(lines).fbc(), &rules("1.11", &[]));
    let package = package(&content, "P");
    for (of, expected) in [
        ([a, b], a),
        ([a, c], c),
        ([c, a], c),
        ([b, d], d),
        ([c, d], c),
    ] {
        let mut pair = package.every_bundle();
        pair.retain(|index| {
            of.iter()
                .any(|v| *package.bundle(index).name == format!("P.v{v}"))
        });
        let best = package.preferred(&pair).expect("a bundle");
        assert_eq!(
            *package.bundle(best).name,
            format!("P.v{expected}"),
            "8.4: {of:?}"
        );
    }
}

#[test]
fn rows_8_4_validation() {
    const LINES: [(&str, &str); 3] = [
        (
            "olm.package.required",
            "alpha: 1.0.0\n (requires): 1.0.0 olm.package.required",
        ),
        (
            "olm.gvk.required",
            "alpha: 1.0.0\n (requires): 1.0.0 olm.gvk.required",
        ),
        (
            "olm.constraint",
            "alpha: 1.0.0\n (requires): 1.0.0 olm.constraint",
        ),
    ];
    for (kind, lines) in LINES {
        let written = Written {
            lines,
            prefix: "fake-catalog/P/alpha/",
            ..written("")
        };
        let answer = ask(&[("fake-catalog", 0, &written)]).answer();
        assert_eq!(answer.token, Token::UnsupportedDependency, "8.4: {kind}");
        let expected = format!(
            "validating bundle \"fake-catalog/P/alpha/1.0.0\": bundle \"fake-catalog/P/alpha/1.0.0\" \
             has a dependency declared via property \"{kind}\" which is currently not supported"
        );
        assert_eq!(answer.upstream, Some(expected), "8.4: {kind}");
    }
    let free = ask(&[("fake-catalog", 0, &written("alpha: 1.0.0"))]).answer();
    assert_eq!(free.token, Token::Resolved);
}
