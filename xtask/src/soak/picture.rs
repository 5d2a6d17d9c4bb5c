//! The memory of the pods over the time of the run, readable on light and dark pages.

use std::fmt::Write as _;

use super::{PodCurve, mebibytes};

/// One line for each pod. Both axes start at zero, so the picture does not exaggerate a slope.
pub(super) fn picture(pods: &[PodCurve]) -> String {
    let samples = || pods.iter().flat_map(|pod| &pod.all);
    let across = Axis::of(samples().map(|one| one.seconds / 60.0), LEFT, RIGHT);
    let up = Axis::of(samples().map(mebibytes), BOTTOM, TOP);
    let (mut body, mut y) = (grid(&across, &up), BOTTOM - LINE);
    for (pod, class) in pods.iter().zip(["c0", "c1"].iter().cycle()) {
        let place = |sample| {
            let (x, y) = (across.place(minutes(sample)), up.place(mebibytes(sample)));
            format!("{x:.1} {y:.1}")
        };
        let places: Vec<_> = pod.all.iter().map(place).collect();
        let places = places.join("L");
        // Writing to a String does not fail.
        let _ = writeln!(body, "<path class=\"line {class}\" d=\"M{places}\"/>");
        let (name, x) = (pod.pod + 1, RIGHT - 8.0);
        let _ = writeln!(
            body,
            "<text class=\"{class}-text\" text-anchor=\"end\" x=\"{x}\" y=\"{y}\">pod {name}</text>"
        );
        y -= LINE;
    }
    format!("{HEAD}{STYLE}{body}</svg>\n")
}

fn minutes(sample: &olmguard_figures::SoakSample) -> f64 {
    sample.seconds / 60.0
}

fn grid(across: &Axis, up: &Axis) -> String {
    let mut text = format!("<rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n");
    for (value, y) in up.steps() {
        let (x, below) = (LEFT - 8.0, y + 4.0);
        let _ = writeln!(
            text,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>\n\
             <text text-anchor=\"end\" x=\"{x}\" y=\"{below:.1}\">{value} MiB</text>"
        );
    }
    for (value, x) in across.steps() {
        let y = BOTTOM + 18.0;
        let _ = writeln!(
            text,
            "<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>\n\
             <text text-anchor=\"middle\" x=\"{x:.1}\" y=\"{y}\">{value} min</text>"
        );
    }
    text
}

/// An axis that starts at zero, in steps of 1, 2 or 5 times a power of ten.
struct Axis {
    step: f64,
    count: u8,
    from: f64,
    to: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let most = values.fold(1.0, f64::max);
        let power = 10_f64.powf((most / STEPS).log10().floor());
        let steps = [1.0, 2.0, 5.0].map(|times| times * power);
        let step = steps.into_iter().find(|step| most / step <= STEPS);
        let step = step.unwrap_or(10.0 * power);
        let count = (1..u8::MAX).find(|count| f64::from(*count) * step >= most);
        Self {
            step,
            count: count.unwrap_or(u8::MAX),
            from,
            to,
        }
    }

    fn place(&self, value: f64) -> f64 {
        let part = value / (self.step * f64::from(self.count));
        self.from + part * (self.to - self.from)
    }

    /// Each step, with its coordinate.
    fn steps(&self) -> impl Iterator<Item = (f64, f64)> {
        let values = (0..=self.count).map(|number| f64::from(number) * self.step);
        values.map(|value| (value, self.place(value)))
    }
}

/// The maximum number of steps of an axis.
const STEPS: f64 = 6.0;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 730.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 265.0;
/// The distance between two labels.
const LINE: f64 = 17.0;

const HEAD: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 300\" width=\"760\" height=\"300\" \
    role=\"img\" aria-labelledby=\"soak-title soak-text\">\n\
    <title id=\"soak-title\">The memory of each pod in a long run</title>\n\
    <desc id=\"soak-text\">Both axes begin at zero. The table of the page has the slopes.</desc>\n";

const STYLE: &str = "<style>\
    :root{--paper:#ffffff;--grid:#e1e6ed;--text:#556274;--c0:#1f4fa3;--c1:#b4490a}\
    @media (prefers-color-scheme:dark){:root{--paper:#0d1117;--grid:#2b3542;--text:#93a1b3;--c0:#8db7ff;--c1:#f0955a}}\
    text{font:13px system-ui,sans-serif;fill:var(--text)}.paper{fill:var(--paper)}.grid{stroke:var(--grid);fill:none}\
    .line{fill:none;stroke-width:2}.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c0-text{fill:var(--c0)}.c1-text{fill:var(--c1)}\
    </style>\n";

#[cfg(test)]
mod tests {
    use olmguard_figures::SoakSample;

    use super::*;

    #[test]
    fn the_memory_of_a_pod_is_a_line() {
        let samples = [0.0, 600.0, 1200.0, 1800.0].map(|seconds| SoakSample {
            pod: 0,
            seconds,
            resident: f64::from(30 << 20),
            descriptors: 1.0,
            tasks: 1.0,
        });
        let picture = picture(&[PodCurve::of(0, &samples).unwrap()]);
        // Steps of 5 MB and of 5 minutes, up to 30.
        assert!(
            picture.contains(
                "<path class=\"line c0\" d=\"M70.0 20.0L290.0 20.0L510.0 20.0L730.0 20.0\"/>"
            ),
            "{picture}"
        );
        assert!(picture.contains(">30 MiB<") && picture.contains(">15 min<"));
    }
}
