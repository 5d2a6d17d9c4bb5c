//! The trials. Each one gets its own cluster, which has just started.

mod audit;
mod away;
mod bare;
mod burst;
mod catalogs;
mod certificates;
mod doctor;
mod emergency;
mod events;
mod faults;
mod get_started;
mod golden;
mod graph;
mod image;
mod latency;
mod olm;
mod outside;
mod policies;
mod preflight;
mod previews;
mod rights;
mod rollout;
mod scrapes;
mod shipped;
mod soak;
mod stand_in;
mod status_policy;
mod texts;
mod truth;
mod uninstall;
mod upgrade;
mod work;

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, anyhow};
use futures_util::FutureExt;
use libtest_mimic::Trial;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::apart;
use crate::assets;
use crate::cluster::{self, Cluster};
use crate::namespace;
use crate::say::say;

/// A trial by its name.
struct Entry {
    /// Whether it runs only on request, because it is a measurement that takes minutes.
    is_measurement: bool,
    name: &'static str,
    run: Box<dyn FnOnce() -> Result<()> + Send>,
}

/// Creates an entry for each function, with the same name.
macro_rules! trials {
    ($is_measurement:literal: $($module:ident::$name:ident,)*) => {
        vec![$(Entry {
            is_measurement: $is_measurement,
            name: concat!(stringify!($module), "::", stringify!($name)),
            run: Box::new(|| in_cluster($module::$name)),
        }),*]
    };
}

/// Returns all trials, each to run as a separate process.
pub(crate) fn all() -> Vec<Trial> {
    let trial = |entry: Entry| {
        let Entry {
            is_measurement,
            name,
            ..
        } = entry;
        let trial = Trial::test(name, move || apart::run(name, is_measurement));
        trial.with_ignored_flag(is_measurement)
    };
    entries().into_iter().map(trial).collect()
}

/// Runs the trial of this name in this process.
pub(crate) fn run(name: &str) -> ExitCode {
    let mut entries = entries().into_iter();
    let ended = match entries.find(|entry| entry.name == name) {
        Some(entry) => (entry.run)(),
        None => Err(anyhow!("there is no trial {name}")),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // `cargo xtask test` collects these lines.
            for line in format!("{error:#}").lines() {
                say(format_args!("{name} failed: {line}"));
            }
            ExitCode::FAILURE
        }
    }
}

/// Returns the entries in the order in which they run.
fn entries() -> Vec<Entry> {
    let mut all = trials![false:
        audit::keeps_its_report,
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
        certificates::self_managed_leaves_follow_each_other,
        certificates::three_replicas_agree_on_one_authority,
        doctor::finds_each_fault,
        emergency::commands_do_what_they_say,
        events::are_on_the_extension,
        get_started::prints_what_the_page_shows,
        image::runs_from_its_own_root,
        latency::of_an_edit,
        olm::installs_and_upgrades,
        outside::commands_read_from_catalogd,
        outside::commands_read_through_the_api_server,
        policies::are_in_force_at_once,
        policies::ask_for_the_verb_bypass,
        policies::report_whether_they_are_accepted,
        preflight::foretells_what_a_configuration_does,
        preflight::foretells_what_gates_allow,
        preflight::foretells_what_is_installed,
        preflight::foretells_which_revisions_are_made,
        previews::of_a_catalog_are_printed,
        rights::a_forged_status_changes_nothing,
        rights::nobody_reads_through_the_guard,
        rights::of_the_service_account,
        rollout::a_call_that_is_lost_is_noticed,
        rollout::a_restart_with_the_usual_delay_loses_no_call,
        rollout::five_restarts_lose_no_call,
        scrapes::are_answered_by_the_rights_of_the_token,
        shipped::every_manifest_is_taken_and_stays,
        shipped::leaves_the_bundle_alone,
        shipped::matches_what_it_says,
        shipped::older_shapes_are_judged,
        status_policy::keeps_the_status_to_the_controller,
        texts::of_a_guard_that_answers,
        texts::of_a_guard_that_is_away,
        truth::agrees_with_the_controller,
        truth::audits_foretell_what_olm_does,
        truth::passes_what_is_never_judged,
        uninstall::leaves_nothing_by_helm,
        uninstall::leaves_nothing_by_kubectl,
        upgrade::of_what_olm_has_installed,
        upgrade::to_another_build_and_back,
    ];
    all.extend(trials![true:
        faults::of_catalogd,
        faults::of_clients,
        faults::of_disks,
        faults::of_duties,
        faults::of_pods,
        faults::of_the_clock,
        faults::of_the_control_plane,
        faults::of_the_network,
        soak::holds_what_it_held,
    ]);
    all
}

/// The time limit of a trial, after which it fails with its report. A soak gets its own length in addition.
const LONGEST: Duration = Duration::from_mins(8);

fn in_cluster(run: impl AsyncFnOnce(&mut Cluster) -> Result<()>) -> Result<()> {
    namespace::bring_up()?;
    Runtime::new()?.block_on(async {
        let mut cluster = Cluster::start().await?;
        let running = AssertUnwindSafe(run(&mut cluster)).catch_unwind();
        let soak = assets::soak()?.map(|(length, _)| length);
        let longest = LONGEST + soak.unwrap_or_default();
        let ended = match timeout(longest, running).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(_)) => Err(anyhow!("it panicked, see above")),
            Err(_) => Err(anyhow!("it did not end within {longest:?}")),
        };
        if ended.is_err() {
            cluster::report(&cluster).await;
        }
        ended
    })
}
