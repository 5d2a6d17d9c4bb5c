//! Counts of the size and the shape of the code, with a ceiling for each figure.
//!
//! Rust code as formatted by rustfmt is read line by line: an item ends at the closing brace with its own indentation.

mod ceiling;
mod count;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::ceiling::Ceilings;
pub(crate) use self::ceiling::ShapeError;
use self::count::File;
use crate::program::root;
use crate::report;

/// Prints the figures, each with its ceiling.
///
/// # Errors
/// If a figure is above its ceiling, or the files cannot be read.
pub(crate) fn check() -> Result<(), ShapeError> {
    let ceilings = Ceilings::read()?;
    let figures = figures(root()).map_err(ShapeError::Files)?;
    for (what, count) in &figures {
        let ceiling = ceilings.of(what)?;
        report::say(format!("{count:>7} of at most {ceiling:>7}  {what}"));
    }
    ceilings.hold(&figures)
}

type Figure = (&'static str, usize);

fn figures(root: &Path) -> io::Result<Vec<Figure>> {
    let sources = [
        "src",
        "crates/catalog/src",
        "crates/policy/src",
        "crates/preflight/src",
        "crates/report/src",
        "crates/engine/src",
        "crates/views/src",
        "crates/admission/src",
        "crates/server/src",
    ];
    let mut files = Vec::new();
    for folder in sources {
        files.extend(read(&root.join(folder))?);
    }
    let tests = read(&root.join("tests"))?;
    let lines_of_functions = || files.iter().flat_map(|file| &file.functions);
    let all = files.iter().chain(&tests);
    Ok(vec![
        (
            "code lines in src and crates",
            sum(&files, |file| file.code),
        ),
        ("files of them", files.len()),
        (
            "files of them under 40 code lines",
            // Test files have no code lines.
            count(&files, |file| (1..40).contains(&file.code)),
        ),
        (
            "files over 400 code lines",
            count(&files, |file| file.code > 400),
        ),
        (
            "functions over 40 code lines",
            lines_of_functions().filter(|lines| **lines > 40).count(),
        ),
        ("type names used for more than one type", shared(&files)),
        ("expect(dead_code)", sum(all, |file| file.dead_code)),
        ("test executables", executables(root)?),
        (
            "direct dependencies of crates/catalog",
            dependencies(root, "catalog")?,
        ),
        (
            "direct dependencies of crates/engine",
            dependencies(root, "engine")?,
        ),
    ])
}

fn sum<'f>(files: impl IntoIterator<Item = &'f File>, of: impl Fn(&File) -> usize) -> usize {
    files.into_iter().map(of).sum()
}

fn count<T>(items: &[T], which: impl Fn(&T) -> bool) -> usize {
    items.iter().filter(|item| which(item)).count()
}

fn shared(files: &[File]) -> usize {
    let mut uses = BTreeMap::<&str, usize>::new();
    for name in files.iter().flat_map(|file| &file.types) {
        *uses.entry(name).or_default() += 1;
    }
    uses.values().filter(|uses| **uses > 1).count()
}

/// Reads every Rust file below a directory, except the end-to-end tests, which are a program.
fn read(folder: &Path) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() && !path.ends_with("tests/e2e") {
            files.extend(read(&path)?);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let is_test = path.components().any(|part| part.as_os_str() == "tests");
            let is_test = is_test || path.ends_with("tests.rs");
            files.push(File::read(&fs::read_to_string(&path)?, is_test));
        }
    }
    Ok(files)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect()
}

/// The number of test executables, not counting the unit tests of each library.
fn executables(root: &Path) -> io::Result<usize> {
    let mut count = 0;
    for folder in [
        "tests",
        "crates/catalog/tests",
        "crates/policy/tests",
        "crates/preflight/tests",
        "crates/engine/tests",
        "crates/views/tests",
    ] {
        let folder = root.join(folder);
        if folder.is_dir() {
            let is_one = |path: &PathBuf| {
                path.join("main.rs").is_file() || path.extension().is_some_and(|end| end == "rs")
            };
            count += entries(&folder)?.iter().filter(|path| is_one(path)).count();
        }
    }
    Ok(count)
}

fn dependencies(root: &Path, name: &str) -> io::Result<usize> {
    let text = fs::read_to_string(root.join("crates").join(name).join("Cargo.toml"))?;
    let lines = text
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1);
    let own = lines.take_while(|line| !line.starts_with('['));
    Ok(own.filter(|line| line.contains(" = ")).count())
}
