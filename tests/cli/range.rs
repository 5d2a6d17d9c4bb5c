//! `olmguard range` as a command: its output and exit codes.

use std::process::Command;

use crate::folder::run;
use olmguard_fixtures::committed::compare;

/// Returns the program without variables of its own.
fn olmguard() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    command.env_clear().current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

#[track_caller]
fn prints(arguments: &[&str], code: i32, stdout: &str) {
    let got = run(olmguard().arg("range").args(arguments), "");
    assert_eq!(
        got,
        (Some(code), stdout.to_owned(), String::new()),
        "{arguments:?}"
    );
}

/// Checks the exit code, an empty stdout, and these words on stderr.
#[track_caller]
fn fails(arguments: &[&str], code: i32, words: &str) {
    let (got, stdout, stderr) = run(olmguard().arg("range").args(arguments), "");
    assert_eq!((got, stdout.as_str()), (Some(code), ""), "{arguments:?}");
    assert!(stderr.contains(words), "{arguments:?}: {stderr}");
}

const CATALOG: &str = "--catalog=shore=tests/range/catalog.yaml";

#[test]
fn json_is_one_object_whatever_the_exit_code() {
    prints(
        &[
            "-o",
            "json",
            ">=1.0.0 <2.0.0",
            "1.5.0",
            "2.0.0",
            "1.0",
            "1.5.0",
        ],
        0,
        "{\"schema\":\"olmguard.range/v1\",\"range\":\">=1.0.0 <2.0.0\",\"syntax\":\"spec\",\"error\":null,\"matches\":[\"1.5.0\"],\
         \"others\":[\"2.0.0\"],\"invalid\":[\"1.0\"],\"panics\":[],\"crd\":true,\
         \"openAbove\":false,\
         \"words\":\"from 1.0.0 up to, but without, 2.0.0; releases only\"}\n",
    );
    prints(
        &["--skip-range", "--output=json", "--", "-1 <", "1.0.0", "-"],
        1,
        "{\"schema\":\"olmguard.range/v1\",\"range\":\"-1 <\",\"syntax\":\"skip-range\",\
         \"error\":\"Could not parse Range \\\"-1\\\": Could not parse comparator \\\"-\\\" \
         in \\\"-1\\\"\",\
         \"matches\":[],\"others\":[],\"invalid\":[\"-\"],\"panics\":[],\"crd\":null,\
         \"openAbove\":null,\"words\":null}\n",
    );
}

#[test]
fn text_points_at_the_fault() {
    prints(
        &[">=1.0.0<2.0.0", "1.5.0"],
        1,
        ">=1.0.0<2.0.0\n       ^\nimproper constraint: \">=1.0.0<2.0.0\"\n\
         expected a blank, a comma or || before the next comparator, found \"<\"\n\
         CRD             rejects it: invalid version expression\n\
         Fix             write \">=1.0.0 <2.0.0\"\n",
    );
}

#[test]
fn the_release_decides_what_a_range_takes() {
    let rows = [
        ("1.11", 0, "Matches         2.0.0-rc.1\n"),
        ("1.3", 0, "Does not match  2.0.0-rc.1\n"),
    ];
    for (release, code, line) in rows {
        let (got, stdout, _) = run(
            olmguard().args([
                "range",
                "--olm-release",
                release,
                ">=1.0.0-0 <2.0.0",
                "2.0.0-rc.1",
            ]),
            "",
        );
        assert_eq!(got, Some(code));
        assert!(stdout.ends_with(line), "{release}: {stdout}");
    }
    let (code, stdout, _) = run(
        olmguard().args(["range", "--olm-release=1.2", "01.0.0"]),
        "",
    );
    assert_eq!(code, Some(1));
    assert!(stdout.contains("\nconstraint parser error\n"), "{stdout}");
}

