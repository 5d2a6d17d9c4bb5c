//! Flags in the environment: those that a command reads, and those that it warns about.

use std::process::{Command, Output};

const PATH: [&str; 5] = [
    "path",
    "harbor-lights-operator",
    "1.0.0",
    "1.1.0",
    "--catalog=sample=examples/catalogs/lighthouse.yaml",
];

/// Runs the program with only these variables. Returns the exit code, stdout and stderr.
fn run(variables: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .env_clear()
        .envs(variables.iter().copied())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_form_for_all_commands_breaks_none_of_them() {
    let usual = run(&[], &PATH);
    assert_eq!((usual.0, &*usual.2), (Some(0), ""));
    let (code, stdout, stderr) = run(&[("OLMGUARD_OUTPUT", "sarif")], &PATH);
    assert_eq!((code, stdout), (usual.0, usual.1));
    assert_eq!(
        stderr,
        "warning: OLMGUARD_OUTPUT is no longer read; set the variable of the command instead: \
         OLMGUARD_PATH_OUTPUT, OLMGUARD_CHECK_OUTPUT, OLMGUARD_AUDIT_OUTPUT, \
         OLMGUARD_TEST_OUTPUT, OLMGUARD_RANGE_OUTPUT, ...\n"
    );
}

#[test]
fn a_form_of_one_command_is_that_of_no_other() {
    let forms = [
        ("OLMGUARD_CHECK_OUTPUT", "sarif"),
        ("OLMGUARD_PATH_OUTPUT", "json"),
    ];
    let (code, stdout, stderr) = run(&forms, &PATH);
    assert_eq!((code, &*stderr), (Some(0), ""));
    assert!(stdout.starts_with('{'), "{stdout}");
    let (_, stdout, _) = run(&forms, &[&PATH[..], &["--output=text"]].concat());
    assert!(!stdout.starts_with('{'), "{stdout}");
}

#[test]
fn a_wrong_value_is_told_with_the_variable_that_it_is_from() {
    for (variable, value) in [
        ("OLMGUARD_CHECK_QUIET", "maybe"),
        ("OLMGUARD_CHECK_OUTPUT", "pdf"),
        ("OLMGUARD_COLOR", "red"),
    ] {
        let (code, stdout, stderr) = run(&[(variable, value)], &["check", "a.yaml"]);
        assert_eq!((code, &*stdout), (Some(2), ""), "{variable}: {stderr}");
        let tip = format!("\n  tip: the value is from {variable}\n");
        assert!(stderr.contains(&tip), "{stderr}");
    }
    let variable = [("OLMGUARD_CHECK_OUTPUT", "json")];
    for typed in ["--output=pdf", "-opdf"] {
        let (code, _, stderr) = run(&variable, &["check", "a.yaml", typed]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(!stderr.contains("the value is from"), "{stderr}");
    }
}

/// Shared variables are set for all commands, so a variable that one of them cannot use is not a contradiction.
#[test]
fn a_shared_variable_gives_way_to_the_command_line() {
    let usual = run(&[], &PATH);
    let everywhere = [
        ("OLMGUARD_KUBECONFIG", "no/such"),
        ("OLMGUARD_CONTEXT", "prod"),
        ("OLMGUARD_OLM_NAMESPACE", "olm"),
        ("OLMGUARD_CATALOGD_CA", "no/such"),
    ];
    assert_eq!(run(&everywhere, &PATH), usual);
    let said = [&PATH[..], &["--context=prod"]].concat();
    let (code, _, stderr) = run(&everywhere, &said);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--context needs a cluster"), "{stderr}");

    let cluster = [&PATH[..4], &["--from-cluster", "--kubeconfig=no/such"]].concat();
    let reach = run(&[], &cluster);
    assert_eq!(reach.0, Some(2), "{}", reach.2);
    assert_eq!(run(&[("OLMGUARD_SNAPSHOT", "no/such")], &cluster), reach);
    let variable = [
        ("OLMGUARD_FROM_CLUSTER", "true"),
        ("OLMGUARD_KUBECONFIG", "no/such"),
    ];
    assert_eq!(run(&variable, &PATH[..4]), reach);
    let snapshot = [&PATH[..4], &["--snapshot=no/such"]].concat();
    assert_eq!(run(&variable, &snapshot), run(&[], &snapshot));

    let v0 = [&PATH[..], &["--olm=v0"]].concat();
    assert_eq!(run(&[("OLMGUARD_GRAPH", "semver")], &v0), run(&[], &v0));
    let release = [("OLMGUARD_OLM_RELEASE", "1.5")];
    assert_eq!(run(&release, &v0), run(&[], &v0));
    let skip_range = ["range", "--skip-range", "1.0.0"];
    assert_eq!(run(&release, &skip_range), run(&[], &skip_range));
    let fleet = ["audit", "--fleet=no/such"];
    assert_eq!(
        run(&[("OLMGUARD_CATALOG", "a=b")], &fleet),
        run(&[], &fleet)
    );

    let contexts = [
        ("OLMGUARD_AUDIT_CONTEXTS", "a"),
        ("OLMGUARD_KUBECONFIG", "no/such"),
    ];
    let named = ["audit", "--contexts=a", "--kubeconfig=no/such"];
    assert_eq!(run(&contexts, &["audit"]), run(&[], &named));
    let v0 = [("OLMGUARD_PATH_OLM", "v0"), ("OLMGUARD_GRAPH", "semver")];
    assert_eq!(run(&v0, &PATH), run(&v0[..1], &PATH));
    // One command always uses a cluster, and the other one gets files.
    let doctor = ["doctor", "--kubeconfig=no/such"];
    assert_eq!(run(&everywhere[..1], &["doctor"]), run(&[], &doctor));
    let serve = ["serve", "--catalog=a=no/such"];
    assert_eq!(run(&everywhere, &serve), run(&[], &serve));

    let lint = ["lint", "examples/catalogs/lighthouse.yaml"];
    let rules = [
        ("OLMGUARD_GUARDRAILS", "no/such"),
        ("OLMGUARD_POLICY", "no/such"),
    ];
    assert_eq!(run(&rules, &lint), run(&[], &lint));
}

#[test]
fn what_serve_alone_reads_is_told_to_a_command_that_read_it() {
    let former = ("OLMGUARD_WEBHOOK_CONFIGURATION", "guard");
    let doctor = ["doctor", "--kubeconfig=no/such"];
    let (_, _, stderr) = run(&[former], &doctor);
    let warning = "warning: only olmguard serve reads OLMGUARD_WEBHOOK_CONFIGURATION; set the \
                   variable of this command instead: OLMGUARD_DOCTOR_WEBHOOK_CONFIGURATION\n";
    assert!(stderr.starts_with(warning), "{stderr}");
    let now = ("OLMGUARD_DOCTOR_WEBHOOK_CONFIGURATION", "guard");
    let (_, _, stderr) = run(&[former, now], &doctor);
    assert!(!stderr.contains("warning"), "{stderr}");
}

#[test]
fn an_argument_that_was_in_the_environment_is_missed_with_its_new_name() {
    let (code, _, stderr) = run(&[("OLMGUARD_FILENAME", "a.yaml")], &["check"]);
    assert_eq!(code, Some(2));
    let warning = "warning: OLMGUARD_FILENAME is no longer read; set the variable of the command \
                   instead: OLMGUARD_CHECK_FILENAME, OLMGUARD_PATH_FILENAME, OLMGUARD_MIGRATE_FILENAME\n";
    assert!(stderr.starts_with(warning), "{stderr}");
    let (code, _, stderr) = run(&[("OLMGUARD_FILENAME", "a.yaml")], &["check", "--help"]);
    assert_eq!((code, &*stderr), (Some(0), ""));
}
