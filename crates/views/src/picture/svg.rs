//! The picture as SVG, for any viewer and as a part of the page.
//!
//! What an edge is stands in its attributes (`data-kind`, `data-from`, `data-to`: rows from the top, of
//! which `data-row` says the version), so that a reader can find each edge, and the page can follow it.

mod parts;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::picture::scene::{Area, LegendSign, Point, Scene};
use crate::picture::sketch::{Sketch, VersionRow};
use crate::picture::svg::parts::{change, path, rect, tip};
use crate::picture::walk::StepField;
use crate::picture::{Marks, VersionMark, text};
use olmguard_report::xml::{Attributes, Xml};

/// A whole SVG file.
pub fn svg(sketch: &Sketch<'_, '_>, scene: &Scene) -> String {
    let mut xml = Xml::default();
    draw(sketch, scene, "img", &mut xml);
    xml.finish()
}

/// The element, into a file or a page, as what the role of ARIA says: where it has buttons it is no image.
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

/// The rows that the way goes over.
fn on_way(scene: &Scene) -> BTreeSet<VersionRow> {
    let ends = scene.way.iter().flat_map(|line| [line.from, line.to]);
    ends.collect()
}

// === The colours and strokes, light and dark, as a style sheet ===
//
// Every sign differs from the others without colour too: by dash, weight, shape or letter.

/// A colour by day and by night.
struct Ink {
    /// What it is for: a custom property.
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

/// The style sheet of the picture. It follows what the reader's system prefers; a `data-theme` on the
/// root of a page wins. A picture that compares has a few rules more.
pub(crate) fn style(compares: bool) -> String {
    let mut style = String::new();
    let set = |of: fn(&Ink) -> &'static str| {
        let inks = INKS
            .iter()
            .map(|ink| format!("--{}:{};", ink.name, of(ink)));
        inks.collect::<String>()
    };
    let more = if compares { COMPARING } else { "" };
    let (light, dark) = (set(|ink| ink.light), set(|ink| ink.dark));
    let _infallible = write!(
        style,
        ":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         :root[data-theme=dark]{{{dark}}}\n{RULES}{more}"
    );
    style
}

const INKS: [Ink; 20] = [
    ink("paper", "#ffffff", "#0d1117"),
    ink("card", "#f6f8fa", "#151b23"),
    ink("edge", "#d5dbe3", "#2b3542"),
    ink("band", "#f1f4f8", "#11171f"),
    ink("text", "#1a2330", "#e2e8f0"),
    ink("aside", "#556274", "#93a1b3"),
    ink("pill", "#ffffff", "#1c2430"),
    ink("rim", "#8593a6", "#5b6a7e"),
    ink("replaces", "#46566b", "#a3b2c6"),
    ink("skips", "#b4490a", "#f0955a"),
    ink("range", "#0b7a75", "#41c4b5"),
    ink("range-soft", "#bfe4e0", "#174843"),
    ink("head", "#1f4fa3", "#8db7ff"),
    ink("head-text", "#ffffff", "#0b1830"),
    ink("old", "#fff1cc", "#3a2f10"),
    ink("old-rim", "#b98900", "#c79a2a"),
    ink("lost", "#c21f30", "#ff7b81"),
    ink("you", "#7c2fd6", "#c49bff"),
    ink("you-soft", "#efe3ff", "#33204d"),
    ink("far", "#98a4b3", "#5c6979"),
];

const fn ink(name: &'static str, light: &'static str, dark: &'static str) -> Ink {
    Ink { name, light, dark }
}

