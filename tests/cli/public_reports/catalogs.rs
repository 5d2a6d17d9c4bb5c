//! Catalogs and version ranges.

use super::Scene;

/// Returns a catalog of package `lamp`: channels with their entries in YAML, and bundles of these
/// versions.
fn catalog(channels: &[(&str, &str)], versions: &[&str]) -> String {
    let default = channels.first().map_or("", |(name, _)| name);
    let package = format!("schema: olm.package\nname: lamp\ndefaultChannel: {default}\n");
    let channels = channels.iter().map(|(name, entries)| {
        format!("---\nschema: olm.channel\npackage: lamp\nname: {name}\nentries:\n{entries}")
    });
    let bundles = versions
        .iter()
        .map(|version| bundle(&format!("lamp.v{version}"), version, version));
    std::iter::once(package)
        .chain(channels)
        .chain(bundles)
        .collect()
}

fn bundle(name: &str, tag: &str, version: &str) -> String {
    let tag = tag.replace('+', "-");
    format!(
        "---\nschema: olm.bundle\npackage: lamp\nname: {name}\nimage: registry.example/lamp:{tag}\n\
         properties:\n- type: olm.package\n  value: {{packageName: lamp, version: {version}}}\n"
    )
}

fn extension(version: &str) -> String {
    format!(
        "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata:\n  name: lamp\nspec:\n  namespace: \
         lamp\n  serviceAccount:\n    name: lamp\n  source:\n    sourceType: Catalog\n    catalog:\n      packageName: \
         lamp\n      version: {version}\n"
    )
}

const CHAIN: &str = "- name: lamp.v1.0.0\n- name: lamp.v1.1.0\n  replaces: lamp.v1.0.0\n";

#[track_caller]
fn linted(catalog: &str, code: i32, parts: &[&str]) {
    Scene::with(&[("c.yaml", catalog)])
        .run("lint c.yaml")
        .says(code, parts);
}

#[test]
fn a_target_without_the_prefix_of_the_package() {
    let entries = CHAIN.replace("replaces: lamp.v", "replaces: v");
    linted(
        &catalog(&[("stable", &entries)], &["1.0.0", "1.1.0"]),
        1,
        &[
            "channel \"stable\" has 2 heads: \"lamp.v1.0.0\", \"lamp.v1.1.0\"",
            "names \"v1.0.0\", which is not in the catalog; did you mean \"lamp.v1.0.0\"?",
        ],
    );
}

#[test]
fn a_skip_range_alone_is_no_chain() {
    let entries = format!("{CHAIN}- name: lamp.v1.2.0\n  skipRange: '>=1.0.0 <1.2.0'\n");
    linted(
        &catalog(&[("alpha", &entries)], &["1.0.0", "1.1.0", "1.2.0"]),
        1,
        &[
            "has 2 heads: \"lamp.v1.1.0\", \"lamp.v1.2.0\"; let the newest replace or skip the others",
            "opm  multiple channel heads found in graph: lamp.v1.1.0, lamp.v1.2.0",
        ],
    );
}

#[test]
fn a_chain_of_skips_alone_moves_only_olm_v1() {
    let entries = "- name: lamp.v1.0.0\n- name: lamp.v1.1.0\n  skips: [lamp.v1.0.0]\n- name: lamp.v1.2.0\n  skips: \
                   [lamp.v1.1.0]\n";
    let scene = Scene::with(&[(
        "c.yaml",
        &catalog(&[("stable", entries)], &["1.0.0", "1.1.0", "1.2.0"]),
    )]);
    scene
        .run("path lamp 1.0.0 --olm v0 --catalog hub=c.yaml")
        .says(1, &[]);
    let v1 = scene.run("path lamp 1.0.0 --catalog hub=c.yaml");
    v1.says(0, &["1.1.0", "1.2.0"]);
    scene.run("lint c.yaml").says(
        0,
        &["\"lamp.v1.0.0\" has no upgrade path to \"lamp.v1.2.0\", the head of channel \"stable\", in OLM v0"],
    );
}

