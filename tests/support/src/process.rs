//! The program as a process, which ends in time or is killed.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

/// A process whose output is read line by line.
pub struct Process {
    id: u32,
    lines: Receiver<String>,
    /// The end of the process, or `None` once it is known: its id may then belong to another
    /// process.
    ended: Option<Receiver<Ended>>,
}

/// The result of a process.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    /// The output that was not read line by line before.
    pub stdout: String,
    pub stderr: String,
}

/// Runs the program to its end.
#[track_caller]
pub fn run(arguments: &[&str]) -> Ended {
    Process::start(arguments).ended()
}

impl Process {
    /// Starts the program without settings from the environment.
    pub fn start(arguments: &[&str]) -> Self {
        Self::under(&[], arguments)
    }

    /// Starts the program under another one, such as `strace -f`.
    pub fn under(wrapper: &[&str], arguments: &[&str]) -> Self {
        let settings = std::env::vars_os()
            .map(|(name, _)| name)
            .filter(|name| name.to_string_lossy().starts_with("OLMGUARD_"));
        let program = crate::program();
        let program = program.to_str().expect("a path in UTF-8");
        let words = [wrapper, &[program], arguments].concat();
        let (program, arguments) = words.split_first().expect("a program");
        let mut command = Command::new(program);
        for name in settings {
            command.env_remove(name);
        }
        let mut child = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (id, lines) = (child.id(), lines(stdout));
        let ended = Some(wait(child, stderr));
        Self { id, lines, ended }
    }

    /// The id of the process, as long as it runs.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the next line of stdout.
    #[track_caller]
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => line,
            Err(error) => {
                let ended = self.ended.as_ref().map(Receiver::try_recv);
                panic!("no line, {error}: {ended:?}");
            }
        }
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends this signal.
    pub fn signal(&self, name: &str) {
        signal(self.id, name);
    }

    /// Sends SIGTERM to the only child of the process.
    pub fn terminate_child(&self) {
        let file = format!("/proc/{0}/task/{0}/children", self.id);
        let children = std::fs::read_to_string(file).unwrap();
        signal(children.trim().parse().expect("one child"), "TERM");
    }

    /// Waits until the process ends.
    #[track_caller]
    pub fn ended(mut self) -> Ended {
        let ended = self.ended.take().expect("a process ends once");
        let mut ended = ended
            .recv_timeout(DEADLINE)
            .expect("the process ends in time");
        ended.stdout = self.lines.iter().map(|line| line + "\n").collect();
        ended
    }
}

impl Drop for Process {
    /// Kills the process, so that a failed test leaves nothing running.
    fn drop(&mut self) {
        let ended = self.ended.as_ref().map(Receiver::try_recv);
        if matches!(ended, Some(Err(TryRecvError::Empty))) {
            let script = format!("kill -KILL {}", self.id);
            drop(Command::new("sh").args(["-c", &script]).status());
        }
    }
}

fn signal(id: u32, name: &str) {
    let script = format!("kill -{name} {id}");
    let sent = Command::new("sh").args(["-c", &script]).status().unwrap();
    assert!(sent.success());
}

fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn wait(mut child: Child, mut stderr: ChildStderr) -> Receiver<Ended> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        let code = child.wait().unwrap().code();
        drop(sender.send(Ended {
            code,
            stdout: String::new(),
            stderr: text,
        }));
    });
    receiver
}

pub const DEADLINE: Duration = Duration::from_secs(30);
