//! The calls of a process to its kernel, as `strace -f -ttt` writes them down.

use std::collections::HashMap;

/// One call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The text of its arguments, without the opening parenthesis.
    pub(crate) arguments: String,
    pub(crate) result: Option<i64>,
    /// The lines on which it begins and ends.
    pub(crate) begun: usize,
    pub(crate) ended: usize,
}

/// The calls of all threads, in the order in which they end.
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

/// A line without its time.
fn thread_and_text(line: &str) -> Option<(&str, &str)> {
    let (thread, rest) = line.split_once(' ')?;
    let (_time, text) = rest.trim_start().split_once(' ')?;
    Some((thread, text))
}

impl Call {
    /// Signals and ends of threads are no calls.
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

    /// The file that it is about, if its first argument is one.
    pub(crate) fn file(&self) -> Option<i64> {
        self.arguments.split([',', ')']).next()?.parse().ok()
    }

    /// What is asked, and of which file.
    pub(crate) fn what(&self) -> String {
        let first = self.arguments.split(',').next().unwrap_or_default();
        format!("{}({first}, ", self.name)
    }
}
