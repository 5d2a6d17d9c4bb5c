use super::*;
use crate::author::channel::AuthoredChannel;

/// Bundles of these versions, whose image is `img:VERSION`.
fn shelf(versions: &[&str]) -> Shelf {
    let mut written = CatalogText::default();
    for version in versions {
        written
            .read("bundles", bundle("p", version).as_bytes())
            .unwrap();
    }
    Shelf::of(&written).unwrap()
}

fn bundle(package: &str, version: &str) -> String {
    serde_json::json!({
        "schema": "olm.bundle", "package": package, "name": format!("p.v{version}"),
        "image": format!("img:{version}"), "properties": [
            {"type": "olm.package", "value": {"packageName": package, "version": version}}],
    })
    .to_string()
}

/// Lists the generated channels of a template, as `NAME: ENTRY<REPLACES!SKIPS ...`.
fn channels(written: &CatalogText) -> Vec<String> {
    let short = |name: &str| name.trim_start_matches("p.v").to_owned();
    let channels = written.channels("p").map(AuthoredChannel::of);
    let line = |channel: AuthoredChannel| {
        let entries = channel.entries.iter().map(|entry| {
            let replaces = entry
                .replaces
                .iter()
                .map(|name| format!("<{}", short(name)));
            let skips: Vec<_> = entry.skips.iter().map(|name| short(name)).collect();
            let skips = (!skips.is_empty()).then(|| format!("!{}", skips.join(",")));
            short(&entry.name) + &replaces.chain(skips).collect::<String>()
        });
        format!(
            "{}: {}",
            channel.name(),
            entries.collect::<Vec<_>>().join(" ")
        )
    };
    let mut lines: Vec<_> = channels.map(line).collect();
    lines.sort();
    lines
}

fn semver(head: &str, candidate: &[&str], stable: &[&str]) -> String {
    let list = |versions: &[&str]| {
        let images = versions
            .iter()
            .map(|version| format!("{{image: 'img:{version}'}}"));
        images.collect::<Vec<_>>().join(", ")
    };
    format!(
        "Schema: olm.semver\n{head}\nCandidate: {{Bundles: [{}]}}\nstable: {{bundles: [{}]}}\n",
        list(candidate),
        list(stable)
    )
}

const WORKED: [&str; 8] = [
    "0.1.0", "0.1.1", "0.1.2", "0.1.3", "0.2.0", "0.2.1", "0.2.2", "0.3.0",
];

#[test]
fn the_worked_example_of_upstream() {
    let template = semver("generateMajorChannels: true", &WORKED, &[]);
    let written = render("t", template.as_bytes(), &shelf(&WORKED)).unwrap();
    assert_eq!(
        channels(&written),
        [
            "candidate-v0: 0.1.0 0.1.1 0.1.2 0.1.3!0.1.0,0.1.1,0.1.2 0.2.0 0.2.1 \
             0.2.2<0.1.3!0.1.0,0.1.1,0.1.2,0.2.0,0.2.1 \
             0.3.0<0.2.2!0.1.0,0.1.1,0.1.2,0.1.3,0.2.0,0.2.1"
        ]
    );
    assert_eq!(written.default_channel("p"), "candidate-v0");
}

#[test]
fn minor_channels_replace_across_channels_but_not_across_majors() {
    let versions = ["1.0.0", "1.1.0", "1.1.1", "2.0.0", "2.0.1-rc.1"];
    let written = render(
        "t",
        semver("", &[], &versions).as_bytes(),
        &shelf(&versions),
    )
    .unwrap();
    assert_eq!(
        channels(&written),
        [
            "stable-v1.0: 1.0.0",
            "stable-v1.1: 1.1.0 1.1.1<1.0.0!1.1.0",
            "stable-v2.0: 2.0.0 2.0.1-rc.1!2.0.0",
        ]
    );
}