#[test]
fn a_skipped_step_strands_users_of_olm_v0() {
    let entries = "- name: lamp.v1.0.0\n- name: lamp.v2.0.0\n  replaces: lamp.v1.0.0\n- name: lamp.v3.0.0\n  skips: \
                   [lamp.v2.0.0]\n- name: lamp.v4.0.0\n  replaces: lamp.v3.0.0\n";
    let versions = ["1.0.0", "2.0.0", "3.0.0", "4.0.0"];
    let scene = Scene::with(&[("c.yaml", &catalog(&[("stable", entries)], &versions))]);
    scene
        .run("path lamp 1.0.0 --olm v0 --catalog hub=c.yaml")
        .says(1, &[]);
    scene
        .run("path lamp 1.0.0 --catalog hub=c.yaml")
        .says(0, &["4.0.0"]);
    let linted = scene.run("lint c.yaml");
    assert!(linted.text.contains("\"lamp.v1.0.0\""), "{}", linted.text);
}

#[test]
fn a_target_that_is_only_in_another_channel() {
    let rolling = "- name: lamp.v1.0.0\n- name: lamp.v1.2.0\n  replaces: lamp.v1.1.0\n";
    let minor = "- name: lamp.v1.1.0\n  replaces: lamp.v1.0.0\n";
    let text = catalog(
        &[("1.x", rolling), ("1.1.x", minor)],
        &["1.0.0", "1.1.0", "1.2.0"],
    );
    linted(
        &text,
        1,
        &[
            "channel \"1.x\" has 2 heads",
            "names \"lamp.v1.1.0\", which is only in channel \"1.1.x\": its edges do not count in channel \"1.x\"",
        ],
    );
    let scene = Scene::with(&[("c.yaml", &text)]);
    scene
        .run("path lamp 1.0.0 --channel 1.x --catalog hub=c.yaml")
        .says(1, &[]);
}

#[test]
fn edges_that_go_down() {
    let above = "- name: lamp.v1.0.0\n- name: lamp.v1.1.0\n  replaces: lamp.v1.0.0\n  skipRange: '>=1.0.0 <1.4.0'\n- name: \
                 lamp.v1.3.0\n  replaces: lamp.v1.1.0\n";
    linted(
        &catalog(&[("stable", above)], &["1.0.0", "1.1.0", "1.3.0"]),
        0,
        &[
            "skipRange of entry \"lamp.v1.1.0\" (1.1.0) makes an edge from a higher version: \"lamp.v1.3.0\" (1.3.0)",
        ],
    );
    let rebuild = "- name: lamp.v1.0.0\n- name: lamp.v1.0.0-2\n  replaces: lamp.v1.0.0\n";
    let text = catalog(&[("stable", rebuild)], &["1.0.0", "1.0.0-2"]);
    linted(&text, 0, &["edge-goes-down", "head-not-highest"]);
    let scene = Scene::with(&[("c.yaml", &text)]);
    scene
        .run("path lamp 1.0.0 --olm v0 --catalog hub=c.yaml")
        .says(0, &["1.0.0-2"]);
}

#[test]
fn keys_that_olm_ignores() {
    let entries = format!("{CHAIN}  olm.skipRange: '>=1.0.0 <1.1.0'\n");
    linted(
        &catalog(&[("stable", &entries)], &["1.0.0", "1.1.0"]),
        0,
        &[
            "c.yaml:12:18: warning: entry \"lamp.v1.1.0\" of channel \"stable\" has the key \"olm.skipRange\", which OLM \
             ignores; did you mean \"skipRange\"? [unknown-key]",
        ],
    );
    let text = catalog(&[("stable", CHAIN)], &["1.0.0", "1.1.0"]);
    let named = text.replace("name: stable", "channel: stable");
    linted(
        &named,
        1,
        &["rename the key \"channel\" to \"name\": name: \"stable\""],
    );
    let schema = format!("{text}---\nschema: olm.deprecation\npackage: lamp\nentries: []\n");
    linted(
        &schema,
        0,
        &["did you mean \"olm.deprecations\"? [misspelt-schema]"],
    );
}

#[test]
fn files_that_are_no_part_of_the_catalog() {
    let text = catalog(&[("stable", CHAIN)], &["1.0.0", "1.1.0"]);
    let files = [
        ("c/cat.yaml", &*text),
        ("c/README.md", "# Lamps\nSee below.\n"),
        ("c/Dockerfile", "FROM x\nRUN y\n"),
    ];
    let scene = Scene::with(&files);
    scene.run("lint c").says(
        1,
        &[
            "2 files contain no blob of a catalog: \"c/Dockerfile\", \"c/README.md\"; list them in .indexignore",
            "1 error, 0 warnings, 0 notes in 1 catalog",
        ],
    );
    scene.run("path lamp 1.0.0 --catalog hub=c").says(
        3,
        &["if the file is not part of the catalog, list it in .indexignore"],
    );
    scene.write("c/.indexignore", "README.md\nDockerfile\n");
    scene.run("lint c").says(0, &["0 errors"]);
}

