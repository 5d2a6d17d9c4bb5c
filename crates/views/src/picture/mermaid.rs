//! The graph as mermaid text, with the nodes and edges of `opm alpha render-graph`.
//!
//! Arrows point from old to new. A range has an arrow from each entry of its channel that it includes. opm also
//! draws a loop if a range includes the entry's own version. Node identifiers are generated, because opm derives
//! them from names, which mermaid cannot always parse.
//!
//! Upstream: operator-registry, [`alpha/declcfg/write.go`].
//!
//! [`alpha/declcfg/write.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/write.go

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::picture::sketch::{EdgeFate, FanKind, Lane, LaneKind, Sketch, VersionRow};
use crate::picture::{Marks, VersionMark, text};
use olmguard_catalog::graph::Graph;
use olmguard_catalog::version::{Membership, go};

/// Renders the whole text.
pub fn mermaid(sketch: &Sketch<'_, '_>) -> String {
    let mut text = MermaidText::default();
    text.line(0, "graph BT");
    for (class, style) in CLASSES {
        text.line(1, &format!("classDef {class} {style}"));
    }
    let package = quoted(sketch.graph.name());
    text.line(1, &format!("subgraph package[{package}]"));
    for (at, lane) in sketch.lanes.iter().enumerate() {
        text.lane(sketch, at, lane);
    }
    text.line(1, "end");
    text.finish(sketch)
}

#[derive(Default)]
struct MermaidText {
    out: String,
    /// Nodes of each class.
    classes: BTreeMap<&'static str, Vec<String>>,
    edges: usize,
    /// Numbers of the edges that OLM does not take.
    unused: Vec<String>,
    /// Numbers of the edges that guardrails forbid.
    forbidden: Vec<String>,
}

impl MermaidText {
    fn line(&mut self, depth: usize, text: &str) {
        let _infallible = writeln!(self.out, "{:1$}{text}", "", depth * 2);
    }

    fn lane(&mut self, sketch: &Sketch<'_, '_>, at: usize, lane: &Lane<'_>) {
        let name = match lane.kind {
            LaneKind::Channel => quoted(lane.name),
            LaneKind::Semver => quoted(&text::lane_name(lane)),
        };
        self.line(2, &format!("subgraph channel{at}[{name}]"));
        for cell in &lane.cells {
            let id = text::id(at, cell.row);
            let name = sketch.name(cell.row);
            self.line(3, &format!("{id}[{}]", quoted(name)));
            for class in classes(cell.marks) {
                self.classes.entry(class).or_default().push(id.clone());
            }
        }
        for cell in &lane.cells {
            self.edges_to(sketch, at, lane, cell.row);
        }
        self.line(2, "end");
    }

    /// Writes the edges of an entry, in opm's order.
    fn edges_to(&mut self, sketch: &Sketch<'_, '_>, at: usize, lane: &Lane<'_>, to: VersionRow) {
        let is_entry = |row: &VersionRow| {
            let marks = lane.marks(*row);
            marks.is_some_and(|marks| !marks.has(VersionMark::Elsewhere))
        };
        for fan in lane.fans.iter().filter(|fan| fan.to == to) {
            let label = match fan.kind {
                FanKind::Skips => "skip".to_owned(),
                FanKind::SkipRange(range) => format!("skipRange({range})"),
                FanKind::Semver => "semver".to_owned(),
            };
            let label = |from| label_of(sketch, &label, (from, to), fan.fate);
            let is_skips = fan.kind == FanKind::Skips;
            for from in fan.from.iter().filter(|from| is_skips || is_entry(from)) {
                self.edge(at, *from, to, &label(*from), fan.fate);
            }
        }
        for range in own_ranges(sketch.graph, lane, sketch, to) {
            let label = quoted(&format!("skipRange({range})"));
            self.edge(at, to, to, &label, EdgeFate::Taken);
        }
        for step in lane.steps.iter().filter(|step| step.to == to) {
            let label = label_of(sketch, "replace", (step.from, to), step.fate);
            self.edge(at, step.from, to, &label, step.fate);
        }
    }

    fn edge(&mut self, at: usize, from: VersionRow, to: VersionRow, label: &str, fate: EdgeFate) {
        self.line(
            3,
            &format!("{}-- {label} -->{}", text::id(at, from), text::id(at, to)),
        );
        match fate {
            EdgeFate::Taken => {}
            EdgeFate::Forbidden => self.forbidden.push(self.edges.to_string()),
            EdgeFate::NotTaken => self.unused.push(self.edges.to_string()),
        }
        self.edges += 1;
    }

