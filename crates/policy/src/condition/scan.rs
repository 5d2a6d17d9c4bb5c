//! A scan of an expression that bounds its shape before the parser of the library reads it.
//!
//! A short text of nested brackets or long chains of prefixes and operators can make a parser that
//! recurses or backtracks use much time and memory. This scan reads the text once, keeps one
//! counter per open bracket, and refuses expressions that are nested too deeply.
//!
//! The nesting depth counts open brackets and, inside each of them, the operators, prefixes and
//! selections since the last comma, `&&` or `||`: such a chain nests in the tree as brackets do. A
//! `?` counts until the bracket closes.

use crate::condition::{ExpressionError, scope};
use crate::limits;

/// Returns the text for the parser: as written, with reserved words replaced by words of equal
/// length.
pub(super) fn scan(text: &str) -> Result<String, ExpressionError> {
    if text.len() > limits::EXPRESSION_BYTES {
        let most = limits::EXPRESSION_BYTES;
        return Err(ExpressionError::new(
            format!("too long: expected at most {most} bytes"),
            None,
        ));
    }
    let mut levels = BracketLevels::default();
    let mut scanned = String::with_capacity(text.len());
    for token in CelTokens::of(text) {
        let (at, token, written) = token?;
        levels.take(at, token)?;
        scanned.push_str(match token {
            CelToken::Name { follows_dot: false } => replacement(written),
            _ => written,
        });
    }
    levels.finish()?;
    Ok(scanned)
}

fn replacement(name: &str) -> &str {
    let mut reserved = scope::RESERVED.iter();
    let reserved = reserved.find(|(outside, _)| *outside == name);
    reserved.map_or(name, |(_, inside)| inside)
}

// === The nesting depth of an expression ===

/// The open brackets, and the sum of their counts.
#[derive(Debug, Default)]
struct BracketLevels {
    open: Vec<BracketLevel>,
    /// The text outside all brackets.
    outside: BracketLevel,
    nesting: usize,
    comprehensions: usize,
    before: Option<CelToken>,
}

#[derive(Debug, Default)]
struct BracketLevel {
    at: usize,
    closes: u8,
    is_comprehension: bool,
    operators: usize,
    questions: usize,
}

impl BracketLevels {
    /// Counts one token.
    fn take(&mut self, at: usize, token: CelToken) -> Result<(), ExpressionError> {
        match token {
            CelToken::Nothing => return Ok(()),
            CelToken::Open { closes } => self.open(at, closes)?,
            CelToken::Close(byte) => self.close(at, byte)?,
            CelToken::Operator => self.grow(at, |level| &mut level.operators)?,
            CelToken::Question => {
                self.forget_operators();
                self.grow(at, |level| &mut level.questions)?;
            }
            CelToken::Joint | CelToken::Colon => self.forget_operators(),
            CelToken::Comma => {
                self.forget_operators();
                let questions = std::mem::take(&mut self.innermost().questions);
                self.nesting -= questions;
            }
            CelToken::Literal | CelToken::Name { .. } | CelToken::Comprehension => {}
        }
        self.before = Some(token);
        Ok(())
    }

    /// Refuses a text with an open bracket.
    fn finish(&self) -> Result<(), ExpressionError> {
        match self.open.last() {
            None => Ok(()),
            Some(BracketLevel { at, closes, .. }) => {
                let expected = char::from(*closes);
                let reason = format!("a bracket is not closed: expected {expected:?}");
                Err(ExpressionError::new(reason, Some(*at)))
            }
        }
    }

