//! Lines with length limits: which parts can be cut, and how.
//!
//! Limits are in bytes of UTF-8. A cut never splits a character.

use std::fmt;

use crate::extension::InstalledBundle;
use crate::resolve::Choice;
use olmguard_catalog::Bundle;
pub use olmguard_catalog::version::go::one_line;
use olmguard_catalog::version::{BundleReleaseSupport, go};

/// The most bytes of line 1 of a message, and of one finding.
pub const LINE_1: usize = 200;

/// A line of several parts, some of which can be cut in the middle.
#[derive(Clone, Debug, Default)]
pub struct CutLine {
    parts: Vec<LinePart>,
}

#[derive(Clone, Debug)]
struct LinePart {
    text: String,
    give: Give,
}

/// The order in which parts are cut if a line is too long.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Give {
    /// A name of an object, package, channel, bundle or catalog.
    Name,
    /// A range, value or other text from a user.
    Written,
    /// A version: cut only if nothing else is left to cut.
    Version,
    /// Fixed words of this program.
    Never,
    /// The token at the end of a line, for which fixed words are cut.
    End,
}

/// The advice to quote a value that must be a string and that YAML reads as another type. `written` is the text of the
/// user, if known. The result continues a sentence.
pub fn in_quotes(written: Option<&str>) -> String {
    let text = written.map(|text| format!(": {}", go::quote(text)));
    format!("{QUOTES}{}", text.unwrap_or_default())
}

const QUOTES: &str = "; put it in quotes to make it a string";

/// A line of fixed words.
pub(super) fn words(words: &str) -> CutLine {
    CutLine::default().say(words)
}

impl From<&str> for CutLine {
    fn from(words: &str) -> Self {
        Self::default().say(words)
    }
}

impl CutLine {
    /// Adds fixed words.
    pub fn say(mut self, words: &str) -> Self {
        self.push(words.to_owned(), Give::Never);
        self
    }

    /// Ends the line with a token, which is never cut.
    pub fn token(mut self, token: &str) -> Self {
        self.push(format!(" [{token}]"), Give::End);
        self
    }

    /// Adds words of another program, such as an API server, which has already escaped foreign text.
    pub fn said(mut self, words: &str) -> Self {
        self.push(words.to_owned(), Give::Written);
        self
    }

    /// Adds a name.
    pub fn name(mut self, name: &str) -> Self {
        self.push(go::escape(name), Give::Name);
        self
    }

    /// Adds a text from a user.
    pub fn written(mut self, text: &str) -> Self {
        self.push(go::escape(text), Give::Written);
        self
    }

    /// Adds a version.
    pub fn version(mut self, version: impl fmt::Display) -> Self {
        self.push(go::escape(&version.to_string()), Give::Version);
        self
    }

    /// Adds all parts of another line.
    pub fn then(mut self, line: Self) -> Self {
        self.parts.extend(line.parts);
        self
    }

    /// The line within a limit. The longest name is cut first, then the next longest.
    pub fn within(mut self, limit: usize) -> String {
        while let Some(excess) = self.len().checked_sub(limit).filter(|excess| *excess > 0) {
            let longest = self
                .parts
                .iter_mut()
                .filter(|part| part.give < Give::Never && part.text.len() > SHORTEST)
                .min_by_key(|part| (part.give, std::cmp::Reverse(part.text.len())));
            let Some(part) = longest else { break };
            let keep = part.text.len().saturating_sub(excess).max(SHORTEST);
            part.text = cut_middle(&part.text, keep);
        }
        if self.len() <= limit {
            return self.text();
        }
        match self.parts.pop_if(|part| part.give == Give::End) {
            Some(end) => {
                let room = limit.saturating_sub(end.text.len());
                cut_words(&self.text(), room) + &end.text
            }
            None => cut_end(&self.text(), limit),
        }
    }

    /// The whole line. Faster than `to_string`.
    fn text(&self) -> String {
        let mut text = String::with_capacity(self.len());
        text.extend(self.parts.iter().map(|part| &*part.text));
        text
    }

    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.text.len()).sum()
    }

    fn push(&mut self, text: String, give: Give) {
        self.parts.push(LinePart { text, give });
    }
}

impl fmt::Display for CutLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts
            .iter()
            .try_for_each(|part| f.write_str(&part.text))
    }
}

/// A text of at most `limit` bytes, with "..." in the middle if it was cut.
pub(super) fn cut_middle(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let room = limit.saturating_sub(DOTS.len());
    let head = floor(text, room.div_ceil(2));
    let tail = ceil(text, text.len() - room / 2);
    format!("{head}{DOTS}{tail}")
}

/// A text of at most `limit` bytes, with "..." at the end if it was cut.
pub fn cut_end(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    format!("{}{DOTS}", floor(text, limit.saturating_sub(DOTS.len())))
}

/// A text of at most `limit` bytes, with "..." at the end, cut between two words because a cut version would be another
/// version.
fn cut_words(text: &str, limit: usize) -> String {
    let head = floor(text, limit.saturating_sub(DOTS.len()));
    let words = head.rsplit_once(' ').map_or(head, |(words, _)| words);
    format!("{}{DOTS}", words.trim_end_matches([',', ';', ':']))
}

/// One further line: its label, and its items or sentences.
#[derive(Clone, Debug)]
pub(super) struct Detail {
    label: &'static str,
    items: Vec<String>,
    /// The number of further items that are only counted.
    further: usize,
    /// The separator between the items; sentences contain commas.
    between: &'static str,
}

