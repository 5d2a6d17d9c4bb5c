//! `olmguard doctor` in a real installation: healthy, and with one fault after another.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::process::Command;

use super::work::Site;
use crate::assets;
use crate::cluster::Cluster;
use crate::until::until;

/// A new installation has no fault, and each fault is found by the right check.
pub(crate) async fn finds_each_fault(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::hardened(cluster).await?;
    expect(&examine(cluster.admin()).await?, 0, &[])?;
    let kubectl = cluster.kubectl()?;
    for fault in &FAULTS {
        kubectl.run(fault.done, "").await?;
        comes_to(cluster, 1, fault.found)
            .await
            .context(fault.done)?;
        kubectl.run(fault.undone, "").await?;
        comes_to(cluster, 0, &[]).await.context(fault.undone)?;
    }
    expect(
        &examine(&cluster.certified("alice", "people")?).await?,
        4,
        &[],
    )?;
    site.guard.down().await?;
    expect(
        &examine(cluster.admin()).await?,
        1,
        &["endpoints", "deployment", "round-trip"],
    )
}

/// Commands of kubectl that cause a fault and fix it, and the checks that fail meanwhile.
struct Fault {
    done: &'static str,
    undone: &'static str,
    found: &'static [&'static str],
}

const FAULTS: [Fault; 3] = [
    Fault {
        done: r#"patch validatingwebhookconfiguration olmguard --type=json -p [{"op":"replace","path":"/webhooks/0/clientConfig/service/port","value":444}]"#,
        undone: r#"patch validatingwebhookconfiguration olmguard --type=json -p [{"op":"replace","path":"/webhooks/0/clientConfig/service/port","value":443}]"#,
        found: &["shipped", "service", "round-trip"],
    },
    Fault {
        done: r#"patch validatingwebhookconfiguration olmguard --type=json -p [{"op":"replace","path":"/webhooks/0/rules/0/operations","value":["CREATE"]}]"#,
        undone: r#"patch validatingwebhookconfiguration olmguard --type=json -p [{"op":"replace","path":"/webhooks/0/rules/0/operations","value":["CREATE","UPDATE"]}]"#,
        found: &["shipped"],
    },
    Fault {
        done: r#"patch clusterrolebinding olmguard --type=json -p [{"op":"replace","path":"/subjects/0/name","value":"nobody"}]"#,
        undone: r#"patch clusterrolebinding olmguard --type=json -p [{"op":"replace","path":"/subjects/0/name","value":"olmguard"}]"#,
        found: &["permissions"],
    },
];

/// The report of the doctor, and its exit code.
#[derive(Debug)]
struct Found {
    code: Option<i32>,
    report: Value,
}

impl Found {
    /// Returns the checks that failed, each once.
    fn failed(&self) -> Vec<&str> {
        let checks = self.report.get("checks").and_then(Value::as_array);
        let checks = checks.into_iter().flatten();
        let failed = checks.filter(|check| check.get("state") == Some(&"fail".into()));
        let names = failed.filter_map(|check| check.get("check")?.as_str());
        let mut failed: Vec<&str> = names.collect();
        failed.dedup();
        failed
    }
}

async fn examine(kubeconfig: &Path) -> Result<Found> {
    let output = Command::new(assets::guard()?)
        .args(["doctor", "-o", "json", "--kubeconfig"])
        .arg(kubeconfig)
        .env_clear()
        .kill_on_drop(true)
        .output()
        .await?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).context(said)?;
    Ok(Found {
        code: output.status.code(),
        report,
    })
}

/// Runs the doctor until it reports this: an API server applies a change a little later.
async fn comes_to(cluster: &Cluster, code: i32, failed: &[&str]) -> Result<()> {
    let mut last = Ok(());
    let found = until("the doctor to see it", async || {
        last = examine(cluster.admin())
            .await
            .and_then(|found| expect(&found, code, failed));
        last.is_ok().then_some(())
    });
    match found.await {
        Ok(()) => Ok(()),
        Err(_) => last,
    }
}

fn expect(found: &Found, code: i32, failed: &[&str]) -> Result<()> {
    ensure!(
        found.code == Some(code),
        "exit code {code} expected: {found:#?}"
    );
    ensure!(
        found.failed() == failed,
        "{failed:?} expected, failed are {:?}: {found:#?}",
        found.failed()
    );
    Ok(())
}
