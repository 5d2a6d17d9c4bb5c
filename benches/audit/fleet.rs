//! Reports on many clusters from files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Aims, audit, extensions, timed};
use crate::run::Run;
use crate::world::World;

/// The number of extensions in a cluster.
const EXTENSIONS: usize = 50;

const AIMS: Aims = Aims {
    seconds: 10.0,
    mib: 64.0,
};

pub(super) fn measure(run: &Run, world: &World, folder: &Path) {
    let reports = reports(world, folder);
    for many in [20, 200] {
        let clusters = run.count(many, 2);
        let mut command = audit();
        for report in reports.iter().take(clusters) {
            command.arg("--fleet").arg(report);
        }
        let row = format!("report of {many} clusters");
        let output = timed(run, &row, &AIMS, &command);
        let fleet: Value = serde_json::from_slice(&output).expect("a report");
        assert_eq!(fleet["counts"]["extensions"], json!(clusters * EXTENSIONS));
        assert_eq!(fleet["clusters"].as_array().map(Vec::len), Some(clusters));
    }
}

/// The files of 200 clusters, which all have the same audit.
fn reports(world: &World, folder: &Path) -> Vec<PathBuf> {
    let list = folder.join("cluster.json");
    let extensions = extensions::list(&world.snapshot(), EXTENSIONS);
    fs::write(&list, extensions.to_string()).expect("a file");
    let name = *world.names().first().expect("five");
    let catalog = format!("--catalog={name}={}", world.file(name).display());
    let output = audit().arg(&list).arg(catalog).output().expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let found = report["extensions"].as_array().map(Vec::len);
    assert_eq!(found, Some(EXTENSIONS));
    let reports = folder.join("reports");
    fs::create_dir(&reports).expect("a directory");
    let copies = (0..200).map(|number| {
        let copy = reports.join(format!("cluster-{number:03}.json"));
        fs::write(&copy, &output.stdout).expect("a file");
        copy
    });
    copies.collect()
}
