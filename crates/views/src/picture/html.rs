//! The picture as a self-contained page: it needs no network and no other file.
//!
//! The page contains the SVG unchanged. A script zooms, folds, searches, and follows edges. The steps to follow and
//! the versions to fold are computed here, not in the script: the page holds, for each version, the steps that
//! OLM takes.
//! Nothing else can run or be loaded: the content security policy allows only this script and these styles, by
//! digest. The data are in a block that browsers do not run, without any character that could end it.

mod data;
mod notes;

use crate::picture::scene::Scene;
use crate::picture::sketch::Sketch;
use crate::picture::{Generation, svg, text};
use olmguard_report::xml::{Xml, escape, fill};

/// Renders the whole page.
pub fn html(sketch: &Sketch<'_, '_>, scene: &Scene) -> String {
    let mut title = String::new();
    escape(&text::title(sketch), &mut title);
    let mut picture = Xml::default();
    svg::draw(sketch, scene, "group", &mut picture);
    let picture_style_digest = match sketch.comparison {
        Some(_) => COMPARING_STYLE_DIGEST,
        None => PICTURE_STYLE_DIGEST,
    };
    let parts = [
        ("title", &*title),
        ("script digest", SCRIPT_DIGEST),
        ("style digest", STYLE_DIGEST),
        ("picture style digest", picture_style_digest),
        ("style", STYLE),
        ("picture", &picture.finish()),
        ("data", &data::data(sketch, scene)),
        ("script", SCRIPT),
    ];
    fill(include_str!("html/page.html"), &parts)
}

const SCRIPT: &str = concat!(
    include_str!("html/places.js"),
    include_str!("html/look.js"),
    include_str!("html/walk.js"),
    include_str!("html/panel.js"),
    include_str!("html/search.js"),
    include_str!("html/save.js"),
    include_str!("html/state.js"),
);
const STYLE: &str = include_str!("html/page.css");

// Digests are of the texts as they appear in the page. A test checks them.
const SCRIPT_DIGEST: &str = "sha256-jgCVwmMijL5zJGmAqMlreoz77/PH+ARmjy/0Lbsb228=";
const STYLE_DIGEST: &str = "sha256-h3IPHo0hM2VPXoonQjKvP3EUUdmZ/y8ZWPDwR1Y1wbI=";
const COMPARING_STYLE_DIGEST: &str = "sha256-nCAgkE/ARrUaASRzNnqnuqP9JM0SRH29kSQLY70tHf4=";
const PICTURE_STYLE_DIGEST: &str = "sha256-iQee6mZYEX4ewNDPoVuspoU/RE9HWibvCaMroOw11jE=";

// === Sentences that the script inserts. Fixed ones are in page.html. ===

const FOLD: &str = "Unfold all";

/// Texts that the script inserts: a name, and a text with `{PLACES}`.
const FILLED: [(&str, &str); 31] = [
    ("by", "{field} in {channel}"),
    ("semver", "the semver rules"),
    ("lane", "A Subscription in {channel}"),
    ("anyLane", "A Subscription without a channel"),
    ("start", text::START),
    ("away", "+{count}"),
    ("next", "Next versions ({count})"),
    (
        "deadEnd",
        "Dead end: {newer}, and there is no upgrade from here.",
    ),
    (
        "reachedSome",
        "{count} of {newer} newer versions can be reached.",
    ),
    ("reachedAll", "All {newer} newer versions can be reached."),
    ("newest", "No newer version exists."),
    ("newerOne", "1 newer version exists"),
    ("newerMany", "{count} newer versions exist"),
    ("barred", "Forbidden by guardrails ({count})"),
    ("way", "Path to {to}: {steps}"),
    ("stepsOne", "1 step"),
    ("stepsMany", "{count} steps"),
    ("between", "{count} more steps of the same kind"),
    ("noWay", "No upgrade path to {to}"),
    ("again", "Clear the selection"),
    ("help", "How to use this page"),
    ("folded", "{from} to {to}: {count} versions folded"),
    ("unfold", "{from} to {to}: show {count} versions"),
    ("fold", "{from} to {to}: fold {count} versions"),
    ("changes", "Changes ({count})"),
    (
        "noChanges",
        "No version and no upgrade edge is added or removed.",
    ),
    ("foldAll", "Fold all"),
    ("unfoldAll", FOLD),
    ("noMatch", "No version matches {text}"),
    ("matches", "Matches: {count}"),
    ("moreMatches", "{count} more: type more of the version"),
];

/// Returns the text of the panel while nothing is selected.
fn helps(olm: Generation) -> [&'static str; 5] {
    let whose = match olm {
        Generation::V1 => {
            "The page shows the edges that OLM v1 uses and no guardrail forbids. The edges of all drawn \
             channels count together."
        }
        Generation::V0 => {
            "The page shows the edges that OLM v0 uses, in the channel in which you select the version."
        }
    };
    [
        "Click a version to see its upgrades and the shortest path to the highest version.",
        "Click a second version to see the path between the two. Escape clears the selection.",
        whose,
        "Ctrl and the mouse wheel zoom. Drag to move the picture. The slash key starts a search.",
        "The arrow keys move from version to version. Enter selects.",
    ]
}
