//! What changed as JSON, schema `olmguard.diff/v1`.

use schemars::JsonSchema;
use serde::Serialize;

use olmguard_views::diff::{Change, ChangeKind, Level, PackageDiff, ToldBundle, What, Who, words};
use olmguard_views::generation::Generation;

/// What `olmguard diff` prints as JSON.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Report {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// Whose users are told about: `v0` or `v1`.
    olm: &'static str,
    /// How many changes are harmful and not allowed.
    harmful: usize,
    /// What changed, in one line.
    summary: String,
    /// The packages that changed, by name.
    packages: Vec<PackageReport>,
}

/// One package.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct PackageReport {
    /// Its name.
    name: String,
    /// What changed, the most harmful first.
    changes: Vec<ChangeReport>,
}

/// One thing that changed.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct ChangeReport {
    /// What kind of change, such as `newly-stranded`.
    kind: &'static str,
    /// What it means to users: `harmful`, `notice` or `good`.
    level: &'static str,
    /// Whether `--allow` names its kind.
    allowed: bool,
    /// Who is concerned; null where it is about what there is.
    installed: Option<InstalledReport>,
    /// The bundle that is added, removed, deprecated or another one now, as it was.
    bundle: Option<HeldReport>,
    /// What is there in the place of that bundle.
    other: Option<HeldReport>,
    /// The channel that is added, removed or deprecated.
    channel: Option<String>,
    /// What is no more: successors, the bundle gone to by itself, the default channel.
    before: Vec<String>,
    /// What is there now: successors (of successors-lost those that are left), the bundle gone to by
    /// itself, the default channel.
    after: Vec<String>,
    /// The same in words; empty where the kind says it all.
    text: String,
}

/// Who is concerned.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct InstalledReport {
    /// The installed bundle.
    name: String,
    /// Its version, if it is known.
    version: Option<String>,
    /// The channel of the Subscription, with OLM v0.
    channel: Option<String>,
}

/// A bundle.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct HeldReport {
    /// Its name.
    name: String,
    /// Its version, if it can be read.
    version: Option<String>,
    /// Its image; null where it is not known.
    image: Option<String>,
}

impl Report {
    pub(super) fn of(
        diffs: &[PackageDiff],
        generation: Generation,
        allowed: &[ChangeKind],
    ) -> Self {
        let changes = diffs
            .iter()
            .flat_map(|diff| &diff.changes)
            .map(Change::kind);
        let harmful = |kind: &ChangeKind| kind.level() == Level::Harmful && !allowed.contains(kind);
        let packages = diffs.iter().map(|diff| PackageReport {
            name: diff.name.to_string(),
            changes: diff
                .changes
                .iter()
                .map(|change| ChangeReport::of(change, allowed))
                .collect(),
        });
        Self {
            schema: SCHEMA,
            olm: match generation {
                Generation::V0 => "v0",
                Generation::V1 => "v1",
            },
            harmful: changes.filter(harmful).count(),
            summary: words::summary(diffs, generation),
            packages: packages.collect(),
        }
    }
}

impl ChangeReport {
    fn of(change: &Change, allowed: &[ChangeKind]) -> Self {
        let kind = change.kind();
        let (before, after) = sides(change);
        let (bundle, other) = bundles(change);
        Self {
            kind: kind.as_str(),
            level: kind.level().as_str(),
            allowed: allowed.contains(&kind),
            installed: change.who().map(InstalledReport::of),
            bundle,
            other,
            channel: channel(change),
            before,
            after,
            text: words::sentence(change),
        }
    }
}

/// What was, and what is.
fn sides(change: &Change) -> (Vec<String>, Vec<String>) {
    let list = |names: &[Box<str>]| names.iter().map(ToString::to_string).collect();
    let one = |name: &Option<Box<str>>| name.iter().map(ToString::to_string).collect();
    match change {
        Change::NewlyStranded { before, .. } => (list(before), Vec::new()),
        Change::NoLongerStranded { after, .. } => (Vec::new(), list(after)),
        Change::SuccessorsLost { lost, left, .. } => (list(lost), list(left)),
        Change::SuccessorsChanged { lost, new, .. } => (list(lost), list(new)),
        Change::PickChanged { before, after, .. } => (one(before), one(after)),
        Change::DefaultChannelChanged { before, after } => {
            (vec![before.to_string()], vec![after.to_string()])
        }
        _ => (Vec::new(), Vec::new()),
    }
}

fn bundles(change: &Change) -> (Option<HeldReport>, Option<HeldReport>) {
    match change {
        Change::OtherBundle { before, after } => {
            (Some(HeldReport::of(before)), Some(HeldReport::of(after)))
        }
        Change::BundleRemoved { bundle } | Change::BundleAdded { bundle } => {
            (Some(HeldReport::of(bundle)), None)
        }
        Change::Deprecated { what, .. } | Change::Undeprecated { what } => match what {
            What::Bundle(name) => (Some(HeldReport::named(name)), None),
            What::Package | What::Channel(_) => (None, None),
        },
        _ => (None, None),
    }
}

fn channel(change: &Change) -> Option<String> {
    match change {
        Change::ChannelRemoved { channel } | Change::ChannelAdded { channel } => {
            Some(channel.to_string())
        }
        Change::Deprecated { what, .. } | Change::Undeprecated { what } => match what {
            What::Channel(name) => Some(name.to_string()),
            What::Package | What::Bundle(_) => None,
        },
        _ => None,
    }
}

impl InstalledReport {
    fn of(who: &Who) -> Self {
        Self {
            name: who.name.to_string(),
            version: who.version.as_ref().map(ToString::to_string),
            channel: who.channel.as_ref().map(ToString::to_string),
        }
    }
}

impl HeldReport {
    fn of(held: &ToldBundle) -> Self {
        Self {
            name: held.name.to_string(),
            version: held.version.as_ref().map(ToString::to_string),
            image: Some(held.image.to_string()).filter(|image| !image.is_empty()),
        }
    }

    fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: None,
            image: None,
        }
    }
}

const SCHEMA: &str = "olmguard.diff/v1";
