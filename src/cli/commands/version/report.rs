//! What `olmguard version` tells, schema `olmguard.version/v1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::Build;
use olmguard_catalog::guardrail;
use olmguard_catalog::olm::OlmRelease;

/// What `olmguard version` prints as JSON.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Report {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The version of the program.
    version: &'static str,
    /// The commit it is built from; null where whoever built it did not tell.
    commit: Option<&'static str>,
    /// The version of the Rust compiler.
    rust: &'static str,
    /// What it is compiled for, such as `x86_64-unknown-linux-musl`.
    target: &'static str,
    /// The releases of OLM v1 that it can answer for.
    olm: Olm,
    /// The schemas of what it prints as JSON, and of the blobs of its own that it reads in catalogs.
    schemas: &'static [&'static str],
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Olm {
    /// The one that is assumed where nothing says which it is.
    default: &'static str,
    /// Every name that `--olm-release` takes, oldest release first.
    releases: Vec<&'static str>,
}

impl Report {
    pub(super) fn of(build: Build) -> Self {
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

    /// The same as labels and texts.
    pub(super) fn lines(&self) -> [(&'static str, String); 6] {
        let Olm { default, releases } = &self.olm;
        let commit = self.commit.unwrap_or("not recorded");
        [
            ("olmguard", self.version.to_owned()),
            ("Commit", commit.to_owned()),
            ("Rust", self.rust.to_owned()),
            ("Target", self.target.to_owned()),
            (
                "OLM",
                format!("{default} unless told; {}", releases.join(", ")),
            ),
            ("Schemas", self.schemas.join(", ")),
        ]
    }
}

const SCHEMA: &str = "olmguard.version/v1";

/// In byte order; `schemas` at the root of the repository has a file for each.
const SCHEMAS: &[&str] = &[
    "olmguard.catalogs/v1",
    "olmguard.check/v1",
    "olmguard.diff/v1",
    "olmguard.doctor/v1",
    "olmguard.explain/v1",
    "olmguard.graph/v1",
    guardrail::SCHEMA,
    "olmguard.lint/v1",
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
                // What olmguard prints has a slash before the version; blobs of a catalog cannot.
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
        let lines = report
            .lines()
            .map(|(label, text)| format!("{label}: {text}"));
        assert_eq!(lines[1], "Commit: not recorded");
        assert!(lines[4].starts_with("OLM: 1.11 unless told; 1.0, openshift-4.18, 1.1, "));
        assert!(lines[5].starts_with("Schemas: olmguard.catalogs/v1, olmguard.check/v1, "));
    }
}
