//! `cargo xtask soak`: whether the resource usage of the webhook grows in a long run, as a table and a picture.
//!
//! The end-to-end test `soak::` runs all loads at the same time, and prints a line for each sample. This module
//! measures nothing.

mod picture;

use std::fmt::Write as _;
use std::time::Duration;

use olmguard_figures::{SoakSample, SoakWork};

use crate::e2e::{self, E2eError};
use crate::page::{FiguresPage, PageError, put};
use crate::report::say;

/// The reason why there is no table, or why the run failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SoakError {
    #[error("no flag {found:?}: expected --hours N, --speed N and --write")]
    Flag { found: String },
    #[error(
        "--hours is {found:?}: expected a number from 1, such as 1.5: less time shows no slope"
    )]
    Hours { found: String },
    #[error("--speed is {found:?}: expected a number from 1 to 10")]
    Speed { found: String },
    #[error(transparent)]
    Tests(#[from] E2eError),
    #[error("a line of the test is not a sample: {0}")]
    Line(#[from] serde_json::Error),
    #[error("the test printed too few samples, or no counts")]
    NoSample,
    #[error(transparent)]
    Page(#[from] PageError),
    #[error("{wrong} of {edits} edits did not get the right answer")]
    Wrong { wrong: usize, edits: usize },
    #[error(
        "too little load: {pace:.0} edits a second and {audits} reports of audits, expected at least {LEAST_PACE} and \
         {least:.0}"
    )]
    Idle { pace: f64, audits: f64, least: f64 },
    #[error("pod {pod} grows: {what} by {by:.2} at least, expected less than {bound}")]
    Grows {
        /// The number of the pod, from 1.
        pod: usize,
        what: &'static str,
        by: f64,
        bound: f64,
    },
}

