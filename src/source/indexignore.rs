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

use super::{SourceError, display, io_error};

/// The patterns of a directory and its subdirectories, in the order in which they were found.
#[derive(Debug)]
pub(super) struct Patterns {
    all: Vec<Pattern>,
    /// The bytes that further files can have.
    room: u64,
}

impl Default for Patterns {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            room: SIZE_LIMIT,
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

    /// Whether the file at this path below the root is excluded.
    pub(super) fn leave_out(&self, path: &[Box<str>]) -> bool {
        let last = self.all.iter().rev().find(|pattern| pattern.matches(path));
        last.is_some_and(|pattern| pattern.sign == PatternSign::LeaveOut)
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

    fn matches(&self, path: &[Box<str>]) -> bool {
        let Some(below) = path.strip_prefix(&*self.folder) else {
            return false;
        };
        match &self.shape {
            PatternShape::Name(glob) => self.name_matches(glob, below),
            PatternShape::Path(elements) => self.path_matches(elements, below),
        }
    }

    fn name_matches(&self, glob: &Glob, path: &[Box<str>]) -> bool {
        let found = path.iter().position(|name| glob.matches(name));
        found.is_some_and(|at| self.target == PatternTarget::Anything || at + 1 < path.len())
    }

    fn path_matches(&self, elements: &[Element], mut path: &[Box<str>]) -> bool {
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
                    let at = path.iter().take(reach).position(|name| glob.matches(name));
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

/// The patterns that they can have together. Each is compared with each file of the catalog.
const PATTERN_LIMIT: usize = 10_000;

// === Patterns for one element of a path, as Go's `filepath.Match` reads them ===

/// A pattern, or `None` for one that Go calls malformed, which matches nothing.
#[derive(Debug)]
struct Glob(Option<Vec<GlobToken>>);

#[derive(Clone, Debug, Eq, PartialEq)]
enum GlobToken {
    /// `*`
    Run,
    /// `?`
    Any,
    Char(char),
    /// `[a-z]`, `[^a-z]`
    Class {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
}

impl Glob {
    fn parse(pattern: &str) -> Self {
        Self(tokens(pattern))
    }

    fn matches(&self, name: &str) -> bool {
        let Some(tokens) = &self.0 else {
            return false;
        };
        matches(tokens, name)
    }
}

/// Matches with a single backtracking point: the last run. A later run makes backtracking to an earlier one
/// unnecessary.
fn matches(mut tokens: &[GlobToken], mut name: &str) -> bool {
    let mut retry = None;
    loop {
        if let Some((GlobToken::Run, after)) = tokens.split_first() {
            retry = Some((after, name));
            tokens = after;
            continue;
        }
        let mut rest = name.chars();
        match (tokens.split_first(), rest.next()) {
            (None, None) => return true,
            (Some((token, after)), Some(character)) if token.takes(character) => {
                tokens = after;
                name = rest.as_str();
                continue;
            }
            _ => {}
        }
        let Some((after, from)) = retry else {
            return false;
        };
        let mut shorter = from.chars();
        if shorter.next().is_none() {
            return false;
        }
        tokens = after;
        name = shorter.as_str();
        retry = Some((after, name));
    }
}

impl GlobToken {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Run => false,
            Self::Any => true,
            Self::Char(own) => *own == character,
            Self::Class { ranges, negated } => {
                let within = |(low, high): &(char, char)| (*low..=*high).contains(&character);
                ranges.iter().any(within) != *negated
            }
        }
    }
}

fn tokens(pattern: &str) -> Option<Vec<GlobToken>> {
    let mut tokens = Vec::new();
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        tokens.push(match character {
            '*' => GlobToken::Run,
            '?' => GlobToken::Any,
            '\\' => GlobToken::Char(rest.next()?),
            '[' => {
                let (class, after) = class(rest.as_str())?;
                rest = after.chars();
                class
            }
            other => GlobToken::Char(other),
        });
    }
    Some(tokens)
}

/// Parses the class after a `[`, and returns it with the text after its `]`.
fn class(text: &str) -> Option<(GlobToken, &str)> {
    let inner = text.strip_prefix('^');
    let negated = inner.is_some();
    let mut rest = inner.unwrap_or(text);
    let mut ranges = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(']')
            && !ranges.is_empty()
        {
            return Some((GlobToken::Class { ranges, negated }, after));
        }
        let (low, after) = class_char(rest)?;
        rest = after;
        let mut high = low;
        if let Some(after) = rest.strip_prefix('-') {
            (high, rest) = class_char(after)?;
        }
        ranges.push((low, high));
    }
}

/// Parses a character of a class. Some text must follow it.
fn class_char(text: &str) -> Option<(char, &str)> {
    let mut rest = text.chars();
    let character = match rest.next()? {
        '-' | ']' => return None,
        '\\' => rest.next()?,
        other => other,
    };
    let after = rest.as_str();
    (!after.is_empty()).then_some((character, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `path` is excluded by the lines of one file at the root.
    fn left_out(lines: &[&str], path: &str) -> bool {
        let patterns = lines
            .iter()
            .filter_map(|line| Pattern::parse(line, &Rc::from([])));
        let path = path.split('/').map(Box::from).collect::<Vec<_>>();
        let patterns = Patterns {
            all: patterns.collect(),
            ..Patterns::default()
        };
        patterns.leave_out(&path)
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
        assert!(pattern.matches(&path("sub/a.txt")));
        assert!(!pattern.matches(&path("a.txt")));
        assert!(!pattern.matches(&path("other/a.txt")));
        assert!(!pattern.matches(&path("sub")));
    }

    #[test]
    fn follows_go() {
        let rows = [
            ("abc", "abc", true),
            ("*", "abc", true),
            ("*", "", true),
            ("*c", "abc", true),
            ("a*", "ab", true),
            ("a*b*c*d*e*", "axbxcxdxexxx", true),
            ("a*b?c*x", "abxbbxdbxebxczzx", true),
            ("a*b?c*x", "abxbbxdbxebxczzy", false),
            ("ab[c]", "abc", true),
            ("ab[b-d]", "abc", true),
            ("ab[e-g]", "abc", false),
            ("ab[^c]", "abc", false),
            ("ab[^e-g]", "abc", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "ab", false),
            ("a?b", "a\u{263a}b", true),
            ("a???b", "a\u{263a}b", false),
            ("[a-\u{3b6}]*", "\u{3b1}", true),
            ("*[a-\u{3b6}]", "A", false),
            ("[\\]a]", "]", true),
            ("[\\-x]", "-", true),
            ("[x\\-]", "z", false),
            ("[]a]", "]", false),
            ("[!a]", "b", false),
            ("[!a]", "!", true),
            ("{a,b}", "a", false),
            ("{a,b}", "{a,b}", true),
            ("[-]", "-", false),
            ("[x-]", "x", false),
            ("[a-b-c]", "a", false),
            ("[", "a", false),
            ("[^", "a", false),
            ("a[", "a", false),
            ("*x", "xxx", true),
            ("\\", "\\", false),
        ];
        for (pattern, name, want) in rows {
            assert_eq!(
                Glob::parse(pattern).matches(name),
                want,
                "{pattern:?} {name:?}"
            );
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        let glob = Glob::parse(&"*a".repeat(1000));
        assert!(!glob.matches(&"a".repeat(999)));
    }
}
