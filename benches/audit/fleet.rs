//! Reports of many clusters from files.

use std::fs;
use std::path::{Path, PathBuf};

use super::five::extensions;
use super::run::{olmguard_audit, run};
use serde_json::{Value, json};

/// The extensions of a cluster.
const EXTENSIONS: usize = 50;

/// The audit of one cluster for each of 200.
pub(crate) fn reports(folder: &Path) -> PathBuf {
    let list = folder.join("cluster.json");
    fs::write(&list, extensions(EXTENSIONS).to_string()).expect("a file");
    let none = folder.join("none.yaml");
    fs::write(&none, "").expect("a file");
    let mut command = olmguard_audit();
    command
        .arg(&list)
        .arg(format!("--catalog=none={}", none.display()));
    let output = run("audit of 50 extensions without packages", &mut command);
    let audit: Value = serde_json::from_slice(&output).expect("a report");
    assert_eq!(
        audit["extensions"].as_array().map(Vec::len),
        Some(EXTENSIONS)
    );
    let reports = folder.join("reports");
    fs::create_dir(&reports).expect("a directory");
    for n in 0..200 {
        fs::write(reports.join(format!("cluster-{n:03}.json")), &output).expect("a file");
    }
    reports
}

/// The report of the first of them.
pub(crate) fn print(reports: &Path, clusters: usize) {
    let mut command = olmguard_audit();
    for n in 0..clusters {
        command
            .arg("--fleet")
            .arg(reports.join(format!("cluster-{n:03}.json")));
    }
    let output = run(&format!("report of {clusters} clusters"), &mut command);
    let fleet: Value = serde_json::from_slice(&output).expect("a report");
    assert_eq!(fleet["counts"]["extensions"], json!(clusters * EXTENSIONS));
    assert_eq!(fleet["clusters"].as_array().map(Vec::len), Some(clusters));
}
