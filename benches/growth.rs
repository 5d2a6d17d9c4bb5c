//! The cost of an answer, with message and advice, as one package grows to 100,000 bundles.
//!
//! Figures are medians of a few turns, and the reason code of every answer is asserted. OLM's resolver does the same
//! in turns for up to 10,000 bundles, without message and advice.
//!
//! `cargo bench -- [growth/SIZE]...`

use olmguard_figures::{Aim, Figure, OnCurve, Unit, number};
use olmguard_fixtures::growth::{Growth, GrowthQuestion, Reach};

use crate::peers::RESOLVER;
use crate::resolver::{Request, Resolver};
use crate::run::Run;
use crate::turns::{alternate, enough, median, seconds};

pub(crate) fn measure(run: &Run) {
    let asked = run.parts.iter().filter_map(|part| part.parse().ok());
    let mut sizes: Vec<u32> = asked.collect();
    if sizes.is_empty() {
        sizes = SIZES.into_iter().take(run.count(SIZES.len(), 1)).collect();
    }
    let program = RESOLVER.file(run);
    for reach in Reach::ALL {
        for size in &sizes {
            let world = Growth::of(*size as usize, reach);
            let program = program.as_ref().filter(|_| *size <= MOST_OF_PEER);
            let mut resolver = program
                .map(|program| Resolver::start(program, &Growth::catalog(*size as usize, reach)));
            for question in GrowthQuestion::ALL {
                let figure = answered(run, &world, (question, reach), resolver.as_mut());
                run.note(&on_curve(figure, question, reach, *size));
            }
        }
    }
}

/// The time of an answer, and the time in which OLM resolves the same request.
fn answered(
    run: &Run,
    world: &Growth,
    (question, reach): (GrowthQuestion, Reach),
    resolver: Option<&mut Resolver>,
) -> Figure {
    let ask = || world.ask_right(question, reach);
    // OLM's turns are long, so a single answer between them would measure how fast the machine fetches memory.
    let calls = enough(run, ask);
    let ask = || seconds(calls, ask) * 1e6;
    let turns = run.count(TURNS, 1);
    let Some(resolver) = resolver else {
        let took = median((0..turns).map(|_| ask()).collect());
        return run.figure("", Unit::Microseconds, took);
    };
    let edit = world.edit(question);
    let request = [Request {
        package: edit.package.to_owned(),
        version: Some(edit.wanted),
        channel: None,
        installed: Some(edit.installed),
    }];
    assert_eq!(
        resolver.resolved(&request),
        [world.ask(question).resolved.map(|found| found.bundle)]
    );
    let theirs = || resolver.turn(&request, 1) * 1e6;
    let [ours, theirs, ratio] = alternate(turns, ask, theirs);
    Figure {
        peer: Some(RESOLVER.took(theirs, ratio)),
        ..run.figure("", Unit::Microseconds, ours)
    }
}

fn on_curve(figure: Figure, question: GrowthQuestion, reach: Reach, size: u32) -> Figure {
    let chart = match reach {
        Reach::Near => "each skipRange includes the 20 bundles before it",
        Reach::All => "each skipRange includes all bundles before it",
    };
    let curve = name(question).to_owned();
    let most = match question {
        GrowthQuestion::Allowed => 5.0,
        _ => 2000.0,
    };
    Figure {
        row: format!("{curve}, {} bundles, {chart}", number(size.into())),
        aim: Some(Aim::AtMost(most)),
        on: Some(OnCurve {
            chart: chart.to_owned(),
            curve,
            size,
        }),
        ..figure
    }
}

fn name(question: GrowthQuestion) -> &'static str {
    match question {
        GrowthQuestion::Allowed => "the next version",
        GrowthQuestion::NoVersion => "a version that does not exist",
        GrowthQuestion::Downgrade => "a downgrade",
        GrowthQuestion::Jump => "the highest version, from the lowest",
        GrowthQuestion::NoPackage => "a package that does not exist",
    }
}

const TURNS: usize = 15;
const SIZES: [u32; 5] = [30, 100, 1_000, 10_000, 100_000];
/// The maximum size for OLM, which would need seconds per question for more bundles.
const MOST_OF_PEER: u32 = 10_000;
