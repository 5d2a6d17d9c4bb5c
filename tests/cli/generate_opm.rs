//! Templates rendered by opm, which pulls the bundles from a registry on loopback, and by olmguard, from the output of
//! `opm render` for the same images.
//!
//! `OLMGUARD_OPM` is the path of opm. Without it, these tests report that they are skipped.
#![expect(clippy::print_stdout, reason = "what is left out is said")]

mod registry;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use olmguard_views::author::template::render;
use olmguard_views::author::{CatalogText, Format, Shelf};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::registry::Registry;

/// opm, with a home directory and a registry.
struct Scene {
    opm: PathBuf,
    home: TempDir,
    registry: Registry,
    shelf: Shelf,
}

impl Scene {
    /// Creates a scene, or returns `None` without opm.
    fn set(what: &str) -> Option<Self> {
        let Some(opm) = std::env::var_os("OLMGUARD_OPM") else {
            println!("left out: {what}, OLMGUARD_OPM does not name opm");
            return None;
        };
        let home = TempDir::new().expect("a folder");
        let policy = home.path().join(".config/containers");
        fs::create_dir_all(&policy).expect("a folder");
        let accepts = json!({"default": [{"type": "insecureAcceptAnything"}]});
        fs::write(policy.join("policy.json"), accepts.to_string()).expect("a file");
        let mut scene = Self {
            opm: opm.into(),
            home,
            registry: Registry::start(&VERSIONS),
            shelf: Shelf::default(),
        };
        let images: Vec<_> = (0..VERSIONS.len())
            .map(|n| scene.registry.image(n))
            .collect();
        let arguments: Vec<_> = ["render"]
            .into_iter()
            .chain(images.iter().map(String::as_str))
            .collect();
        let bundles = scene.opm(&arguments).expect("opm renders the images");
        let mut written = CatalogText::default();
        written
            .read("opm render", bundles.as_bytes())
            .expect("a catalog");
        scene.shelf = Shelf::of(&written).expect("distinct bundles");
        Some(scene)
    }

    /// Returns the output of opm, or its error.
    fn opm(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.opm)
            .args(arguments)
            .args(["--use-http", "-o", "json"])
            .env_clear()
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path())
            .current_dir(self.home.path())
            .output()
            .expect("opm starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        if output.status.success() {
            Ok(text(output.stdout))
        } else {
            Err(text(output.stderr))
        }
    }

    /// Returns the same template rendered by opm and by olmguard.
    fn both(&self, template: &Value) -> (Result<Vec<Value>, String>, Result<Vec<Value>, String>) {
        let file = self.home.path().join("template.json");
        let text = template.to_string();
        fs::write(&file, &text).expect("a file");
        let name = file.to_str().expect("UTF-8");
        let theirs = self.opm(&["alpha", "render-template", name]);
        let ours = render(name, text.as_bytes(), &self.shelf);
        let ours = ours.map(|written| values(&written.to_text(Format::Json)));
        (
            theirs.map(|text| values(&text)),
            ours.map_err(|error| error.to_string()),
        )
    }
}

fn values(text: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    values.map(|value| value.expect("JSON")).collect()
}

/// Returns the lists of a random template, as indexes of versions.
fn lists() -> impl Strategy<Value = [Vec<usize>; 3]> {
    let list = || proptest::collection::vec(0..VERSIONS.len(), 0..9);
    [list(), list(), list()]
}

fn template() -> impl Strategy<Value = ([Vec<usize>; 3], [bool; 2], Option<&'static str>)> {
    let preference =
        prop_oneof![3 => Just(None), 1 => Just(Some("major")), 1 => Just(Some("minor"))];
    (lists(), any::<[bool; 2]>(), preference)
}

