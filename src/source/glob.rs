//! Patterns for one element of a path or one label of a host, as Go's `filepath.Match` reads them.

/// A pattern, or `None` for one that Go calls malformed, which matches nothing.
#[derive(Debug)]
pub(super) struct Glob(Option<Vec<GlobToken>>);

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
    pub(super) fn parse(pattern: &str) -> Self {
        Self(tokens(pattern))
    }

    /// Whether the pattern matches a name. Each comparison is taken from `steps`, and nothing matches without any left.
    pub(super) fn matches(&self, name: &str, steps: &mut MatchSteps) -> bool {
        let tokens = self.0.as_deref();
        tokens.is_some_and(|tokens| matches(tokens, name, steps))
    }
}

/// The comparisons that may still be made.
#[derive(Debug)]
pub(super) struct MatchSteps(u64);

impl MatchSteps {
    pub(super) const fn new(most: u64) -> Self {
        Self(most)
    }

    /// Takes this many steps. Returns false if none is left then.
    pub(super) fn take(&mut self, count: usize) -> bool {
        self.0 = self.0.saturating_sub(count as u64);
        self.0 > 0
    }
}

/// Matches with a single backtracking point: the last run. A later run makes backtracking to an earlier one
/// unnecessary.
fn matches(mut tokens: &[GlobToken], mut name: &str, steps: &mut MatchSteps) -> bool {
    let mut retry = None;
    loop {
        if !steps.take(tokens.first().map_or(1, GlobToken::cost)) {
            return false;
        }
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
    /// The number of comparisons with one character.
    fn cost(&self) -> usize {
        match self {
            Self::Class { ranges, .. } => ranges.len(),
            Self::Run | Self::Any | Self::Char(_) => 1,
        }
    }

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
                Glob::parse(pattern).matches(name, &mut MatchSteps::new(1000)),
                want,
                "{pattern:?} {name:?}"
            );
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        let glob = Glob::parse(&"*a".repeat(1000));
        assert!(!glob.matches(&"a".repeat(999), &mut MatchSteps::new(u64::MAX)));
    }

    #[test]
    fn nothing_matches_without_steps() {
        for (pattern, name, needed) in [("a*c", "abbc", 7), ("[a-cx-z]", "y", 3)] {
            let matches = |steps| Glob::parse(pattern).matches(name, &mut MatchSteps::new(steps));
            assert!(!matches(needed - 1) && matches(needed + 1), "{pattern}");
        }
    }
}