/// Runs the test and prints the results. If the run is good and `--write` is set, also writes them into the page.
pub(crate) fn run(arguments: &[&str]) -> Result<(), SoakError> {
    let SoakOptions {
        minutes,
        speed,
        is_written,
    } = SoakOptions::read(arguments)?;
    let facts = is_written.then(|| PAGE.facts()).transpose()?;
    let numbers = [
        ("OLMGUARD_E2E_SOAK_MINUTES", minutes),
        ("OLMGUARD_E2E_SOAK_SPEED", speed),
    ];
    let (lines, ended) = e2e::measure("soak::", &numbers);
    let soak = Soak::read(&lines);
    let found = soak.as_ref().map(Soak::found).unwrap_or_default();
    say(&found);
    ended?;
    let soak = soak?;
    soak.check()?;
    if let Some(facts) = facts {
        put("docs/soak.svg", &picture::picture(&soak.pods))?;
        PAGE.write(&format!("{facts}. {found}\n{PICTURE}"))?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct SoakOptions {
    minutes: u64,
    speed: u64,
    is_written: bool,
}

impl SoakOptions {
    fn read(arguments: &[&str]) -> Result<Self, SoakError> {
        let mut options = Self {
            minutes: 60,
            speed: 1,
            is_written: false,
        };
        let mut arguments = arguments.iter().copied();
        while let Some(argument) = arguments.next() {
            match argument {
                "--write" => options.is_written = true,
                "--hours" => options.minutes = minutes(arguments.next().unwrap_or_default())?,
                "--speed" => options.speed = speed(arguments.next().unwrap_or_default())?,
                found => {
                    let found = found.to_owned();
                    return Err(SoakError::Flag { found });
                }
            }
        }
        Ok(options)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is within the bounds"
)]
fn minutes(hours: &str) -> Result<u64, SoakError> {
    let number = hours.parse::<f64>().ok();
    let number = number.filter(|hours| (1.0..=1000.0).contains(hours));
    let hours = number.ok_or_else(|| SoakError::Hours {
        found: hours.to_owned(),
    })?;
    Ok((hours * 60.0).round() as u64)
}

fn speed(times: &str) -> Result<u64, SoakError> {
    let number = times.parse().ok();
    let number = number.filter(|speed| (1..=10).contains(speed));
    number.ok_or_else(|| SoakError::Speed {
        found: times.to_owned(),
    })
}

/// The results of a run.
struct Soak {
    /// The pods, by number.
    pods: Vec<PodCurve>,
    work: SoakWork,
}

impl Soak {
    fn read(lines: &[String]) -> Result<Self, SoakError> {
        let samples: Vec<SoakSample> = e2e::said(lines, "sample: ")?;
        let work = e2e::said(lines, "soak: ")?
            .pop()
            .ok_or(SoakError::NoSample)?;
        let last = samples.iter().map(|sample| sample.pod).max();
        let pods = (0..=last.ok_or(SoakError::NoSample)?).map(|pod| PodCurve::of(pod, &samples));
        let pods: Vec<_> = pods.collect::<Option<_>>().ok_or(SoakError::NoSample)?;
        Ok(Self { pods, work })
    }

    /// A summary of the run, and the table.
    fn found(&self) -> String {
        format!("{}\n\n{}", sentence(self), table(self))
    }

    /// Checks that every edit had the right answer, that every load was active, and that no pod grows.
    fn check(&self) -> Result<(), SoakError> {
        let SoakWork {
            edits,
            pace,
            wrong,
            audits,
            audits_due,
            ..
        } = self.work;
        if wrong > 0 {
            return Err(SoakError::Wrong { wrong, edits });
        }
        // Half is enough, because a machine can be slow.
        let least = audits_due / 2.0;
        if pace < LEAST_PACE || audits < least {
            return Err(SoakError::Idle {
                pace,
                audits,
                least,
            });
        }
        self.pods.iter().try_for_each(PodCurve::is_flat)
    }
}

/// The resource usage of a pod, minute by minute.
struct PodCurve {
    pod: usize,
    /// The lowest figures of each minute. What loads and large requests need for a moment is not growth.
    all: Vec<SoakSample>,
    /// The index of the first sample that counts.
    from: usize,
}

impl PodCurve {
    /// Returns `None` if fewer than three minutes count.
    fn of(pod: usize, samples: &[SoakSample]) -> Option<Self> {
        let own = samples.iter().filter(|one| one.pod == pod).copied();
        let own: Vec<_> = own.collect();
        let minutes = own.chunk_by(|one, next| minute(one) == minute(next));
        let all: Vec<_> = minutes.filter_map(lowest).collect();
        let from = all.iter().position(|one| one.seconds >= WARM)?;
        (all.len() >= from + 3).then_some(Self { pod, all, from })
    }

    fn counted(&self) -> &[SoakSample] {
        self.all.get(self.from..).unwrap_or_default()
    }

    /// The rise per hour: the slope of the least-squares line, and twice its standard error.
    #[expect(clippy::cast_precision_loss, reason = "there are few samples")]
    fn slope(&self, value: Measure) -> (f64, f64) {
        let samples = self.counted();
        let count = samples.len() as f64;
        let mean = |of: Measure| samples.iter().map(of).sum::<f64>() / count;
        let (middle, level) = (mean(hours), mean(value));
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            let pairs = samples
                .iter()
                .map(|one| (hours(one) - middle, value(one) - level));
            pairs.map(|(across, up)| of(across, up)).sum()
        };
        let width = sum(&|across, _| across * across);
        let slope = sum(&|across, up| across * up) / width;
        let rest = sum(&|across, up| (up - slope * across).powi(2));
        (slope, 2.0 * (rest / (count - 2.0) / width).sqrt())
    }

    /// The medians of the first and the last third.
    fn thirds(&self, value: Measure) -> [f64; 2] {
        let values: Vec<_> = self.counted().iter().map(value).collect();
        let third = values.len() / 3;
        let first = values.iter().take(third).copied();
        let last = values.iter().rev().take(third).copied();
        [median(first.collect()), median(last.collect())]
    }

    fn is_flat(&self) -> Result<(), SoakError> {
        let risen = |value| {
            let [first, last] = self.thirds(value);
            last - first
        };
        // A rise that may be chance is not growth.
        let (slope, error) = self.slope(mebibytes);
        for (what, by, bound) in [
            ("MiB of memory an hour", slope - error, 1.0),
            ("descriptors", risen(DESCRIPTORS), MORE),
            ("tasks", risen(TASKS), MORE),
        ] {
            if by >= bound {
                let pod = self.pod + 1;
                return Err(SoakError::Grows {
                    pod,
                    what,
                    by,
                    bound,
                });
            }
        }
        Ok(())
    }
}

fn minute(sample: &SoakSample) -> u64 {
    Duration::try_from_secs_f64(sample.seconds)
        .unwrap_or_default()
        .as_secs()
        / 60
}

/// The lowest of each figure, at the time of the first sample.
fn lowest(samples: &[SoakSample]) -> Option<SoakSample> {
    samples.iter().copied().reduce(|low, one| SoakSample {
        resident: low.resident.min(one.resident),
        descriptors: low.descriptors.min(one.descriptors),
        tasks: low.tasks.min(one.tasks),
        ..low
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// A function that returns one of the figures of a sample.
type Measure = fn(&SoakSample) -> f64;

const DESCRIPTORS: Measure = |sample| sample.descriptors;

const TASKS: Measure = |sample| sample.tasks;

fn hours(sample: &SoakSample) -> f64 {
    sample.seconds / 3600.0
}

fn mebibytes(sample: &SoakSample) -> f64 {
    sample.resident / f64::from(1 << 20)
}

fn sentence(soak: &Soak) -> String {
    let SoakWork {
        edits,
        pace,
        wrong,
        contents,
        policies,
        audits,
        hostile,
        speed,
        ..
    } = soak.work;
    let samples = soak.pods.iter().filter_map(|pod| pod.all.last());
    let minutes = samples.map(|last| last.seconds / 60.0).fold(0.0, f64::max);
    let length = match speed {
        1 => format!("{minutes:.0} minutes"),
        _ => format!(
            "{:.0} minutes at {speed} times the usual speed",
            minutes / f64::from(speed)
        ),
    };
    format!(
        "In {length}: {edits} edits, {pace:.0} a second, {wrong} of them without the right answer; {contents} \
         contents of the catalog; {policies} changes of a policy; {audits} reports of audits; {hostile} hostile connections."
    )
}

fn table(soak: &Soak) -> String {
    let mut table =
        "| pod | MiB after ten minutes | MiB at the end | MiB an hour | descriptors | tasks |\n\
                     | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    for pod in &soak.pods {
        let ends = [pod.counted().first(), pod.counted().last()];
        let [first, last] = ends.map(|end| end.map_or(0.0, mebibytes));
        let (slope, error) = pod.slope(mebibytes);
        let [descriptors, tasks] = [DESCRIPTORS, TASKS].map(|value| {
            let [first, last] = pod.thirds(value);
            format!("{first}, then {last}")
        });
        // Writing to a String does not fail.
        let _ = writeln!(
            table,
            "| {} | {first:.1} | {last:.1} | {slope:.1} ± {error:.1} | {descriptors} | {tasks} |",
            pod.pod + 1
        );
    }
    table
}

/// The page with the table and the picture.
pub(crate) const PAGE: FiguresPage = FiguresPage {
    file: "docs/reliability.md",
    start: "<!-- written by cargo xtask soak --write -->",
};

const PICTURE: &str = "![The memory of each pod in MiB over the minutes of the run](soak.svg)";

/// The number of seconds after which samples count. Every part of the program has been used by then.
const WARM: f64 = 600.0;

/// The minimum number of edits per second.
const LEAST_PACE: f64 = 10.0;

/// The increase of descriptors or tasks that counts as a leak. Between two thirds of an hour there are 120 contents.
const MORE: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// One hour of two samples per minute for two pods. The memory of the second pod grows.
    fn lines() -> Vec<String> {
        let samples = (0..=121).flat_map(|half| {
            [0, 1].map(|pod| {
                let minute = half / 2;
                let of_a_load = half % 2 * (100 + minute);
                let resident = (400 + minute * pod + 10 * (minute % 2) + of_a_load) * (1 << 20) / 10;
                let seconds = half * 30;
                format!(
                    r#"sample: {{"pod": {pod}, "seconds": {seconds}.0, "resident": {resident}.0, "descriptors": 20.0,
                        "tasks": 30.0}}"#
                )
            })
        });
        let work = r#"soak: {"speed": 1, "edits": 198000, "pace": 55.2, "wrong": 0, "contents": 360, "policies": 120,
            "audits": 119.0, "audits_due": 120.0, "hostile": 9720}"#;
        let noise = "soak::holds_what_it_held took 3700.0 s";
        samples.chain([work.to_owned(), noise.to_owned()]).collect()
    }

    #[test]
    fn a_run_is_a_table_and_a_pod_that_grows_fails_it() {
        let soak = Soak::read(&lines()).unwrap();
        assert_eq!(
            table(&soak).lines().skip(2).collect::<Vec<_>>(),
            [
                "| 1 | 40.0 | 40.0 | 0.0 ± 0.6 | 20, then 20 | 30, then 30 |",
                "| 2 | 41.0 | 46.0 | 6.0 ± 0.6 | 20, then 20 | 30, then 30 |",
            ]
        );
        assert_eq!(
            sentence(&soak),
            "In 60 minutes: 198000 edits, 55 a second, 0 of them without the right answer; 360 contents of the catalog; 120 \
             changes of a policy; 119 reports of audits; 9720 hostile connections."
        );
        let mut fast = Soak::read(&lines()).unwrap();
        fast.work.speed = 5;
        let expected = "In 12 minutes at 5 times the usual speed: 198000 edits, 55 a second, ";
        assert!(sentence(&fast).starts_with(expected));
        assert!(soak.pods[0].is_flat().is_ok());
        let expected = "pod 2 grows: MiB of memory an hour by 5.42 at least, expected less than 1";
        assert_eq!(soak.check().unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_pod_with_more_descriptors_or_an_idle_run_fails() {
        let flat = || {
            let lines = lines().into_iter();
            let lines: Vec<_> = lines.filter(|line| !line.contains(r#""pod": 1"#)).collect();
            Soak::read(&lines).unwrap()
        };
        assert!(flat().check().is_ok());
        let mut leaking = flat();
        for sample in &mut leaking.pods[0].all[40..] {
            sample.descriptors += 5.0;
        }
        let expected = "pod 1 grows: descriptors by 5.00 at least, expected less than 5";
        assert_eq!(leaking.check().unwrap_err().to_string(), expected);
        let idle = |pace: u8, audits: u8| {
            format!(
                "too little load: {pace} edits a second and {audits} reports of audits, expected at least 10 and 60"
            )
        };
        for (change, expected) in [
            (
                (|work| work.wrong = 1) as fn(&mut SoakWork),
                "1 of 198000 edits did not get the right answer".to_owned(),
            ),
            (|work| work.pace = 9.0, idle(9, 119)),
            (|work| work.audits = 59.0, idle(55, 59)),
        ] {
            let mut soak = flat();
            change(&mut soak.work);
            assert_eq!(soak.check().unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn without_samples_there_is_no_result() {
        for lines in [vec![], lines().split_off(2 * 122)] {
            assert!(Soak::read(&lines).is_err());
        }
    }

    #[test]
    fn a_soak_is_long_enough() {
        let read = |arguments: &[&str]| {
            let options = SoakOptions::read(arguments);
            options.map_err(|error| error.to_string())
        };
        let options = read(&["--hours", "1.5", "--speed", "10", "--write"]).unwrap();
        let found = (options.minutes, options.speed, options.is_written);
        assert_eq!(found, (90, 10, true));
        let options = read(&[]).unwrap();
        assert_eq!((options.minutes, options.speed), (60, 1));
        for speed in ["0", "11", "x", ""] {
            let expected = format!("--speed is {speed:?}: expected a number from 1 to 10");
            assert_eq!(read(&["--speed", speed]).unwrap_err(), expected);
        }
        for hours in ["0.9", "x", "inf", "-1"] {
            let error = read(&["--hours", hours]).unwrap_err();
            assert!(
                error.starts_with(&format!("--hours is {hours:?}: ")),
                "{error}"
            );
        }
        assert_eq!(
            read(&["--minutes"]).unwrap_err(),
            "no flag \"--minutes\": expected --hours N, --speed N and --write"
        );
    }
}
