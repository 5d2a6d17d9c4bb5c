//! From a text to a compiled condition.

use std::sync::{Arc, LazyLock};

use cel::{Env, ParseErrors, Program};
use olmguard_catalog::version::go::one_line;

use super::{Compiled, Refusal, analyse, names, scan};
use crate::limits;

/// The standard library, without optional values: shared, never changed.
pub(super) static ENVIRONMENT: LazyLock<Arc<Env>> =
    LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(false)));

/// Reads an expression, or says why it is not accepted; takes its steps from the budget.
pub(super) fn compile(text: &str, budget: &mut u64) -> Result<Compiled, Refusal> {
    let scanned = scan::scan(text)?;
    let program = ENVIRONMENT.compile(&scanned);
    let program = program.map_err(|errors| syntax(&scanned, &errors))?;
    let analysis = analyse::analyse(&program).map_err(|refusal| located(refusal, &program))?;
    *budget = budget
        .checked_sub(analysis.steps)
        .ok_or_else(|| Refusal::new(TOO_COSTLY, None))?;
    Ok(Compiled {
        variables: analysis.variables,
        has_unordered_steps: analysis.has_unordered_steps,
        program,
    })
}

/// The first error of the parser, without the excerpt that it draws itself.
///
/// What is wrong with the tree (an incomplete node) only follows from what is wrong with the text.
fn syntax(text: &str, errors: &ParseErrors) -> Refusal {
    let mut all = errors.errors.iter();
    let of_text = all.find(|error| error.msg.starts_with(OF_TEXT));
    let Some(error) = of_text.or_else(|| errors.errors.first()) else {
        return Refusal::new("the parser reports no reason", None);
    };
    let message = error.msg.strip_prefix(OF_TEXT).unwrap_or(&error.msg);
    // The list of every token that could follow helps no one.
    let message = message.split(" expecting ").next().unwrap_or(message);
    let message = names::externalised(&one_line(message))
        .replace("'<EOF>'", "end of the text")
        .replace("no viable alternative at input", "unexpected")
        .replace("mismatched input", "unexpected")
        .replace("extraneous input", "unexpected");
    let reason = limits::beginning(&message, limits::ERROR_BYTES);
    Refusal::new(reason, offset(text, error.pos))
}

const TOO_COSTLY: &str = "the conditions of the policy are too costly together: expected fewer comprehensions, or over smaller lists";

const OF_TEXT: &str = "Syntax error: ";

/// The byte offset of a line and column from 1, where columns count characters.
fn offset(text: &str, (line, column): (isize, isize)) -> Option<usize> {
    let line = usize::try_from(line).ok()?.checked_sub(1)?;
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut places = text.get(start..)?.char_indices();
    Some(places.nth(column).map_or(text.len(), |(at, _)| start + at))
}

/// The refusal with the byte offset of a node, which the analysis knows by its id.
fn located(refusal: analyse::Located, program: &Program) -> Refusal {
    let offsets = program.source_info().offset_for(refusal.node);
    let start = offsets.and_then(|(start, _)| usize::try_from(start).ok());
    Refusal::new(refusal.reason, start)
}