#[test]
fn the_default_channel_is_upstreams() {
    let both = "generateMajorChannels: true\ngenerateMinorChannels: true";
    let prefers = |kind: &str| format!("{both}\ndefaultChannelTypePreference: {kind}");
    let rows: [(&str, &[&str], &[&str], &str); 7] = [
        (both, &["1.0.0"], &[], "candidate-v1.0"),
        (&prefers("major"), &["1.0.0"], &[], "candidate-v1"),
        // The newest minor channel wins, whatever kind is preferred.
        (
            &prefers("major"),
            &["1.0.0", "1.1.0"],
            &[],
            "candidate-v1.1",
        ),
        (
            &prefers("minor"),
            &["2.0.0"],
            &["1.0.0", "1.1.0"],
            "stable-v1.1",
        ),
        (
            "generateMajorChannels: true",
            &["1.0.0", "2.0.0"],
            &[],
            "candidate-v2",
        ),
        ("", &["0.0.0"], &[], "candidate-v0.0"),
        // No channel is above the initial value of upstream.
        ("", &["0.0.0-rc.1"], &[], ""),
    ];
    for (head, candidate, stable, expected) in rows {
        let all = [candidate, stable].concat();
        let template = semver(head, candidate, stable);
        let written = render("t", template.as_bytes(), &shelf(&all)).unwrap();
        assert_eq!(written.default_channel("p"), expected, "{template}");
    }
}

#[test]
fn icon_and_description_come_from_the_head() {
    let csv = r#"{"kind": "ClusterServiceVersion", "spec": {"description": "Lights", "icon": [{"base64data": "aWNvbg==", "mediatype": "image/png"}]}}"#;
    let data = base64_simd::STANDARD.encode_to_string(csv);
    let mut written = CatalogText::default();
    let mut blob: serde_json::Value = serde_json::from_str(&bundle("p", "1.0.0")).unwrap();
    let properties = blob["properties"].as_array_mut().unwrap();
    properties.push(serde_json::json!({"type": "olm.bundle.object", "value": {"data": data}}));
    written.read("b", blob.to_string().as_bytes()).unwrap();
    let shelf = Shelf::of(&written).unwrap();
    let made = render("t", semver("", &[], &["1.0.0"]).as_bytes(), &shelf).unwrap();
    let package = made
        .blobs
        .iter()
        .find(|blob| blob.schema() == "olm.package")
        .unwrap();
    assert_eq!(package.text("description"), "Lights");
    let icon = package.members.get("icon").unwrap();
    assert_eq!(
        (icon.text("base64data"), icon.text("mediatype")),
        ("aWNvbg==", "image/png")
    );
}

#[track_caller]
fn refused(template: &str, versions: &[&str], expected: &str) {
    let error = render("t", template.as_bytes(), &shelf(versions)).unwrap_err();
    assert_eq!(error.to_string(), expected, "{template}");
}

