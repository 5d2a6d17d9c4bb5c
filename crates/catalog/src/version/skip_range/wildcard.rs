//! Wildcards: every token with a lower-case `x` anywhere in it is rewritten before any is parsed.
//!
//! Mirrors `expandWildcardVersion` and its helpers ([`range.go`]). `>1.0.0-next` is hit by it too;
//! and an operator that the expansion does not know is dropped, so that `~1.2.x` means 1.2.0.
//!
//! [`range.go`]: https://github.com/blang/semver/blob/v4.0.0/v4/range.go

use super::error::SkipRangeError;
use super::token::{Token, operator_and_version};

/// Rewrites all tokens with an `x`; some become two.
pub(super) fn expand<'t>(
    typed: &str,
    tokens: Vec<Token<'t>>,
) -> Result<Vec<Token<'t>>, SkipRangeError> {
    if !tokens.iter().any(|token| token.text.contains('x')) {
        return Ok(tokens);
    }
    let mut expanded = Vec::with_capacity(tokens.len());
    for token in tokens {
        if !token.text.contains('x') {
            expanded.push(token);
            continue;
        }
        let Some((operator, version)) = operator_and_version(&token.text) else {
            return Err(SkipRangeError::no_version(typed, &token));
        };
        let rewritten = rewrite(operator, version);
        expanded.extend(rewritten.into_iter().map(|text| Token {
            text: text.into(),
            at: token.at,
        }));
    }
    Ok(expanded)
}

fn rewrite(operator: &str, version: &str) -> Vec<String> {
    let flat = flatten(version);
    let next = bump(version, &flat).unwrap_or_default();
    match operator {
        ">" => vec![format!(">={next}")],
        ">=" => vec![format!(">={flat}")],
        "<" => vec![format!("<{flat}")],
        "<=" => vec![format!("<{next}")],
        "" | "=" | "==" => vec![format!(">={flat}"), format!("<{next}")],
        // Both have to hold, so nothing does.
        "!" | "!=" => vec![format!("<{flat}"), format!(">={next}")],
        _ => vec![flat],
    }
}

/// The lowest version that the wildcard stands for.
fn flatten(version: &str) -> String {
    let flat = version.replacen(".x.x", ".x", 1).replacen(".x", ".0", 1);
    if flat.matches('.').count() == 1 {
        format!("{flat}.0")
    } else {
        flat
    }
}

/// `flat` with the number before the wildcard raised by one, if there is such a number.
///
/// Upstream counts the pieces of what is written: three make the second the one to raise, even in
/// `1.x.x`. It reads a signed 64-bit number, which wraps.
fn bump(version: &str, flat: &str) -> Option<String> {
    let pieces: Vec<_> = version.split('.').collect();
    let raised = match pieces.as_slice() {
        [_, "x"] => 0,
        [_, _, "x"] => 1,
        _ => return None,
    };
    let mut numbers: Vec<_> = flat.split('.').map(str::to_owned).collect();
    let number = numbers.get_mut(raised)?;
    *number = number.parse::<i64>().ok()?.wrapping_add(1).to_string();
    Some(numbers.join("."))
}
