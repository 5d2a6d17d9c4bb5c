//! `olmguard graph`: its formats, its errors and its exit codes.

use std::process::{Command, Output};

use olmguard_fixtures::committed::compare;
use serde_json::{Value, json};

fn graph(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_clear()
        .arg("graph")
        .args(arguments)
        .output()
        .expect("it runs")
}

const LIGHTHOUSE: [&str; 2] = ["--catalog", "lighthouse=examples/catalogs/lighthouse.yaml"];
const FAR_SHORE: [&str; 2] = ["--catalog", "far-shore=examples/catalogs/far-shore.yaml"];
const HARBOR: &str = "harbor-lights-operator";

fn of_harbor(arguments: &[&str]) -> Output {
    graph(&[&LIGHTHOUSE[..], &[HARBOR], arguments].concat())
}

#[track_caller]
fn ends(output: &Output, code: i32, stderr: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*said), (Some(code), stderr));
}

#[test]
fn every_form_begins_as_its_readers_expect() {
    for (form, start) in [
        ("mermaid", "graph BT\n"),
        ("dot", "digraph \"harbor-lights-operator\" {\n"),
        ("svg", "<svg xmlns=\"http://www.w3.org/2000/svg\""),
        ("html", "<!doctype html>\n<html lang=\"en\">"),
        ("json", "{\"schema\":\"olmguard.graph/v1\""),
    ] {
        let output = of_harbor(&["-o", form]);
        ends(&output, 0, "");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.starts_with(start), "{form}: {text:.80}");
    }
}

#[test]
fn a_file_has_what_would_be_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("graph.svg");
    let name = file.to_str().expect("UTF-8");
    let output = of_harbor(&["-o", "svg", "--output-file", name]);
    ends(&output, 0, "");
    assert!(output.stdout.is_empty());
    let printed = of_harbor(&["-o", "svg"]).stdout;
    assert_eq!(std::fs::read(&file).expect("a file"), printed);
}

#[test]
fn the_name_of_the_file_gives_its_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = |name: &str, more: &[&str]| {
        let file = folder.path().join(name);
        let path = file.to_str().expect("UTF-8");
        let output = of_harbor(&[&["--output-file", path], more].concat());
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        let error = error.replace(&format!("{}/", folder.path().display()), "");
        (output.status.code(), text, error)
    };
    for (name, start) in [
        ("a.svg", "<svg"),
        ("A.SVG", "<svg"),
        ("a.html", "<!doctype html>"),
        ("a.htm", "<!doctype html>"),
        ("a.dot", "digraph"),
        ("a.gv", "digraph"),
        ("a.json", "{\"schema\""),
        ("a.mmd", "graph BT"),
        ("a.md", "graph BT"),
        ("a.txt", "graph BT"),
        ("plain", "graph BT"),
    ] {
        let (code, text, error) = written(name, &[]);
        assert_eq!((code, error.as_str()), (Some(0), ""), "{name}");
        assert!(text.starts_with(start), "{name}: {text:.80}");
    }
    // A format on the command line is sufficient if the file name implies none.
    for name in ["b.tmp", "b.txt", "B.TXT", "b"] {
        let (code, text, _) = written(name, &["-o", "dot"]);
        assert_eq!(
            (code, text.starts_with("digraph")),
            (Some(0), true),
            "{name}"
        );
    }
    let (code, text, error) = written("c.png", &[]);
    assert_eq!((code, text.as_str()), (Some(2), ""));
    assert_eq!(
        error,
        "error: --output-file c.png: unknown extension: expected .svg, .html, .dot, .json, .mmd, .md \
         or .txt, or add -o FORMAT\n"
    );
    let (code, text, error) = written("c.svg", &["-o", "html"]);
    assert_eq!((code, text.as_str()), (Some(2), ""));
    assert_eq!(
        error,
        "error: --output-file c.svg: -o requests another format than this extension: omit -o, or rename \
         the file\n"
    );
}