    fn open(&mut self, at: usize, closes: u8) -> Result<(), ExpressionError> {
        let follows_value = matches!(
            self.before,
            Some(
                CelToken::Literal
                    | CelToken::Name { .. }
                    | CelToken::Comprehension
                    | CelToken::Close(_)
            )
        );
        if follows_value {
            self.grow(at, |level| &mut level.operators)?;
        }
        let is_comprehension = self.before == Some(CelToken::Comprehension);
        self.comprehensions += usize::from(is_comprehension);
        if self.comprehensions > limits::EXPRESSION_COMPREHENSIONS {
            let most = limits::EXPRESSION_COMPREHENSIONS;
            let reason = format!("comprehensions are nested too deeply: expected at most {most}");
            return Err(ExpressionError::new(reason, Some(at)));
        }
        self.open.push(BracketLevel {
            at,
            closes,
            is_comprehension,
            ..BracketLevel::default()
        });
        self.deeper(at)
    }

    fn close(&mut self, at: usize, byte: u8) -> Result<(), ExpressionError> {
        let level = self.open.pop().filter(|level| level.closes == byte);
        let Some(level) = level else {
            let reason = format!(
                "unexpected {:?}: no bracket that it closes",
                char::from(byte)
            );
            return Err(ExpressionError::new(reason, Some(at)));
        };
        self.nesting -= 1 + level.operators + level.questions;
        self.comprehensions -= usize::from(level.is_comprehension);
        Ok(())
    }

    fn grow(
        &mut self,
        at: usize,
        count: fn(&mut BracketLevel) -> &mut usize,
    ) -> Result<(), ExpressionError> {
        *count(self.innermost()) += 1;
        self.deeper(at)
    }

    fn deeper(&mut self, at: usize) -> Result<(), ExpressionError> {
        self.nesting += 1;
        if self.nesting > limits::EXPRESSION_NESTING {
            let most = limits::EXPRESSION_NESTING;
            let reason = format!("nested too deeply: expected at most {most} levels");
            return Err(ExpressionError::new(reason, Some(at)));
        }
        Ok(())
    }

    fn forget_operators(&mut self) {
        let operators = std::mem::take(&mut self.innermost().operators);
        self.nesting -= operators;
    }

    fn innermost(&mut self) -> &mut BracketLevel {
        self.open.last_mut().unwrap_or(&mut self.outside)
    }
}

// === Tokens, as far as they affect the nesting ===

/// A token of an expression.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CelToken {
    /// Spaces or a comment.
    Nothing,
    /// A number or a text.
    Literal,
    /// An identifier or keyword.
    Name {
        /// Whether it selects a field or function.
        follows_dot: bool,
    },
    /// The name of a comprehension, after a dot.
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

/// The tokens of an expression with their byte offsets and texts, up to the first invalid one.
struct CelTokens<'t> {
    text: &'t str,
    at: usize,
    follows_dot: bool,
}

