//! `.indexignore`: the files of a directory that do not belong to the catalog.
//!
//! The syntax is `.gitignore` as go-git reads it, which differs from git. A pattern without an inner slash matches any
//! element of a path. A file below an excluded directory can be included again. `**` can match beyond the end of the
//! path. The last matching pattern of all files decides.
//!
//! The crates `ignore` and `globset` follow git, so they cannot replace this module. In Go, `[!a]`, `[]a]`, `{a,b}`, an
//! escape in a class, `a**/c`, and `?` for a character of several bytes have another meaning.
//!
//! Upstream: github.com/joelanford/ignore, [`ignore.go`]; github.com/go-git/go-git/v5,
//! `plumbing/format/gitignore`.
//!
//! [`ignore.go`]: https://github.com/joelanford/ignore/blob/v0.1.2/ignore.go

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use super::glob::{Glob, MatchSteps};
use super::{SourceError, display, io_error};

/// The patterns of a directory and its subdirectories, in the order in which they were found.
#[derive(Debug)]
pub(super) struct Patterns {
    all: Vec<Pattern>,
    /// The bytes that further files can have.
    room: u64,
    steps: MatchSteps,
}

impl Default for Patterns {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            room: SIZE_LIMIT,
            steps: MatchSteps::new(STEP_LIMIT),
        }
    }
}

#[derive(Debug)]
struct Pattern {
    /// The directory of the `.indexignore` with the pattern.
    folder: Rc<[Box<str>]>,
    sign: PatternSign,
    target: PatternTarget,
    shape: PatternShape,
}

/// The effect of a match.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum PatternSign {
    LeaveOut,
    TakeIn,
}

/// The kind of entry that a pattern can match.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum PatternTarget {
    Anything,
    /// A directory, and so everything below it.
    Folder,
}

#[derive(Debug)]
enum PatternShape {
    /// Matches one element of a path, at any depth.
    Name(Glob),
    /// Matches a path that starts in the directory of the `.indexignore`.
    Path(Vec<Element>),
}

#[derive(Debug)]
enum Element {
    /// The empty text between two slashes, before the first or after the last.
    Empty,
    /// `**`
    Folders,
    Glob(Glob),
    /// `**` next to other characters, which never matches.
    Never,
}

impl Patterns {
    /// Reads the patterns of a file in the directory `folder`. They take precedence over earlier ones.
    pub(super) fn read(&mut self, path: &Path, folder: Vec<Box<str>>) -> Result<(), SourceError> {
        let folder = folder.into();
        let failed = |source| io_error(path, "read", source);
        let too_many = || SourceError::TooManyPatterns {
            file: display(path),
            bytes: SIZE_LIMIT,
            patterns: PATTERN_LIMIT,
        };
        let mut text = Vec::new();
        let file = File::open(path).map_err(failed)?;
        let read = file.take(self.room + 1).read_to_end(&mut text);
        let read = read.map_err(failed)? as u64;
        self.room = self.room.checked_sub(read).ok_or_else(too_many)?;
        for (n, line) in text.split(|&byte| byte == b'\n').enumerate() {
            if line.len() >= LINE_LIMIT {
                let (file, line, limit) = (display(path), n + 1, LINE_LIMIT);
                return Err(SourceError::IgnoreLine { file, line, limit });
            }
            let line = String::from_utf8_lossy(line);
            self.all.extend(Pattern::parse(line.trim(), &folder));
            if self.all.len() > PATTERN_LIMIT {
                return Err(too_many());
            }
        }
        Ok(())
    }

    /// Whether the file at this path below the root is excluded. Returns `None` if that would take more steps than are
    /// left for all files.
    pub(super) fn leave_out(&mut self, path: &[Box<str>]) -> Option<bool> {
        let Self { all, steps, .. } = self;
        let mut last = all.iter().rev();
        let last = last.find(|pattern| pattern.matches(path, steps));
        let is_out = last.is_some_and(|pattern| pattern.sign == PatternSign::LeaveOut);
        steps.take(1).then_some(is_out)
    }
}

