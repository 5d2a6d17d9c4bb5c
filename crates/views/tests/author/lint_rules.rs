//! Findings of lint: a catalog for each fault that `opm validate` refuses, and for those that it misses.

mod users;

use olmguard_views::lint::{Family, LintFinding, Rule, Severity, lint, written};

use crate::rows::{GOOD, ROWS, SIX, channel};

/// The rule of this id.
pub(crate) fn lint_rule(id: &str) -> Rule {
    id.parse().expect(id)
}

fn found(catalog: &str) -> Vec<LintFinding> {
    lint(&[written("c.yaml", catalog.as_bytes())])
}

fn shown(findings: &[LintFinding]) -> String {
    let lines = findings.iter().map(|one| {
        format!(
            "{}:{}: {}: {}\n",
            one.line, one.column, one.rule, one.message
        )
    });
    lines.collect()
}

#[test]
fn nothing_is_wrong_with_the_good_one() {
    assert_eq!(shown(&found(GOOD)), "");
}

#[test]
fn every_row_of_opm_is_found_with_its_text() {
    for row in ROWS {
        let findings = found(&row.catalog());
        let such = findings.iter().find(|one| {
            one.rule.id() == row.rule
                && one
                    .upstream
                    .as_deref()
                    .is_some_and(|text| text.starts_with(row.upstream))
        });
        assert!(
            such.is_some(),
            "{}:\n{}{findings:#?}",
            row.name,
            shown(&findings)
        );
        assert!(
            such.is_some_and(|one| one.severity == Severity::Error),
            "{}",
            row.name
        );
    }
}