impl<'t> CelTokens<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            follows_dot: false,
        }
    }

    fn read(&mut self, rest: &'t str) -> Result<(CelToken, usize), ExpressionError> {
        let bytes = rest.as_bytes();
        let first = bytes.first().copied().unwrap_or_default();
        let second = bytes.get(1).copied().unwrap_or_default();
        if let Some(quote) = quote(bytes) {
            let end = quote.end(bytes);
            let unclosed = || {
                ExpressionError::new(
                    "a text is not closed: expected a quotation mark",
                    Some(self.at),
                )
            };
            return Ok((CelToken::Literal, end.ok_or_else(unclosed)?));
        }
        Ok(match (first, second) {
            (b' ' | b'\t' | b'\n' | b'\r' | b'\x0c', _) => (CelToken::Nothing, 1),
            (b'/', b'/') => (CelToken::Nothing, rest.find('\n').unwrap_or(rest.len())),
            (b'0'..=b'9', _) | (b'.', b'0'..=b'9') => (CelToken::Literal, number(bytes)),
            (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => return self.name(rest),
            (b'&', b'&') | (b'|', b'|') => (CelToken::Joint, 2),
            (b'=' | b'!' | b'<' | b'>', b'=') => (CelToken::Operator, 2),
            _ => (self.single(first, rest)?, 1),
        })
    }

    fn name(&self, rest: &'t str) -> Result<(CelToken, usize), ExpressionError> {
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = rest.bytes().take_while(|byte| is_inner(byte)).count();
        let name = rest.get(..end).unwrap_or_default();
        let follows_dot = self.follows_dot;
        let token = match name {
            "in" => CelToken::Operator,
            _ if name.starts_with("__") => {
                let reason = "names that start with __ are reserved";
                return Err(ExpressionError::new(reason, Some(self.at)));
            }
            _ if follows_dot && COMPREHENSIONS.contains(&name) => CelToken::Comprehension,
            _ => CelToken::Name { follows_dot },
        };
        Ok((token, end))
    }

    fn single(&self, byte: u8, rest: &str) -> Result<CelToken, ExpressionError> {
        Ok(match byte {
            b'(' => CelToken::Open { closes: b')' },
            b'[' => CelToken::Open { closes: b']' },
            b'{' => CelToken::Open { closes: b'}' },
            b')' | b']' | b'}' => CelToken::Close(byte),
            b',' => CelToken::Comma,
            b'?' => CelToken::Question,
            b':' => CelToken::Colon,
            b'+' | b'-' | b'*' | b'/' | b'%' | b'!' | b'<' | b'>' | b'.' => CelToken::Operator,
            _ => {
                let found = rest.chars().next().unwrap_or_default();
                let reason = format!("unexpected character {found:?}");
                return Err(ExpressionError::new(reason, Some(self.at)));
            }
        })
    }
}

impl<'t> Iterator for CelTokens<'t> {
    type Item = Result<(usize, CelToken, &'t str), ExpressionError>;

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
        if token != CelToken::Nothing {
            self.follows_dot = written == ".";
        }
        Some(Ok((at, token, written)))
    }
}

/// The length of a number with its prefixes and suffixes, such as `0xffu` or `1.5e-3`.
fn number(bytes: &[u8]) -> usize {
    let is_inner = |at: usize, byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => true,
        b'.' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    let inner = bytes.iter().enumerate();
    inner.take_while(|(at, byte)| is_inner(*at, **byte)).count()
}

const COMPREHENSIONS: &[&str] = &["all", "exists", "exists_one", "existsOne", "filter", "map"];

// === String and bytes literals: raw or not, with one or three quotation marks ===

/// The delimiter of a text literal.
struct Quote {
    /// The offset of the content.
    start: usize,
    mark: u8,
    is_triple: bool,
    is_raw: bool,
}

/// Reads the opening of a text literal, including its prefix.
fn quote(bytes: &[u8]) -> Option<Quote> {
    let is_mark = |byte: &&u8| matches!(byte, b'"' | b'\'');
    let prefix = bytes
        .iter()
        .take(2)
        .take_while(|byte| b"rRbB".contains(byte))
        .count();
    let mark = *bytes.get(prefix).filter(is_mark)?;
    let prefixed = bytes.get(..prefix)?;
    let is_triple = bytes.get(prefix..prefix + 3) == Some(&[mark; 3]);
    Some(Quote {
        start: prefix + if is_triple { 3 } else { 1 },
        mark,
        is_triple,
        is_raw: prefixed.contains(&b'r') || prefixed.contains(&b'R'),
    })
}

impl Quote {
    /// Returns the length of the whole literal, if it is closed.
    fn end(&self, bytes: &[u8]) -> Option<usize> {
        let width = if self.is_triple { 3 } else { 1 };
        let mut at = self.start;
        loop {
            let byte = *bytes.get(at)?;
            let closes = bytes
                .get(at..at + width)?
                .iter()
                .all(|byte| *byte == self.mark);
            match byte {
                _ if closes => return Some(at + width),
                b'\n' | b'\r' if !self.is_triple => return None,
                b'\\' if !self.is_raw => at += 2,
                _ => at += 1,
            }
        }
    }
}