#[test]
fn json_tells_the_walk() {
    let output = of_harbor(&["-o", "json", "--installed", "1.2.1", "--to", "2.0.0"]);
    ends(&output, 0, "");
    let graph: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<_> = graph["walk"]["way"]
        .as_array()
        .expect("a way")
        .iter()
        .map(|hop| &hop["to"])
        .collect();
    let name = |version| json!(format!("{HARBOR}.v{version}"));
    assert_eq!(names.first(), Some(&&name("1.3.2")));
    assert_eq!(names.last(), Some(&&name("2.0.0")));
    let installed = graph["versions"].as_array().expect("versions").iter();
    let installed: Vec<_> = installed
        .filter(|version| {
            version["marks"]
                .as_array()
                .expect("marks")
                .contains(&json!("installed"))
        })
        .map(|version| &version["name"])
        .collect();
    assert_eq!(installed, [&name("1.2.1")]);
}

/// Returns the JSON output, and the names on its path.
fn walked(output: &Output) -> (Value, Vec<String>) {
    ends(output, 0, "");
    let graph: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let way = graph.pointer("/walk/way").and_then(Value::as_array);
    let way = way.expect("a way").iter();
    let names = way.map(|hop| hop["to"].as_str().expect("a name").to_owned());
    let names = names.collect();
    (graph, names)
}

#[test]
fn ranges_lead_on_from_a_version_that_no_bundle_has() {
    for olm in ["v1", "v0"] {
        let (graph, way) = walked(&of_harbor(&["-o", "json", "--from", "1.2.9", "--olm", olm]));
        assert_eq!(way.first(), Some(&format!("{HARBOR}.v1.3.2")), "{olm}");
        assert_eq!(graph["walk"]["from"], "1.2.9");
        assert_eq!(graph["walk"]["way"][0]["by"], "skipRange");
        let versions = graph["versions"].as_array().expect("versions").iter();
        let mut own = versions.filter(|version| version["name"] == "1.2.9");
        assert_eq!(
            own.next().map(|own| &own["marks"]),
            Some(&json!(["virtual"]))
        );
    }
    let (graph, way) = walked(&of_harbor(&["-o", "json", "--installed", "0.1.0"]));
    assert!(way.is_empty(), "no range holds it");
    assert_eq!(graph["walk"]["reached"], 0);
}

