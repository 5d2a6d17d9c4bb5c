//! The output on the book's pages about new catalogs and fleets is current.

use std::fs;
use std::path::Path;

use super::{audit, list, object};
use crate::folder::Folder;
use crate::saved::{named, olm, save};

/// Returns a scene with the files of the book.
fn scene() -> Folder {
    let scene = super::scene();
    for name in ["catalog.yaml", "installed.yaml", "upcoming.yaml"] {
        scene.write(name, &read(&format!("docs/sample/{name}")));
    }
    scene
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

#[track_caller]
fn shows(page: &str, scene: &Folder, line: &str, expected: i32) {
    let arguments: Vec<_> = line.split(' ').skip(2).collect();
    let (code, stdout, stderr) = audit(scene, &arguments, "");
    assert_eq!((code, &*stderr), (Some(expected), ""));
    let shown = format!("$ {line}\n{stdout}");
    let indented: String = shown.lines().flat_map(|line| [line, "\n"]).collect();
    assert!(
        read(page).contains(&indented),
        "{page} does not show:\n{shown}"
    );
}

#[test]
fn the_preview() {
    let scene = scene();
    let path = |name: &str| scene.path().join(name);
    let catalogs = [(named("hub"), Some(&*path("catalog.yaml")))];
    save(&path("prod.snapshot"), Some(olm("1.11", &[])), &catalogs);
    let line = "olmguard audit installed.yaml --snapshot prod.snapshot --catalog hub=upcoming.yaml";
    shows("docs/tasks/preview-a-catalog-update.md", &scene, line, 1);
}

#[test]
fn many_clusters() {
    let scene = scene();
    fs::create_dir(scene.path().join("reports")).expect("a directory");
    let of_lantern = |objects: &mut [serde_json::Value]| {
        for object in objects {
            let version = object["status"]["install"]["bundle"]["version"].clone();
            let version = version.as_str().unwrap_or_default();
            object["status"]["install"]["bundle"]["name"] =
                format!("lantern-operator.v{version}").into();
            object["spec"]["source"]["catalog"]["packageName"] = "lantern-operator".into();
        }
    };
    let clusters = [
        (
            "prod-eu",
            vec![
                object("shop", "1.1.0", "1.1.0"),
                object("search", "1.2.0", "1.0.0"),
            ],
        ),
        ("prod-us", vec![object("shop", "1.2.0", "1.2.0")]),
        ("test", vec![object("shop", "2.0.0", "2.0.0")]),
    ];
    for (name, mut objects) in clusters {
        of_lantern(&mut objects);
        let flags = ["-", "--catalog=hub=catalog.yaml", "-o", "json"];
        let (_, stdout, stderr) = audit(&scene, &flags, &list(&objects));
        assert_eq!(stderr, "");
        scene.write(&format!("reports/{name}.json"), &stdout);
    }
    let line = "olmguard audit --fleet reports/";
    shows("docs/tasks/report-on-many-clusters.md", &scene, line, 1);
}