#[test]
fn bundles_stand_in_the_order_of_their_package() {
    prints(
        &[CATALOG, "--package", "tide", ">=1.5"],
        0,
        "Range           >=1.5\n\
         Means           from 1.5.0; releases only\n\
         Upper bound     none: OLM upgrades to newer versions automatically\n\
         CRD             accepts it\n\
         Matches         tide.v2.1.0\n                tide.v1.10.0\n\
         Does not match  tide.v1.0.0\n\
         Not valid       tide.bare: no package property found in bundle \"tide.bare\"\n                \
         tide.next: No Major.Minor.Patch elements found\n",
    );
}

#[test]
fn wrong_usage_is_2() {
    let package = "--package=tide";
    let other = "--catalog=other=x";
    let rows: &[(&[&str], &str)] = &[
        (&[], "<RANGE>"),
        (
            &[CATALOG, "1"],
            "--catalog needs a package: add --package PACKAGE",
        ),
        (
            &[package, "1"],
            "--package needs a catalog: add --catalog NAME=PATH",
        ),
        (
            &[CATALOG, other, package, "1"],
            "found 2 catalogs: range accepts exactly one --catalog",
        ),
        (
            &[CATALOG, package, "1", "1.0.0"],
            "found a package and versions: expected either --package or VERSION...",
        ),
        (
            &[CATALOG, "--package=tides", "1"],
            "catalog \"shore\" has no package \"tides\"; did you mean \"tide\"?",
        ),
        (&["--olm-release=0.1", "1"], "unknown OLM release \"0.1\""),
        (
            &["--olm-feature-gates=x=1", "1"],
            "unknown feature gate \"x\"",
        ),
        (&["-o", "yaml", "1"], "[possible values: text, json]"),
    ];
    for (arguments, words) in rows {
        fails(arguments, 2, words);
    }
}

#[test]
fn what_cannot_be_read_is_3() {
    fails(
        &["--catalog=c=no/such\u{1b}file", "--package=tide", "1"],
        3,
        "error: catalog \"c\": no/such\\x1bfile: cannot open",
    );
    fails(
        &[CATALOG, "--package=broken", "1x"],
        3,
        "error: package \"broken\" of catalog \"shore\" cannot be decoded: ",
    );
}

#[test]
fn the_environment_says_what_no_flag_says() {
    let run = |variables: &[(&str, &str)], arguments: &[&str]| {
        let variables = variables.iter().copied();
        run(olmguard().envs(variables).arg("range").args(arguments), "")
    };
    let catalog = ("OLMGUARD_CATALOG", "shore=tests/range/catalog.yaml");
    let package = ("OLMGUARD_RANGE_PACKAGE", "tide");
    let (_, stdout, _) = run(&[("OLMGUARD_RANGE_SKIP_RANGE", "yes")], &["1.x.x", "1.1.0"]);
    assert!(stdout.ends_with("Does not match  1.1.0\n"), "{stdout}");
    let (_, stdout, _) = run(&[("OLMGUARD_RANGE_OUTPUT", "json")], &["1"]);
    assert!(
        stdout.starts_with("{\"schema\":\"olmguard.range/v1\",\"range\":\"1\""),
        "{stdout}"
    );
    let (_, stdout, _) = run(&[catalog, package], &["2"]);
    assert!(stdout.contains("Matches         tide.v2.1.0\n"), "{stdout}");
    let (_, stdout, _) = run(&[catalog], &["--package=tide", "2"]);
    assert!(stdout.contains("Matches         tide.v2.1.0\n"), "{stdout}");
    let (code, stdout, _) = run(&[catalog], &["2", "2.0.0"]);
    assert_eq!(code, Some(0));
    assert!(stdout.ends_with("Matches         2.0.0\n"), "{stdout}");
    let (_, stdout, _) = run(&[catalog, package], &["2", "2.0.0"]);
    assert!(stdout.ends_with("Matches         2.0.0\n"), "{stdout}");
}

#[test]
fn no_reader_is_no_failure() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = olmguard()
        .args(["range", "1"])
        .stdout(writer)
        .status()
        .expect("the program starts");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn help() {
    let (code, stdout, _) = run(olmguard().args(["range", "--help"]), "");
    assert_eq!(code, Some(0));
    compare("tests/range/help.txt", &stdout);
}
