//! The picture as one page that needs nothing else: no network, no other file.
//!
//! The SVG stands in it as it is; a script of our own zooms, folds, searches, and follows edges. What may
//! be followed or folded is worked out here, not there: the page holds, for each version, the steps that
//! OLM takes.
//! Nothing else may run or be loaded: the policy in its head names our script and style by digest, and
//! the data stand in a block that no browser runs, without a character that could end it.

mod data;
mod notes;

use crate::picture::scene::Scene;
use crate::picture::sketch::Sketch;
use crate::picture::{Generation, svg, text};
use olmguard_report::xml::{Attributes, Xml};

/// A whole page.
pub fn html(sketch: &Sketch<'_, '_>, scene: &Scene) -> String {
    let mut xml = Xml::default();
    xml.raw("<!doctype html>\n");
    xml.open("html", &[("lang", &"en")]);
    head(sketch, &mut xml);
    xml.open("body", &[]);
    bar(sketch, &mut xml);
    xml.open("main", &[]);
    xml.open("div", &[("id", &"canvas")]);
    svg::draw(sketch, scene, "group", &mut xml);
    xml.close();
    xml.text(
        "aside",
        &[
            ("id", &"panel"),
            ("aria-live", &"polite"),
            ("aria-label", &PANEL),
        ],
        "",
    );
    xml.close();
    xml.raw("<script type=\"application/json\" id=\"data\">");
    xml.raw(&data::data(sketch, scene));
    xml.raw("</script>\n");
    xml.ours("script", SCRIPT);
    xml.finish()
}

fn head(sketch: &Sketch<'_, '_>, xml: &mut Xml) {
    xml.open("head", &[]);
    xml.empty("meta", &[("charset", &"utf-8")]);
    let picture_style = match sketch.comparison {
        Some(_) => COMPARING_STYLE_DIGEST,
        None => PICTURE_STYLE_DIGEST,
    };
    let policy = format!(
        "default-src 'none'; script-src '{SCRIPT_DIGEST}'; style-src '{STYLE_DIGEST}' \
         '{picture_style}'; base-uri 'none'; form-action 'none'"
    );
    xml.empty(
        "meta",
        &[
            ("http-equiv", &"Content-Security-Policy"),
            ("content", &policy),
        ],
    );
    xml.empty(
        "meta",
        &[
            ("name", &"viewport"),
            ("content", &"width=device-width, initial-scale=1"),
        ],
    );
    xml.empty(
        "meta",
        &[("name", &"color-scheme"), ("content", &"light dark")],
    );
    xml.text("title", &[], &page_title(&text::title(sketch)));
    xml.ours("style", STYLE);
    xml.close();
}

fn bar(sketch: &Sketch<'_, '_>, xml: &mut Xml) {
    xml.open("header", &[]);
    xml.text("h1", &[], &page_title(&text::title(sketch)));
    xml.open("form", &[("id", &"find"), ("role", &"search")]);
    xml.empty(
        "input",
        &[
            ("id", &"search"),
            ("type", &"search"),
            ("autocomplete", &"off"),
            ("placeholder", &SEARCH),
            ("aria-label", &SEARCH),
            ("aria-controls", &"matches"),
        ],
    );
    let matches: Attributes<'_> = &[
        ("id", &"matches"),
        ("role", &"group"),
        ("aria-label", &MATCHES),
        ("hidden", &""),
    ];
    xml.text("div", matches, "");
    xml.close();
    buttons(ZOOM, &ZOOMS, xml);
    let fold: Attributes<'_> = &[("id", &"fold"), ("type", &"button"), ("hidden", &"")];
    xml.text("button", fold, FOLD);
    buttons(SAVE, &SAVES, xml);
    xml.text("button", &[("id", &"theme"), ("type", &"button")], THEME);
    xml.close();
}

/// Buttons side by side: the id of each, what it does, its text.
fn buttons(name: &str, all: &[(&str, &str, &str)], xml: &mut Xml) {
    let group: Attributes<'_> = &[
        ("class", &"group"),
        ("role", &"group"),
        ("aria-label", &name),
    ];
    xml.open("div", group);
    for (id, label, shown) in all {
        let button: Attributes<'_> = &[
            ("id", id),
            ("type", &"button"),
            ("aria-label", label),
            ("title", label),
        ];
        xml.text("button", button, shown);
    }
    xml.close();
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

// A digest is that of the text as it stands in the page; a test says what it should be.
const SCRIPT_DIGEST: &str = "sha256-jgCVwmMijL5zJGmAqMlreoz77/PH+ARmjy/0Lbsb228=";
const STYLE_DIGEST: &str = "sha256-h3IPHo0hM2VPXoonQjKvP3EUUdmZ/y8ZWPDwR1Y1wbI=";
const COMPARING_STYLE_DIGEST: &str = "sha256-nCAgkE/ARrUaASRzNnqnuqP9JM0SRH29kSQLY70tHf4=";
const PICTURE_STYLE_DIGEST: &str = "sha256-iQee6mZYEX4ewNDPoVuspoU/RE9HWibvCaMroOw11jE=";

// === Every sentence of the page that is not of the picture itself ===

const PANEL: &str = "Selected version";
const SEARCH: &str = "Find a version";
const MATCHES: &str = "Matching versions";
const ZOOM: &str = "Zoom";
const SAVE: &str = "Save the picture";
const THEME: &str = "Light / dark";
const FOLD: &str = "Unfold all";

/// The buttons that zoom: id, what each does, its text.
const ZOOMS: [(&str, &str, &str); 5] = [
    ("zoom-out", "Zoom out", "−"),
    ("zoom-is", "Zoom to 100 %", "100 %"),
    ("zoom-in", "Zoom in", "+"),
    ("zoom-fit", "Fit the whole picture", "Fit"),
    ("zoom-width", "Fit the width of the picture", "Width"),
];

/// The buttons that save the picture.
const SAVES: [(&str, &str, &str); 2] = [
    ("save-svg", "Save the picture as SVG", "SVG"),
    ("save-png", "Save the picture as PNG", "PNG"),
];

/// The title of the page.
fn page_title(package: &str) -> String {
    format!("{package}: upgrade graph")
}

/// The texts that the script fills in: a name, and a text with `{PLACES}`.
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

/// The text of the panel while nothing is selected.
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
