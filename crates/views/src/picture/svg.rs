//! The picture as SVG, for any viewer and as a part of the page.
//!
//! Attributes of an edge identify it: `data-kind`, `data-from` and `data-to`. The last two are rows from the top, as
//! in `data-row` of a version. Readers can find each edge by them, and the script of the page follows them.

mod parts;

use std::collections::BTreeSet;

use crate::picture::scene::{Area, LegendSign, Point, Scene};
use crate::picture::sketch::{Sketch, VersionRow};
use crate::picture::svg::parts::{change, path, rect, tip};
use crate::picture::walk::StepField;
use crate::picture::{Marks, VersionMark, text};
use olmguard_report::xml::{Attributes, Xml};

/// Renders a whole SVG file.
pub fn svg(sketch: &Sketch<'_, '_>, scene: &Scene) -> String {
    let mut xml = Xml::default();
    draw(sketch, scene, "img", &mut xml);
    xml.finish()
}

/// Writes the element with an ARIA role. A picture with buttons must not have the role of an image.
pub(crate) fn draw(sketch: &Sketch<'_, '_>, scene: &Scene, role: &str, xml: &mut Xml) {
    let Scene { width, height, .. } = scene;
    xml.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("viewBox", &format_args!("0 0 {width} {height}")),
            ("width", width),
            ("height", height),
            ("role", &role),
            ("aria-labelledby", &"graph-title graph-told"),
        ],
    );
    xml.text("title", &[("id", &"graph-title")], &text::title(sketch));
    xml.text(
        "desc",
        &[("id", &"graph-told")],
        &text::told(sketch).join(" "),
    );
    xml.ours("style", &style(sketch.comparison.is_some()));
    let paper: Attributes<'_> = &[("class", &"paper"), ("width", width), ("height", height)];
    xml.empty("rect", paper);
    parts::bands(&scene.axis, xml);
    parts::heading(scene, xml);
    let on_way = on_way(scene);
    scene.cards.iter().for_each(|card| parts::edges(card, xml));
    parts::way(&scene.way, xml);
    for card in &scene.cards {
        parts::versions(card, &on_way, xml);
    }
    scene.cards.iter().for_each(|card| parts::top(card, xml));
    parts::axis(&scene.axis, scene.height, xml);
    xml.close();
}

/// Returns the rows of the requested path.
fn on_way(scene: &Scene) -> BTreeSet<VersionRow> {
    let ends = scene.way.iter().flat_map(|line| [line.from, line.to]);
    ends.collect()
}

// === Colors and strokes, light and dark, as a style sheet ===
//
// Signs also differ without color: by dash, weight, shape or letter.

/// Returns the style sheet of the picture.
///
/// It follows the color scheme of the system, unless the root of the page has a `data-theme`. A picture of a
/// comparison has additional rules.
pub(crate) fn style(compares: bool) -> String {
    let light = INKS
        .map(|(name, light, _)| format!("--{name}:{light};"))
        .concat();
    let dark = INKS
        .map(|(name, _, dark)| format!("--{name}:{dark};"))
        .concat();
    let more = if compares { COMPARING } else { "" };
    format!(
        ":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         :root[data-theme=dark]{{{dark}}}\n{RULES}{more}"
    )
}

/// The colors: name of the custom property, light value, dark value.
const INKS: [(&str, &str, &str); 20] = [
    ("paper", "#ffffff", "#0d1117"),
    ("card", "#f6f8fa", "#151b23"),
    ("edge", "#d5dbe3", "#2b3542"),
    ("band", "#f1f4f8", "#11171f"),
    ("text", "#1a2330", "#e2e8f0"),
    ("aside", "#556274", "#93a1b3"),
    ("pill", "#ffffff", "#1c2430"),
    ("rim", "#8593a6", "#5b6a7e"),
    ("replaces", "#46566b", "#a3b2c6"),
    ("skips", "#b4490a", "#f0955a"),
    ("range", "#0b7a75", "#41c4b5"),
    ("range-soft", "#bfe4e0", "#174843"),
    ("head", "#1f4fa3", "#8db7ff"),
    ("head-text", "#ffffff", "#0b1830"),
    ("old", "#fff1cc", "#3a2f10"),
    ("old-rim", "#b98900", "#c79a2a"),
    ("lost", "#c21f30", "#ff7b81"),
    ("you", "#7c2fd6", "#c49bff"),
    ("you-soft", "#efe3ff", "#33204d"),
    ("far", "#98a4b3", "#5c6979"),
];

const RULES: &str = include_str!("svg/rules.css");

