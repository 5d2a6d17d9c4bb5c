//! The trials: each is told a cluster that has just started and is nobody else's.

mod away;
mod bare;
mod burst;
mod catalogs;
mod certificates;
mod doctor;
mod graph;
mod image;
mod latency;
mod manifests;
mod olm;
mod rollout;
mod texts;
mod truth;
mod work;

use std::panic::AssertUnwindSafe;

use anyhow::{Result, anyhow};
use futures_util::FutureExt;
use libtest_mimic::{Failed, Trial};
use tokio::runtime::Runtime;

use crate::cluster::{self, Cluster};
use crate::namespace;

/// One trial for each function named, under that name.
macro_rules! trials {
    ($($room:ident::$name:ident,)*) => {
        vec![$(trial(concat!(stringify!($room), "::", stringify!($name)), $room::$name)),*]
    };
}

/// All of them, in the order in which they run.
pub(crate) fn all() -> Vec<Trial> {
    trials![
        away::a_pod_is_killed,
        away::catalogd_is_killed,
        away::catalogd_is_killed_in_mid_body,
        away::etcd_is_stopped,
        away::the_api_server_is_restarted,
        bare::takes_an_extension,
        catalogs::verdicts_follow_the_content,
        catalogs::verdicts_follow_the_object,
        certificates::a_lost_secret_and_an_emptied_bundle_heal,
        certificates::files_rotate,
        certificates::self_managed_authorities_follow_each_other,
        certificates::three_replicas_agree_on_one_authority,
        doctor::finds_each_fault,
        image::runs_from_its_own_root,
        latency::of_an_apply,
        manifests::are_stored_as_written,
        manifests::are_switched_off_and_on,
        manifests::are_uninstalled,
        manifests::leave_the_bundle_alone,
        manifests::send_only_what_is_judged,
        olm::installs_and_upgrades,
        rollout::a_call_that_is_lost_is_noticed,
        rollout::a_restart_with_the_usual_delay_loses_no_call,
        rollout::five_restarts_lose_no_call,
        texts::of_a_guard_that_answers,
        texts::of_a_guard_that_is_away,
        truth::agrees_with_the_controller,
        truth::passes_what_is_never_judged,
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
