//! The server as a process: this program, run again.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base64_simd::STANDARD;
use nix::unistd::{SysconfVar, sysconf};

use crate::bench::server::{MODE, Mode};
use olmguard_support::https::trusting;
use olmguard_support::load::fleet::{Fleet, Rate};
use olmguard_support::load::questions::Question;
use olmguard_support::load::review::UID_TOLD;
use olmguard_support::load::wire::Target;

/// A server that runs until this is dropped.
pub(crate) struct Process {
    child: Child,
    target: Target,
    mode: Mode,
}

impl Process {
    pub(crate) fn start(mode: Mode) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .env(MODE, mode.as_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program runs again");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let (address, certificate) = line.trim().split_once(' ').expect("two words");
        let certificate = STANDARD.decode_to_vec(certificate).expect("base64");
        let target = Target {
            address: address.parse().expect("an address"),
            tls: trusting([certificate.into()]),
        };
        Self {
            child,
            target,
            mode,
        }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Connections that ask this. Who judges by the catalogs has to answer it right.
    pub(crate) fn fleet(&self, question: &Question, connections: u32, rate: Rate) -> Fleet {
        Fleet {
            target: self.target.clone(),
            request: question.request().into(),
            expected: match self.mode {
                Mode::Judge => Arc::from(question.answer),
                Mode::Constant | Mode::Slow => Arc::from([UID_TOLD]),
            },
            marked: None,
            connections,
            rate,
        }
    }

    /// The time of processors that it has taken so far.
    pub(crate) fn cpu(&self) -> Duration {
        let file = format!("/proc/{}/stat", self.child.id());
        let stat = fs::read_to_string(file).expect("Linux tells");
        // The name of the program, in parentheses, is the second field; these are the 14th and 15th.
        let (_, fields) = stat.rsplit_once(") ").expect("a name");
        let ticks = fields.split(' ').skip(11).take(2);
        let ticks: u64 = ticks
            .map(|ticks| ticks.parse::<u64>().expect("ticks"))
            .sum();
        let each = sysconf(SysconfVar::CLK_TCK).ok().flatten();
        let each = each.and_then(|each| u64::try_from(each).ok());
        Duration::from_micros(ticks * 1_000_000 / each.expect("Linux tells"))
    }

    /// A figure of the kernel's about its memory, such as `VmRSS`, in KiB.
    pub(crate) fn kib(&self, field: &str) -> u64 {
        let file = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(file).expect("Linux tells");
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let line = line.and_then(|line| line.strip_prefix(':'));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .expect("a number of KiB")
    }
}

impl Drop for Process {
    /// Its standard input ends, and so it does.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}
