//! Fetches all five catalogs, one after another.

use std::io::Read;
use std::time::{Duration, Instant};

use olmguard::source::catalogd::Catalogd;
use olmguard::source::http::FetchLimits;
use olmguard::source::{Progress, SourceError, read_from};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};

use olmguard_figures::{Aim, Figure, Unit};

use super::catalogd;
use crate::process::{kib, mib};
use crate::run::Run;
use crate::turns::median;
use crate::world::World;

pub(crate) async fn measure(run: &Run, world: &World) {
    let server = catalogd::Catalogd::start(world);
    let bare = kib("self", "VmRSS");
    let loaded = all(&server, world, "gzip").await;
    let [now, peak] = ["VmRSS", "VmHWM"].map(|field| mib(kib("self", field).saturating_sub(bare)));
    assert_eq!(loaded.catalogs.len(), world.names().len());
    drop(loaded);
    run.note(&run.figure(
        "fetched from catalogd, minus the bare process",
        Unit::MiB,
        now,
    ));
    run.note(&run.figure("its peak, minus the bare process", Unit::MiB, peak));
    for (row, way) in [("with gzip", "gzip"), ("without gzip", "plain")] {
        let mut seconds = Vec::new();
        for _ in 0..run.count(ROUNDS, 1) {
            seconds.push(all(&server, world, way).await.took.as_secs_f64());
        }
        run.note(&Figure {
            aim: Some(Aim::AtMost(3.0)),
            ..run.figure(
                format!("from catalogd over TLS, {row}"),
                Unit::Seconds,
                median(seconds),
            )
        });
    }
}

/// The result of one round.
struct Round {
    catalogs: Vec<Catalog>,
    took: Duration,
}

async fn all(server: &catalogd::Catalogd, world: &World, way: &str) -> Round {
    let client = Catalogd::new(Some(server.ca.path()), FetchLimits::default()).unwrap();
    let mut catalogs = Vec::new();
    let began = Instant::now();
    for name in world.names() {
        let base = server.base(way, name);
        let fetched = client
            .fetch(&base, |input| index(name, input))
            .await
            .unwrap();
        catalogs.push(fetched.value);
    }
    let took = began.elapsed();
    Round { catalogs, took }
}

fn index(name: &str, input: &mut dyn Read) -> Result<Catalog, SourceError> {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    read_from(name, input, &Progress::default(), &mut builder)?;
    Ok(builder.finish().expect("no bound"))
}

const ROUNDS: usize = 7;
