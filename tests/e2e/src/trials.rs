//! The trials: each is told a cluster that has just started and is nobody else's.

mod bare;
mod olm;

use std::panic::AssertUnwindSafe;

use anyhow::{Result, anyhow};
use futures_util::FutureExt;
use libtest_mimic::{Failed, Trial};
use tokio::runtime::Runtime;

use crate::cluster::{self, Cluster};
use crate::namespace;

/// All of them, in the order in which they run.
pub(crate) fn all() -> Vec<Trial> {
    vec![
        trial("bare::takes_an_extension", bare::takes_an_extension),
        trial("olm::installs_and_upgrades", olm::installs_and_upgrades),
    ]
}

fn trial(name: &str, run: impl AsyncFnOnce(&mut Cluster) -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || {
        in_cluster(run).map_err(|error| Failed::from(format!("{error:#}")))
    })
}

fn in_cluster(run: impl AsyncFnOnce(&mut Cluster) -> Result<()>) -> Result<()> {
    namespace::bring_up()?;
    Runtime::new()?.block_on(async {
        let mut cluster = Cluster::start().await?;
        let ended = AssertUnwindSafe(run(&mut cluster)).catch_unwind().await;
        let ended = ended.unwrap_or_else(|_| Err(anyhow!("it panicked, see above")));
        if ended.is_err() {
            cluster::report(&cluster).await;
        }
        ended
    })
}
