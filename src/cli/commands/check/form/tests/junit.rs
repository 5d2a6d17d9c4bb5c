use proptest::prelude::*;
use roxmltree::Document;

use super::{happened, result, runs};
use crate::cli::Exit;
use olmguard_engine::explain::one_line;
use olmguard_engine::judge::{Token, Verdict};
use olmguard_report::Severity;
use olmguard_support::junit::{assert_is_junit, fault};

fn count(document: &Document<'_>, name: &str) -> usize {
    let nodes = document.descendants();
    nodes.filter(|node| node.has_tag_name(name)).count()
}

#[test]
fn a_suite_for_each_file() {
    let denied = |file| {
        let texts = ["lamp", file, "p: refused", "1.0", ""];
        result(Token::NotASuccessor, Exit::Denied, texts)
    };
    let warned = result(Token::Resolved, Exit::Good, ["b", "f", "", "1.0", "old"]);
    let xml = happened(vec![denied("f"), warned, denied("g")])
        .run()
        .junit()
        .unwrap();
    let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="olmguard check" tests="3" failures="2" errors="0">
    <testsuite name="f" tests="2" skipped="0" errors="0" failures="1">
        <testcase name="lamp" classname="f">
            <failure message="p: refused" type="NotASuccessor">f:11:16
p: refused
Fix: set 1.0 to it
Help: p: refused</failure>
        </testcase>
        <testcase name="b" classname="f">
            <system-out>old</system-out>
        </testcase>
    </testsuite>
    <testsuite name="g" tests="1" skipped="0" errors="0" failures="1">
        <testcase name="lamp" classname="g">
            <failure message="p: refused" type="NotASuccessor">g:11:16
p: refused
Fix: set 1.0 to it
Help: p: refused</failure>
        </testcase>
    </testsuite>
</testsuites>
"#;
    assert_is_junit(&xml);
    assert_eq!(xml, expected);
}

#[test]
fn a_warning_that_counts_is_a_failure() {
    let texts = ["b", "f", "", "1.0", "old"];
    let run = happened(vec![result(Token::Resolved, Exit::Denied, texts)]);
    let xml = run.run().junit().unwrap();
    assert!(
        xml.contains("<failure message=\"old\" type=\"Warning\">old</failure>"),
        "{xml}"
    );
}

#[test]
fn a_fault_is_seen() {
    for (xml, expected) in [
        ("<testsuites skipped=\"1\"/>", "testsuites has skipped"),
        ("<testsuite name=\"a\"/>", "testsuite lacks tests"),
        (
            "<testsuites><testcase name=\"a\"/></testsuites>",
            "testcase in testsuites",
        ),
        ("<testsuites>a</testsuites>", "a text in testsuites"),
        ("<a/>", "no element a"),
    ] {
        let document = Document::parse(xml).unwrap();
        assert_eq!(
            fault(document.root_element()).as_deref(),
            Some(expected),
            "{xml}"
        );
    }
}

proptest! {
    #[test]
    fn it_is_xml_that_fits_the_table(happened in runs()) {
        let run = happened.run();
        let xml = run.junit().unwrap();
        let document = Document::parse(&xml);
        let document = document.map_err(|error| TestCaseError::fail(format!("{error}: {xml}")))?;
        prop_assert_eq!(fault(document.root_element()), None, "{}", xml);
        let errors = run.troubles.iter().filter(|one| one.severity == Severity::Error).count();
        prop_assert_eq!(count(&document, "testcase"), run.results.len() + errors);
        let of = |verdict| run.results.iter().filter(move |told| told.answer.verdict() == verdict);
        let counted = of(Verdict::Undecided).filter(|told| told.counts != Exit::Good).count();
        prop_assert_eq!(count(&document, "error"), counted + errors);
        let by_warning = of(Verdict::Allow).filter(|told| told.counts != Exit::Good).count();
        prop_assert_eq!(count(&document, "failure"), of(Verdict::Deny).count() + by_warning);
        prop_assert_eq!(count(&document, "skipped"), of(Verdict::NotJudged).count());
        let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
        let names: Vec<_> = cases.skip(errors).filter_map(|case| case.attribute("name")).collect();
        let told: Vec<_> = run.results.iter().map(|told| one_line(&told.name())).collect();
        prop_assert_eq!(names, told);
    }
}
