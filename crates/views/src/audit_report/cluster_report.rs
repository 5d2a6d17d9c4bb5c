//! The audit as `ClusterReport` objects of openreports.io, which dashboards of policy engines read.
//!
//! etcd limits the size of an object, so a long report becomes several objects. The order is the order of the report,
//! the worst first.
//!
//! Upstream: openreports, [`apis/openreports.io/v1alpha1/clusterreport_types.go`]. The fields have the same names as
//! there; `resources` are the subjects of a result.
//!
//! [`apis/openreports.io/v1alpha1/clusterreport_types.go`]: https://github.com/openreports/reports-api/blob/74aae7df5dbbad4003f45a763f9b2cd201302102/apis/openreports.io/v1alpha1/clusterreport_types.go

use std::collections::BTreeMap;
use std::iter::Peekable;

use serde::Serialize;
use serde_json::{Value, json};

use crate::audit_report::{AuditReport, ExtensionReport};
use olmguard_engine::audit::Concern;
use olmguard_engine::explain::cut_end;
use olmguard_engine::judge::Verdict;

/// A `ClusterReport` object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterReport {
    api_version: String,
    kind: &'static str,
    metadata: Metadata,
    source: &'static str,
    /// Number of results of each kind.
    summary: BTreeMap<Outcome, usize>,
    results: Vec<ReportResult>,
}

#[derive(Clone, Debug, Serialize)]
struct Metadata {
    name: String,
    labels: Value,
}