#[test]
fn a_repository_as_a_catalog_is_an_error_of_each_kind() {
    let text = catalog(&[("stable", CHAIN)], &["1.0.0", "1.1.0"]);
    let scene = Scene::with(&[("catalog/cat.yaml", &text)]);
    for number in 0..40 {
        scene.write(&format!("docs/{number}.md"), "# Page\nText.\n");
        scene.write(
            &format!("deploy/{number}.yaml"),
            "apiVersion: v1\nkind: ConfigMap\n",
        );
        scene.write(
            &format!("src/{number}.go"),
            "package main\n\nfunc main() {\n\tx := map[int]int{}\n}\n",
        );
    }
    let ended = scene.run("lint .");
    ended.says(
        1,
        &[
            "40 files contain no blob of a catalog: \"./deploy/0.yaml\", \"./deploy/1.yaml\"",
            "[missing-schema]",
            "[not-an-object]",
            "list them in .indexignore",
        ],
    );
    let errors = ended.text.lines().filter(|line| line.contains(": error: "));
    assert!(errors.count() <= 4, "{}", ended.text);
}

#[test]
fn a_bundle_in_two_files() {
    let text = catalog(&[("stable", CHAIN)], &["1.0.0", "1.1.0"]);
    let again = bundle("lamp.v1.0.0", "1.0.0", "1.0.0");
    let scene = Scene::with(&[("c/a.yaml", &text), ("c/b.yaml", &again)]);
    scene.run("lint c").says(
        1,
        &[
            "c/b.yaml:2:1: error: package \"lamp\" has a second bundle \"lamp.v1.0.0\"",
            "(the first is at c/a.yaml:13:1)",
        ],
    );
}

#[test]
fn an_edge_to_a_removed_bundle_is_no_fault() {
    let entries = "- name: lamp.v1.1.0\n  replaces: lamp.v1.0.0\n";
    let text = catalog(&[("stable", entries)], &["1.1.0"]);
    let scene = Scene::with(&[("c.yaml", &text), ("ext.yaml", &extension("1.1.0"))]);
    scene.run("lint c.yaml").says(0, &["0 errors, 0 warnings"]);
    let check = "check ext.yaml --catalog hub=c.yaml --installed lamp=1.0.0,bundle=lamp.v1.0.0";
    scene.run(check).says(0, &["lamp: allow"]);
}

const TEMPLATE: &str = "schema: olm.semver\ngenerateMajorChannels: true\nstable:\n  bundles:\n  - image: \
                        registry.example/lamp:1.0.0\n  - image: registry.example/lamp:1.1.0\n";

#[track_caller]
fn rendered(template: &str, bundles: &str, code: i32, parts: &[&str]) {
    let scene = Scene::with(&[("t.yaml", template), ("b.yaml", bundles)]);
    scene
        .run("generate template t.yaml --bundles b.yaml")
        .says(code, parts);
}

#[test]
fn bundles_that_a_template_cannot_tell_apart() {
    let same = [
        bundle("lamp", "1.0.0", "1.0.0"),
        bundle("lamp", "1.1.0", "1.1.0"),
    ]
    .concat();
    rendered(
        TEMPLATE,
        &same,
        3,
        &[
            "duplicate bundle name \"lamp\": stable.bundles has the images \"registry.example/lamp:1.0.0\" and \
             \"registry.example/lamp:1.1.0\"; name each CSV with its version, such as lamp.v1.1.0",
        ],
    );
    let builds = [
        bundle("lamp.v1.0.0-a", "1.0.0", "1.0.0+1"),
        bundle("lamp.v1.0.0-b", "1.1.0", "1.0.0+2"),
    ]
    .concat();
    rendered(
        TEMPLATE,
        &builds,
        3,
        &["differ only by build metadata, which cannot be ordered"],
    );
    let good = [
        bundle("lamp.v1.0.0", "1.0.0", "1.0.0+1"),
        bundle("lamp.v1.1.0", "1.1.0", "1.1.0+7"),
    ]
    .concat();
    rendered(TEMPLATE, &good, 0, &["defaultChannel: stable-v1"]);
    let both = TEMPLATE.replace("stable:", "generateMinorChannels: true\nstable:");
    rendered(&both, &good, 0, &["defaultChannel: stable-v1.1"]);
}

