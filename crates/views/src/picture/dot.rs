//! The graph as text for graphviz.
//!
//! Each channel is a cluster. Arrows point from the old to the new version, one for each edge
//! between versions of the channel. Other versions in a range are only counted at the entry.

use std::fmt::Write as _;

use crate::picture::sketch::{EdgeFate, Fan, FanKind, Lane, Sketch, VersionRow};
use crate::picture::walk::StepField;
use crate::picture::{Marks, VersionMark, text};
use olmguard_catalog::version::go;

/// Renders the whole text.
pub fn dot(sketch: &Sketch<'_, '_>) -> String {
    let mut out = String::new();
    let package = quoted(sketch.graph.name());
    let _infallible = writeln!(
        out,
        "digraph {package} {{\n  rankdir=BT;\n  label={package};\n  labelloc=t;\n  \
         fontname=\"sans-serif\";\n  node [shape=box, style=rounded, fontname=\"monospace\"];\n  \
         edge [fontname=\"sans-serif\", fontsize=10];"
    );
    for (at, lane) in sketch.lanes.iter().enumerate() {
        cluster(sketch, at, lane, &mut out);
    }
    out.push_str("}\n");
    out
}

fn cluster(sketch: &Sketch<'_, '_>, at: usize, lane: &Lane<'_>, out: &mut String) {
    let name = quoted(text::lane_words(lane));
    let style = if lane.is_default { "bold" } else { "solid" };
    let _infallible = writeln!(
        out,
        "  subgraph cluster_{at} {{\n    label={name};\n    style={style};"
    );
    for cell in &lane.cells {
        let name = sketch.name(cell.row);
        let mut label = quoted(name);
        let marks: Vec<_> = cell.marks.iter().map(text::mark_word).collect();
        if !marks.is_empty() {
            label.insert_str(label.len() - 1, &format!("\\n{}", marks.join(", ")));
        }
        let looks = looks(cell.marks);
        let _infallible = writeln!(
            out,
            "    {} [label={label}{looks}];",
            text::id(at, cell.row)
        );
    }
    for step in &lane.steps {
        let edge = (step.from, step.to);
        self::edge(sketch, at, edge, StepField::Replaces, step.fate, out);
    }
    for parts in lane.fans.chunk_by(|_, next| next.continues) {
        range(at, lane, parts, out);
        for fan in parts {
            self::fan(sketch, at, lane, fan, out);
        }
    }
    out.push_str("  }\n");
}

/// Writes how many versions a range includes, whatever the fate of its parts.
fn range(at: usize, lane: &Lane<'_>, parts: &[Fan<'_>], out: &mut String) {
    let Some((to, FanKind::SkipRange(range))) = parts.first().map(|fan| (fan.to, fan.kind)) else {
        return;
    };
    let held = parts.iter().flat_map(|fan| &fan.from);
    let (shown, beyond): (Vec<&VersionRow>, Vec<&VersionRow>) =
        held.partition(|row| is_shown(lane, **row));
    let range = go::escape(range).replace("*/", "* /");
    let _infallible = writeln!(
        out,
        "    /* {} skipRange {range}: {} shown, {} of other channels */",
        text::id(at, to),
        shown.len(),
        beyond.len()
    );
}

fn fan(sketch: &Sketch<'_, '_>, at: usize, lane: &Lane<'_>, fan: &Fan<'_>, out: &mut String) {
    for from in fan.from.iter().filter(|row| is_shown(lane, **row)) {
        let edge = (*from, fan.to);
        self::edge(sketch, at, edge, fan.kind.field(), fan.fate, out);
    }
}

fn is_shown(lane: &Lane<'_>, row: VersionRow) -> bool {
    lane.marks(row).is_some()
}

fn edge(
    sketch: &Sketch<'_, '_>,
    at: usize,
    (from, to): (VersionRow, VersionRow),
    field: StepField,
    fate: EdgeFate,
    out: &mut String,
) {
    let style = match field {
        StepField::Replaces => "style=solid",
        StepField::Skips => "style=dashed, arrowhead=empty",
        StepField::SkipRange | StepField::Semver => "style=dotted, arrowhead=vee, penwidth=2",
    };
    let fate = match fate {
        EdgeFate::Taken => String::new(),
        EdgeFate::Forbidden => {
            let by = quoted(&text::forbidden_by(sketch, from, to));
            format!(", color=red, arrowhead=tee, label={by}")
        }
        EdgeFate::NotTaken => ", color=gray, label=\"not taken\"".to_owned(),
    };
    let _infallible = writeln!(
        out,
        "    {} -> {} [class=\"{}\", {style}{fate}];",
        text::id(at, from),
        text::id(at, to),
        field.as_str()
    );
}

/// Returns the attributes by which the marks of a version change its shape.
fn looks(marks: Marks) -> String {
    let looks = [
        (VersionMark::Installed, ", penwidth=3, color=purple"),
        (VersionMark::Head, ", shape=doubleoctagon, style=solid"),
        (VersionMark::Skipped, ", style=\"rounded,dashed\""),
        (VersionMark::Virtual, ", style=\"rounded,dotted\""),
    ];
    let found = looks.into_iter().find(|(mark, _)| marks.has(*mark));
    found.map_or("", |(_, look)| look).to_owned()
}

/// Quotes a text. Backslashes are doubled, because graphviz expands escapes in labels.
fn quoted(text: &str) -> String {
    let escaped = go::escape(text);
    let plain = escaped.replace('\\', "\\\\").replace("\\\\\"", "\\\"");
    format!("\"{plain}\"")
}
