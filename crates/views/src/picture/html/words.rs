//! Every sentence of the page that is not of the picture itself.

use crate::picture::{Generation, text};

pub(super) const PANEL: &str = "What is chosen";
pub(super) const SEARCH: &str = "Go to version";
pub(super) const ZOOM: &str = "Zoom";
pub(super) const THEME: &str = "Light / dark";

/// The buttons that zoom: id, what each does, what stands on it.
pub(super) const ZOOMS: [(&str, &str, &str); 4] = [
    ("zoom-out", "Smaller", "−"),
    ("zoom-is", "As large as it is", "100 %"),
    ("zoom-in", "Larger", "+"),
    ("zoom-fit", "As wide as the window", "Fit"),
];

/// The title of the page.
pub(super) fn page_title(package: &str) -> String {
    format!("{package}: upgrade graph")
}

/// The texts that the script fills in: a name, and a text with `{PLACES}`.
pub(super) const FILLED: [(&str, &str); 14] = [
    ("by", "{field} in {channel}"),
    ("semver", "the semver rules"),
    ("lane", "A subscription in {channel}"),
    ("anyLane", "A subscription without a channel"),
    ("start", text::START),
    ("away", "+{count}"),
    ("next", "Next versions ({count})"),
    ("none", "No way on from here"),
    ("barred", "Forbidden by guardrails ({count})"),
    ("way", "Way to {to}, hops: {count}"),
    ("noWay", "No way to {to}"),
    ("reached", "Versions within reach: {count}"),
    ("again", "Choose another start"),
    ("help", "How to use this page"),
];

/// What the page says before anything is chosen.
pub(super) fn helps(olm: Generation) -> [&'static str; 5] {
    let whose = match olm {
        Generation::V1 => {
            "Edges are those that OLM v1 takes and no guardrail forbids: of all channels shown, together."
        }
        Generation::V0 => {
            "Edges are those that OLM v0 takes: of the channel that the version is chosen in."
        }
    };
    [
        "Click a version to see what it can be upgraded to, and the shortest way to the highest version.",
        "Click a second one to see the way between the two. Escape starts anew.",
        whose,
        "Ctrl and the wheel zoom, dragging moves, the slash key searches.",
        "The arrow keys go from version to version, Enter chooses.",
    ]
}
