//! Who is left behind by a promotion, as JSON.

use schemars::JsonSchema;
use serde::Serialize;

use olmguard_views::author::promote::Promotion;
use olmguard_views::author::reach::{ChannelReach, Course};

/// What `olmguard generate promote --report json` tells.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct PromotionReport {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The package.
    package: String,
    /// The bundle that was promoted.
    bundle: String,
    /// The channel it went into.
    channel: String,
    /// Every version that the package knows, the highest first.
    installed: Vec<Installed>,
}

/// Where one installed version gets in the channel.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Installed {
    /// The installed bundle.
    name: String,
    /// Its version; null for a name that no bundle has.
    version: Option<String>,
    /// With OLM v1; null where no version is known.
    v1: Option<Change>,
    /// With OLM v0.
    v0: Change,
}

/// A course before and after.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Change {
    before: CourseReport,
    after: CourseReport,
}

/// What is installed one after another.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct CourseReport {
    /// How it ends.
    ends: Ends,
    /// The bundles, in order.
    hops: Vec<String>,
}

/// How a course ends.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
enum Ends {
    /// At the head of the channel.
    AtHead,
    /// Below it.
    BelowHead,
    /// Where it began: no edge leads on.
    Stranded,
    /// In an error of OLM v1: the version is not in the channel, and no edge leads into it.
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
