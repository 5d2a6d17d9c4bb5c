//! olmguard where its users run it: a real API server with etcd, OLM v1 and kubectl.
//!
//! Run by `cargo xtask e2e`, which builds the programs and says in the environment where they are.
//! Everything happens in namespaces of its own (`namespace`): nothing leaves the machine, and what was
//! started ends with this program, however it ends. Each trial is a process of its own (`apart`) with a
//! cluster to itself, in a temporary folder. Arguments are those of a test program: a filter, `--list`,
//! `--exact`, `--test-threads`.

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
