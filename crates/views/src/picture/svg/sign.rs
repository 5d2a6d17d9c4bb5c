//! Signs: small shapes inside a version, and the samples of the legend.

use crate::picture::mark::{Mark, Marks};
use crate::picture::scene::{Area, Point, Sign};
use crate::picture::svg::parts::{change, path, rect, tip};
use crate::picture::walk::Field;
use crate::xml::Xml;

/// The shape that stands for a mark, eleven wide, from this point to the right.
pub(super) fn draw(mark: Mark, at: Point, xml: &mut Xml) {
    let Point { x, y } = at;
    let (class, d) = match mark {
        // A pin.
        Mark::Installed => (
            "installed",
            format!("M{} {}a4 4 0 1 1 4 0l-2 4z", x + 3, y + 1),
        ),
        // A point upwards.
        Mark::Head => ("head", format!("M{x} {}h10l-5 -8z", y + 4)),
        // A circle crossed out.
        Mark::Skipped => (
            "skipped",
            format!(
                "M{x} {y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0M{} {}l6 -6",
                x + 2,
                y + 3
            ),
        ),
        // A warning triangle.
        Mark::StrandedV0 | Mark::StrandedV1 => (
            "stranded",
            format!("M{x} {}h11l-5.5 -9.5zM{}.5 {}v-2.5", y + 4, x + 5, y + 1),
        ),
        Mark::Deprecated | Mark::Virtual | Mark::Elsewhere | Mark::Added | Mark::Removed => return,
    };
    xml.empty(
        "path",
        &[("class", &format_args!("sign {class}")), ("d", &d)],
    );
}

/// A sign of the legend.
pub(super) fn sample(sign: Sign, area: &Area, xml: &mut Xml) {
    match sign {
        Sign::Edge(field) => edge(field, field.as_str(), area, xml),
        Sign::Fate(fate) => {
            let class = format!("replaces {}", fate.as_str());
            edge(Field::Replaces, &class, area, xml);
        }
        Sign::Change(of) => {
            let class = format!("replaces {}", of.as_str());
            edge(Field::Replaces, &class, area, xml);
            let at = Point {
                x: area.x + area.width / 2 - 4,
                y: area.middle() - 6,
            };
            change(of, at, xml);
        }
        Sign::Version(mark) => version(mark, area, xml),
        Sign::Way => {
            let points = ends(area);
            xml.empty("path", &[("class", &"way"), ("d", &path(&points))]);
        }
        Sign::OutOfReach => {
            xml.open("g", &[("class", &"pill far")]);
            rect("shape", area, 9, xml);
            xml.close();
        }
    }
}

fn edge(field: Field, class: &str, area: &Area, xml: &mut Xml) {
    let points = ends(area);
    xml.open("g", &[("class", &class)]);
    if matches!(field, Field::SkipRange | Field::Semver) {
        xml.empty("path", &[("class", &"band"), ("d", &path(&points))]);
    }
    xml.empty("path", &[("d", &path(&points))]);
    if field != Field::Replaces {
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

fn version(mark: Mark, area: &Area, xml: &mut Xml) {
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
        Mark::Deprecated | Mark::Virtual | Mark::Added | Mark::Removed => text("1.0", area, xml),
        _ => draw(mark, at, xml),
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
