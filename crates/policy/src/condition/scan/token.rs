//! The tokens of an expression, as far as nesting depends on them.

use super::super::Refusal;
use super::quote::quote;

/// A token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Token {
    /// Spaces or a comment.
    Nothing,
    /// A number or a text.
    Literal,
    /// An identifier or keyword.
    Name {
        /// Whether it selects a field or function.
        follows_dot: bool,
    },
    /// A name of a comprehension after a dot.
    Comprehension,
    /// `(`, `[` or `{`, with the byte that closes it.
    Open { closes: u8 },
    /// `)`, `]` or `}`.
    Close(u8),
    /// `&&` or `||`, which the parser collects in a balanced tree.
    Joint,
    /// A comma.
    Comma,
    /// `?`.
    Question,
    /// `:`.
    Colon,
    /// Any other operator, a prefix, a dot, or `in`.
    Operator,
}

/// Tokens with their byte offsets and texts, until the first that cannot be read.
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    follows_dot: bool,
}

impl<'t> Tokens<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            follows_dot: false,
        }
    }

    fn read(&mut self, rest: &'t str) -> Result<(Token, usize), Refusal> {
        let bytes = rest.as_bytes();
        let first = bytes.first().copied().unwrap_or_default();
        let second = bytes.get(1).copied().unwrap_or_default();
        if let Some(quote) = quote(bytes) {
            let end = quote.end(bytes);
            let unclosed = || {
                Refusal::new(
                    "a text is not closed: expected a quotation mark",
                    Some(self.at),
                )
            };
            return Ok((Token::Literal, end.ok_or_else(unclosed)?));
        }
        Ok(match (first, second) {
            (b' ' | b'\t' | b'\n' | b'\r' | b'\x0c', _) => (Token::Nothing, 1),
            (b'/', b'/') => (Token::Nothing, rest.find('\n').unwrap_or(rest.len())),
            (b'0'..=b'9', _) | (b'.', b'0'..=b'9') => (Token::Literal, number(bytes)),
            (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => return self.name(rest),
            (b'&', b'&') | (b'|', b'|') => (Token::Joint, 2),
            (b'=' | b'!' | b'<' | b'>', b'=') => (Token::Operator, 2),
            _ => (self.single(first, rest)?, 1),
        })
    }

    fn name(&self, rest: &'t str) -> Result<(Token, usize), Refusal> {
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = rest.bytes().take_while(|byte| is_inner(byte)).count();
        let name = rest.get(..end).unwrap_or_default();
        let follows_dot = self.follows_dot;
        let token = match name {
            "in" => Token::Operator,
            _ if name.starts_with("__") => {
                let reason = "names that start with __ are reserved";
                return Err(Refusal::new(reason, Some(self.at)));
            }
            _ if follows_dot && COMPREHENSIONS.contains(&name) => Token::Comprehension,
            _ => Token::Name { follows_dot },
        };
        Ok((token, end))
    }

    fn single(&self, byte: u8, rest: &str) -> Result<Token, Refusal> {
        Ok(match byte {
            b'(' => Token::Open { closes: b')' },
            b'[' => Token::Open { closes: b']' },
            b'{' => Token::Open { closes: b'}' },
            b')' | b']' | b'}' => Token::Close(byte),
            b',' => Token::Comma,
            b'?' => Token::Question,
            b':' => Token::Colon,
            b'+' | b'-' | b'*' | b'/' | b'%' | b'!' | b'<' | b'>' | b'.' => Token::Operator,
            _ => {
                let found = rest.chars().next().unwrap_or_default();
                let reason = format!("unexpected character {found:?}");
                return Err(Refusal::new(reason, Some(self.at)));
            }
        })
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Result<(usize, Token, &'t str), Refusal>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (token, length) = match self.read(rest) {
            Ok(read) => read,
            Err(refusal) => {
                self.at = self.text.len();
                return Some(Err(refusal));
            }
        };
        let written = rest.get(..length).unwrap_or(rest);
        let at = self.at;
        self.at += written.len();
        if token != Token::Nothing {
            self.follows_dot = written == ".";
        }
        Some(Ok((at, token, written)))
    }
}

/// Digits with whatever belongs to them, such as `0xffu` or `1.5e-3`.
fn number(bytes: &[u8]) -> usize {
    let is_inner = |at: usize, byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => true,
        b'.' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    let inner = bytes.iter().enumerate();
    inner.take_while(|(at, byte)| is_inner(*at, **byte)).count()
}

const COMPREHENSIONS: &[&str] = &["all", "exists", "exists_one", "filter", "map"];