#[test]
fn every_missing_image_and_both_places_of_two_bundles() {
    rendered(
        TEMPLATE,
        &bundle("lamp.v2.0.0", "2.0.0", "2.0.0"),
        3,
        &[
            "no bundle of image \"registry.example/lamp:1.0.0\", \"registry.example/lamp:1.1.0\" among those of \
             --bundles: expected an olm.bundle with each of these images",
        ],
    );
    let scene = Scene::with(&[
        ("t.yaml", TEMPLATE),
        ("a.yaml", &bundle("lamp.v1.0.0", "1.0.0", "1.0.0")),
        ("b.yaml", &bundle("lamp.v1.0.1", "1.0.0", "1.0.1")),
    ]);
    scene.run("generate template t.yaml --bundles a.yaml --bundles b.yaml").says(
        3,
        &[
            "two bundles of image \"registry.example/lamp:1.0.0\" among those of --bundles, \"lamp.v1.0.0\" at \
             a.yaml:2:1 and \"lamp.v1.0.1\" at b.yaml:2:1: expected one",
        ],
    );
}

/// Checks an extension with this version against a catalog with 1.0.0 and 1.1.0.
#[track_caller]
fn checked(version: &str, code: i32, parts: &[&str]) {
    let text = catalog(&[("stable", CHAIN)], &["1.0.0", "1.1.0"]);
    let scene = Scene::with(&[("c.yaml", &text), ("ext.yaml", &extension(version))]);
    scene
        .run("check ext.yaml --catalog hub=c.yaml")
        .says(code, parts);
}

#[test]
fn ranges_of_other_tools_name_the_nearest_valid_one() {
    for (version, range) in [
        ("1.0 - 2.0", ">=1.0 <=2.0"),
        ("2.4.1 - 2.4.9", ">=2.4.1 <=2.4.9"),
        ("'[1.0,2.0)'", ">=1.0.0 <2.0.0"),
        ("~=1.4.2", ">=1.4.2 <1.5.0"),
        ("==1.4.2", "1.4.2"),
        ("'>=1.0 and <2'", ">=1.0 <2"),
        ("V1.4.2", "1.4.2"),
    ] {
        checked(
            version,
            1,
            &[
                "invalid version expression",
                &format!("; write \"{range}\" [InvalidSpec]"),
            ],
        );
    }
    for version in ["latest", "stable"] {
        checked(
            version,
            1,
            &[
                "invalid version expression; omit the version: OLM then installs the newest one that it can",
            ],
        );
    }
    for version in ["v1.0.0", "1.x", "^1.0", "'>= 1.0, < 2.0'"] {
        checked(version, 0, &["lamp: allow"]);
    }
}

#[test]
fn explain_names_the_nearest_valid_range() {
    let text = catalog(&[("stable", CHAIN)], &["1.0.0", "1.1.0"]);
    let scene = Scene::with(&[("c.yaml", &text), ("ext.yaml", &extension("'[1.0,2.0)'"))]);
    for (range, instead) in [
        ("[1.0,2.0)", "write \">=1.0.0 <2.0.0\""),
        (
            "latest",
            "omit the version: OLM then installs the newest one that it can",
        ),
    ] {
        for command in ["explain", "path"] {
            let line = format!("{command} lamp 1.0.0 1.1.0 --range {range} --catalog hub=c.yaml");
            let ended = scene.run(&line);
            ended.says(2, &["error: --range: improper constraint", instead]);
        }
    }
    scene
        .run("check --no-schema ext.yaml --catalog hub=c.yaml")
        .says(
            1,
            &[
                "at character 1; write \">=1.0.0 <2.0.0\"",
                "[InvalidVersionRange]",
            ],
        );
}

#[test]
fn a_range_without_quotes_is_no_yaml() {
    for version in [">=1.2", ">1.0.0", ">=1.0 <2.0"] {
        checked(
            version,
            3,
            &[
                "ext.yaml:13:16: a value that starts with \">\" is a block of text in YAML: write",
                &format!("\"version: {version}\" with quotes around the value"),
            ],
        );
    }
}