/// Rules for comparisons: added parts are bold, removed parts dotted and pale. Each also has a sign.
const COMPARING: &str = include_str!("svg/comparing.css");

// === Signs: small shapes inside a version, and the samples of the legend ===

/// Draws the sign of a mark, eleven wide, to the right of this point.
pub(super) fn draw_mark(mark: VersionMark, at: Point, xml: &mut Xml) {
    let Point { x, y } = at;
    let (class, d) = match mark {
        // A pin.
        VersionMark::Installed => (
            "installed",
            format!("M{} {}a4 4 0 1 1 4 0l-2 4z", x + 3, y + 1),
        ),
        // A triangle that points up.
        VersionMark::Head => ("head", format!("M{x} {}h10l-5 -8z", y + 4)),
        // A crossed-out circle.
        VersionMark::Skipped => (
            "skipped",
            format!(
                "M{x} {y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0M{} {}l6 -6",
                x + 2,
                y + 3
            ),
        ),
        // A warning triangle.
        VersionMark::StrandedV0 | VersionMark::StrandedV1 => (
            "stranded",
            format!("M{x} {}h11l-5.5 -9.5zM{}.5 {}v-2.5", y + 4, x + 5, y + 1),
        ),
        VersionMark::Deprecated
        | VersionMark::Virtual
        | VersionMark::Elsewhere
        | VersionMark::Added
        | VersionMark::Removed => return,
    };
    xml.empty(
        "path",
        &[("class", &format_args!("sign {class}")), ("d", &d)],
    );
}

/// Draws a sign of the legend.
pub(super) fn sample(sign: LegendSign, area: &Area, xml: &mut Xml) {
    match sign {
        LegendSign::Edge(field) => edge(field, field.as_str(), area, xml),
        LegendSign::Fate(fate) => {
            let class = format!("replaces {}", fate.as_str());
            edge(StepField::Replaces, &class, area, xml);
        }
        LegendSign::Change(of) => {
            let class = format!("replaces {}", of.as_str());
            edge(StepField::Replaces, &class, area, xml);
            let at = Point::new(area.x + area.width / 2 - 4, area.middle() - 6);
            change(of, at, xml);
        }
        LegendSign::Version(mark) => version(mark, area, xml),
        LegendSign::Way => {
            let points = ends(area);
            xml.empty("path", &[("class", &"way"), ("d", &path(&points))]);
        }
        LegendSign::OutOfReach => {
            xml.open("g", &[("class", &"pill far")]);
            rect("shape", area, 9, xml);
            xml.close();
        }
    }
}

fn edge(field: StepField, class: &str, area: &Area, xml: &mut Xml) {
    let points = ends(area);
    xml.open("g", &[("class", &class)]);
    if matches!(field, StepField::SkipRange | StepField::Semver) {
        xml.empty("path", &[("class", &"band"), ("d", &path(&points))]);
    }
    xml.empty("path", &[("d", &path(&points))]);
    if field != StepField::Replaces {
        let at = Point::new(area.x + 8, area.middle());
        xml.empty(
            "circle",
            &[
                ("class", &"stop"),
                ("cx", &at.x),
                ("cy", &at.y),
                ("r", &"3"),
            ],
        );
    }
    tip("tip", &points, xml);
    xml.close();
}

fn version(mark: VersionMark, area: &Area, xml: &mut Xml) {
    let marks = Marks::default().with(mark, true);
    let stranded = if marks.is_stranded() { " stranded" } else { "" };
    let class = format!("pill {}{stranded}", mark.as_str());
    xml.open("g", &[("class", &class)]);
    let shape = Area::new(area.x + 3, area.y + 1, area.width - 6, area.height - 2);
    rect("ring", area, 11, xml);
    rect("shape", &shape, 8, xml);
    let at = Point::new(area.x + area.width / 2 - 5, area.middle());
    match mark {
        VersionMark::Deprecated
        | VersionMark::Virtual
        | VersionMark::Added
        | VersionMark::Removed => text("1.0", area, xml),
        _ => draw_mark(mark, at, xml),
    }
    xml.close();
}

fn text(text: &str, area: &Area, xml: &mut Xml) {
    xml.text(
        "text",
        &[
            ("class", &"mono"),
            ("x", &(area.x + area.width / 2)),
            ("y", &(area.middle() + 4)),
            ("font-size", &11),
            ("text-anchor", &"middle"),
        ],
        text,
    );
}

fn ends(area: &Area) -> [Point; 2] {
    let y = area.middle();
    [Point::new(area.x, y), Point::new(area.right(), y)]
}
