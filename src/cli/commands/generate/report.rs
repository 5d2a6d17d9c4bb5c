//! Who is left behind by a promotion, as JSON.

use schemars::JsonSchema;
use serde::Serialize;

use olmguard_views::author::promote::Promotion;
use olmguard_views::author::reach::{ChannelReach, Course};

/// Output of `olmguard generate promote --report json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PromotionReport {
    /// Schema of this object.
    schema: &'static str,
    /// Name of the package.
    package: String,
    /// Bundle that was promoted.
    bundle: String,
    /// Channel that the bundle was promoted to.
    channel: String,
    /// Every version of the package, the highest first.
    installed: Vec<Installed>,
}

/// What users of one installed version get from the channel.
#[derive(Debug, JsonSchema, Serialize)]
struct Installed {
    /// Name of the installed bundle.
    name: String,
    /// Version of the installed bundle. Null if no bundle has this name.
    version: Option<String>,
    /// Automatic upgrades with OLM v1. Null if the version is unknown.
    v1: Option<Change>,
    /// Automatic upgrades with OLM v0.
    v0: Change,
}

/// Automatic upgrades before and after the promotion.
#[derive(Debug, JsonSchema, Serialize)]
struct Change {
    before: CourseReport,
    after: CourseReport,
}

/// Bundles that are installed one after another, from one installed version.
#[derive(Debug, JsonSchema, Serialize)]
struct CourseReport {
    /// How the upgrades end.
    ends: Ends,
    /// Installed bundles, in order.
    hops: Vec<String>,
}

/// How a sequence of automatic upgrades ends.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
enum Ends {
    /// At the channel head.
    AtHead,
    /// Below the channel head.
    BelowHead,
    /// At a version after which OLM v1 selects a bundle that it does not install.
    Blocked,
    /// At the start: there is no upgrade from it.
    Stranded,
    /// With an error of OLM v1: the version is not in the channel, and no edge leads into the
    /// channel.
    Fails,
}

impl PromotionReport {
    pub(super) fn of(asked: Promotion<'_>, before: &ChannelReach, after: &ChannelReach) -> Self {
        let rows = after.rows.iter().zip(&before.rows);
        Self {
            schema: SCHEMA,
            package: asked.package.to_owned(),
            bundle: asked.bundle.to_owned(),
            channel: asked.channel.to_owned(),
            installed: rows
                .map(|(after, before)| Installed {
                    name: after.name.to_string(),
                    version: after.version.as_ref().map(ToString::to_string),
                    v1: after
                        .v1
                        .as_ref()
                        .zip(before.v1.as_ref())
                        .map(|(after, before)| Change::of(before, after)),
                    v0: Change::of(&before.v0, &after.v0),
                })
                .collect(),
        }
    }
}

impl Change {
    fn of(before: &Course, after: &Course) -> Self {
        let [before, after] = [before, after].map(CourseReport::of);
        Self { before, after }
    }
}

impl CourseReport {
    fn of(course: &Course) -> Self {
        let (ends, hops) = match course {
            Course::AtHead => (Ends::AtHead, None),
            Course::ToHead(hops) => (Ends::AtHead, Some(hops)),
            Course::EndsBelow(hops) => (Ends::BelowHead, Some(hops)),
            Course::Blocked { after, .. } => (Ends::Blocked, Some(after)),
            Course::Stranded => (Ends::Stranded, None),
            Course::Fails => (Ends::Fails, None),
        };
        let hops = hops.into_iter().flatten();
        Self {
            ends,
            hops: hops.map(ToString::to_string).collect(),
        }
    }
}

const SCHEMA: &str = "olmguard.promotion/v1";
