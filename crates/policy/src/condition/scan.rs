//! What an expression can look like at all, before the parser of the library reads it.
//!
//! A parser that recurses or backtracks can be made to use much time and memory by a short text of
//! nested brackets, chains of prefixes and operators. This scan reads a text once, keeps one counter
//! per open bracket, and refuses what is nested too deeply.
//!
//! Nesting counts open brackets, and in each of them the operators, prefixes and selections since
//! the last comma, `&&` or `||`: a chain of those nests in the tree as brackets do. A `?` counts
//! until the bracket closes.

mod level;
mod quote;
mod token;

use self::level::Levels;
use self::token::{Token, Tokens};
use super::Refusal;
use super::names;
use crate::limits;

/// The text for the parser: as written, with the reserved words replaced by ones of equal length.
pub(super) fn scan(text: &str) -> Result<String, Refusal> {
    if text.len() > limits::EXPRESSION_BYTES {
        let most = limits::EXPRESSION_BYTES;
        return Err(Refusal::new(
            format!("too long: expected at most {most} bytes"),
            None,
        ));
    }
    let mut levels = Levels::default();
    let mut scanned = String::with_capacity(text.len());
    for token in Tokens::of(text) {
        let (at, token, written) = token?;
        levels.take(at, token)?;
        scanned.push_str(match token {
            Token::Name { follows_dot: false } => replacement(written),
            _ => written,
        });
    }
    levels.finish()?;
    Ok(scanned)
}

fn replacement(name: &str) -> &str {
    let mut reserved = names::RESERVED.iter();
    let reserved = reserved.find(|(outside, _)| *outside == name);
    reserved.map_or(name, |(_, inside)| inside)
}
