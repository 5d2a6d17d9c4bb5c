//! `olmguard explain WORD`: a reason code, an alert, an exit code, or an unknown word.

use super::{fails, run};

#[test]
fn explain_prints_the_runbook_of_an_alert() {
    let page = std::fs::read_to_string("docs/runbooks/OlmguardCatalogStale.md").expect("a page");
    for name in ["OlmguardCatalogStale", "olmguardcatalogstale"] {
        assert_eq!(
            run(&["explain", name], ""),
            (Some(0), page.clone(), String::new())
        );
    }
    fails(
        &["explain", "OlmguardCatalogStail"],
        2,
        "\"OlmguardCatalogStail\" is not a reason code, an alert, an exit code, or a known text of OLM or \
         olmguard: expected OlmguardCatalogStale, OlmguardCatalogEmpty, OlmguardCatalogShrunk; to see all \
         reason codes, run olmguard explain --list",
    );
}

#[test]
fn explain_prints_what_an_exit_code_means() {
    let (_, help, _) = run(&["check", "--help"], "");
    for code in 0..=5 {
        let (ended, stdout, stderr) = run(&["explain", &code.to_string()], "");
        assert_eq!((ended, &*stderr), (Some(0), ""), "{code}");
        let start = format!("# Exit code {code}\n\n`olmguard check` exits with {code}: ");
        let meaning = stdout.strip_prefix(&start).expect("its meaning first");
        let meaning = meaning.split(".\n").next().expect("a sentence");
        let row = format!("\n  {code}  {meaning}\n");
        assert!(help.contains(&row), "{row}: {help}");
    }
    let page = run(&["explain", "4"], "");
    assert_eq!(run(&["explain", "exit 4"], ""), page);
    assert_eq!(
        run(&["explain", "Process completed with exit code 4."], ""),
        page
    );
    fails(
        &["explain", "7"],
        2,
        "\"7\" is not a reason code, an alert, an exit code, or a known text of OLM or olmguard; to see \
         all reason codes, run olmguard explain --list",
    );
}

#[test]
fn a_page_on_a_terminal_has_no_marks_of_markdown() {
    let page = std::fs::read_to_string("docs/tokens/Downgrade.md").expect("a page");
    for piped in [&["--color=auto"][..], &["--color=never"]] {
        let (code, stdout, stderr) = run(&[&["explain", "Downgrade"], piped].concat(), "");
        assert_eq!((code, &*stdout, &*stderr), (Some(0), &*page, ""));
    }
    let (code, stdout, stderr) = run(&["explain", "Downgrade", "--color=always"], "");
    assert_eq!((code, &*stderr), (Some(0), ""));
    for expected in [
        "\u{1b}[1mDowngrade\u{1b}[0m\n\nAll versions",
        "\n\u{1b}[1mWhat kubectl shows\u{1b}[0m\n\n    Error from server",
        "reason \u{1b}[1mRetrying\u{1b}[0m and",
    ] {
        assert!(stdout.contains(expected), "{expected}: {stdout}");
    }
    let (_, stdout, _) = run(&["lint", "--explain=stranded-bundle", "--color=always"], "");
    assert!(
        stdout.starts_with("\u{1b}[1mstranded-bundle\u{1b}[0m\n\n"),
        "{stdout}"
    );
}

#[test]
fn a_word_that_is_no_reason_code_gets_the_nearest_and_a_way_to_see_all() {
    fails(
        &["explain", "foo"],
        2,
        "\"foo\" is not a reason code, an alert, an exit code, or a known text of OLM or olmguard; to see \
         all reason codes, run olmguard explain --list",
    );
    fails(
        &["explain", "Invalid"],
        2,
        "\"Invalid\" is not a reason code, an alert, an exit code, or a known text of OLM or olmguard: \
         expected InvalidSpec, InvalidSelector, InvalidVersionRange; to see all reason codes, run olmguard \
         explain --list",
    );
    let (code, stdout, stderr) = run(&["explain", "--list"], "");
    assert_eq!((code, &*stderr), (Some(0), ""));
    let names = stdout.lines().filter(|line| !line.starts_with(' '));
    let names = names.filter(|line| !line.is_empty()).count();
    assert_eq!(names, 28, "{stdout}");
    assert!(stdout.starts_with("NotJudged\n  "), "{stdout}");
}
