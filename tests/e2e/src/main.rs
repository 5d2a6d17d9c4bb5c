//! End-to-end tests of olmguard, with a real API server, etcd, OLM v1 and kubectl.
//!
//! They are run by `cargo xtask e2e`, which builds the programs and passes their paths in the environment. Everything
//! runs in separate namespaces (`namespace`): nothing leaves the machine, and every process ends with this program,
//! however it ends. Each trial is a separate process (`apart`) with its own cluster in a temporary directory. The
//! arguments are those of a test program: a filter, `--list`, `--exact`, `--test-threads`.

mod apart;
mod ask;
mod assets;
mod cluster;
mod component;
mod container;
mod deployment;
mod extension;
mod guide;
mod image;
mod kubeconfig;
mod kubectl;
mod load;
mod namespace;
mod olm;
mod pki;
mod pod;
mod program;
mod registry;
mod review;
mod say;
mod service;
mod steady;
mod trials;
mod until;
mod verdict;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(trial) = apart::is_trial() {
        return trials::run(&trial);
    }
    let mut arguments = Arguments::from_args();
    if !arguments.list && !namespace::is_own() {
        return namespace::enter();
    }
    arguments.test_threads.get_or_insert(apart::AT_ONCE);
    let conclusion = libtest_mimic::run(&arguments, trials::all());
    apart::report();
    conclusion.exit_code()
}
