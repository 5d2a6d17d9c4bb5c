//! The questions of users, in the order of the table in `docs/README.md`: the command for each question, and the
//! sentences that answer it, in the first ten lines of its output.

mod real;

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

const SAMPLE: &str = "--catalog=sample=examples/catalogs/lighthouse.yaml";
const PACKAGE: &str = "harbor-lights-operator";

/// `lantern-operator` with 1.0.0 to 1.3.0, each the successor of the one before.
const HUB: &str = "--catalog=hub=examples/NotASuccessor/hub.yaml";

/// The same package in two catalogs of one priority.
const TWO: [&str; 2] = [
    "--catalog=hub=examples/AmbiguousCatalogs/hub.yaml",
    "--catalog=mirror=examples/AmbiguousCatalogs/mirror.yaml",
];

/// The number of lines that a terminal shows without scrolling.
const FIRST: usize = 10;

/// Checks that the first lines contain each of these sentences, wrapped or not, and that none of the others occurs
/// anywhere.
#[track_caller]
fn answers(arguments: &[&str], sentences: &[&str], wrong: &[&str]) {
    answers_within(FIRST, arguments, sentences, wrong);
}

/// Like [`answers`], with another number of first lines.
#[track_caller]
fn answers_within(lines: usize, arguments: &[&str], sentences: &[&str], wrong: &[&str]) {
    let Output { stdout, stderr, .. } = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_clear()
        .output()
        .expect("the program starts");
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
    let first = unwrapped(stdout.lines().take(lines));
    for sentence in sentences {
        assert!(
            first.contains(sentence),
            "{arguments:?}: {sentence}\n{stdout}"
        );
    }
    let all = unwrapped(stdout.lines().chain(stderr.lines()));
    for sentence in wrong {
        assert!(!all.contains(sentence), "{arguments:?}: {sentence}\n{all}");
    }
}

/// Joins the lines, with one space between words.
fn unwrapped<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    lines
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_pull_request_is_allowed_or_gets_its_reason_and_its_fix() {
    let denied = ["check", "-f", "examples/NotASuccessor/extension.yaml"];
    answers(
        &[&denied[..], &["--base=examples/Unchanged", HUB]].concat(),
        &[
            "examples/NotASuccessor/extension.yaml:11:16: lantern: deny",
            "1.0.0 -> 1.3.0 refused: 1.3.0 is not a successor of 1.0.0 in catalog hub [NotASuccessor]",
            "Path: 1.0.0 -> 1.1.0 -> 1.2.0 -> 1.3.0",
            "Fix: set spec.source.catalog.version to \"1.1.0\" first",
        ],
        &["No upgrade path"],
    );
    answers(
        &denied,
        &[
            "undecided: no catalog is given [NoCatalogs]",
            "Fix: use --catalog NAME=PATH, --snapshot FILE or --from-cluster",
        ],
        &["ClusterCatalog", "clustercatalogs", "kubectl"],
    );
    answers(
        &[
            "check",
            "--output=markdown",
            "--filename=examples/Downgrade/extension.yaml",
            "--catalog=hub=examples/Downgrade/hub.yaml",
        ],
        &[
            "### olmguard check: 1 denied",
            "No upgrade path from 1.3.0 to 1.1.0. Highest reachable: 2.0.0-rc.1 (prerelease).",
        ],
        &["Fix:", "an upgrade edge in the catalog"],
    );
}

#[test]
fn the_next_versions_are_listed_before_the_table() {
    answers(
        &["versions", PACKAGE, "--installed=1.2.0", SAMPLE],
        &[
            "Installed 1.2.0",
            "Allowed next 1.3.2, 1.3.1, 1.3.0, 1.2.2, 1.2.1",
            "Highest reachable: 2.3.1. Highest prerelease: 3.0.0-alpha.1.",
        ],
        &["out of reach", "unreachable"],
    );
}