/// A finding about one extension.
#[derive(Clone, Debug, Serialize)]
struct ReportResult {
    /// Id of the finding, or the reason code if there is no finding.
    policy: String,
    /// Reason code.
    rule: &'static str,
    category: &'static str,
    severity: &'static str,
    timestamp: Timestamp,
    result: Outcome,
    scored: bool,
    resources: [Value; 1],
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    properties: Properties,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Timestamp {
    seconds: i64,
    nanos: i32,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
enum Outcome {
    Pass,
    Fail,
    Warn,
    Error,
    Skip,
}

#[derive(Clone, Debug, Serialize)]
struct Properties {
    package: String,
    installed: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    next: String,
}

impl AuditReport {
    /// Converts the report to objects, at least one. `seconds` is the time of the report in seconds since 1970.
    pub fn cluster_reports(&self, seconds: i64) -> impl Iterator<Item = ClusterReport> {
        let timestamp = Timestamp { seconds, nanos: 0 };
        let extensions = self.extensions.iter();
        let results = extensions.flat_map(move |extension| ReportResult::of(extension, timestamp));
        let measured = results.map(|result| (result.length(), result));
        let mut results = measured.peekable();
        (1..).map_while(move |number| {
            let is_next = number == 1 || results.peek().is_some();
            is_next.then(|| ClusterReport::filled(number, &mut results))
        })
    }
}

impl ClusterReport {
    /// Group of the API.
    pub const GROUP: &str = "openreports.io";
    /// Version of the API.
    pub const VERSION: &str = "v1alpha1";
    /// Kind of the object.
    pub const KIND: &str = "ClusterReport";

    /// Returns the name of an object of a report. The first one has the number 1.
    pub fn name_of(number: usize) -> String {
        match number {
            1 => NAME.to_owned(),
            number => format!("{NAME}-{number}"),
        }
    }

    /// Returns the name of the object.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Fills an object with as many of the next results as fit, at least one if there is one. Lengths are in bytes.
    fn filled(
        number: usize,
        results: &mut Peekable<impl Iterator<Item = (usize, ReportResult)>>,
    ) -> Self {
        let mut report = Self::new(number);
        let mut room = MOST_BYTES;
        while let Some((length, result)) =
            results.next_if(|(length, _)| report.results.is_empty() || *length <= room)
        {
            room = room.saturating_sub(length);
            report.add(result);
        }
        report
    }

    fn new(number: usize) -> Self {
        let outcomes = [
            Outcome::Pass,
            Outcome::Fail,
            Outcome::Warn,
            Outcome::Error,
            Outcome::Skip,
        ];
        Self {
            api_version: format!("{}/{}", Self::GROUP, Self::VERSION),
            kind: Self::KIND,
            metadata: Metadata {
                name: Self::name_of(number),
                labels: json!({"app.kubernetes.io/managed-by": SOURCE}),
            },
            source: SOURCE,
            summary: outcomes.map(|outcome| (outcome, 0)).into(),
            results: Vec::new(),
        }
    }

    fn add(&mut self, result: ReportResult) {
        *self.summary.entry(result.result).or_default() += 1;
        self.results.push(result);
    }
}

impl ReportResult {
    /// Returns a result for each finding, or one that reports that there are none.
    fn of(extension: &ExtensionReport, timestamp: Timestamp) -> Vec<Self> {
        let result = |policy: &str, (result, severity), message: &str| Self {
            policy: policy.to_owned(),
            rule: extension.token,
            category: "upgrades",
            severity,
            timestamp,
            result,
            scored: result != Outcome::Warn,
            resources: [subject(extension)],
            message: cut_end(message, MOST_MESSAGE),
            properties: Properties {
                package: cut_end(extension.package(), MOST_NAME),
                installed: cut_end(&extension.installed(), MOST_NAME),
                next: cut_end(extension.next_range().unwrap_or_default(), MOST_NAME),
            },
        };
        let found = extension.concerns.iter().zip(&extension.findings);
        let found: Vec<_> = found
            .map(|(concern, finding)| {
                let weight = match concern {
                    Concern::NotInstallable if extension.cannot_install => (Outcome::Fail, "high"),
                    concern => weight(*concern),
                };
                result(finding.id, weight, &finding.text)
            })
            .collect();
        if !found.is_empty() {
            return found;
        }
        let outcome = match extension.judged {
            Verdict::NotJudged => Outcome::Skip,
            Verdict::Allow | Verdict::Deny | Verdict::Undecided => Outcome::Pass,
        };
        let why = extension.exemption().unwrap_or_default();
        vec![result(extension.token, (outcome, "info"), why)]
    }

    /// Returns the length of the result as JSON, in bytes.
    fn length(&self) -> usize {
        serde_json::to_string(self).map_or(MOST_BYTES, |text| text.len())
    }
}

/// Returns an `ObjectReference` to the extension.
fn subject(extension: &ExtensionReport) -> Value {
    let (api_version, kind) = &extension.api;
    json!({
        "apiVersion": cut_end(api_version, MOST_NAME),
        "kind": cut_end(kind, MOST_NAME),
        "name": cut_end(extension.name(), MOST_NAME),
    })
}

/// Returns the outcome and the severity of a finding.
fn weight(concern: Concern) -> (Outcome, &'static str) {
    match concern {
        Concern::Unresolvable | Concern::ForbiddenMove | Concern::Forbidden => {
            (Outcome::Fail, "high")
        }
        Concern::NotInstallable | Concern::MovesToPrerelease => (Outcome::Warn, "high"),
        Concern::Undecided => (Outcome::Error, "medium"),
        Concern::Stranded
        | Concern::NotInCatalog
        | Concern::AgainstPolicy
        | Concern::PackageDeprecated
        | Concern::BundleDeprecated
        | Concern::Bypass => (Outcome::Warn, "medium"),
        Concern::ChannelDeprecated
        | Concern::PathForbidden
        | Concern::PathNotInstallable
        | Concern::ChannelEnds
        | Concern::Unbounded => (Outcome::Warn, "low"),
        Concern::Moves | Concern::Behind => (Outcome::Warn, "info"),
    }
}

const NAME: &str = "olmguard-audit";
const SOURCE: &str = "olmguard";

/// Maximum bytes of the results of one object as JSON. etcd limits objects to 1.5 MiB, and an API server adds fields.
const MOST_BYTES: usize = 900_000;

/// Maximum bytes of a name. Names of objects have at most 253.
const MOST_NAME: usize = 253;
const MOST_MESSAGE: usize = 1000;
