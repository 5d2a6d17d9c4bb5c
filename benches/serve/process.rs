//! The server as a process: this program, run again.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use base64_simd::STANDARD;

use crate::bench::catalogs;
use crate::bench::server::{MODE, Mode};
use olmguard_support::https::trusting;
use olmguard_support::load::fleet::{Fleet, Rate};
use olmguard_support::load::review::{EXPECTED, post};
use olmguard_support::load::wire::Target;

/// A server that runs until this is dropped.
pub(crate) struct Process {
    child: Child,
    target: Target,
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
        Self { child, target }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Connections that ask about an edit which the catalogs resolve.
    pub(crate) fn fleet(&self, connections: u32, rate: Rate) -> Fleet {
        Fleet {
            target: self.target.clone(),
            request: post(&catalogs::edit().review()).into(),
            expected: Arc::from(EXPECTED),
            marked: None,
            connections,
            rate,
        }
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