impl Detail {
    /// Items separated by commas. An empty list gives no line.
    pub(super) fn items(label: &'static str, items: Vec<String>) -> Self {
        Self {
            label,
            items: items.into_iter().map(|item| one_line(&item)).collect(),
            further: 0,
            between: ", ",
        }
    }

    /// Sentences separated by semicolons.
    pub(super) fn sentences(label: &'static str, items: Vec<String>) -> Self {
        Self {
            between: "; ",
            ..Self::items(label, items)
        }
    }

    /// Marks the items as the first ones of `all` items.
    pub(super) fn first_of(self, all: usize) -> Self {
        Self {
            further: all.saturating_sub(self.items.len()),
            ..self
        }
    }

    /// The number of items.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The line with the first `named` items; `None` if there are no items.
    pub(super) fn naming(&self, named: usize) -> Option<String> {
        let rest = self.items.len().saturating_sub(named) + self.further;
        let list = || and_more(joined(&self.items, self.between, named), rest);
        (!self.items.is_empty()).then(|| format!("{}: {}", self.label, list()))
    }
}

/// Escaped names: the first `named` of them, and the number of further names.
pub fn names<N: AsRef<str>>(all: &[N], named: usize) -> String {
    let escaped: Vec<_> = all.iter().map(|name| go::escape(name.as_ref())).collect();
    list(&escaped, ", ", named)
}

/// Items with a separator: the first `named` of them, and the number of further items.
pub fn list(items: &[String], between: &str, named: usize) -> String {
    match (items.len().saturating_sub(named), named) {
        (rest @ 1.., 0) => format!("{rest} in all"),
        (rest, _) => and_more(joined(items, between, named), rest),
    }
}

fn joined(items: &[String], between: &str, named: usize) -> String {
    let items: Vec<_> = items.iter().take(named).map(String::as_str).collect();
    items.join(between)
}

/// A count with its noun, whose plural ends in "s".
pub fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// The named items, and the number of further items.
pub fn and_more(named: String, rest: usize) -> String {
    match rest {
        0 => named,
        rest => format!("{named} and {rest} more"),
    }
}

fn floor(text: &str, at: usize) -> &str {
    text.get(..text.floor_char_boundary(at)).unwrap_or_default()
}

fn ceil(text: &str, at: usize) -> &str {
    text.get(text.ceil_char_boundary(at)..).unwrap_or_default()
}

const DOTS: &str = "...";

/// The shortest length to which a part is cut, so that it stays recognisable.
const SHORTEST: usize = 11;

/// The version and release of a bundle, or its name if they cannot be read; safe for a terminal.
pub fn label(bundle: &Bundle) -> String {
    match &bundle.version {
        Ok(read) => read.recorded(BundleReleaseSupport::Disabled).version,
        Err(_) => go::escape(&bundle.name),
    }
}

/// The version of a bundle, or its name if the version cannot be read.
pub(super) fn versioned(choice: Choice<'_>) -> CutLine {
    let bundle = choice.bundle();
    match &bundle.version {
        Ok(read) => {
            CutLine::default().version(read.recorded(BundleReleaseSupport::Disabled).version)
        }
        Err(_) => CutLine::default().name(&bundle.name),
    }
}

/// The installed version as one text. An explicit release follows a plus sign, as if it were recorded as build
/// metadata.
pub(super) fn recorded(bundle: &InstalledBundle) -> String {
    match bundle.release.as_deref() {
        None | Some("") => bundle.version.clone(),
        Some(release) => format!("{}+{release}", bundle.version),
    }
}

/// Names, each safe for a terminal.
pub(super) fn escaped(names: &[impl AsRef<str>]) -> Vec<String> {
    names.iter().map(|name| go::escape(name.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_names_the_first_are_named() {
        let all: Vec<_> = (0..700).map(|number| format!("p.v{number}")).collect();
        assert_eq!(names(&all, 2), "p.v0, p.v1 and 698 more");
        assert_eq!(names(&["a\nb"], 2), "a\\nb");
    }

    #[test]
    fn the_longest_name_gives_way_first() {
        let line = || {
            CutLine::default()
                .name(&"a".repeat(50))
                .say(": ")
                .name("short-name")
                .say(" [Token]")
        };
        assert_eq!(
            line().within(200),
            format!("{}: short-name [Token]", "a".repeat(50))
        );
        assert_eq!(
            line().within(40),
            format!("{}...{}: short-name [Token]", "a".repeat(9), "a".repeat(8))
        );
    }

    #[test]
    fn versions_and_the_token_stay() {
        let line = CutLine::default()
            .name(&"p".repeat(253))
            .say(": ")
            .version("1.0.0-some.long.prerelease.identifier")
            .say(" -> ")
            .written(&">=1 ".repeat(100))
            .say(" [NotASuccessor]");
        let text = line.within(200);
        assert!(text.len() <= 200, "{}", text.len());
        assert!(text.contains("1.0.0-some.long.prerelease.identifier"));
        assert!(text.ends_with(" [NotASuccessor]"));
    }

    #[test]
    fn cuts_at_characters() {
        assert_eq!(cut_middle("ääääääää", 11), "ää...ää");
        assert_eq!(cut_end("äää", 5), "ä...");
        assert_eq!(cut_end("abc", 3), "abc");
    }

    #[test]
    fn lists_count_what_they_leave_out() {
        let items: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(list(&items, ", ", 3), "a, b, c");
        assert_eq!(list(&items, "; ", 1), "a and 2 more");
        assert_eq!(list(&items, ", ", 0), "3 in all");
    }
}
