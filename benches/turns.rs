//! Time that is too short to be measured once.

use std::time::{Duration, Instant};

use crate::run::Run;

/// What one call takes, in seconds: the median of turns, each of as many calls as take a few milliseconds.
pub(crate) fn each(run: &Run, mut call: impl FnMut()) -> f64 {
    let calls = enough(run, &mut call);
    let turns = (0..run.count(TURNS, 1)).map(|_| seconds(calls, &mut call));
    median(turns.collect())
}

/// How many calls take as long as a turn should.
pub(crate) fn enough(run: &Run, mut call: impl FnMut()) -> u32 {
    let mut calls = 1;
    while !run.is_smoke && seconds(calls, &mut call) * f64::from(calls) < TURN.as_secs_f64() {
        calls *= 2;
    }
    calls
}

/// What one of so many calls takes, in seconds.
pub(crate) fn seconds(calls: u32, mut call: impl FnMut()) -> f64 {
    let began = Instant::now();
    (0..calls).for_each(|_| call());
    began.elapsed().as_secs_f64() / f64::from(calls)
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().expect("a turn")
}

/// A turn of each, one after the other, as often as a median needs: both in seconds, and the median of the ratios.
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
