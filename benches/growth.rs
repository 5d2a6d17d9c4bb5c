//! What an answer costs, words and advice included, as one package grows to 100,000 bundles.
//!
//! Medians of a few turns each, in microseconds; every answer has its token asserted.
//!
//! `cargo bench --bench growth -- [SIZE]...`
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::{Duration, Instant};

use olmguard_fixtures::growth::{Growth, GrowthQuestion, Reach};

fn main() {
    let asked = std::env::args().filter_map(|word| word.parse().ok());
    let mut sizes: Vec<usize> = asked.collect();
    if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    println!("an answer, in microseconds, of a package of so many bundles");
    for reach in Reach::ALL {
        let worlds: Vec<_> = sizes.iter().map(|size| Growth::of(*size, reach)).collect();
        for question in GrowthQuestion::ALL {
            let cells = worlds.iter().zip(&sizes).map(|(world, size)| {
                let took = median(|| world.ask_right(question, reach));
                format!("{size}: {:.1}", took.as_secs_f64() * 1e6)
            });
            let cells: Vec<_> = cells.collect();
            println!("  {question:?}, {reach:?}: {}", cells.join(", "));
        }
    }
}

fn median(mut ask: impl FnMut()) -> Duration {
    // The allocator first sorts what loading has freed.
    (0..TURNS).for_each(|_| ask());
    let mut turns: Vec<_> = (0..TURNS)
        .map(|_| {
            let began = Instant::now();
            ask();
            began.elapsed()
        })
        .collect();
    turns.sort_unstable();
    turns.get(TURNS / 2).copied().expect("a turn")
}

const TURNS: usize = 15;
const SIZES: [usize; 5] = [30, 100, 1_000, 10_000, 100_000];