#[test]
fn templates_that_are_none_are_refused() {
    let rows = [
        (
            "a: 1",
            "template input missing required 'schema' field: expected olm.template.basic or olm.semver",
        ),
        (
            "schema: x.y",
            "unknown template schema: x.y; expected olm.template.basic or olm.semver",
        ),
        (
            "schema: olm.semver\n---\nschema: olm.semver",
            "t: expected one document, found 2",
        ),
        (
            "schema: olm.template.substitutes",
            "templates of schema \"olm.template.substitutes\" are not rendered: a substitution takes edges \
             from bundles that people may have installed, and which ones is not in the template; release \
             the new bundle with \"olmguard generate z-stream\" or \"generate promote\", which show who is \
             left behind, or render it with opm",
        ),
        (
            "schema: olm.semver",
            "render: no bundles specified or no bundles could be rendered",
        ),
        (
            "schema: olm.semver\nextra: 1",
            "json: unknown field \"extra\": expected schema, generateMajorChannels, \
             generateMinorChannels, defaultChannelTypePreference, candidate, fast and stable",
        ),
        (
            "schema: olm.semver\nfast: {bundles: [{image: a, name: b}]}",
            "json: unknown field \"name\" in fast.bundles[0]: expected image",
        ),
        (
            "schema: olm.semver\nfast: {bundles: [{image: 1}]}",
            "fast.bundles[0].image: expected a string, found a number",
        ),
        (
            "schema: olm.semver\ndefaultChannelTypePreference: patch",
            "unknown DefaultChannelTypePreference: \"patch\"; valid values are 'major' or 'minor'",
        ),
        (
            "schema: olm.semver\ndefaultChannelTypePreference: major",
            "schema attribute mismatch: DefaultChannelTypePreference set to 'major' doesn't make sense if \
             not generating major-version channels",
        ),
        (
            "schema: olm.template.basic\nentries: [{schema: olm.bundle, image: a, package: p}]",
            "unexpected fields present in basic template bundle: entries[0]: expected schema and image \
             alone, the rest comes from the image",
        ),
        (
            "schema: olm.template.basic\nentries: [1]",
            "t: entries[0]: expected an object with schema, found a number",
        ),
        (
            "schema: olm.template.basic\nentries: [{schema: olm.channel, name: 1}]",
            "t: entries[0]: byte 14: expected value for key \"name\" to be a string, found a number",
        ),
    ];
    for (template, expected) in rows {
        refused(template, &[], expected);
    }
}

#[test]
fn bundles_that_do_not_do_are_refused() {
    refused(
        &semver("", &["1.0.0", "9.9.9"], &[]),
        &["1.0.0"],
        "no bundle of image \"img:9.9.9\" among those of --bundles: expected an olm.bundle with this \
         image, such as \"opm render img:9.9.9\" prints it",
    );
    refused(
        &semver("", &["1.0.0", "1.0.0"], &[]),
        &["1.0.0"],
        "duplicate bundle name \"p.v1.0.0\": candidate.bundles has the image \"img:1.0.0\" twice; remove one",
    );
    refused(
        &semver("", &["1.0.0+a", "1.0.0+b"], &[]),
        &["1.0.0+a", "1.0.0+b"],
        "encountered bundle versions which differ only by build metadata, which cannot be ordered: \
         bundle version \"1.0.0+b\" cannot be compared to \"1.0.0\"",
    );
    refused(
        &semver("", &["1.0"], &[]),
        &["1.0"],
        "bundle \"p.v1.0\" has invalid version \"1.0\": No Major.Minor.Patch elements found",
    );
}

#[test]
fn bundles_of_two_packages_are_refused() {
    let mut written = CatalogText::default();
    for (package, version) in [("p", "1.0.0"), ("q", "2.0.0")] {
        written
            .read("b", bundle(package, version).as_bytes())
            .unwrap();
    }
    let shelf = Shelf::of(&written).unwrap();
    let template = semver("", &["1.0.0", "2.0.0"], &[]);
    let error = render("t", template.as_bytes(), &shelf).unwrap_err();
    assert_eq!(
        error.to_string(),
        "bundle \"q\" does not belong to this package: \"p\""
    );
}

#[test]
fn a_basic_template_passes_blobs_on_as_they_are() {
    let template = "schema: olm.template.basic\nentries:\n\
        - {schema: olm.package, name: p, x-own: {a: [1]}}\n\
        - {schema: com.example.notes, package: p, text: hello}\n\
        - {schema: olm.bundle, image: 'img:1.0.0'}\n";
    let written = render("t", template.as_bytes(), &shelf(&["1.0.0"])).unwrap();
    let text = written.to_text(crate::author::Format::Yaml);
    assert_eq!(
        text,
        "---\nname: p\nschema: olm.package\nx-own:\n  a:\n  - 1\n\
         ---\nimage: img:1.0.0\nname: p.v1.0.0\npackage: p\nproperties:\n- type: olm.package\n  value:\n    \
         packageName: p\n    version: \"1.0.0\"\nschema: olm.bundle\n\
         ---\npackage: p\nschema: com.example.notes\ntext: hello\n"
    );
}

