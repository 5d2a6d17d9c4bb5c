//! The system calls of a process, in the format of `strace -f -ttt`.

use std::collections::HashMap;

/// A system call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The text of its arguments, without the opening parenthesis.
    pub(crate) arguments: String,
    pub(crate) result: Option<i64>,
    /// The lines on which it starts and ends.
    pub(crate) begun: usize,
    pub(crate) ended: usize,
}

/// Returns the calls of all threads, in the order in which they end.
pub(crate) fn calls(trace: &str) -> Vec<Call> {
    let mut unfinished: HashMap<&str, (usize, String)> = HashMap::new();
    let mut calls = Vec::new();
    for (number, line) in trace.lines().enumerate() {
        let Some((thread, text)) = thread_and_text(line) else {
            continue;
        };
        if let Some(start) = text.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, (number, start.to_owned()));
        } else if let Some((_, rest)) = text
            .split_once(" resumed>")
            .filter(|_| text.starts_with("<... "))
        {
            if let Some((begun, start)) = unfinished.remove(thread) {
                calls.extend(Call::read(&format!("{start}{rest}"), begun, number));
            }
        } else {
            calls.extend(Call::read(text, number, number));
        }
    }
    calls
}

/// Splits a line into its thread and its text, without the time.
fn thread_and_text(line: &str) -> Option<(&str, &str)> {
    let (thread, rest) = line.split_once(' ')?;
    let (_time, text) = rest.trim_start().split_once(' ')?;
    Some((thread, text))
}

impl Call {
    /// Parses a call. Signals and ends of threads are not calls.
    fn read(text: &str, begun: usize, ended: usize) -> Option<Self> {
        let (name, rest) = text.split_once('(')?;
        let (arguments, result) = rest.rsplit_once(" = ")?;
        let result = result.split(' ').next()?;
        Some(Self {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            result: result.parse().ok(),
            begun,
            ended,
        })
    }

    /// Returns the file descriptor, if it is the first argument.
    pub(crate) fn file(&self) -> Option<i64> {
        self.arguments.split([',', ')']).next()?.parse().ok()
    }

    /// Returns the name of the call and its first argument.
    pub(crate) fn what(&self) -> String {
        let first = self.arguments.split(',').next().unwrap_or_default();
        format!("{}({first}, ", self.name)
    }
}
