//! The server as a process: this program, run again.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base64_simd::STANDARD;
use olmguard_support::https::trusting;
use olmguard_support::load::fleet::{Fleet, Rate};
use olmguard_support::load::questions::Question;
use olmguard_support::load::review::UID_TOLD;
use olmguard_support::load::wire::Target;

use super::server::{ANSWER, MODE, Mode};
use crate::process;
use crate::world::World;

/// A server that runs until this is dropped.
pub(crate) struct Process {
    child: Child,
    target: Target,
    mode: Mode,
}

impl Process {
    /// Starts a server that judges, with the catalogs or slowly.
    pub(crate) fn start(mode: Mode, world: &World) -> Self {
        Self::start_with(mode, world, "")
    }

    /// Starts a server that answers every request with the bytes of another server's answer to this
    /// question.
    pub(crate) async fn constant(judge: &Self, question: &Question, world: &World) -> Self {
        let mut connection = judge.target.connect().await.expect("it listens");
        let answer = connection
            .ask(&question.request())
            .await
            .expect("it answers");
        let answer = String::from_utf8(answer.body).expect("JSON");
        Self::start_with(Mode::Constant, world, &answer)
    }

    fn start_with(mode: Mode, world: &World, answer: &str) -> Self {
        let (variable, value) = world.variable();
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .env(MODE, mode.as_str())
            .env(ANSWER, answer)
            .env(variable, value)
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

    /// Connections that send this question. The server must answer it correctly, unless it is the
    /// slow one.
    pub(crate) fn fleet(&self, question: &Question, connections: u32, rate: Rate) -> Fleet {
        Fleet {
            target: self.target.clone(),
            request: question.request().into(),
            expected: match self.mode {
                Mode::Judge | Mode::Constant => Arc::from(question.answer),
                Mode::Slow => Arc::from([UID_TOLD]),
            },
            marked: None,
            connections,
            rate,
        }
    }

    /// The CPU time that the server has used so far.
    pub(crate) fn cpu(&self) -> Duration {
        process::cpu(self.child.id())
    }

    /// A memory figure of the kernel, such as `VmRSS`, in KiB.
    pub(crate) fn kib(&self, field: &str) -> u64 {
        process::kib(self.child.id(), field)
    }
}

impl Drop for Process {
    /// Closes the standard input of the process, which then ends.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}
