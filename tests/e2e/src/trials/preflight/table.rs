//! The reports of `olmguard check` on the edits, and the comparison with the controller.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::RELEASE;
use crate::assets;
use crate::cluster::Cluster;
use crate::kubectl::Kubectl;
use crate::olm::progress::Progress;

/// The command, with its access to the cluster and the registry.
pub(super) struct CheckCommand {
    olmguard: Kubectl,
    arguments: String,
    /// The CA of the registry.
    authority: String,
}

/// The report on one edit.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Verdict {
    name: String,
    #[serde(rename = "verdict")]
    word: String,
    token: String,
    #[serde(default)]
    checks: Vec<String>,
    upstream: Option<String>,
}

#[derive(Deserialize)]
struct Report {
    results: Vec<Verdict>,
}

impl CheckCommand {
    pub(super) fn new(cluster: &Cluster, gates: &str) -> Result<Self> {
        let authority = cluster.pki.ca().display().to_string();
        let gates = gates
            .split(',')
            .map(|gate| format!(" --olm-feature-gates {gate}"));
        Ok(Self {
            olmguard: cluster.kubectl()?.by(assets::guard()?),
            arguments: format!(
                "check -f edits.json --from-cluster --pull -o json --olm-release {RELEASE} \
                 --catalogd-ca {authority}{}",
                gates.collect::<String>()
            ),
            authority,
        })
    }

    /// Returns the verdicts by the names of the extensions.
    pub(super) async fn check(&self, edits: &[Value]) -> Result<BTreeMap<String, Verdict>> {
        let all: Vec<String> = edits.iter().map(Value::to_string).collect();
        fs::write(self.olmguard.home().join("edits.json"), all.join("\n---\n"))?;
        let arguments: Vec<&str> = self.arguments.split_whitespace().collect();
        let trusting = [("SSL_CERT_FILE", self.authority.as_str())];
        let printed = self.olmguard.run_with(&arguments, "", &trusting).await?;
        ensure!(
            printed.code == Some(1) && printed.stderr.is_empty(),
            "{printed:?}"
        );
        let report: Report = serde_json::from_str(&printed.stdout).context(printed.stderr)?;
        let named = report.results.into_iter().map(|it| (it.name.clone(), it));
        Ok(named.collect())
    }
}

impl Verdict {
    /// Whether the bundle will certainly be installed.
    pub(super) fn allows(&self) -> bool {
        self.word == "allow" && self.checks.is_empty()
    }

    /// Whether the edit is denied.
    pub(super) fn denies(&self) -> bool {
        self.word == "deny"
    }

    /// Whether the verdict warns that the bundle may not be installed.
    fn warns(&self) -> bool {
        self.word == "allow" && !self.checks.is_empty()
    }

    /// Whether the controller did what the verdict predicts, and for the same reason.
    fn holds(&self, outcome: &Progress) -> bool {
        match (self.word.as_str(), outcome) {
            ("allow", Progress::Done(_)) => true,
            ("allow", Progress::Retrying(_)) => self.warns(),
            ("deny", Progress::Retrying(message)) => {
                self.token == "Preflight" && self.is_why(message)
            }
            _ => false,
        }
    }

    /// Whether the controller gives the same reason: the quoted text, or the common part of its messages for the first
    /// check.
    pub(super) fn is_why(&self, message: &str) -> bool {
        if let Some(upstream) = &self.upstream {
            return message.contains(upstream);
        }
        let first = self.checks.first();
        let says = SAYS
            .iter()
            .find(|(check, _)| Some(*check) == first.map(String::as_str));
        says.is_some_and(|(_, parts)| parts.iter().any(|part| message.contains(part)))
    }
}

/// A part of the controller's message for each check whose message is not quoted.
const SAYS: &[(&str, &[&str])] = &[
    ("bundle-format", &["manifests", "metadata/annotations.yaml"]),
    ("config-required", &["install modes"]),
    ("install-mode-unsupported", &["install modes"]),
    ("kind-not-served", &["no matches for kind"]),
    ("webhook-provider-missing", &["no matches for kind"]),
    ("exists-unowned", FOREIGN),
    ("owned-elsewhere", FOREIGN),
    (
        "release-name-too-long",
        &["must be no more than 63", "installed bundle"],
    ),
    ("crd-field-removed", CRD),
    ("crd-property", CRD),
    (
        "crd-scope",
        &["validating upgrade for CRD", "field is immutable"],
    ),
    ("crd-served-versions", CRD),
    (
        "crd-stored-version",
        &[
            "validating upgrade for CRD",
            "missing from spec.versions",
            // Kubernetes 1.30
            "must appear in spec.versions",
        ],
    ),
    ("crd-unhandled", CRD),
    ("revision-too-many-objects", &["must have at most 50 items"]),
];

/// The messages for first installations and for upgrades.
const FOREIGN: &[&str] = &[
    "cannot be managed by operator-controller",
    "cannot be imported into the current release",
];

const CRD: &[&str] = &["validating upgrade for CRD"];

/// The number of compared edits, and their results.
#[derive(Debug, Default)]
pub(super) struct Table {
    allowed: usize,
    /// The extensions with a warning.
    warned: Vec<String>,
    denied: usize,
    quoted: usize,
    checks: BTreeMap<String, usize>,
    differences: Vec<String>,
}

impl Table {
    pub(super) fn add(&mut self, name: &str, verdict: &Verdict, outcome: &Progress) {
        if !verdict.holds(outcome) {
            let text = format!("{name}: {verdict:#?}\ncontroller: {outcome:#?}");
            self.differences.push(text);
        }
        if verdict.allows() {
            self.allowed += 1;
            return;
        }
        if verdict.warns() {
            self.warned.push(name.to_owned());
            return;
        }
        self.denied += 1;
        self.quoted += usize::from(verdict.upstream.is_some());
        for check in verdict.checks.iter().collect::<BTreeSet<_>>() {
            *self.checks.entry(check.clone()).or_default() += 1;
        }
    }

    /// Checks that there are enough edits, each of these checks at least once, no other warnings, and no difference.
    pub(super) fn holds(&self, least: usize, checks: &[&str], warned: &[&str]) -> Result<()> {
        let differences = &self.differences;
        ensure!(differences.is_empty(), "{}", differences.join("\n\n"));
        ensure!(
            self.warned == warned,
            "{:?} may not be installed",
            self.warned
        );
        let all = self.allowed + self.denied;
        ensure!(all >= least, "only {all} edits");
        for check in checks {
            ensure!(
                self.checks.contains_key(*check),
                "nothing has failed {check}"
            );
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (allowed, warned) = (self.allowed, self.warned.len());
        let (denied, quoted) = (self.denied, self.quoted);
        let differences = self.differences.len();
        write!(
            to,
            "{allowed} edits are allowed, {warned} allowed with a warning and {denied} denied, {quoted} of them with OLM's text; \
             {differences} differences"
        )?;
        for (check, count) in &self.checks {
            write!(to, "\n{count:5}  {check}")?;
        }
        Ok(())
    }
}