const GUARDRAILS: &str = "{schema: olmguard.guardrails.v1alpha1, package: p, rules: [{id: slowly, kind: \
                          MaxMinorStep, step: 1}]}";

/// Returns the guardrails of a catalog as printed.
fn guardrails_of(written: &CatalogText) -> Vec<String> {
    let text = written.to_text(crate::author::Format::Yaml);
    let documents = text.split("---\n").map(str::to_owned);
    documents
        .filter(|document| document.contains("olmguard.guardrails.v1alpha1"))
        .collect()
}

#[test]
fn a_basic_template_keeps_guardrails_as_they_are() {
    let template = format!(
        "schema: olm.template.basic\nentries:\n\
         - {{schema: olm.package, name: p, properties: [{{type: olmguard.guardrails.v1alpha1, value: {{rules: [{{id: \
         slowly, kind: MaxMinorStep, step: 1}}]}}}}]}}\n- {GUARDRAILS}\n"
    );
    let written = render("t", template.as_bytes(), &shelf(&[])).unwrap();
    assert_eq!(
        guardrails_of(&written),
        [
            "name: p\nproperties:\n- type: olmguard.guardrails.v1alpha1\n  value:\n    rules:\n    - id: slowly\n      \
             kind: MaxMinorStep\n      step: 1\nschema: olm.package\n",
            "package: p\nrules:\n- id: slowly\n  kind: MaxMinorStep\n  step: 1\nschema: \
             olmguard.guardrails.v1alpha1\n",
        ]
    );
}

#[test]
fn guardrails_may_stand_beside_a_semver_template() {
    let template = semver("", &[], &["1.0.0"]);
    for text in [
        format!("{template}---\n{GUARDRAILS}\n"),
        format!("{GUARDRAILS}\n---\n{template}"),
    ] {
        let written = render("t", text.as_bytes(), &shelf(&["1.0.0"])).unwrap();
        assert_eq!(channels(&written), ["stable-v1.0: 1.0.0"]);
        assert_eq!(
            guardrails_of(&written),
            [
                "package: p\nrules:\n- id: slowly\n  kind: MaxMinorStep\n  step: 1\nschema: \
              olmguard.guardrails.v1alpha1\n"
            ]
        );
    }
    let beside = |guardrails: &str| format!("{template}---\n{guardrails}\n");
    let versions = ["1.0.0"];
    refused(
        &beside(&GUARDRAILS.replace("package: p", "package: q")),
        &versions,
        "the guardrails beside the template are about package \"q\": expected \"p\", the package of its bundles",
    );
    refused(
        &beside(&GUARDRAILS.replace("package: p, ", "")),
        &versions,
        "the guardrails beside the template are about package \"\": expected \"p\", the package of its bundles",
    );
    refused(
        &beside(&format!("{GUARDRAILS}\n---\n{GUARDRAILS}")),
        &versions,
        "2 documents with guardrails stand beside the template: expected one, of package \"p\"",
    );
    refused(
        &format!("schema: olm.template.basic\n---\n{GUARDRAILS}"),
        &[],
        "guardrails of package \"p\" stand beside the template: expected them among its entries",
    );
    refused(GUARDRAILS, &[], "t: expected one document, found 0");
}

#[test]
fn guardrails_that_cannot_be_read_are_refused_by_their_place() {
    let wrong = GUARDRAILS.replace("step: 1", "step: 0");
    refused(
        &format!("{}---\n{wrong}\n", semver("", &[], &["1.0.0"])),
        &["1.0.0"],
        "t:6:1: guardrails of package \"p\": rules[0].step: expected a whole number from 1, found 0",
    );
    let entry = format!("schema: olm.template.basic\nentries: [{wrong}]\n");
    refused(
        &entry,
        &[],
        "t: entries[0]: byte 0: guardrails of package \"p\": rules[0].step: expected a whole number from 1, found 0",
    );
}
