//! Go programs for comparison. `cargo xtask bench --peer` builds them and names them in the environment.

use std::env;
use std::path::PathBuf;

use olmguard_figures::Peer;

use crate::run::Run;

/// One of these programs.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    variable: &'static str,
    pub(crate) name: &'static str,
}

/// operator-controller's resolver (`benches/peers/resolver`).
pub(crate) const RESOLVER: Program = Program {
    variable: "OLMGUARD_BENCH_RESOLVER",
    name: "operator-controller",
};

/// operator-registry's `declcfg.LoadFS` (`benches/peers/loader`).
pub(crate) const LOADER: Program = Program {
    variable: "OLMGUARD_BENCH_LOADER",
    name: "operator-registry",
};

/// The opm program.
pub(crate) const OPM: Program = Program {
    variable: "OLMGUARD_OPM",
    name: "opm",
};

impl Program {
    /// The figure of the program, and the factor by which olmguard was better.
    pub(crate) fn took(self, value: f64, ratio: f64) -> Peer {
        Peer {
            name: self.name.to_owned(),
            value,
            ratio,
        }
    }

    /// The path of the program, if the environment names it.
    pub(crate) fn file(self, run: &Run) -> Option<PathBuf> {
        let file = env::var_os(self.variable).map(PathBuf::from);
        if file.is_none() {
            let Self { variable, name } = self;
            run.leave_out(&format!("{name}, {variable} does not name it"));
        }
        file
    }
}
