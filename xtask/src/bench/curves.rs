//! Figures on curves, grouped by chart.

use olmguard_figures::Figure;

/// Curves that are compared with each other.
pub(super) struct Chart<'f> {
    pub(super) name: &'f str,
    /// The curves, in the order of their first figures.
    pub(super) curves: Vec<Curve<'f>>,
}

/// The answers to one question for several sizes.
pub(super) struct Curve<'f> {
    pub(super) name: &'f str,
    /// Each size with its figure.
    pub(super) points: Vec<(u32, &'f Figure)>,
}

/// The charts of the figures that are on a curve, in the order of their first figures.
pub(super) fn charts<'f>(figures: impl IntoIterator<Item = &'f Figure>) -> Vec<Chart<'f>> {
    let mut charts: Vec<Chart<'f>> = Vec::new();
    for figure in figures {
        let Some(on) = &figure.on else { continue };
        let point = (on.size, figure);
        let Some(chart) = charts.iter_mut().find(|chart| chart.name == on.chart) else {
            let curves = vec![Curve::of(&on.curve, point)];
            charts.push(Chart {
                name: &on.chart,
                curves,
            });
            continue;
        };
        match chart.curves.iter_mut().find(|curve| curve.name == on.curve) {
            Some(curve) => curve.points.push(point),
            None => chart.curves.push(Curve::of(&on.curve, point)),
        }
    }
    charts
}

impl<'f> Curve<'f> {
    fn of(name: &'f str, point: (u32, &'f Figure)) -> Self {
        Self {
            name,
            points: vec![point],
        }
    }

    /// The figure of a size.
    pub(super) fn at(&self, size: u32) -> Option<&'f Figure> {
        let mut points = self.points.iter();
        points
            .find(|(known, _)| *known == size)
            .map(|(_, figure)| *figure)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use olmguard_figures::{Aim, Bench, OnCurve, Peer, Unit};

    use super::*;

    /// A figure on a curve of the chart `a < b`.
    pub(in crate::bench) fn point(curve: &str, size: u32, value: f64, peer: Option<f64>) -> Figure {
        let peer = peer.map(|theirs| Peer {
            name: "operator-controller".to_owned(),
            value: theirs,
            ratio: theirs / value,
        });
        Figure {
            peer,
            aim: Some(Aim::AtMost(5.0)),
            on: Some(OnCurve {
                chart: "a < b".to_owned(),
                curve: curve.to_owned(),
                size,
            }),
            ..Figure::new(
                Bench::Growth,
                format!("{curve} {size}"),
                Unit::Microseconds,
                value,
            )
        }
    }

    #[test]
    fn figures_of_one_curve_are_together() {
        let figures = [
            point("a", 1, 1.0, None),
            point("b", 1, 2.0, None),
            point("a", 2, 3.0, None),
        ];
        let charts = charts(&figures);
        let [chart] = charts.as_slice() else {
            panic!("one chart")
        };
        let names: Vec<_> = chart
            .curves
            .iter()
            .map(|curve| (curve.name, curve.points.len()))
            .collect();
        assert_eq!((chart.name, names), ("a < b", vec![("a", 2), ("b", 1)]));
        let second = chart.curves[0].at(2).map(|figure| &figure.row);
        assert_eq!(second.map(String::as_str), Some("a 2"));
    }
}