#[test]
fn a_denial_is_explained_by_its_code_its_text_or_its_versions() {
    let meaning = [
        "# NotASuccessor",
        "The catalog has bundles in the range, but no upgrade edge from the installed bundle to any of \
         them.",
        "olmguard denies the edit.",
    ];
    answers(&["explain", "NotASuccessor"], &meaning, &[]);
    let shown = "Error from server (Forbidden): admission webhook \"validate.olmguard.dev\" denied the \
                 request: lantern-operator: 1.0.0 -> 1.3.0 refused: 1.3.0 is not a successor of 1.0.0 in \
                 catalog hub [NotASuccessor]";
    answers(&["explain", shown], &meaning, &[]);
    let reported = "error upgrading from currently installed version \"1.0.0\": no bundles found for \
                    package \"lantern-operator\" matching version \"1.3.0\"";
    answers(&["explain", reported], &meaning[1..2], &[]);
    answers(
        &["explain", "lantern-operator", "1.0.0", "1.3.0", HUB],
        &[
            "denied: 1.3.0 is not a successor of 1.0.0 in catalog hub [NotASuccessor]",
            "Path 1.0.0 -> 1.1.0 -> 1.2.0 -> 1.3.0",
        ],
        &["No upgrade path"],
    );
}

#[test]
fn a_downgrade_names_the_override_and_check_counts_it() {
    let by_override = "Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible";
    answers(
        &[
            "check",
            "--filename=examples/Downgrade/extension.yaml",
            "--catalog=hub=examples/Downgrade/hub.yaml",
        ],
        &[
            "1.3.0 -> 1.1.0 refused: 1.1.0 is older than 1.3.0 and not a successor of it in catalog hub \
             [Downgrade]",
            by_override,
        ],
        &["Fix:"],
    );
    answers(
        &["path", PACKAGE, "2.3.0", "1.2.0", SAMPLE],
        &[
            "1.2.0 is older than 2.3.0 and not a successor of it",
            by_override,
        ],
        &["Fix:"],
    );
    answers(
        &[
            "check",
            "--filename=examples/Bypassed/extension.yaml",
            "--catalog=hub=examples/Bypassed/hub.yaml",
            "--warn-as-error",
        ],
        &[
            "warning: upgradeConstraintPolicy is SelfCertified: this skips upgrade edges; data loss is \
             possible",
            "1 allowed; 1 extension has warnings, which count as denials (--warn-as-error)",
        ],
        &[],
    );
}

#[test]
fn two_catalogs_with_a_package_are_named_with_how_to_choose() {
    let both = "catalogs hub, mirror have the same priority";
    let wrong = ["no newer version", "nothing higher", "no upgrade path"];
    answers(
        &[
            &["check", "-f", "examples/AmbiguousCatalogs/extension.yaml"],
            &TWO[..],
        ]
        .concat(),
        &[
            "2 catalogs of the same priority (0) offer it [AmbiguousCatalogs]",
            "Catalogs: hub (priority 0), mirror (priority 0)",
            "Fix: set spec.source.catalog.selector.matchLabels[\"olm.operatorframework.io/metadata.name\"] \
             to \"hub\"",
        ],
        &wrong,
    );
    answers(
        &[&["path", "lantern-operator", "1.0.0", "1.1.0"], &TWO[..]].concat(),
        &[both, "Fix select one of them with --in CATALOG"],
        &wrong,
    );
    answers(
        &[
            &["versions", "lantern-operator", "--installed=1.0.0"],
            &TWO[..],
        ]
        .concat(),
        &[both, "use --in CATALOG"],
        &wrong,
    );
}

#[test]
fn a_range_shows_its_upper_bound_and_check_what_it_resolves_to() {
    answers(
        &["range", "~3.10"],
        &[
            "from 3.10.0 up to, but without, 3.11.0; releases only",
            "Upper bound <3.11.0-0",
        ],
        &[],
    );
    answers(&["range", "^3.10"], &["Upper bound <4.0.0-0"], &[]);
    answers(
        &[
            "check",
            "--filename=docs/sample/zstream.yaml",
            "--catalog=hub=docs/sample/catalog.yaml",
        ],
        &[
            "lantern: allow",
            "resolves to lantern-operator.v1.1.2 1.1.2 of catalog hub [Resolved]",
            "1 allowed",
        ],
        &["warning", "out of reach"],
    );
}