#[test]
fn range_names_the_nearest_valid_range() {
    let scene = Scene::with(&[]);
    for (line, code, fix) in [
        (
            "range ~=1.4.2",
            1,
            "Fix             write \">=1.4.2 <1.5.0\"",
        ),
        (
            "range [1.0,2.0)",
            1,
            "Fix             write \">=1.0.0 <2.0.0\"",
        ),
        (
            "range latest",
            1,
            "Fix             omit the version: OLM then installs the newest one that it can",
        ),
        (
            "range --skip-range ^1.2",
            1,
            "Fix             write \">=1.2.0 <2.0.0\"",
        ),
    ] {
        scene.run(line).says(code, &[fix]);
    }
    assert!(!scene.run("range ^1.2").text.contains("Fix"));
    scene
        .run("range --skip-range =0.1.0 0.1.0 0.1.1")
        .says(0, &["Matches         0.1.0\n"]);
    scene
        .run("range --skip-range >=0.0.1_<0.1.x-foo 0.0.5")
        .says(1, &["Could not parse Range"]);
}

#[test]
fn a_pin_with_build_metadata_that_gets_another_build() {
    let entries = "- name: lamp.v1.0.0-1\n- name: lamp.v1.0.0-2\n  replaces: lamp.v1.0.0-1\n";
    let mut text = catalog(&[("stable", entries)], &[]);
    text += &bundle("lamp.v1.0.0-1", "1", "1.0.0+1");
    text += &bundle("lamp.v1.0.0-2", "2", "1.0.0+2");
    let warning =
        "resolves to lamp.v1.0.0-2: OLM ignores build metadata, so you cannot pin a release";
    let scene = Scene::with(&[("c.yaml", &text), ("ext.yaml", &extension("1.0.0+1"))]);
    let check = "check ext.yaml --catalog hub=c.yaml";
    scene
        .run(check)
        .says(0, &[&format!("warning: 1.0.0+1 {warning}")]);
    for quiet in ["1.0.0+2", "1.0.0"] {
        scene.write("ext.yaml", &extension(quiet));
        let ended = scene.run(check);
        assert!(!ended.text.contains(warning), "{}", ended.text);
    }
}

#[test]
fn two_bundles_of_one_version() {
    let mut text = catalog(
        &[(
            "stable",
            "- name: lamp.v1.0.0\n- name: lamp-hotfix.v1.0.0\n",
        )],
        &["1.0.0"],
    );
    text += &bundle("lamp-hotfix.v1.0.0", "hotfix", "1.0.0");
    let scene = Scene::with(&[("c.yaml", &text), ("ext.yaml", &extension("1.0.0"))]);
    let check = "check ext.yaml --catalog hub=c.yaml";
    let warning =
        "lamp-hotfix.v1.0.0 and lamp.v1.0.0 have the same version: OLM can install either";
    scene.run(check).says(0, &[warning]);
    text += "---\nschema: olm.deprecations\npackage: lamp\nentries:\n- reference: {schema: olm.bundle, name: lamp.v1.0.0}\n  \
             message: superseded\n";
    scene.write("c.yaml", &text);
    let ended = scene.run(check);
    assert!(!ended.text.contains("either"), "{}", ended.text);
}

#[test]
fn only_prereleases_and_pins() {
    let entries = "- name: lamp.v0.2.0-rc0\n  skipRange: '>=0.1.0 <0.2.0-rc0'\n";
    let text = catalog(&[("alpha", entries)], &["0.2.0-rc0"]);
    let scene = Scene::with(&[("c.yaml", &text), ("ext.yaml", &extension("'>=0.1.0'"))]);
    let check = "check ext.yaml --catalog hub=c.yaml";
    let fix = "Fix: set spec.source.catalog.version to \"0.2.0-rc0\", or to \">=0.1.0-0\" for prereleases too";
    scene.run(check).says(1, &["[VersionNotFound]", fix]);
    scene.write("ext.yaml", &extension("'>=0.1.0-0'"));
    scene.run(check).says(0, &["1 allowed"]);
    // No upgrade edge starts at 0.0.1, so an edit to that range would be denied as well.
    scene.write("ext.yaml", &extension("'>=0.1.0'"));
    let ended = scene.run(&format!(
        "{check} --installed lamp=0.0.1,bundle=lamp.v0.0.1"
    ));
    ended.says(1, &["[VersionNotFound]"]);
    assert!(
        !ended.text.contains("for prereleases too"),
        "{}",
        ended.text
    );
    let chain = catalog(&[("stable", CHAIN)], &["1.0.0", "1.1.0"]);
    scene.write("c.yaml", &chain);
    scene.write("ext.yaml", &extension("1.0.0"));
    for more in ["", " --installed lamp=1.0.0"] {
        let ended = scene.run(&format!("{check}{more}"));
        ended.says(0, &["lamp: allow", "1.0.0"]);
    }
}
