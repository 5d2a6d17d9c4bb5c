//! What changed as JSON, schema `olmguard.diff/v1`.

use schemars::JsonSchema;
use serde::Serialize;

use olmguard_views::Generation;
use olmguard_views::diff::{
    ChangeKind, Level, ReportedBundle, WeighedChange, WeighedPackage, Who, words,
};

/// Output of `olmguard diff` as JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report {
    /// Schema of this object.
    schema: &'static str,
    /// Generation of OLM whose users the report is about: `v0` or `v1`.
    olm: &'static str,
    /// Number of breaking changes that `--allow` does not name.
    harmful: usize,
    /// Number of changes that concern installed extensions. Absent if no extensions were given, or nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    concerning: Option<usize>,
    /// Summary in one line.
    summary: String,
    /// Packages that changed, by name. First those with a change that concerns an installed extension.
    packages: Vec<PackageReport>,
}

/// The changes of one package.
#[derive(Debug, JsonSchema, Serialize)]
struct PackageReport {
    /// Name of the package.
    name: String,
    /// Changes of the package, the most harmful first. Before all of them, in the same order, changes that concern
    /// installed extensions.
    changes: Vec<ChangeReport>,
}

/// One change of the catalog.
#[derive(Debug, JsonSchema, Serialize)]
struct ChangeReport {
    /// Kind of the change, such as `newly-stranded`.
    kind: &'static str,
    /// Effect on users: `harmful` (breaking), `notice` (to review) or `good` (an improvement).
    level: &'static str,
    /// Whether `--allow` names the kind of this change.
    allowed: bool,
    /// Names of the installed extensions that the change concerns. Absent if no extensions were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Vec<String>>,
    /// Installed version of the affected users. Null if the change is about the catalog itself.
    installed: Option<Who>,
    /// Bundle that was added, removed, deprecated or replaced by other content, as it was before.
    bundle: Option<ReportedBundle>,
    /// Bundle that has the name of `bundle` after the change.
    other: Option<ReportedBundle>,
    /// Channel that was added, removed or deprecated.
    channel: Option<String>,
    /// State before the change: lost successors, the bundle of the automatic upgrade, or the
    /// default channel.
    before: Vec<String>,
    /// State after the change: successors (for successors-lost, the remaining ones), the bundle of
    /// the automatic upgrade, or the default channel.
    after: Vec<String>,
    /// Description of the change. Empty if the kind is enough.
    text: String,
}

impl Report {
    pub(super) fn of(
        packages: &[WeighedPackage<'_>],
        generation: Generation,
        allowed: &[ChangeKind],
    ) -> Self {
        let changes = packages
            .iter()
            .flat_map(|package| &package.rows)
            .map(|row| row.change.kind);
        let harmful = |kind: &ChangeKind| kind.level() == Level::Harmful && !allowed.contains(kind);
        let reports = packages.iter().map(|package| PackageReport {
            name: package.name.to_owned(),
            changes: package
                .rows
                .iter()
                .map(|row| ChangeReport::of(row, allowed))
                .collect(),
        });
        Self {
            schema: SCHEMA,
            olm: match generation {
                Generation::V0 => "v0",
                Generation::V1 => "v1",
            },
            harmful: changes.filter(harmful).count(),
            concerning: words::concerning(packages),
            summary: words::summary(packages, generation),
            packages: reports.collect(),
        }
    }
}

impl ChangeReport {
    fn of(row: &WeighedChange<'_>, allowed: &[ChangeKind]) -> Self {
        let change = row.change;
        let names = row.extensions.as_ref();
        let kind = change.kind;
        let texts = |names: &[Box<str>]| names.iter().map(ToString::to_string).collect();
        Self {
            kind: kind.as_str(),
            level: kind.level().as_str(),
            allowed: allowed.contains(&kind),
            extensions: names.map(|names| names.iter().map(ToString::to_string).collect()),
            installed: change.who.clone(),
            bundle: change.bundle.clone(),
            other: change.other.clone(),
            channel: change.channel.as_ref().map(ToString::to_string),
            before: texts(&change.before),
            after: texts(&change.after),
            text: words::sentence(change),
        }
    }
}

const SCHEMA: &str = "olmguard.diff/v1";
