//! Times that are too short for a single measurement.

use std::time::{Duration, Instant};

use crate::run::Run;

/// The time of one call in seconds: the median of turns, each with enough calls to take a few milliseconds.
pub(crate) fn each(run: &Run, mut call: impl FnMut()) -> f64 {
    let calls = enough(run, &mut call);
    let turns = (0..run.count(TURNS, 1)).map(|_| seconds(calls, &mut call));
    median(turns.collect())
}

/// The number of calls that take as long as a turn should.
pub(crate) fn enough(run: &Run, mut call: impl FnMut()) -> u32 {
    let mut calls = 1;
    while !run.is_smoke && seconds(calls, &mut call) * f64::from(calls) < TURN.as_secs_f64() {
        calls *= 2;
    }
    calls
}

/// The time of one of this many calls, in seconds.
pub(crate) fn seconds(calls: u32, mut call: impl FnMut()) -> f64 {
    let began = Instant::now();
    (0..calls).for_each(|_| call());
    began.elapsed().as_secs_f64() / f64::from(calls)
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().expect("a turn")
}

/// Runs turns of both alternately. Returns the median of each in seconds, and the median of their ratios.
pub(crate) fn alternate(
    turns: usize,
    mut ours: impl FnMut() -> f64,
    mut theirs: impl FnMut() -> f64,
) -> [f64; 3] {
    let turns: Vec<_> = (0..turns).map(|_| (ours(), theirs())).collect();
    let of = |each: fn(&(f64, f64)) -> f64| median(turns.iter().map(each).collect());
    [
        of(|turn| turn.0),
        of(|turn| turn.1),
        of(|turn| turn.1 / turn.0),
    ]
}

const TURN: Duration = Duration::from_millis(4);
const TURNS: usize = 51;
