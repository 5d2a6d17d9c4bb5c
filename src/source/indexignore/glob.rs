//! Patterns for one element of a path, as Go's `filepath.Match` reads them.

/// A pattern; one that Go calls malformed matches nothing.
#[derive(Debug)]
pub(super) struct Glob(Option<Vec<Token>>);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Token {
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

    pub(super) fn matches(&self, name: &str) -> bool {
        let Some(tokens) = &self.0 else {
            return false;
        };
        matches(tokens, name)
    }
}

/// Matches with one point to go back to: where the last run began to take characters. A later run
/// makes going back to an earlier one needless.
fn matches(mut tokens: &[Token], mut name: &str) -> bool {
    let mut retry = None;
    loop {
        if let Some((Token::Run, after)) = tokens.split_first() {
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

impl Token {
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

fn tokens(pattern: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        tokens.push(match character {
            '*' => Token::Run,
            '?' => Token::Any,
            '\\' => Token::Char(rest.next()?),
            '[' => {
                let (class, after) = class(rest.as_str())?;
                rest = after.chars();
                class
            }
            other => Token::Char(other),
        });
    }
    Some(tokens)
}

/// The class after a `[`, and what follows its `]`.
fn class(text: &str) -> Option<(Token, &str)> {
    let inner = text.strip_prefix('^');
    let negated = inner.is_some();
    let mut rest = inner.unwrap_or(text);
    let mut ranges = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(']')
            && !ranges.is_empty()
        {
            return Some((Token::Class { ranges, negated }, after));
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

/// A character of a class; something must follow it.
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
