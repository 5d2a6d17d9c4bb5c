//! The arguments of this program, and one run of a bench: its parts, its size, and the destination of its figures.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use olmguard_figures::{Bench, Figure, Unit};

/// The arguments.
pub(crate) struct Asked {
    /// Each bench once, with its requested parts: all parts if the list is empty.
    pub(crate) benches: Vec<(Bench, Vec<String>)>,
    /// The arguments that are not benches.
    pub(crate) flags: Vec<OsString>,
    is_smoke: bool,
    figures: Option<PathBuf>,
}

impl Asked {
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut asked = Self {
            benches: Vec::new(),
            flags: Vec::new(),
            is_smoke: false,
            figures: None,
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                // Cargo adds this argument.
                Some("--bench") => continue,
                Some("--smoke") => asked.is_smoke = true,
                Some("--figures") => {
                    let file = arguments.next().ok_or("--figures names no file")?;
                    asked.flags.extend([argument, file.clone()]);
                    asked.figures = Some(file.into());
                    continue;
                }
                word => {
                    asked.add(word.unwrap_or_default())?;
                    continue;
                }
            }
            asked.flags.push(argument);
        }
        if asked.benches.is_empty() {
            asked.benches = Bench::ALL.map(|bench| (bench, Vec::new())).into();
        }
        Ok(asked)
    }

    fn add(&mut self, word: &str) -> Result<(), String> {
        let (name, part) = word.split_once('/').unzip();
        let name = name.unwrap_or(word);
        let unknown = || format!("no bench {name:?}, expected one of: {}", Bench::names());
        let bench = Bench::named(name).ok_or_else(unknown)?;
        let parts = part.map(str::to_owned);
        match self.benches.iter_mut().find(|(known, _)| *known == bench) {
            Some((_, known)) => known.extend(parts),
            None => self.benches.push((bench, parts.into_iter().collect())),
        }
        Ok(())
    }
}

/// One run of a bench.
pub(crate) struct Run {
    bench: Bench,
    pub(crate) parts: Vec<String>,
    /// Whether only the answers count.
    pub(crate) is_smoke: bool,
    figures: Option<File>,
}

impl Run {
    pub(crate) fn new(bench: Bench, parts: Vec<String>, asked: &Asked) -> Self {
        println!("{}", bench.title());
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        Self {
            bench,
            parts,
            is_smoke: asked.is_smoke,
            figures: asked
                .figures
                .as_ref()
                .map(|path| open(path).expect("the file of --figures")),
        }
    }

    pub(crate) fn figure(&self, row: impl Into<String>, unit: Unit, value: f64) -> Figure {
        Figure::new(self.bench, row, unit, value)
    }

    /// Prints a figure, and writes it as data.
    pub(crate) fn note(&self, figure: &Figure) {
        println!("  {figure}");
        if let Some(mut file) = self.figures.as_ref() {
            let line = serde_json::to_string(figure).expect("a figure is JSON");
            writeln!(file, "{line}").expect("the file of --figures");
        }
    }

    /// Reports what is not measured. A smoke run omits it by design, without a message.
    pub(crate) fn leave_out(&self, what: &str) {
        if !self.is_smoke {
            println!("left out: {what}");
        }
    }

    /// Whether a part of the bench is requested.
    pub(crate) fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|word| word == part)
    }

    /// A number of something, or the smaller number for a smoke run.
    pub(crate) fn count(&self, many: usize, few: usize) -> usize {
        if self.is_smoke { few } else { many }
    }

    /// A duration, or the part of it for a smoke run.
    pub(crate) fn time(&self, time: Duration) -> Duration {
        if self.is_smoke { time / 10 } else { time }
    }
}
