//! The facts about a run: the commit, the machine, and the programs that it is compared with.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::num::NonZero;
use std::thread;

use serde::{Deserialize, Serialize};

use crate::program::Program;

#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Facts {
    /// The commit as printed by `git describe`, with `-dirty` if files differ from it.
    pub(crate) commit: String,
    pub(crate) processor: String,
    pub(crate) processors: usize,
    pub(crate) memory_mib: u64,
    pub(crate) kernel: String,
    pub(crate) rust: String,
    /// The versions of Go and of the programs that it has built, by name.
    pub(crate) peers: BTreeMap<String, String>,
}

impl Facts {
    pub(crate) fn gather(peers: BTreeMap<String, String>) -> Self {
        let kib = field("/proc/meminfo", "MemTotal");
        let kib = kib
            .split(' ')
            .next()
            .and_then(|kib| kib.parse::<u64>().ok());
        Self {
            commit: said("git", &["describe", "--always", "--dirty", "--exclude=*"]),
            processor: field("/proc/cpuinfo", "model name"),
            processors: thread::available_parallelism().map_or(1, NonZero::get),
            memory_mib: kib.unwrap_or_default() / 1024,
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease")
                .unwrap_or_default()
                .trim_end()
                .to_owned(),
            rust: said("rustc", &["--version"]),
            peers,
        }
    }

    /// Whether the figures of both can be compared.
    pub(crate) fn is_same_machine(&self, other: &Self) -> bool {
        let of = |one: &Self| (one.processor.clone(), one.processors, one.memory_mib);
        of(self) == of(other)
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            commit,
            processor,
            processors,
            memory_mib,
            kernel,
            rust,
            peers,
        } = self;
        write!(
            f,
            "Commit {commit}, {rust}, on {processors} cores ({processor}), "
        )?;
        write!(f, "{memory_mib} MiB of memory, Linux {kernel}")?;
        peers
            .iter()
            .try_for_each(|(name, version)| write!(f, ", {name} {version}"))
    }
}

/// The output of a program; empty if it fails.
fn said(program: &str, arguments: &[&str]) -> String {
    let said = Program::new(program).args(arguments).output();
    said.unwrap_or_default().trim_end().to_owned()
}

/// A value in a file of `NAME: VALUE` lines; empty if it does not exist.
fn field(file: &str, name: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let value = lines.find(|(field, _)| field.trim_end() == name);
    value.map_or_else(String::new, |(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_described_in_one_sentence() {
        let facts = Facts {
            commit: "1a1be73".to_owned(),
            processor: "a processor".to_owned(),
            processors: 2,
            memory_mib: 7950,
            kernel: "6.12.1".to_owned(),
            rust: "rustc 1.95.0".to_owned(),
            peers: [("Go".to_owned(), "1.26.3".to_owned())].into(),
        };
        assert_eq!(
            facts.to_string(),
            "Commit 1a1be73, rustc 1.95.0, on 2 cores (a processor), 7950 MiB of memory, Linux 6.12.1, Go 1.26.3"
        );
        let later = Facts {
            commit: "2b2".to_owned(),
            ..facts.clone()
        };
        let other = Facts {
            processors: 8,
            ..facts.clone()
        };
        assert!(facts.is_same_machine(&later) && !facts.is_same_machine(&other));
    }
}
