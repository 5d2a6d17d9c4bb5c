//! Keys and schemas that OLM ignores.

use crate::lint_rules::lint_rule;
use olmguard_views::lint::Severity;

use crate::lint_rules::{found, shown};
use crate::rows::GOOD;

/// What is found if a text of the good catalog becomes another, as `id: severity: message`.
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
