//! The report of a failed trial: the objects, and the last lines of every program.

use std::fs;
use std::path::Path;

use super::Cluster;

const LAST_LINES: usize = 25;

/// The maximum number of characters of a line.
const WIDTH: usize = 400;

/// Prints the report on standard error.
pub(crate) async fn report(cluster: &Cluster) {
    eprintln!("---- objects\n{}", objects(cluster).await);
    let Ok(entries) = fs::read_dir(cluster.dir()) else {
        return;
    };
    let mut logs: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_log(path))
        .collect();
    logs.sort();
    for log in logs {
        let name = log.file_name().unwrap_or_default().display();
        eprintln!("---- {name}\n{}", tail(&log));
    }
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "log")
}

fn tail(log: &Path) -> String {
    let text = String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LAST_LINES);
    let last = lines.get(from..).unwrap_or_default().iter();
    last.map(|line| line.chars().take(WIDTH).chain(['\n']).collect::<String>())
        .collect()
}

async fn objects(cluster: &Cluster) -> String {
    let kinds = "get clusterextensions,clustercatalogs,validatingwebhookconfigurations -o yaml --request-timeout=5s";
    match cluster.kubectl() {
        Ok(kubectl) => match kubectl.try_run(kinds, "").await {
            Ok(printed) => printed.stdout + &printed.stderr,
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    }
}
