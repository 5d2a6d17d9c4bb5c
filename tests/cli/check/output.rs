//! The output on stdout, and its formats.

use super::scene::{CATALOG, asking, extension, scene};
use olmguard_fixtures::committed::compare;

const ESC: char = '\u{1b}';

#[test]
fn each_result_stands_behind_its_place() {
    let scene = scene(&[
        ("a.yaml", &extension("a", "1.1.0")),
        ("b.yaml", &extension("b", "7.0.0")),
    ]);
    let ran = scene.run(&["-f", "a.yaml", "b.yaml", CATALOG]);
    let expected = "a.yaml:11:16: a: allow\n  \
                    resolves to lantern-operator.v1.1.0 1.1.0 of catalog hub [Resolved]\n  \
                    installs 1.1.0 new: no installed version is known (use --base, --installed or --snapshot)\n\
                    b.yaml:11:16: b: deny\n  lantern-operator: install of 7.0.0 refused: ";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    assert!(
        ran.stdout.ends_with("\n1 denied, 1 allowed\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr
            .starts_with("note: no installed version is known"),
        "{ran:?}"
    );
}

#[test]
fn quiet_leaves_out_what_counts_as_good() {
    let scene = scene(&[
        ("good.yaml", &extension("good", "1.1.0")),
        ("bad.yaml", &extension("bad", "7.0.0")),
        (
            "warned.yaml",
            &asking("warned", "channels: [stable, stabel]"),
        ),
    ]);
    let shown = |arguments: &[&str]| {
        let ran = scene.run(&[&["-q", CATALOG, "-f"], arguments].concat());
        let names = ["good", "bad", "warned"].into_iter();
        names
            .filter(|name| ran.stdout.contains(&format!(": {name}: ")))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(&["good.yaml", "bad.yaml", "warned.yaml"]), ["bad"]);
    assert_eq!(
        shown(&["good.yaml", "warned.yaml", "--warn-as-error"]),
        ["warned"]
    );
    assert_eq!(scene.run(&["-q", "-f", "good.yaml", CATALOG]).stdout, "");
    let json =
        |more: &[&str]| scene.run(&[&["-f", "good.yaml", CATALOG, "-o=json"], more].concat());
    assert_eq!(json(&["-q"]), json(&[]));
}

#[test]
fn the_last_line_counts_warnings_that_count_as_denials() {
    let warned = asking("warned", "channels: [stable, stabel]");
    let scene = scene(&[
        ("good.yaml", &extension("good", "1.1.0")),
        ("bad.yaml", &extension("bad", "7.0.0")),
        ("warned.yaml", &warned),
        ("other.yaml", &warned.replace("name: warned", "name: other")),
    ]);
    for (files, counts, more) in [
        (
            &["good.yaml", "warned.yaml"][..],
            "2 allowed",
            "; 1 extension has warnings, which count as denials (--warn-as-error)",
        ),
        (
            &["bad.yaml", "warned.yaml", "other.yaml"],
            "1 denied, 2 allowed",
            "; 2 extensions have warnings, which count as denials (--warn-as-error)",
        ),
        (&["good.yaml", "bad.yaml"], "1 denied, 1 allowed", ""),
    ] {
        let run = |more: &[&str]| scene.run(&[&["-f"], files, &[CATALOG], more].concat());
        let ran = run(&[]);
        assert!(ran.stdout.ends_with(&format!("\n{counts}\n")), "{ran:?}");
        let ran = run(&["--warn-as-error"]);
        assert!(
            ran.stdout.ends_with(&format!("\n{counts}{more}\n")),
            "{ran:?}"
        );
        assert_eq!(ran.code, 1);
        let table = run(&["--warn-as-error", "-o=markdown"]).stdout;
        let title = format!("\n### olmguard check: {counts}{more}\n");
        assert!(table.contains(&title), "{table}");
    }
}

/// This includes warnings without an extension: that there is none, and that edges are read in another way than OLM
/// does.
#[test]
fn each_warning_of_a_run_counts_as_a_denial() {
    let scene = scene(&[
        ("good.yaml", &extension("good", "1.1.0")),
        ("other.yaml", "apiVersion: v1\nkind: ConfigMap\n"),
    ]);
    for arguments in [
        &["other.yaml", CATALOG][..],
        &["good.yaml", CATALOG, "--graph=semver"],
    ] {
        let ran = scene.run(arguments);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.starts_with("warning: "), "{ran:?}");
        let counted = scene.run(&[arguments, &["--warn-as-error"]].concat());
        assert_eq!(counted.code, 1, "{counted:?}");
    }
}