impl Pattern {
    /// Parses a line. Returns `None` for an empty line and for a comment.
    fn parse(line: &str, folder: &Rc<[Box<str>]>) -> Option<Self> {
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (sign, line) = match line.strip_prefix('!') {
            Some(line) => (PatternSign::TakeIn, line),
            None => (PatternSign::LeaveOut, line),
        };
        let (target, line) = match line.strip_suffix('/') {
            Some(line) => (PatternTarget::Folder, line),
            None => (PatternTarget::Anything, line),
        };
        let shape = if line.contains('/') {
            PatternShape::Path(line.split('/').map(Element::parse).collect())
        } else {
            PatternShape::Name(Glob::parse(line))
        };
        let folder = Rc::clone(folder);
        Some(Self {
            folder,
            sign,
            target,
            shape,
        })
    }

    fn matches(&self, path: &[Box<str>], steps: &mut MatchSteps) -> bool {
        if !steps.take(self.cost()) {
            return false;
        }
        let Some(below) = path.strip_prefix(&*self.folder) else {
            return false;
        };
        match &self.shape {
            PatternShape::Name(glob) => self.name_matches(glob, below, steps),
            PatternShape::Path(elements) => self.path_matches(elements, below, steps),
        }
    }

    /// The number of steps for a path, without the steps of comparing its names.
    fn cost(&self) -> usize {
        match &self.shape {
            PatternShape::Name(_) => self.folder.len() + 1,
            PatternShape::Path(elements) => self.folder.len() + elements.len(),
        }
    }

    fn name_matches(&self, glob: &Glob, path: &[Box<str>], steps: &mut MatchSteps) -> bool {
        let found = path.iter().position(|name| glob.matches(name, steps));
        found.is_some_and(|at| self.target == PatternTarget::Anything || at + 1 < path.len())
    }

    fn path_matches(
        &self,
        elements: &[Element],
        mut path: &[Box<str>],
        steps: &mut MatchSteps,
    ) -> bool {
        let mut matched = false;
        let mut skips = false;
        for (n, element) in elements.iter().enumerate() {
            match element {
                Element::Empty => skips = false,
                Element::Folders if n + 1 == elements.len() => break,
                Element::Folders => skips = true,
                Element::Never => return false,
                Element::Glob(glob) => {
                    let reach = if skips { path.len() } else { 1 };
                    let mut names = path.iter().take(reach);
                    let at = names.position(|name| glob.matches(name, steps));
                    if at.is_none() && (!skips || path.is_empty()) {
                        return false;
                    }
                    matched = at.is_some();
                    path = at.and_then(|at| path.get(at + 1..)).unwrap_or_default();
                    skips = false;
                }
            }
        }
        matched && (self.target == PatternTarget::Anything || !path.is_empty())
    }
}

impl Element {
    fn parse(text: &str) -> Self {
        match text {
            "" => Self::Empty,
            "**" => Self::Folders,
            _ if text.contains("**") => Self::Never,
            _ => Self::Glob(Glob::parse(text)),
        }
    }
}

/// Go's `bufio.MaxScanTokenSize`. Upstream refuses a file with a longer line.
const LINE_LIMIT: usize = 64 << 10;

/// The bytes that all files `.indexignore` of a catalog can have together.
const SIZE_LIMIT: u64 = 1 << 20;

/// The patterns that they can have together.
const PATTERN_LIMIT: usize = 10_000;

