//! `olmguard version`: the version of olmguard, and the releases and schemas that it knows.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, help};
use olmguard_catalog::guardrail;
use olmguard_catalog::olm::OlmRelease;
use olmguard_report::{Text, Tone};

/// Show the version, the known OLM releases and the schemas
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    output: OutputArgs<TextOrJson>,
}

const EXAMPLES: &[&str] = &["olmguard version", "olmguard version -o json"];

/// Facts that are known only when a program is built.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// The commit of the source, if the build environment set it.
    pub commit: Option<&'static str>,
    /// The version of the compiler.
    pub rust: &'static str,
    /// The target of the build, such as `x86_64-unknown-linux-musl`.
    pub target: &'static str,
}

/// Runs `olmguard version`.
pub(super) fn run(args: &VersionArgs, build: Build) -> Result<Exit, CommandFailure> {
    let report = Report::of(build);
    args.output.form.print(&report, || text(&report))?;
    Ok(Exit::Good)
}

fn text(report: &Report) -> Text {
    let mut text = Text::with_labels(10);
    for (label, words) in report.lines() {
        text.labelled(label, Tone::Plain, &words);
    }
    text
}

// === The output of `olmguard version` as JSON, schema `olmguard.version/v1` ===

/// Output of `olmguard version` as JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report {
    /// Schema of this object.
    schema: &'static str,
    /// Version of olmguard.
    version: &'static str,
    /// Commit that olmguard was built from. Null if the build did not set it.
    commit: Option<&'static str>,
    /// Version of the Rust compiler.
    rust: &'static str,
    /// Target of the build, such as `x86_64-unknown-linux-musl`.
    target: &'static str,
    /// Releases of OLM v1 that olmguard supports.
    olm: Olm,
    /// Schemas of the JSON output, and of olmguard's own blobs in catalogs.
    schemas: &'static [&'static str],
}

#[derive(Debug, JsonSchema, Serialize)]
struct Olm {
    /// Release that olmguard assumes if the release is unknown.
    default: &'static str,
    /// Every name that `--olm-release` accepts, oldest release first.
    releases: Vec<&'static str>,
}

impl Report {
    fn of(build: Build) -> Self {
        let Build {
            commit,
            rust,
            target,
        } = build;
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            commit,
            rust,
            target,
            olm: Olm {
                default: OlmRelease::default().name(),
                releases: OlmRelease::names(),
            },
            schemas: SCHEMAS,
        }
    }

    /// The same facts as labels and texts. A list has several lines.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let Olm { default, releases } = &self.olm;
        let commit = self.commit.unwrap_or("not recorded");
        let releases = releases.iter().map(|name| match name {
            name if name == default => format!("{name} (default)"),
            name => (*name).to_owned(),
        });
        let (openshift, upstream): (Vec<_>, Vec<_>) =
            releases.partition(|name| name.starts_with("openshift-"));
        let schemas = self.schemas.iter().map(ToString::to_string);
        let facts = [
            ("olmguard", self.version),
            ("Commit", commit),
            ("Rust", self.rust),
            ("Target", self.target),
        ];
        let facts = facts.map(|(label, text)| (label, text.to_owned()));
        facts
            .into_iter()
            .chain(list("OLM", upstream))
            .chain(list("OpenShift", openshift))
            .chain(list("Schemas", schemas.collect()))
            .collect()
    }
}

/// A list, in lines that fit next to their label in 80 columns. Only the first line has the label.
fn list(label: &'static str, items: Vec<String>) -> Vec<(&'static str, String)> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.len() + item.len() < WIDTH => {
                line.push_str(", ");
                line.push_str(&item);
            }
            Some(line) => {
                line.push(',');
                lines.push(item);
            }
            None => lines.push(item),
        }
    }
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    labels.zip(lines).collect()
}

/// The maximum width of a text, which starts after ten columns.
const WIDTH: usize = 68;

const SCHEMA: &str = "olmguard.version/v1";

/// The schemas, in byte order. The directory `schemas` in the repository has a file for each.
const SCHEMAS: &[&str] = &[
    "olmguard.audit-change/v1",
    "olmguard.audit/v1",
    "olmguard.bundle/v1",
    "olmguard.catalogs/v1",
    "olmguard.check/v1",
    "olmguard.diff/v1",
    "olmguard.doctor/v1",
    "olmguard.explain/v1",
    "olmguard.fleet/v1",
    "olmguard.graph/v1",
    guardrail::SCHEMA,
    "olmguard.lint/v1",
    "olmguard.migrate/v1",
    "olmguard.packages/v1",
    "olmguard.path/v1",
    "olmguard.promotion/v1",
    "olmguard.range/v1",
    "olmguard.readiness/v1",
    "olmguard.tested/v1",
    SCHEMA,
    "olmguard.versions/v1",
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_schema_has_its_file_and_every_file_is_named() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
        let files = fs::read_dir(folder).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut schemas: Vec<_> = names
            .map(|name| {
                let name = name.strip_suffix(".json").unwrap();
                // olmguard prints a slash before the version; blobs of a catalog cannot have one.
                let printed = name.strip_suffix(".v1").map(|name| format!("{name}/v1"));
                printed.unwrap_or_else(|| name.to_owned())
            })
            .collect();
        schemas.sort_unstable();
        assert_eq!(schemas, SCHEMAS);
    }

    #[test]
    fn people_read_the_same_facts() {
        let report = Report::of(Build {
            commit: None,
            rust: "1.95.0",
            target: "x86_64-unknown-linux-musl",
        });
        let lines = report.lines().into_iter();
        let lines: Vec<_> = lines
            .map(|(label, text)| format!("{label:10}{text}"))
            .collect();
        assert_eq!(lines[1], "Commit    not recorded");
        let releases = [
            "OLM       1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 1.10,",
            "          1.11 (default)",
            "OpenShift openshift-4.18, openshift-4.19, openshift-4.20, openshift-4.21,",
        ];
        assert_eq!(lines[4..7], releases);
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with("Schemas   olmguard.audit-change/v1, "))
        );
        assert!(lines.iter().all(|line| line.len() <= 80), "{lines:#?}");
    }
}