#[test]
fn colours_are_for_terminals() {
    let scene = scene(&[
        ("a.yaml", &extension("a", "7.0.0")),
        ("w.yaml", &asking("w", "channels: [stable, stabel]")),
    ]);
    let run = |variables: &[(&str, &str)], more: &[&str]| {
        let mut command = scene.command(&["-f", "a.yaml", "w.yaml", CATALOG]);
        command.args(more).envs(variables.iter().copied());
        let output = command.output().expect("the program starts");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let plain = run(&[], &[]);
    assert!(!plain.contains(ESC), "{plain}");
    assert_eq!(run(&[("NO_COLOR", "1")], &[]), plain);
    assert_eq!(run(&[("TERM", "xterm-256color")], &[]), plain);
    let painted = run(&[("CLICOLOR_FORCE", "1")], &[]);
    assert!(painted.contains("\u{1b}[31mdeny\u{1b}[0m\n"), "{painted:?}");
    assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    for (variables, flag, expected) in [
        (&[][..], "--color=always", &painted),
        (&[("NO_COLOR", "1")], "--color=always", &painted),
        (&[("CLICOLOR_FORCE", "1")], "--color=never", &plain),
        (&[("CLICOLOR_FORCE", "1")], "--color=auto", &painted),
    ] {
        assert_eq!(run(variables, &[flag]), *expected, "{variables:?} {flag}");
    }
    assert_eq!(run(&[("OLMGUARD_COLOR", "always")], &[]), painted);
    assert!(!run(&[("CLICOLOR_FORCE", "1")], &["-o=json"]).contains(ESC));
}

#[test]
fn what_a_terminal_would_obey_is_never_printed() {
    let text = extension("\"a\\e[31m\"", "1.1.0");
    let scene = scene(&[("a\u{1b}[2J.yaml", &text)]);
    let forms =
        ["json", "yaml", "sarif", "junit", "github", "markdown"].map(|form| format!("-o={form}"));
    let forms = forms.iter().map(String::as_str);
    for more in forms.chain(["--no-schema", "-q"]) {
        let ran = scene.run(&["-f", "a\u{1b}[2J.yaml", "no\u{1b}such", CATALOG, more]);
        assert_eq!(ran.code, 3);
        assert!(
            !ran.stdout.contains(ESC) && !ran.stderr.contains(ESC),
            "{ran:?}"
        );
    }
}

#[test]
fn the_environment_says_what_no_flag_says() {
    let scene = scene(&[("good.yaml", &extension("good", "1.1.0"))]);
    let run = |variables: &[(&str, &str)]| {
        let mut command = scene.command(&["-f", "good.yaml"]);
        let output = command.envs(variables.iter().copied()).output();
        output.expect("the program starts")
    };
    let catalog = ("OLMGUARD_CATALOG", "hub=hub.yaml, gone=no/such");
    assert_eq!(run(&[catalog]).status.code(), Some(3));
    let catalog = ("OLMGUARD_CATALOG", "hub=hub.yaml");
    assert_eq!(run(&[catalog, ("OLMGUARD_CHECK_QUIET", "yes")]).stdout, b"");
    assert_ne!(run(&[catalog, ("OLMGUARD_CHECK_QUIET", "no")]).stdout, b"");
    assert_eq!(
        run(&[("OLMGUARD_CHECK_ON_UNDECIDED", "warn")])
            .status
            .code(),
        Some(0)
    );
    let json = run(&[("OLMGUARD_CHECK_OUTPUT", "json")]);
    assert!(json.stdout.starts_with(b"{\"schema\":"), "{json:?}");
}

#[test]
fn no_reader_is_no_failure() {
    let scene = scene(&[("a.yaml", &extension("a", "1.1.0"))]);
    for more in [&[] as &[_], &["-o=json"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = scene.command(&["-f", "a.yaml", CATALOG]);
        let status = command
            .args(more)
            .stdout(writer)
            .status()
            .expect("the program starts");
        assert_eq!(status.code(), Some(0), "{more:?}");
    }
}

#[test]
fn help_has_colors_if_the_flag_says_so() {
    let scene = scene(&[]);
    let run = |arguments: &[&str]| scene.run(arguments).stdout;
    let plain = run(&["--help"]);
    assert!(!plain.contains(ESC), "{plain}");
    let painted = run(&["--help", "--color", "always"]);
    assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    assert!(painted.contains("mExamples:"), "{painted:?}");
}

#[test]
fn help() {
    let ran = scene(&[]).run(&["--help"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    compare("tests/cli/check/help.txt", &ran.stdout);
}