    fn finish(mut self, sketch: &Sketch<'_, '_>) -> String {
        if sketch.graph.is_deprecated() {
            self.line(1, "style package fill:#989695");
        }
        for (at, lane) in sketch.lanes.iter().enumerate() {
            if lane.deprecated.is_some() {
                self.line(1, &format!("style channel{at} fill:#DCD0FF"));
            }
        }
        for (class, nodes) in std::mem::take(&mut self.classes) {
            self.line(1, &format!("class {} {class}", nodes.join(",")));
        }
        for (edges, style) in [
            (std::mem::take(&mut self.unused), UNUSED),
            (std::mem::take(&mut self.forbidden), FORBIDDEN),
        ] {
            if !edges.is_empty() {
                self.line(1, &format!("linkStyle {} {style}", edges.join(",")));
            }
        }
        self.out
    }
}

/// Formats the label of an edge: what allows it, and what forbids it. Plain words need no quotes.
fn label_of(
    sketch: &Sketch<'_, '_>,
    what: &str,
    (from, to): (VersionRow, VersionRow),
    fate: EdgeFate,
) -> String {
    match fate {
        EdgeFate::Forbidden => quoted(&format!("{what}, {}", text::forbidden_by(sketch, from, to))),
        EdgeFate::Taken | EdgeFate::NotTaken if what.chars().all(char::is_alphabetic) => {
            what.to_owned()
        }
        EdgeFate::Taken | EdgeFate::NotTaken => quoted(what),
    }
}

/// Returns the ranges of an entry that include its own version.
fn own_ranges<'p>(
    graph: &Graph<'p>,
    lane: &Lane<'p>,
    sketch: &Sketch<'_, 'p>,
    to: VersionRow,
) -> Vec<&'p str> {
    let node = sketch.row(to).map(|facts| facts.node);
    let entry = node.and_then(|node| graph.channel(lane.name)?.entry(node));
    let bundle = node.and_then(|node| graph.bundle(node));
    let version = bundle.and_then(|bundle| bundle.version.as_ref().ok());
    let (Some(entry), Some(version), LaneKind::Channel) = (entry, version, lane.kind) else {
        return Vec::new();
    };
    let ranges = entry.skip_ranges.iter();
    let holding = ranges.filter(|range| range.takes(&version.version) == Membership::Holds);
    holding.map(|range| range.as_str()).collect()
}

/// Returns the classes of a version. Deprecated and skipped together are one class, as in opm.
fn classes(marks: Marks) -> Vec<&'static str> {
    let both = marks.has(VersionMark::Deprecated) && marks.has(VersionMark::Skipped);
    let mut classes = if both {
        vec!["deprecatedskipped"]
    } else {
        Vec::new()
    };
    let others = marks.iter().filter(|mark| {
        !(both && matches!(mark, VersionMark::Deprecated | VersionMark::Skipped))
            && *mark != VersionMark::Elsewhere
    });
    classes.extend(others.map(VersionMark::as_str));
    classes
}

/// Quotes a text so that mermaid finds no syntax in it. Special characters become character codes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in go::escape(text).chars() {
        match character {
            '"' | '#' | '&' | '<' | '>' | '`' | '\\' | ';' | '%' => {
                let _infallible = write!(quoted, "#{};", u32::from(character));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Style of each class: the classes of opm, and additional ones.
const CLASSES: [(&str, &str); 8] = [
    ("deprecated", "fill:#E8960F"),
    ("skipped", "stroke:#FF0000,stroke-width:4px"),
    (
        "deprecatedskipped",
        "fill:#E8960F,stroke:#FF0000,stroke-width:4px",
    ),
    ("head", "stroke:#1F4FA3,stroke-width:3px"),
    ("installed", "fill:#EFE3FF,stroke:#7C2FD6,stroke-width:4px"),
    ("stranded-v0", "stroke:#C21F30,stroke-dasharray:6 3"),
    ("stranded-v1", "stroke:#C21F30,stroke-width:3px"),
    ("virtual", "stroke-dasharray:2 3"),
];
const FORBIDDEN: &str = "stroke:#C21F30,stroke-width:2px,stroke-dasharray:8 3 2 3";
const UNUSED: &str = "stroke:#FF0000,stroke-width:3px,stroke-dasharray:5";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_syntax() {
        for (name, expected) in [
            ("lantern.v1.0.0", "\"lantern.v1.0.0\""),
            ("a\"]-->b", "\"a#92;#34;]--#62;b\""),
            ("<b>&#x;", "\"#60;b#62;#38;#35;x#59;\""),
            ("a\u{202e}\n%%", "\"a#92;u202e#92;n#37;#37;\""),
        ] {
            assert_eq!(quoted(name), expected);
        }
    }
}
