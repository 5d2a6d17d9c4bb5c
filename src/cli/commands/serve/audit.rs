//! The audit of what is installed in the cluster: the flags about it, and the task that does it.

use std::sync::Arc;
use std::time::Duration;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cluster::audit::{AuditConfig, audit};
use crate::cluster::{Cluster, Leadership};
use crate::server::{Check, Guard};
use crate::telemetry::Metrics;
use crate::tls::SystemClock;
use olmguard_catalog::go_duration;

/// The flags.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct AuditArgs {
    /// Audit what is installed this often (0s: never)
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "0s",
        value_parser = interval,
        help_heading = heading::AUDIT
    )]
    audit_interval: Duration,

    /// Write each audit as objects of openreports.io for dashboards
    #[arg(long, help_heading = heading::AUDIT)]
    audit_cluster_report: bool,
}

/// The audit of a cluster that is known.
#[derive(Debug)]
pub(super) struct ClusterAudit {
    args: AuditArgs,
    cluster: Cluster,
    /// What is well once the facts are known.
    checks: Vec<Arc<dyn Check>>,
}

impl AuditArgs {
    /// A flag of these that means nothing without a cluster, and is given.
    pub(super) fn given(self) -> Option<&'static str> {
        (!self.audit_interval.is_zero()).then_some("--audit-interval")
    }

    /// Whether each of them can ever matter.
    pub(super) fn check(self) -> Result<(), UsageError> {
        if self.audit_cluster_report && self.audit_interval.is_zero() {
            return Err(UsageError::Without {
                flag: "--audit-cluster-report",
                without: "--audit-interval",
            });
        }
        Ok(())
    }

    /// The audit of this cluster, once all of this is well; none if none is wanted, or there is no cluster.
    pub(super) fn of(
        self,
        cluster: Option<&Cluster>,
        checks: &[Arc<dyn Check>],
    ) -> Option<ClusterAudit> {
        let cluster = cluster.filter(|_| !self.audit_interval.is_zero())?;
        Some(ClusterAudit {
            args: self,
            cluster: cluster.clone(),
            checks: checks.to_vec(),
        })
    }
}

impl ClusterAudit {
    /// Audits by what edits are judged by, in a task of its own, for as long as the runtime lasts.
    pub(super) fn begin(self, guard: &Guard, metrics: &Metrics, leadership: Leadership) {
        let config = AuditConfig {
            interval: self.args.audit_interval,
            writes_reports: self.args.audit_cluster_report,
            facts: guard.facts().clone(),
            clock: Arc::new(SystemClock),
            metrics: Arc::clone(&metrics.audit),
        };
        let checks = self.checks;
        let is_ready = move || checks.iter().all(|check| check.readiness().ok);
        tokio::spawn(audit(self.cluster.client, leadership, is_ready, config));
    }
}

/// Never, or not too often: each audit lists all extensions.
fn interval(text: &str) -> Result<Duration, String> {
    let interval = go_duration::parse(text).map_err(|error| error.to_string())?;
    if interval.is_zero() || interval >= SHORTEST {
        return Ok(interval);
    }
    let shortest = SHORTEST.as_secs();
    Err(format!(
        "expected {shortest}s or more, such as 10m, or 0s for no audit"
    ))
}

const SHORTEST: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_none_or_at_least_ten_seconds() {
        let short = "expected 10s or more, such as 10m, or 0s for no audit";
        for (text, expected) in [
            ("0s", Ok(0)),
            ("10s", Ok(10)),
            ("1h", Ok(3600)),
            ("9.999s", Err(short.to_owned())),
            ("1ns", Err(short.to_owned())),
        ] {
            let found = interval(text).map(|found| found.as_secs());
            assert_eq!(found, expected, "{text}");
        }
        assert!(interval("-1m").is_err() && interval("often").is_err());
    }
}