/// The steps that comparing all patterns with all files can take, which are some seconds. A hundred patterns and ten
/// thousand files take some ten millions.
const STEP_LIMIT: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `path` is excluded by the lines of one file at the root.
    fn left_out(lines: &[&str], path: &str) -> bool {
        let patterns = lines
            .iter()
            .filter_map(|line| Pattern::parse(line, &Rc::from([])));
        let path = path.split('/').map(Box::from).collect::<Vec<_>>();
        let mut patterns = Patterns {
            all: patterns.collect(),
            ..Patterns::default()
        };
        patterns.leave_out(&path).expect("few steps")
    }

    #[track_caller]
    fn out(lines: &[&str], path: &str) {
        assert!(left_out(lines, path), "{path} is not left out by {lines:?}");
    }

    #[track_caller]
    fn kept(lines: &[&str], path: &str) {
        assert!(!left_out(lines, path), "{path} is left out by {lines:?}");
    }

    #[test]
    fn follows_go_git() {
        out(&["a.txt"], "a.txt");
        out(&["a.txt"], "x/a.txt");
        out(&["*.txt"], "x/y/a.txt");
        kept(&["# a.txt", ""], "a.txt");
        out(&["a"], "a/b.yaml");
        out(&["a/"], "a/b.yaml");
        kept(&["a/"], "x/a");
        out(&["/a.txt"], "a.txt");
        kept(&["/a.txt"], "x/a.txt");
        out(&["x/*.txt"], "x/a.txt");
        kept(&["x/*.txt"], "y/x/a.txt");
        out(&["x/*"], "x/y/a.txt");
        out(&["**/b"], "x/y/b");
        out(&["**/b"], "b");
        kept(&["**/b"], "x/y/c");
        out(&["a/**"], "a/b/c");
        out(&["a/**/c"], "a/b/d/c");
        out(&["a/**/c"], "a/c");
        kept(&["a**/c"], "ab/c");
        kept(&["[z-"], "[z-");
        kept(&["*", "!*.yaml"], "x/a.yaml");
        out(&["!*.yaml", "*"], "a.yaml");
        out(
            &["*", "!*.json", "!*.yaml", "*.clusterserviceversion.yaml"],
            "x.clusterserviceversion.yaml",
        );
        kept(
            &["*", "!*.json", "!*.yaml", "*.clusterserviceversion.yaml"],
            "x/a.json",
        );
        out(
            &["*", "!*.json", "!*.yaml", "*.clusterserviceversion.yaml"],
            "README.md",
        );
    }

    #[test]
    fn patterns_count_below_their_folder() {
        let folder = Rc::from([Box::from("sub")]);
        let pattern = Pattern::parse("*.txt", &folder).expect("a pattern");
        let path = |text: &str| text.split('/').map(Box::from).collect::<Vec<_>>();
        let matches = |text| pattern.matches(&path(text), &mut MatchSteps::new(100));
        assert!(matches("sub/a.txt"));
        assert!(!matches("a.txt"));
        assert!(!matches("other/a.txt"));
        assert!(!matches("sub"));
    }

    #[test]
    fn patterns_are_compared_with_many_files_up_to_a_limit() {
        let patterns = (0..10).map(|n| Pattern::parse(&format!("*{n}"), &Rc::from([])));
        let mut patterns = Patterns {
            all: patterns.flatten().collect(),
            steps: MatchSteps::new(10_000),
            ..Patterns::default()
        };
        let path = [Box::from("a-name-that-none-matches")];
        let files = std::iter::repeat_with(|| patterns.leave_out(&path));
        let compared = files.take_while(Option::is_some).take(1000).count();
        assert!((10..100).contains(&compared), "{compared}");
    }

    #[test]
    fn patterns_of_another_folder_count_too() {
        let folder = Rc::from(vec![Box::from("a"); 9]);
        let mut patterns = Patterns {
            all: Pattern::parse("x", &folder).into_iter().collect(),
            steps: MatchSteps::new(100),
            ..Patterns::default()
        };
        let path = [Box::from("a"), Box::from("b")];
        let files = std::iter::repeat_with(|| patterns.leave_out(&path));
        assert_eq!(files.take_while(Option::is_some).take(1000).count(), 9);
    }
}