const RULES: &str = "\
.paper{fill:var(--paper)}
text{fill:var(--text)}
.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
.sans{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
.title,.name{font-weight:600}
.aside{fill:var(--aside)}
.card>.ground{fill:var(--card);fill-opacity:.72;stroke:var(--edge)}
.card.default>.ground{stroke:var(--head);stroke-width:1.5}
.card.deprecated .name{text-decoration:line-through}
.odd{fill:var(--band)}
.replaces{fill:none;stroke:var(--replaces);stroke-width:1.75}
.skips{fill:none;stroke:var(--skips);stroke-width:1.75;stroke-dasharray:5 3}
.skipRange,.semver{fill:none;stroke:var(--range);stroke-width:1.5}
.band{fill:none;stroke:var(--range-soft);stroke-width:7;stroke-linecap:round}
.tip{stroke:none;stroke-dasharray:none}
.replaces.tip,.replaces .tip{fill:var(--replaces)}
.skips .tip,.skips .stop{fill:var(--skips)}
.skipRange .tip,.skipRange .stop,.semver .tip,.semver .stop{fill:var(--range)}
.stop{stroke:none}
.stub{stroke-width:1;stroke-dasharray:2 3}
.count rect{fill:var(--card);stroke-width:1.25;stroke-dasharray:none}
.count text,.beyond{stroke:none;font-weight:600}
.skips text{fill:var(--skips)}
.skipRange text,.semver text{fill:var(--range)}
.unused{opacity:.45}
.unused.replaces{stroke-dasharray:1 3;stroke-linecap:round}
.forbidden{stroke:var(--lost);stroke-width:1.5;stroke-dasharray:8 3 2 3}
.forbidden .band{stroke:none}
.forbidden .tip{fill:var(--card);stroke:var(--lost);stroke-width:1.5}
.forbidden .stop{fill:var(--lost)}
.forbidden text{fill:var(--lost)}
.pill .shape{fill:var(--pill);stroke:var(--rim)}
.pill.deprecated .shape{fill:var(--old);stroke:var(--old-rim)}
.pill.deprecated text,.row.deprecated text{text-decoration:line-through}
.pill.skipped .shape{stroke:var(--skips);stroke-dasharray:4 2.5;stroke-width:1.5}
.pill.head .shape{fill:var(--head);stroke:var(--head)}
.pill.head text{fill:var(--head-text)}
.pill.head.deprecated .shape{stroke:var(--old-rim);stroke-width:3}
.pill.stranded .shape{stroke:var(--lost);stroke-width:2}
.pill.elsewhere .shape{fill:none;stroke-dasharray:1.5 2.5}
.pill.elsewhere text{fill:var(--aside)}
.pill.virtual text,.row.virtual text{font-style:italic}
.pill .ring{fill:none;stroke:none}
.pill.installed .ring{stroke:var(--you);stroke-width:2.5;stroke-dasharray:none}
.sign{fill:none;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
.sign.installed{fill:var(--you);stroke:var(--you)}
.head>.sign.installed{fill:var(--head-text);stroke:var(--head-text)}
.sign.head{fill:var(--head-text);stroke:none}
.sign.skipped{stroke:var(--skips)}
.sign.stranded{stroke:var(--lost)}
.head>.sign.skipped,.head>.sign.stranded{stroke:var(--head-text)}
.row.installed text{fill:var(--you);font-weight:700}
.row .hops{fill:var(--you);font-weight:600}
.way{fill:none;stroke:var(--you);stroke-width:4;stroke-linecap:round;stroke-linejoin:round}
.axis-ground,.top-ground{fill:none}
.pill.on-way .shape{fill:var(--you-soft);stroke:var(--you);stroke-width:2}
.pill.on-way text{fill:var(--text)}
.pill.on-way .sign.head{fill:var(--you)}
.far{opacity:.5}
";

/// What is added is bold, what is removed is dotted and pale; each has its sign too.
const COMPARING: &str = "\
.pill.added .shape{stroke:var(--range);stroke-width:3}
.pill.removed .shape{stroke:var(--lost);stroke-dasharray:1.5 2.5;fill:none}
.pill.removed text,.row.removed text{fill:var(--lost)}
.row.added text{fill:var(--range);font-weight:700}
.replaces.added,.skips.added,.skipRange.added,.semver.added{stroke-width:3}
.replaces.removed,.skips.removed,.skipRange.removed,.semver.removed{stroke:var(--lost);stroke-width:1.5;stroke-dasharray:1.5 3}
.removed .band{stroke:none}
.removed .tip,.removed .stop{fill:var(--lost)}
.removed text{fill:var(--lost)}
.change{fill:none;stroke-width:2;stroke-dasharray:none;stroke-linecap:round}
.change.added{stroke:var(--range)}
.change.removed{stroke:var(--lost)}
";

// === Signs: small shapes inside a version, and the samples of the legend ===

/// The shape that stands for a mark, eleven wide, from this point to the right.
pub(super) fn draw_mark(mark: VersionMark, at: Point, xml: &mut Xml) {
    let Point { x, y } = at;
    let (class, d) = match mark {
        // A pin.
        VersionMark::Installed => (
            "installed",
            format!("M{} {}a4 4 0 1 1 4 0l-2 4z", x + 3, y + 1),
        ),
        // A point upwards.
        VersionMark::Head => ("head", format!("M{x} {}h10l-5 -8z", y + 4)),
        // A circle crossed out.
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

/// A sign of the legend.
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
            let at = Point {
                x: area.x + area.width / 2 - 4,
                y: area.middle() - 6,
            };
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
        let at = Point {
            x: area.x + 8,
            y: area.middle(),
        };
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
    let shape = Area {
        x: area.x + 3,
        width: area.width - 6,
        y: area.y + 1,
        height: area.height - 2,
    };
    rect("ring", area, 11, xml);
    rect("shape", &shape, 8, xml);
    let at = Point {
        x: area.x + area.width / 2 - 5,
        y: area.middle(),
    };
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
    [Point { x: area.x, y }, Point { x: area.right(), y }]
}
