//! Fetching all five, one after another.

use std::io::Read;
use std::time::{Duration, Instant};

use olmguard::source::catalogd::{Catalogd, FetchLimits};
use olmguard::source::{Progress, SourceError, read_from};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};

use crate::bench::files::NAMES;
use crate::bench::memory::{memory, mib};
use crate::bench::process;

pub(crate) async fn print() {
    let server = process::Catalogd::start();
    println!("five catalogs from catalogd into memory (aim: below 3 s)");
    let bare = memory();
    let held = all(&server, "gzip").await;
    let full = memory();
    println!(
        "  held {:.1} MiB over the bare process, peak {:.1} MiB ({} catalogs)",
        mib(full.now.saturating_sub(bare.now)),
        mib(full.peak.saturating_sub(bare.now)),
        held.catalogs.len(),
    );
    for way in ["gzip", "plain"] {
        let (mut took, mut sent) = (Vec::new(), 0);
        for _ in 0..ROUNDS {
            let round = all(&server, way).await;
            took.push(round.took.as_secs_f64());
            sent = round.sent;
        }
        took.sort_by(f64::total_cmp);
        let (least, median) = (took.first(), took.get(ROUNDS / 2));
        println!(
            "  {way}, {sent} bytes sent: {:.2} s, at best {:.2} s",
            median.unwrap(),
            least.unwrap(),
        );
    }
}

/// One round.
struct Round {
    catalogs: Vec<Catalog>,
    sent: u64,
    took: Duration,
}

async fn all(server: &process::Catalogd, way: &str) -> Round {
    let client = Catalogd::new(Some(server.ca.path()), FetchLimits::default()).unwrap();
    let (mut catalogs, mut sent) = (Vec::new(), 0);
    let began = Instant::now();
    for name in NAMES {
        let base = server.base(way, name);
        let fetched = client
            .fetch(&base, |input| index(name, input))
            .await
            .unwrap();
        sent += fetched.bytes;
        catalogs.push(fetched.value);
    }
    let took = began.elapsed();
    Round {
        catalogs,
        sent,
        took,
    }
}

fn index(name: &str, input: &mut dyn Read) -> Result<Catalog, SourceError> {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    read_from(name, input, &Progress::default(), &mut builder)?;
    Ok(builder.finish().expect("no bound"))
}

const ROUNDS: usize = 7;
