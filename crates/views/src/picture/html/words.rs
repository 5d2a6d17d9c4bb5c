//! Every sentence of the page that is not of the picture itself.

use crate::picture::{Generation, text};

pub(super) const PANEL: &str = "Selected version";
pub(super) const SEARCH: &str = "Find a version";
pub(super) const MATCHES: &str = "Matching versions";
pub(super) const ZOOM: &str = "Zoom";
pub(super) const SAVE: &str = "Save the picture";
pub(super) const THEME: &str = "Light / dark";
pub(super) const FOLD: &str = "Unfold all";

/// The buttons that zoom: id, what each does, its text.
pub(super) const ZOOMS: [(&str, &str, &str); 5] = [
    ("zoom-out", "Zoom out", "−"),
    ("zoom-is", "Zoom to 100 %", "100 %"),
    ("zoom-in", "Zoom in", "+"),
    ("zoom-fit", "Fit the whole picture", "Fit"),
    ("zoom-width", "Fit the width of the picture", "Width"),
];

/// The buttons that save the picture.
pub(super) const SAVES: [(&str, &str, &str); 2] = [
    ("save-svg", "Save the picture as SVG", "SVG"),
    ("save-png", "Save the picture as PNG", "PNG"),
];

/// The title of the page.
pub(super) fn page_title(package: &str) -> String {
    format!("{package}: upgrade graph")
}

/// The texts that the script fills in: a name, and a text with `{PLACES}`.
pub(super) const FILLED: [(&str, &str); 31] = [
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

/// The text of the panel while nothing is selected.
pub(super) fn helps(olm: Generation) -> [&'static str; 5] {
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