#[test]
fn every_rule_of_opm_has_a_row() {
    let without: Vec<_> = Rule::all()
        .filter(|rule| rule.family() != Family::Users)
        .filter(|rule| rule.page().contains("reports\n\n```text\n"))
        // The rule is about a directory, not a text.
        .filter(|rule| rule.id() != "not-a-file")
        .filter(|rule| !ROWS.iter().any(|row| row.rule == rule.id()))
        .collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn the_six_graphs() {
    for row in SIX {
        let findings = found(&row.catalog());
        let opms = findings
            .iter()
            .filter(|one| one.rule.family() != Family::Users);
        let texts: Vec<_> = opms
            .map(|one| one.upstream.as_deref().unwrap_or_default())
            .collect();
        let expected: Vec<_> = Some(row.upstream)
            .filter(|text| !text.is_empty())
            .into_iter()
            .collect();
        assert_eq!(texts, expected, "{}", row.name);
    }
}

#[test]
fn a_page_for_each_rule_and_no_other() {
    olmguard_fixtures::committed::compare("docs/lint/README.md", &Rule::index());
    let folder = std::path::Path::new(olmguard_fixtures::ROOT).join("docs/lint");
    let files = std::fs::read_dir(folder).expect("the pages");
    assert_eq!(files.count(), Rule::all().len() + 1);
}

// === The places of findings, the findings of a single typo, and reading on after it ===

#[test]
fn an_edge_has_the_place_of_its_name() {
    let text = shown(&found(&channel("2; 1 skips 0.9,2")));
    assert!(text.contains("11:23: edge-goes-down"), "{text}");
}

#[test]
fn a_comment_before_the_first_separator_is_a_document() {
    let text = shown(&found(&format!("# lamps\n\n---\n{GOOD}")));
    assert_eq!(
        text,
        "1:1: not-an-object: expected an object with schema, package and name, found null: the document is \
         empty, or contains only comments; remove the \"---\" next to it\n"
    );
}

#[test]
fn one_slip_is_told_once() {
    let catalog = GOOD.replace(
        "schema: olm.bundle\npackage: lantern\nname: lantern.v1.1.0\n",
        "schema: olm.bundle\npackage: lanterm\nname: lantern.v1.1.0\n",
    );
    let rules: Vec<_> = found(&catalog).iter().map(|one| one.rule).collect();
    assert_eq!(rules, [lint_rule("bundle-of-unknown-package")]);
}

#[test]
fn what_cannot_be_read_is_not_missing() {
    let rules = |from: &str, to: &str| {
        let catalog = GOOD.replace(from, to);
        assert_ne!(catalog, GOOD, "{from:?}");
        let findings = found(&catalog);
        findings.iter().map(|one| one.rule.id()).collect::<Vec<_>>()
    };
    assert_eq!(
        rules("image: registry.example/lantern/bundle:1.0.0", "image: 1"),
        ["wrong-type"]
    );
    assert_eq!(
        rules("      data: eyJraW5kIjoiTm90ZSJ9", "      data: 5"),
        ["unreadable-object"]
    );
    assert_eq!(
        rules(
            "image: registry.example/lantern/bundle:1.1.0\n",
            "image: a\nImage: b\n"
        ),
        ["duplicate-keys"]
    );
    assert_eq!(
        rules("    skipRange: \">=1.0.0 <1.2.0\"", "    skips: 1"),
        ["wrong-type"]
    );
    assert_eq!(
        rules(
            "name: wick\ndefaultChannel: stable",
            "name: wick\ndefaultChannel: []"
        ),
        ["wrong-type"]
    );
}

#[test]
fn after_a_document_that_no_one_can_read_nothing_is_missing() {
    let documents: Vec<_> = GOOD.split("\n---\n").collect();
    for (at, document) in documents.iter().enumerate() {
        for lost in [
            "schema: [",
            "schema: 1\nname: a",
            "schema: olm.bundle\npackage: p\nname: 1",
            "just a text",
            "[{schema: olm.package}]",
            "schema: olm.channel\npackage: p\nname: a\nName: b",
        ] {
            let catalog = [&documents[..at], &[lost], &documents[at + 1..]].concat();
            let findings = found(&catalog.join("\n---\n"));
            let others = findings.iter().map(|one| one.rule.id());
            let known = [
                "invalid-syntax",
                "label-not-a-string",
                "not-an-object",
                "duplicate-keys",
            ];
            let others: Vec<_> = others.filter(|rule| !known.contains(rule)).collect();
            assert_eq!(others, [""; 0], "{lost:?} instead of {document}");
            assert!(!findings.is_empty());
        }
    }
}

#[test]
fn what_is_no_package_channel_or_bundle_hides_nothing() {
    let catalog = GOOD.replacen("defaultChannel: stable", "defaultChannel: stabel", 1);
    for other in [
        "schema: olm.deprecations\npackage: p\nentries: 5",
        "schema: some.thing\nname: 5",
    ] {
        let findings = found(&format!("{catalog}\n---\n{other}\n"));
        let mut rules = findings.iter().map(|one| one.rule.id());
        assert!(
            rules.any(|rule| rule == "default-channel-unknown"),
            "{other}"
        );
        assert!(findings.len() > 1, "{other}");
    }
}

#[test]
fn a_priority_is_as_large_as_go_reads_it() {
    let with = |priority: &str| {
        let property = format!(
            "  - type: olm.channel\n    value: {{channelName: a, priority: {priority}}}\n  - type: olm.gvk\n"
        );
        shown(&found(&GOOD.replace("  - type: olm.gvk\n", &property)))
    };
    assert_eq!(with("5000000000"), "");
    assert!(with("9223372036854775808").contains("invalid-property"));
    assert!(with("1.5").contains("invalid-property"));
}

#[test]
fn a_skip_range_that_is_not_valid_has_the_nearest_valid_one() {
    for (range, way) in [
        (">=v1.0.0 <v1.2.0", "write \">=1.0.0 <1.2.0\""),
        (">=1.0.0, <1.2.0", "write \">=1.0.0 <1.2.0\""),
        ("^1.0.0", "write \">=1.0.0 <2.0.0\""),
        (">=1.0 <1.2", "write \">=1.0.0 <1.2.0\""),
        (
            "nonsense",
            "write comparators with full versions, such as >=1.0.0 <1.2.3",
        ),
    ] {
        let text = shown(&found(&GOOD.replace(">=1.0.0 <1.2.0", range)));
        assert!(text.contains(": the skipRange "), "{range}: {text}");
        assert!(text.contains(&format!("; {way}\n")), "{range}: {text}");
    }
}

#[test]
fn yaml_traps_have_hints() {
    let catalog = GOOD.replace("skipRange: \">=1.0.0 <1.2.0\"", "skipRange: >=1.0.0 <1.2.0");
    let text = shown(&found(&catalog));
    assert!(text.contains("invalid-syntax"), "{text}");
    assert!(text.contains("; a value that starts with \">\" is a block of text in YAML: write \"skipRange: >=1.0.0 <1.2.0\" with quotes around the value\n"), "{text}");
    let catalog = GOOD.replace(
        "package: lantern\nname: candidate",
        "package: lantern\nchannel: candidate",
    );
    let text = shown(&found(&catalog));
    assert!(text.contains("channel-without-name: a channel of package \"lantern\" has no name; rename the key \"channel\" to \"name\": name: \"candidate\"\n"), "{text}");
    let catalog = GOOD.replace(
        "name: candidate\nentries",
        "name: candidate\nchannel: candidate\nentries",
    );
    let text = shown(&found(&catalog));
    assert_eq!(
        text,
        "19:10: channel-key: channel \"candidate\" has a key \"channel\" with \"candidate\", which has no effect: the key for the name of a channel is \"name\"\n"
    );
}

#[test]
fn a_tag_of_yaml_takes_a_word_of_the_value_away() {
    let with = |range: &str| {
        let catalog = GOOD.replace("\">=1.0.0 <1.2.0\"", range);
        let findings = found(&catalog);
        let of_rule = findings
            .iter()
            .filter(|one| one.rule == lint_rule("yaml-tag"));
        let told: Vec<_> = of_rule
            .map(|one| (one.line, &*one.package == "lantern", one.message.clone()))
            .collect();
        told
    };
    for (range, left) in [("!=1.5.0", "empty"), ("!=1.5.0 <2.0.0", "\"<2.0.0\"")] {
        let message = format!(
            "\"!=1.5.0\" is a YAML tag and not part of the value, which is {left} without it; put the whole value \
             in quotes"
        );
        assert_eq!(with(range), [(14, true, message)], "{range}");
    }
    for good in ["'!=1.5.0'", "!!str <1.2.0", "! <1.2.0", "'<1.2.0'"] {
        assert_eq!(with(good), [], "{good}");
    }
}

#[test]
fn of_several_keys_equal_but_for_case_all_are_told() {
    let catalog = GOOD.replace(
        "package: lantern\nname: candidate\n",
        "package: lantern\nname: candidate\nNAME: x\nPackage: y\n",
    );
    let findings = found(&catalog);
    let of_rule = findings
        .iter()
        .filter(|one| one.rule == lint_rule("duplicate-keys"));
    let texts: Vec<_> = of_rule.filter_map(|one| one.upstream.as_deref()).collect();
    assert_eq!(
        texts,
        [
            "duplicate keys for key \"name\": [NAME name]",
            "duplicate keys for key \"package\": [Package package]"
        ]
    );
}

#[test]
fn every_finding_has_its_place_in_json_too() {
    let lines = "{\"schema\":\"olm.package\",\"name\":\"p\",\"defaultChannel\":\"c\"}\n\
        {\"schema\":\"olm.channel\",\"package\":\"p\",\"name\":\"c\",\"entries\":[{\"name\":\"é\"},{\"name\":\"b\",\"replaces\":\"é\",\"skipRange\":\"x\"}]}\n";
    let pretty = "{\n  \"schema\": \"olm.channel\",\n  \"package\": \"p\",\n  \"name\": \"d\",\n  \"entries\": [\n    {\"name\": \"b\",\n     \"skipRange\": \"y\"}\n  ]\n}\n";
    let text = shown(&found(&format!("{lines}{pretty}")));
    assert!(text.contains("2:113: invalid-skip-range"), "{text}");
    assert!(text.contains("9:19: invalid-skip-range"), "{text}");
    assert!(text.contains("2:61: entry-without-bundle"), "{text}");
}

#[test]
fn reading_goes_on_after_a_fault() {
    let text = "{\"schema\":\"olm.package\",\"name\":\"p\"}\n{\"schema\":\"olm.package\",\"name\":\"q\"}\n{\"schema\":\"olm.package\",\"name\":\"r\"\n{\"schema\":\"olm.package\",\"name\":\"s\"}\n";
    let text = shown(&found(text));
    assert!(text.contains("4:1: invalid-syntax: invalid JSON: expected a comma or the end of the object or list, found '{'\n"), "{text}");
    assert!(
        text.contains("package \"s\" has no default channel"),
        "{text}"
    );
    let text = shown(&found(
        "schema: olm.package\nname: p\n---\nschema: [\n---\nschema: olm.package\nname: q\n",
    ));
    assert!(
        text.contains("invalid-syntax") && text.contains("package \"q\" has no"),
        "{text}"
    );
}

#[test]
fn nothing_of_a_catalog_reaches_a_terminal_as_it_is() {
    let hostile = "\u{1b}[31m\u{202e}\n\"";
    let quoted = serde_json::to_string(hostile).expect("a text of JSON");
    for row in ROWS {
        let catalog = row
            .catalog()
            .replace("lantern.v1.1.0", &quoted)
            .replace("wick", &quoted);
        for finding in found(&catalog) {
            let text = &finding.message;
            assert!(
                !text.contains(['\u{1b}', '\u{202e}', '\n']),
                "{}: {text:?}",
                row.name
            );
        }
    }
}

// === Keys and schemas that OLM ignores ===

/// Checks the findings if a text of the good catalog is replaced, as `id: severity: message`.
#[track_caller]
fn after(from: &str, to: &str) -> Vec<String> {
    let catalog = GOOD.replacen(from, to, 1);
    assert_ne!(catalog, GOOD, "{from:?}");
    let findings = found(&catalog);
    let own = findings
        .iter()
        .filter(|one| matches!(one.rule.id(), "unknown-key" | "misspelt-schema"));
    own.map(|one| format!("{}: {}: {}", one.rule, one.severity, one.message))
        .collect()
}

#[track_caller]
fn entry_key(key: &str) -> Vec<String> {
    after("    skipRange: ", &format!("    {key}: "))
}

#[test]
fn a_misspelt_key_of_an_entry_is_a_missing_edge() {
    for (key, meant) in [
        ("olm.skipRange", "skipRange"),
        ("olm.skiprange", "skipRange"),
        ("skip_range", "skipRange"),
        ("skip-range", "skipRange"),
        ("skipRanges", "skipRange"),
        ("replace", "replaces"),
        ("replcaes", "replaces"),
        ("skip", "skips"),
    ] {
        assert_eq!(
            entry_key(key),
            [format!(
                "unknown-key: warning: entry \"lantern.v1.2.0\" of channel \"stable\" has the key \"{key}\", which \
                 OLM ignores; did you mean \"{meant}\"?"
            )],
        );
    }
}

#[test]
fn any_other_key_of_an_entry_is_a_warning_too() {
    assert_eq!(
        entry_key("upgradesFrom"),
        [
            "unknown-key: warning: entry \"lantern.v1.2.0\" of channel \"stable\" has the key \"upgradesFrom\", \
             which OLM ignores; expected one of name, replaces, skips, skipRange"
        ]
    );
}

#[test]
fn another_case_is_read() {
    assert_eq!(
        entry_key("skiprange"),
        [
            "unknown-key: note: entry \"lantern.v1.2.0\" of channel \"stable\" has the key \"skiprange\": OLM reads \
             it as skipRange, but other programs do not; write \"skipRange\""
        ]
    );
    assert_eq!(
        after("defaultChannel:", "DefaultChannel:"),
        [
            "unknown-key: note: package \"lantern\" has the key \"DefaultChannel\": OLM reads it as \
             defaultChannel, but other programs do not; write \"defaultChannel\""
        ]
    );
}

#[test]
fn keys_of_every_schema_and_their_objects() {
    let bundle = "image: registry.example/lantern/bundle:1.0.0\n";
    for (from, to, message) in [
        (
            "defaultChannel: stable\n",
            "defaultChannel: stable\ndefault_channel: beta\n",
            "warning: package \"lantern\" has the key \"default_channel\", which OLM ignores; did you mean \
             \"defaultChannel\"?",
        ),
        (
            "defaultChannel: stable\n",
            "defaultChannel: stable\nowner: us\n",
            "note: package \"lantern\" has the key \"owner\", which OLM ignores; expected one of schema, name, \
             defaultChannel, icon, description, properties",
        ),
        (
            "entries:\n",
            "entrys: []\nentries:\n",
            "warning: channel \"stable\" has the key \"entrys\", which OLM ignores; did you mean \"entries\"?",
        ),
        (
            bundle,
            "image: registry.example/lantern/bundle:1.0.0\nrelated_images: []\n",
            "warning: bundle \"lantern.v1.0.0\" has the key \"related_images\", which OLM ignores; did you mean \
             \"relatedImages\"?",
        ),
        (
            "  - name: lantern\n    image: ",
            "  - name: lantern\n    images: b\n    image: ",
            "warning: relatedImages[0] of bundle \"lantern.v1.0.0\" has the key \"images\", which OLM ignores; did \
             you mean \"image\"?",
        ),
        (
            "      version: 1.0.0\n",
            "      version: 1.0.0\n      releases: 2\n",
            "warning: properties[0].value of bundle \"lantern.v1.0.0\" has the key \"releases\", which OLM ignores; \
             did you mean \"release\"?",
        ),
        (
            "      schema: olm.bundle\n",
            "      schema: olm.bundle\n      version: 1.0.0\n",
            "note: entries[0].reference of the olm.deprecations of package \"lantern\" has the key \"version\", \
             which OLM ignores; expected one of schema, name",
        ),
    ] {
        assert_eq!(after(from, to), [format!("unknown-key: {message}")]);
    }
}

#[test]
fn one_key_of_many_entries_is_one_finding_at_the_first() {
    let catalog = GOOD.replacen("    replaces: ", "    replace: ", 2);
    let findings = found(&catalog);
    let mut own = findings
        .iter()
        .filter(|one| one.rule == lint_rule("unknown-key"));
    let one = own.next().expect("a finding");
    assert_eq!(
        one.message,
        "entry \"lantern.v1.1.0\" of channel \"stable\" has the key \"replace\" (1 more has it, too), which OLM \
         ignores; did you mean \"replaces\"?",
        "{}",
        shown(&findings)
    );
    let line = catalog.lines().position(|line| line.contains("replace: "));
    assert_eq!(one.line as usize, line.expect("a line") + 1);
    assert_eq!(own.next(), None);
}

#[test]
fn schemas_that_are_nearly_one_of_olms() {
    for (schema, meant) in [
        ("olm.deprecation", "olm.deprecations"),
        ("olm.channels", "olm.channel"),
        ("olm.Channel", "olm.channel"),
        ("channel", "olm.channel"),
        ("olm-bundle", "olm.bundle"),
        ("olm.packages", "olm.package"),
        (
            "olmguard.guardrail.v1alpha1",
            "olmguard.guardrails.v1alpha1",
        ),
    ] {
        let blob = format!("---\nschema: {schema}\npackage: lantern\nname: x\n");
        let findings = found(&format!("{GOOD}{blob}"));
        assert_eq!(
            findings.iter().map(|one| &*one.message).collect::<Vec<_>>(),
            [format!(
                "OLM does not know the schema \"{schema}\" and ignores the blob; did you mean \"{meant}\"?"
            )]
        );
        assert!(findings.iter().all(|one| one.severity == Severity::Warning));
    }
}

#[test]
fn schemas_of_others_are_theirs() {
    for schema in [
        "custom.lifecycle",
        "olm.package.required",
        "olm.composite",
        "olm.semver",
        "olm.csv.metadata",
        "io.example.channels.v1",
        "release",
    ] {
        let blob = format!("---\nschema: {schema}\npackage: lantern\nname: x\nreplace: y\n");
        assert_eq!(shown(&found(&format!("{GOOD}{blob}"))), "", "{schema}");
    }
}
