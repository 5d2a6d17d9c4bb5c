//! Curves of figures as a picture: charts stacked vertically, logarithmic axes, readable on light and dark pages. All
//! peers have one color and are dashed, because only their slopes matter.

mod scale;

use std::fmt::Write;

use olmguard_figures::{Figure, number};

use self::scale::{Scale, duration, spread};
use super::curves::{Chart, charts};

/// The curves of all figures that are on a curve; `None` if there are no such figures.
pub(super) fn picture(figures: &[Figure]) -> Option<String> {
    let charts = charts(figures);
    let points = || {
        charts
            .iter()
            .flat_map(|chart| &chart.curves)
            .flat_map(|curve| &curve.points)
    };
    // All charts have the same axes, so they can be compared.
    let sizes = points().map(|(size, _)| f64::from(*size));
    let values = points().flat_map(|(_, figure)| values(figure));
    let (across, up) = (
        Scale::of(sizes, LEFT, RIGHT)?,
        Scale::of(values, BOTTOM, TOP)?,
    );
    let mut body = String::new();
    let mut top = 0.0;
    for chart in &charts {
        let drawn = drawn(chart, &across, &up);
        let _ = write!(body, "<g transform=\"translate(0 {top})\">\n{drawn}</g>\n");
        top += HEIGHT;
    }
    Some(format!("{}{STYLE}{body}</svg>\n", head(top)))
}

fn head(height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" aria-labelledby=\"growth-title growth-text\">\n\
         <title id=\"growth-title\">The time of an answer as its package grows</title>\n\
         <desc id=\"growth-text\">Both axes are logarithmic. The tables of the page have the figures.</desc>\n"
    )
}

/// The microseconds of a figure, and of its peer.
fn values(figure: &Figure) -> impl Iterator<Item = f64> {
    let peer = figure.peer.as_ref().map(|peer| peer.value);
    [figure.value].into_iter().chain(peer)
}

fn drawn(chart: &Chart<'_>, across: &Scale, up: &Scale) -> String {
    let mut text = format!("<rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n");
    let title = escaped(chart.name);
    let _ = writeln!(
        text,
        "<text class=\"title\" x=\"{LEFT}\" y=\"22\">{title}</text>"
    );
    text.push_str(&grid(across, up));
    let mut labels = Vec::new();
    for (curve, class) in chart.curves.iter().zip(COLOURS.iter().cycle()) {
        let theirs = curve
            .points
            .iter()
            .filter_map(|(size, figure)| Some((*size, figure.peer.as_ref()?.value)));
        text.push_str(&line("peer", &theirs.collect::<Vec<_>>(), across, up));
        let ours: Vec<_> = curve
            .points
            .iter()
            .map(|(size, figure)| (*size, figure.value))
            .collect();
        text.push_str(&line(class, &ours, across, up));
        labels.extend(
            ours.last()
                .map(|(_, last)| (up.place(*last), *class, curve.name.to_owned())),
        );
    }
    labels.extend(peer_label(chart, up));
    labels.sort_by(|one, other| one.0.total_cmp(&other.0));
    let heights = spread(
        labels.iter().map(|label| label.0).collect(),
        LINE,
        TOP,
        BOTTOM,
    );
    for ((_, class, label), y) in labels.iter().zip(heights) {
        let (x, y, label) = (RIGHT + 10.0, y + 4.0, escaped(label));
        let _ = writeln!(
            text,
            "<text class=\"{class}-text\" x=\"{x}\" y=\"{y:.1}\">{label}</text>"
        );
    }
    text
}

/// The name of the peer, at the height of the highest of its curves.
fn peer_label(chart: &Chart<'_>, up: &Scale) -> Option<(f64, &'static str, String)> {
    let points = chart.curves.iter().flat_map(|curve| &curve.points);
    let peers = points.filter_map(|(_, figure)| figure.peer.as_ref());
    let highest = peers.max_by(|one, other| one.value.total_cmp(&other.value))?;
    Some((
        up.place(highest.value),
        "peer",
        format!("{} (dashed)", highest.name),
    ))
}