#[test]
fn semver_templates_come_out_as_opm_renders_them() {
    let Some(scene) = Scene::set("semver templates against opm") else {
        return;
    };
    let mut runner = TestRunner::deterministic();
    let (mut rendered, mut refused) = (0_usize, 0_usize);
    for _ in 0..TEMPLATES {
        let (mut lists, [major, minor], preference) = template()
            .new_tree(&mut runner)
            .expect("a template")
            .current();
        // One template in this many names a bundle twice, which both refuse.
        if !(rendered + refused).is_multiple_of(6) {
            for list in &mut lists {
                list.sort_unstable();
                list.dedup();
            }
        }
        let bundles = |list: &Vec<usize>| {
            let images = list
                .iter()
                .map(|n| json!({"image": scene.registry.image(*n)}));
            json!({"bundles": images.collect::<Vec<_>>()})
        };
        let [candidate, fast, stable] = lists.each_ref().map(bundles);
        let mut template = json!({
            "schema": "olm.semver", "generateMajorChannels": major, "GenerateMinorChannels": minor,
            "Candidate": candidate, "fast": fast, "stable": stable,
        });
        if let Some(preference) = preference {
            template["defaultChannelTypePreference"] = preference.into();
        }
        match scene.both(&template) {
            (Ok(theirs), Ok(ours)) => {
                assert_eq!(ours, theirs, "{template}");
                rendered += 1;
            }
            (Err(theirs), Err(ours)) => {
                // opm names the bundle, and olmguard adds its place.
                let text = ours.split(": ").next().unwrap_or_default();
                assert!(theirs.contains(text), "{theirs}\n{ours}");
                refused += 1;
            }
            (theirs, ours) => panic!("{template}\nopm: {theirs:?}\nwe: {ours:?}"),
        }
    }
    assert!(
        rendered > TEMPLATES / 2 && refused > 0,
        "{rendered} {refused}"
    );
    println!(
        "olm.semver: {rendered} compared, 0 left out (of them {refused} more refused by both)"
    );
}

#[test]
fn a_basic_template_comes_out_as_opm_renders_it() {
    let Some(scene) = Scene::set("a basic template against opm") else {
        return;
    };
    let template = json!({"schema": "olm.template.basic", "entries": [
        {"schema": "olm.package", "name": "lantern", "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": "lantern", "name": "stable", "entries": [
            {"name": "lantern.v1.0.0"}, {"name": "lantern.v1.1.0", "replaces": "lantern.v1.0.0"}]},
        {"schema": "com.example.notes", "package": "lantern", "notes": [{"b": 1, "a": null}]},
        {"schema": "olm.bundle", "image": scene.registry.image(5)},
        {"schema": "olm.bundle", "image": scene.registry.image(4)},
        {"schema": "olm.deprecations", "package": "lantern", "entries": [
            {"reference": {"schema": "olm.bundle", "name": "lantern.v1.0.0"}, "message": "old"}]},
    ]});
    let (theirs, ours) = scene.both(&template);
    assert_eq!(ours.expect("it renders"), theirs.expect("it renders"));
    let mut more = template.clone();
    more["entries"][3]["package"] = "lantern".into();
    let (theirs, ours) = scene.both(&more);
    let (theirs, ours) = (
        theirs.expect_err("opm refuses"),
        ours.expect_err("we refuse"),
    );
    let text = "unexpected fields present in basic template bundle";
    assert!(
        theirs.contains(text) && ours.starts_with(text),
        "{theirs}\n{ours}"
    );
}

/// Only olmguard refuses substitutions, with an explanation.
#[test]
fn substitutions_are_refused() {
    let template = b"schema: olm.template.substitutes";
    let refused = render("t", template, &Shelf::default()).expect_err("no such template");
    assert!(
        refused.to_string().contains("generate z-stream"),
        "{refused}"
    );
    assert!(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("docs/generate.md")
            .is_file()
    );
}

/// Several majors and minors, prereleases, and one version below 0.0.0.
const VERSIONS: [&str; 12] = [
    "0.0.0-rc.1",
    "0.1.0",
    "0.1.1",
    "0.2.0",
    "1.0.0",
    "1.1.0",
    "1.1.1-rc.1",
    "1.1.1",
    "1.2.0",
    "2.0.0",
    "2.1.0",
    "2.1.3",
];

/// The number of random templates.
const TEMPLATES: usize = 24;
