//! Where findings are, what one slip makes of them, and how reading goes on after it.

use crate::lint_rules::lint_rule;

use crate::lint_rules::{found, shown};
use crate::rows::{GOOD, ROWS, channel};

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
