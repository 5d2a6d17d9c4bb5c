//! The picture as SVG, for any viewer and as a part of the page.
//!
//! What an edge is stands in its attributes (`data-kind`, `data-from`, `data-to`: rows from the top, of
//! which `data-row` says the version), so that a reader can find each edge, and the page can follow it.

pub(crate) mod palette;
mod parts;
mod sign;

use std::collections::BTreeSet;

use crate::picture::scene::Scene;
use crate::picture::sketch::{Row, Sketch};
use crate::picture::text;
use crate::xml::{Attributes, Xml};

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
    xml.ours("style", &palette::style(sketch.comparison.is_some()));
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
fn on_way(scene: &Scene) -> BTreeSet<Row> {
    let ends = scene.way.iter().flat_map(|line| [line.from, line.to]);
    ends.collect()
}
