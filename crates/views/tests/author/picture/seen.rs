//! The contents of an SVG as a reader finds them.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node};
use unicode_width::UnicodeWidthChar;

/// A box on the picture.
#[derive(Clone, Debug)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) text: String,
}

/// The facts that tests check in a picture.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) view: (f64, f64),
    /// The boxes of all texts.
    pub(crate) texts: Vec<Area>,
    pub(crate) font_sizes: BTreeSet<u32>,
    /// The boxes of all versions.
    pub(crate) pills: Vec<Area>,
    /// Every number that is a coordinate.
    pub(crate) places: Vec<(f64, f64)>,
    /// The names of the rows, from the top.
    pub(crate) rows: BTreeMap<u32, String>,
    /// The rows of each lane, with repetitions.
    pub(crate) lanes: BTreeMap<u32, Vec<u32>>,
    /// The edges of each lane, with repetitions: kind, from, to.
    pub(crate) edges: BTreeMap<u32, Vec<(String, u32, u32)>>,
    /// The title of each lane.
    pub(crate) titles: Vec<String>,
    /// The classes in use.
    pub(crate) classes: BTreeSet<String>,
}

pub(crate) fn seen(svg: &str) -> Seen {
    let document = Document::parse(svg).expect("well-formed");
    let root = document.root_element();
    let nodes = || root.descendants();
    let of = |class: &'static str| nodes().filter(move |node| has_class(*node, class));
    let view: Vec<f64> = attribute(root, "viewBox").split(' ').map(float).collect();
    let in_lanes = |class| of(class).filter_map(|node| Some((lane(node)?, node)));
    let mut lanes = BTreeMap::<_, Vec<_>>::new();
    for (lane, pill) in in_lanes("pill") {
        lanes.entry(lane).or_default().push(row(pill, "data-row"));
    }
    let mut edges = BTreeMap::<_, Vec<_>>::new();
    for edge in nodes().filter(|node| node.has_attribute("data-kind")) {
        let lane = lane(edge).expect("an edge is of a lane");
        let from = attribute(edge, "data-from").split_whitespace();
        let kind = attribute(edge, "data-kind");
        let to = row(edge, "data-to");
        let found = from.map(|from| (kind.to_owned(), from.parse().expect("a row"), to));
        edges.entry(lane).or_default().extend(found);
    }
    let texts = nodes().filter(|node| node.tag_name().name() == "text");
    Seen {
        view: (view[2], view[3]),
        font_sizes: texts.clone().map(|text| row(text, "font-size")).collect(),
        texts: texts.map(text_area).collect(),
        pills: in_lanes("pill").map(|(_, pill)| shape(pill)).collect(),
        places: nodes().flat_map(places).collect(),
        rows: of("row")
            .map(|node| (row(node, "data-row"), title(node)))
            .collect(),
        lanes,
        edges,
        titles: of("top").map(title).collect(),
        classes: nodes()
            .filter_map(|node| node.attribute("class"))
            .flat_map(|classes| classes.split(' ').map(str::to_owned))
            .collect(),
    }
}

fn has_class(node: Node<'_, '_>, class: &str) -> bool {
    let classes = node.attribute("class").unwrap_or_default();
    classes.split(' ').any(|own| own == class)
}

fn lane(node: Node<'_, '_>) -> Option<u32> {
    let mut above = node.ancestors();
    let lane = above.find_map(|node| node.attribute("data-lane"))?;
    Some(lane.parse().expect("a lane"))
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> &'a str {
    node.attribute(name)
        .unwrap_or_else(|| panic!("{node:?} has no {name}"))
}

fn row(node: Node<'_, '_>, name: &str) -> u32 {
    attribute(node, name).parse().expect("a number")
}

fn float(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn title(node: Node<'_, '_>) -> String {
    let mut children = node.children();
    let title = children.find(|child| child.tag_name().name() == "title");
    let text = title.and_then(|title| title.text()).unwrap_or_default();
    text.to_owned()
}

/// Estimates the area of a text by the advance of a monospaced or a proportional typeface.
fn text_area(node: Node<'_, '_>) -> Area {
    let text = node.text().unwrap_or_default().to_owned();
    let size = float(attribute(node, "font-size"));
    let is_mono = has_class(node, "mono");
    let widths = text.chars().map(|character| match character.width() {
        Some(1) if is_mono => 0.602,
        Some(1) if " .,:;il'".contains(character) => 0.32,
        Some(1) if character.is_ascii() => 0.62,
        Some(1) => 0.84,
        _ => 1.0,
    });
    let width = widths.sum::<f64>() * size;
    let x = float(attribute(node, "x"));
    let x = match attribute(node, "text-anchor") {
        "start" => x,
        "middle" => x - width / 2.0,
        _ => x - width,
    };
    Area {
        x,
        y: float(attribute(node, "y")) - size * 0.8,
        width,
        height: size,
        text,
    }
}

fn shape(pill: Node<'_, '_>) -> Area {
    let mut children = pill.children();
    let shape = children
        .find(|node| has_class(*node, "shape"))
        .expect("a shape");
    let of = |name| float(attribute(shape, name));
    Area {
        x: of("x"),
        y: of("y"),
        width: of("width"),
        height: of("height"),
        text: title(pill),
    }
}

fn places(node: Node<'_, '_>) -> Vec<(f64, f64)> {
    let of = |x, y| {
        let pair = node.attribute(x).zip(node.attribute(y));
        pair.map(|(x, y)| (float(x), float(y)))
    };
    let corner = || {
        let (x, y) = of("x", "y")?;
        let (width, height) = of("width", "height")?;
        Some((x + width, y + height))
    };
    [of("x", "y"), of("cx", "cy"), corner()]
        .into_iter()
        .flatten()
        .collect()
}

impl Area {
    /// Whether two boxes overlap by more than a rounding error.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let hair = 0.01;
        self.x + hair < other.x + other.width
            && other.x + hair < self.x + self.width
            && self.y + hair < other.y + other.height
            && other.y + hair < self.y + self.height
    }
}