fn grid(across: &Scale, up: &Scale) -> String {
    let mut text = String::new();
    for (value, y) in up.decades() {
        let label = duration(value);
        let _ = writeln!(text, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
        let (x, y) = (LEFT - 8.0, y + 4.0);
        let _ = writeln!(
            text,
            "<text class=\"aside\" text-anchor=\"end\" x=\"{x}\" y=\"{y:.1}\">{label}</text>"
        );
    }
    for (value, x) in across.decades() {
        let label = number(value);
        let _ = writeln!(text, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>");
        let y = BOTTOM + 18.0;
        let _ = writeln!(
            text,
            "<text class=\"aside\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{y}\">{label}</text>"
        );
    }
    let (x, y) = (RIGHT + 10.0, BOTTOM + 18.0);
    let _ = writeln!(
        text,
        "<text class=\"aside\" x=\"{x}\" y=\"{y}\">bundles</text>"
    );
    text
}

fn line(class: &str, points: &[(u32, f64)], across: &Scale, up: &Scale) -> String {
    let place = |(size, value): &(u32, f64)| {
        format!(
            "{:.1} {:.1}",
            across.place(f64::from(*size)),
            up.place(*value)
        )
    };
    let places: Vec<_> = points.iter().map(place).collect();
    if places.is_empty() {
        return String::new();
    }
    format!(
        "<path class=\"line {class}\" d=\"M{}\"/>\n",
        places.join("L")
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

const WIDTH: f64 = 760.0;
/// The height of one chart.
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 490.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 320.0;
/// The distance between two labels.
const LINE: f64 = 17.0;
const COLOURS: [&str; 5] = ["c0", "c1", "c2", "c3", "c4"];

const STYLE: &str = "<style>\
:root{--paper:#ffffff;--grid:#e1e6ed;--text:#1a2330;--aside:#556274;--peer:#7d8896;\
--c0:#1f4fa3;--c1:#b4490a;--c2:#0b7a75;--c3:#7c2fd6;--c4:#8a6500}\
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--grid:#2b3542;--text:#e2e8f0;--aside:#93a1b3;\
--peer:#8592a3;--c0:#8db7ff;--c1:#f0955a;--c2:#41c4b5;--c3:#c49bff;--c4:#d9b13f}}\
text{font:13px system-ui,sans-serif}.title{fill:var(--text);font-weight:600}.aside{fill:var(--aside)}\
.paper{fill:var(--paper)}.grid{stroke:var(--grid);fill:none}.line{fill:none;stroke-width:2}\
.peer{stroke:var(--peer);stroke-dasharray:5 4;stroke-width:1.5}.peer-text{fill:var(--aside)}\
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}\
.c0-text{fill:var(--c0)}.c1-text{fill:var(--c1)}.c2-text{fill:var(--c2)}.c3-text{fill:var(--c3)}\
.c4-text{fill:var(--c4)}\
</style>\n";

#[cfg(test)]
mod tests {
    use olmguard_figures::{Bench, Unit};

    use super::super::curves::tests::point;
    use super::*;

    #[test]
    fn a_curve_is_a_line_with_its_name_and_a_peer_a_dashed_one() {
        let figures = [
            point("next", 100, 1.0, Some(100.0)),
            point("next", 1000, 10.0, Some(1000.0)),
            point("downgrade", 1000, 100.0, None),
        ];
        let picture = picture(&figures).unwrap();
        // From 100 to 1,000 bundles across, and from 1 µs to 1 ms up.
        assert!(
            picture.contains("<path class=\"line c0\" d=\"M70.0 320.0L490.0 226.7\"/>"),
            "{picture}"
        );
        assert!(
            picture.contains("<path class=\"line peer\" d=\"M70.0 133.3L490.0 40.0\"/>"),
            "{picture}"
        );
        for text in [
            "a &lt; b",
            ">next<",
            ">downgrade<",
            ">operator-controller (dashed)<",
            ">100 µs<",
            ">1 ms<",
        ] {
            assert!(picture.contains(text), "{text} in {picture}");
        }
        assert!(picture.ends_with("</svg>\n"));
    }

    #[test]
    fn without_curves_there_is_no_picture() {
        let figure = Figure::new(Bench::Lint, "v4.16", Unit::Milliseconds, 1.0);
        assert_eq!(picture(&[figure]), None);
    }
}