/// Returns a catalog of the package `p`: bundles with the type of a property, and entries.
fn of_package(bundles: &[(&str, &str)], entries: &Value) -> tempfile::NamedTempFile {
    let mut text =
        json!({"schema": "olm.channel", "package": "p", "name": "a", "entries": entries})
            .to_string();
    for (version, property) in bundles {
        let blob = json!({"schema": "olm.bundle", "package": "p", "name": format!("p.v{version}"), "properties": [
            {"type": "olm.package", "value": {"packageName": "p", "version": version}},
            {"type": property, "value": {"group": "g", "kind": "K", "version": "v1", "packageName": "q", "versionRange": ">=1"}}]});
        text += &blob.to_string();
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    std::io::Write::write_all(&mut file, text.as_bytes()).expect("a file");
    file
}

#[test]
fn names_without_a_bundle_are_left_by_name_and_by_range() {
    let entries = json!([{"name": "p.v2.0.0", "replaces": "p.v1.0.0"},
        {"name": "p.v3.0.0", "skipRange": ">=1.0.0 <2.0.0"}]);
    let file = of_package(&[("2.0.0", "olm.gvk"), ("3.0.0", "olm.gvk")], &entries);
    let catalog = format!("c={}", file.path().display());
    for from in ["p.v1.0.0", "1.0.0"] {
        let (graph, _) = walked(&graph(&[
            "p",
            "--catalog",
            &catalog,
            "-o",
            "json",
            "--from",
            from,
        ]));
        assert_eq!(graph["walk"]["reached"], 2, "{from}");
    }
}

#[test]
fn no_way_of_olm_v1_leads_through_what_it_refuses() {
    let entries = json!([{"name": "p.v1.0.0"}, {"name": "p.v1.1.0", "replaces": "p.v1.0.0"},
        {"name": "p.v1.2.0", "replaces": "p.v1.1.0"}]);
    let reached = |property: &str, olm: &str| {
        let bundles = [
            ("1.0.0", "olm.gvk"),
            ("1.1.0", property),
            ("1.2.0", "olm.gvk"),
        ];
        let file = of_package(&bundles, &entries);
        let catalog = format!("c={}", file.path().display());
        let arguments = [
            "p",
            "--catalog",
            &catalog,
            "-o",
            "json",
            "--from",
            "1.0.0",
            "--olm",
            olm,
        ];
        walked(&graph(&arguments)).0["walk"]["reached"].clone()
    };
    assert_eq!(reached("olm.gvk", "v1"), 2);
    assert_eq!(reached("olm.package.required", "v1"), 0);
    assert_eq!(reached("olm.package.required", "v0"), 2);
    let page = {
        let file = of_package(
            &[("1.0.0", "olm.gvk"), ("1.1.0", "olm.gvk.required")],
            &entries,
        );
        let catalog = format!("c={}", file.path().display());
        graph(&["p", "--catalog", &catalog, "-o", "html"]).stdout
    };
    let page = String::from_utf8(page).expect("UTF-8");
    let told = "OLM v1 cannot install it: it declares a dependency with olm.gvk.required";
    assert!(page.contains(told), "the page says why");
    assert!(
        page.contains(
            "\"label\":\"1.0.0\",\"bundle\":true,\"marks\":[\"stranded in OLM v1\"],\"notes\":[],\"next\":[]"
        ),
        "{page}"
    );
}

#[test]
fn an_unknown_name_of_what_is_installed_is_undecided_for_olm_v0_too() {
    for asked in [
        &["path", HARBOR, "0.5.0"][..],
        &["explain", HARBOR, "0.5.0", "2.0.0"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env_clear()
            .args(asked)
            .args(["--olm", "v0", "--channel", "stable-v2"])
            .args(LIGHTHOUSE)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(4), "{text}");
        assert!(text.contains("which is unknown"), "{text}");
    }
}

#[test]
fn a_subscription_without_a_channel_walks_as_path_says() {
    let (_, drawn) = walked(&of_harbor(&[
        "-o", "json", "--from", "1.0.0", "--olm", "v0",
    ]));
    let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_clear()
        .args(["path", HARBOR, "1.0.0", "--olm", "v0", "-o", "json"])
        .args(LIGHTHOUSE)
        .output()
        .expect("it runs");
    let path: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let steps = path["walks"][0]["steps"].as_array().expect("steps").iter();
    let walked: Vec<_> = steps
        .map(|step| step["bundle"].as_str().expect("a name"))
        .collect();
    assert_eq!(drawn, walked);
    assert!(walked.len() > 10, "{walked:?}");
    let picture = of_harbor(&["-o", "svg", "--from", "1.0.0", "--olm", "v0"]);
    let picture = String::from_utf8(picture.stdout).expect("UTF-8");
    assert!(
        picture.contains("From 1.0.0, subscribed without a channel, "),
        "{picture:.900}"
    );
}

#[test]
fn what_is_refused_is_said_with_the_way_out() {
    let rows: [(&[&str], i32, &str); 9] = [
        (
            &["--from", "1.2.x"],
            2,
            "error: --from: package \"harbor-lights-operator\" has no version and no bundle \"1.2.x\"; did you mean ",
        ),
        (
            &["--to", "2.0.0"],
            2,
            "error: --to needs a start: give --from or --installed\n",
        ),
        (
            &["--channel", "stable"],
            1,
            "error: --channel: the package has no channel \"stable\": expected one of \"candidate\", \"stable-v1\", \"stable-v2\"\n",
        ),
        (
            &["--in", "hub"],
            2,
            "error: --in: no catalog \"hub\": expected one of \"lighthouse\"\n",
        ),
        (
            &["--olm", "v0", "--graph", "semver"],
            2,
            "error: --olm v0 uses the edges of the catalog: omit --graph\n",
        ),
        (
            &["--base", "examples/catalogs/lighthouse.yaml"],
            2,
            "error: --base needs a picture: add -o svg or -o html\n",
        ),
        (
            &["--base", "no/such/catalog.yaml", "-o", "svg"],
            3,
            "error: --base: ",
        ),
        (
            &["--from", "2.3.1", "--to", "1.0.0"],
            1,
            "note: the graph has no upgrade path to the version of --to\n",
        ),
        (
            &["--output-file", "no/such/folder/graph.svg"],
            5,
            "error: no/such/folder/graph.svg: cannot be written: No such file or directory (os error 2)\n",
        ),
    ];
    for (arguments, code, stderr) in rows {
        let output = of_harbor(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.starts_with(stderr), "{arguments:?}: {said}");
    }
    let output = graph(&[&LIGHTHOUSE[..], &["harbor-light-operator"]].concat());
    ends(
        &output,
        1,
        "error: no catalog has a package \"harbor-light-operator\"; did you mean \"harbor-lights-operator\"?\n",
    );
}

#[test]
fn a_base_is_drawn_too_and_what_it_had_is_left_by_ranges() {
    let entries = |names: &[&str]| {
        let entries = names
            .iter()
            .map(|name| json!({"name": format!("p.v{name}")}));
        let head = json!({"name": "p.v2.0.0", "skipRange": ">=1.0.0 <2.0.0"});
        Value::Array(entries.chain([head]).collect())
    };
    let bundles = |names: &[&'static str]| {
        let all = names.iter().chain(&["2.0.0"]);
        all.map(|name| (*name, "olm.gvk")).collect::<Vec<_>>()
    };
    let file = |names: &[&'static str]| of_package(&bundles(names), &entries(names));
    let (old, new) = (file(&["1.0.0", "1.1.0"]), file(&["1.0.0", "1.2.0"]));
    let (old, new) = (old.path().display(), format!("c={}", new.path().display()));
    let base = old.to_string();
    let draw = |more: &[&str]| {
        let flags = ["p", "--catalog", &new, "--base", &base];
        let output = graph(&[&flags[..], more].concat());
        ends(&output, 0, "");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let picture = draw(&["-o", "svg"]);
    let told = "1 version added and 1 removed; 1 upgrade edge added and 0 removed.";
    for text in [told, ">1.1.0 removed<", ">1.2.0 added<"] {
        assert!(picture.contains(text), "{text}: {picture}");
    }
    let page = draw(&["-o", "html", "--installed", "1.1.0"]);
    assert_eq!(page, draw(&["-o", "html", "--installed", "1.1.0"]));
    for text in [
        "\"1.1.0 removed\"",
        "From 1.1.0 1 version can be reached; 2.0.0 in 1 step.",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[test]
fn of_several_catalogs_one_is_drawn() {
    let both = [&LIGHTHOUSE[..], &FAR_SHORE[..]].concat();
    let output = graph(&[&both[..], &["foghorn-operator"]].concat());
    ends(
        &output,
        2,
        "error: 2 catalogs have the package: expected --in with one of \"far-shore\", \"lighthouse\"\n",
    );
    let output = graph(&[&both[..], &["foghorn-operator", "--in", "far-shore"]].concat());
    ends(&output, 0, "");
    let output = graph(&[&both[..], &[HARBOR]].concat());
    ends(&output, 0, "");
}

#[test]
fn the_picture_of_the_page_is_that_of_the_command() {
    let output = of_harbor(&[
        "-o",
        "svg",
        "--channel",
        "stable-v2",
        "--installed",
        "2.0.0",
    ]);
    ends(&output, 0, "");
    compare(
        "docs/graph.svg",
        &String::from_utf8(output.stdout).expect("UTF-8"),
    );
}