#[test]
fn what_an_open_range_upgrades_to_by_itself_stands_first() {
    answers(
        &["path", PACKAGE, "1.2.0", "--range=>=1.2", SAMPLE],
        &[
            "One edit",
            "Automatic if the version is \">=1.2\": 1.2.0 -> 1.3.2 -> 1.4.0",
            "Stops at",
        ],
        &["no upgrade path"],
    );
}

#[test]
fn what_a_new_catalog_breaks_is_counted_first() {
    let (old, new) = (
        "examples/authoring/lantern.yaml",
        "examples/NotASuccessor/hub.yaml",
    );
    answers(
        &["diff", old, new],
        &["OLM v1 users: ", "breaking change"],
        &[],
    );
}

#[test]
fn a_subscription_that_can_move_is_counted_first_and_the_reason_against_a_move_is_given() {
    let run = [
        "migrate",
        "--filename=docs/sample/olmv0.yaml",
        "--catalog=sample=docs/sample/catalog.yaml",
    ];
    answers(
        &run,
        &[
            "2 Subscriptions to OLM 1.11: 1 can move, 1 cannot move",
            "beacon/beacon-operator (beacon-operator beacon-operator.v3.1.0): cannot move to OLM v1",
            "Reason catalog sample does not have this package",
            "lantern/lantern-operator (lantern-operator 1.1.0): can move to OLM v1",
        ],
        &[],
    );
}

#[test]
fn a_picture_of_the_graph_is_a_page() {
    answers(
        &["graph", PACKAGE, "-o=html", "--installed=1.2.0", SAMPLE],
        &[
            "<!doctype html>",
            "<title>harbor-lights-operator: upgrade graph</title>",
        ],
        &[],
    );
}

#[test]
fn a_version_in_between_can_be_required() {
    let folder = TempDir::new().expect("a folder");
    let rules = |kind: &str| {
        let file = folder.path().join(format!("{kind}.yaml"));
        let text = format!(
            "schema: olmguard.guardrails.v1alpha1\npackage: lantern-operator\nrules:\n- id: via-1.4\n  \
             kind: {kind}\n  via: \">=1.4.0 <1.5.0-0\"\n  reason: 1.4 converts the records\n"
        );
        fs::write(&file, text).expect("a file");
        format!("--guardrails={}", file.display())
    };
    let checked = [
        "check",
        "--filename=examples/Guardrail/extension.yaml",
        "--catalog=hub=examples/Guardrail/hub.yaml",
    ];
    answers(
        &[&checked[..], &[&rules("PassThrough")]].concat(),
        &[
            "the author's guardrail via-1.3 forbids 1.2.3 -> 1.5.0 [Guardrail]",
            "via-1.4 (through >=1.4.0 <1.5.0-0) by an administrator, in PassThrough.yaml:1: 1.4 converts \
             the records",
            "Path: 1.2.3 -> 1.3.5 -> 1.4.2 -> 1.5.0",
            "Fix: set spec.source.catalog.version to \">=1.2.3 <1.4.0\" first",
        ],
        &["Only the catalog author"],
    );
    answers(
        &[&checked[..], &[&rules("Passthrough")]].concat(),
        &[
            "in Passthrough.yaml:1: rules[0].kind: unknown value \"Passthrough\": expected one of PassThrough,",
        ],
        &["Only the catalog author", "Path:"],
    );
}

#[test]
fn exit_code_4_is_explained_where_it_is_seen() {
    answers(
        &["check", "--filename=examples/NoCatalogs/extension.yaml"],
        &[
            "undecided: no catalog is given [NoCatalogs]",
            "Fix: use --catalog NAME=PATH, --snapshot FILE or --from-cluster",
            "1 undecided Exit code 4: a fact is missing. Help: olmguard explain 4",
        ],
        &["kubectl"],
    );
    answers(
        &["explain", "4"],
        &[
            "# Exit code 4",
            "`olmguard check` exits with 4: a change is undecided because a fact is missing.",
            "[NoCatalogs](tokens/NoCatalogs.md) | a catalog | in a pipeline, add `--snapshot FILE` or \
             `--catalog NAME=PATH`",
        ],
        &["kubectl"],
    );
}
