//! `conditions`: CEL expressions for rules that the other fields cannot express.
//!
//! ```text
//! text --scan--> text in bounds --cel--> tree --analyse--> PolicyCondition
//!                                                    Change --scope--> values --cel--> true, or the reason why not
//! ```
//!
//! `scan` bounds length and nesting before the parser reads the text. `analyse` reports unknown names. It also bounds
//! the steps and the memory of every evaluation, based on the largest values that a scope can contain, so an
//! evaluation needs no clock. A condition is met only if it is `true`. Every other value and every error is a failure.

mod analyse;
mod scan;
mod scope;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use cel::{ExecutionError, ParseErrors, Program};
use serde_json::Value;

use crate::change::{Change, Maker};
use crate::fault::{FaultList, PolicyProblem};
use crate::limits;
use crate::violation::{ConditionOutcome, ConditionSubject, PolicyRule};
use olmguard_catalog::members::{Members, TextRule};
use olmguard_catalog::version::go::{self, one_line};

pub(crate) use scope::ConditionScope;

/// One compiled condition.
#[derive(Clone, Debug)]
pub(crate) struct PolicyCondition {
    /// The position in the list, counting invalid conditions too.
    index: usize,
    expression: Box<str>,
    message: Option<Box<str>>,
    compiled: Arc<Compiled>,
    /// The maximum number of steps of an evaluation.
    steps: u64,
}

/// Whether the conditions of policies are evaluated. Conditions are the only rules that can take long.
#[derive(Clone, Copy)]
pub enum Conditions<'a> {
    /// Conditions are skipped; only the other rules are checked.
    Skipped,
    /// Conditions are evaluated in sequence until the function returns true. The remaining ones count as failed.
    EvaluatedUntil(&'a dyn Fn() -> bool),
}

impl Conditions<'static> {
    /// All conditions are evaluated, without a time limit.
    pub const ALL: Self = Self::EvaluatedUntil(&|| false);
}

impl fmt::Debug for Conditions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Skipped => "Skipped",
            Self::EvaluatedUntil(_) => "EvaluatedUntil(..)",
        })
    }
}

/// A program with the results of its analysis.
#[derive(Debug)]
pub(crate) struct Compiled {
    program: Program,
    /// The variables that the expression reads. Only these are filled in and limited.
    variables: Vec<&'static str>,
    /// Whether the expression iterates over a mapping, whose entries have no defined order.
    has_unordered_steps: bool,
}

/// The reason why a text is not an expression that olmguard accepts.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct ExpressionError {
    reason: String,
    /// The byte offset in the text.
    at: Option<usize>,
}

impl ExpressionError {
    fn new(reason: impl Into<String>, at: Option<usize>) -> Self {
        let reason = reason.into();
        Self { reason, at }
    }
}

/// Reads `rules.conditions`; conditions with faults are dropped.
pub(crate) fn read(rules: &Members<'_>, faults: &mut FaultList) -> Vec<PolicyCondition> {
    let items = rules.items("conditions", "a list of conditions", faults);
    let items = items.into_iter().flatten().enumerate();
    let mut budget = limits::EXPRESSION_STEPS;
    items
        .filter_map(|(index, (path, item))| condition(index, item, &path, &mut budget, faults))
        .collect()
}

/// Reads one condition. All conditions of a policy share a budget of steps, because each change evaluates all of them.
fn condition(
    index: usize,
    value: &Value,
    path: &str,
    budget: &mut u64,
    faults: &mut FaultList,
) -> Option<PolicyCondition> {
    let members = Members::of(value, path, KEYS, faults)?;
    let message = members.text("message", MESSAGE, faults);
    members.needed("expression", EXPRESSION.expected, faults)?;
    let expression = members.text("expression", EXPRESSION, faults)?;
    let before = *budget;
    let compiled = compile(expression, budget)
        .map_err(|ExpressionError { reason, at }| PolicyProblem::Expression { reason, at });
    Some(PolicyCondition {
        index,
        expression: expression.into(),
        message: message.map(Into::into),
        compiled: Arc::new(faults.take(compiled, || members.path_of("expression"))?),
        steps: before.saturating_sub(*budget),
    })
}

impl PolicyCondition {
    /// The maximum number of steps of an evaluation.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// The facts that the result depends on.
    fn about(&self) -> ConditionSubject {
        let reads = |names: &[&str]| self.compiled.variables.iter().any(|it| names.contains(it));
        match (reads(scope::OF_STEP), reads(scope::OF_EDIT)) {
            (true, false) => ConditionSubject::Bundle,
            (true, true) => ConditionSubject::Both,
            (false, _) => ConditionSubject::Edit,
        }
    }

    /// Whether the condition is evaluated for a change. A condition about the step is evaluated for each move, a
    /// condition about the edit for the edit, and a condition about both for either. A condition that reads the user
    /// needs a user.
    pub(crate) fn is_about(&self, change: &Change<'_>) -> bool {
        let is_edit = change.maker == Maker::User;
        let is_asked = match self.about() {
            ConditionSubject::Bundle => change.is_move,
            ConditionSubject::Both => change.is_move || is_edit,
            ConditionSubject::Edit => is_edit,
        };
        is_asked && (change.user.is_some() || !self.compiled.variables.contains(&scope::USER))
    }

    /// Whether the condition is evaluated for automatic upgrades.
    pub(crate) fn is_of_each_step(&self) -> bool {
        self.about() != ConditionSubject::Edit
    }

    /// Returns the violation, unless the condition is met or skipped.
    pub(crate) fn violated(
        &self,
        scope: &mut ConditionScope<'_>,
        conditions: Conditions<'_>,
    ) -> Option<PolicyRule> {
        let evaluated = match conditions {
            Conditions::Skipped => return None,
            Conditions::EvaluatedUntil(is_over) if is_over() => Err(NOT_IN_TIME.to_owned()),
            Conditions::EvaluatedUntil(_) => evaluate(&self.compiled, scope),
        };
        let outcome = match evaluated {
            Ok(true) => return None,
            Ok(false) => ConditionOutcome::False {
                message: self.message.clone().map(Into::into),
            },
            Err(error) => ConditionOutcome::Failed { error },
        };
        Some(PolicyRule::Condition {
            index: self.index,
            expression: self.expression.clone().into(),
            about: self.about(),
            outcome,
        })
    }
}

const NOT_IN_TIME: &str = "the time for the answer is over";

const KEYS: &[&str] = &["expression", "message"];

const EXPRESSION: TextRule = TextRule::filled(
    "a CEL expression such as \"to.minor < 7\"",
    limits::EXPRESSION_BYTES,
);

const MESSAGE: TextRule = TextRule::filled("a string", limits::MESSAGE_BYTES);

// === From a text to a compiled condition ===

/// Compiles an expression, or returns the reason why it is not accepted. Takes its steps from the budget.
fn compile(text: &str, budget: &mut u64) -> Result<Compiled, ExpressionError> {
    let scanned = scan::scan(text)?;
    let program = scope::ENVIRONMENT.compile(&scanned);
    let program = program.map_err(|errors| syntax(&scanned, &errors))?;
    let analysis = analyse::analyse(&program).map_err(|refusal| located(refusal, &program))?;
    *budget = budget
        .checked_sub(analysis.steps)
        .ok_or_else(|| ExpressionError::new(TOO_COSTLY, None))?;
    Ok(Compiled {
        variables: analysis.variables,
        has_unordered_steps: analysis.has_unordered_steps,
        program,
    })
}

/// Returns the first error of the parser, without the excerpt that the parser draws.
///
/// Errors about the tree (an incomplete node) are only consequences of errors in the text.
fn syntax(text: &str, errors: &ParseErrors) -> ExpressionError {
    let mut all = errors.errors.iter();
    let of_text = all.find(|error| error.msg.starts_with(OF_TEXT));
    let Some(error) = of_text.or_else(|| errors.errors.first()) else {
        return ExpressionError::new("the parser reports no reason", None);
    };
    let message = error.msg.strip_prefix(OF_TEXT).unwrap_or(&error.msg);
    // The list of every token that could follow does not help the reader.
    let message = message.split(" expecting ").next().unwrap_or(message);
    let message = scope::externalised(&one_line(message))
        .replace("'<EOF>'", "end of the text")
        .replace("no viable alternative at input", "unexpected")
        .replace("mismatched input", "unexpected")
        .replace("extraneous input", "unexpected");
    let reason = limits::beginning(&message, limits::ERROR_BYTES);
    ExpressionError::new(reason, offset(text, error.pos))
}

const TOO_COSTLY: &str = "the conditions of the policy are too costly together: expected fewer comprehensions, or over smaller lists";

const OF_TEXT: &str = "Syntax error: ";

/// Returns the byte offset of a line and column. Both count from 1; columns count characters.
fn offset(text: &str, (line, column): (isize, isize)) -> Option<usize> {
    let line = usize::try_from(line).ok()?.checked_sub(1)?;
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut places = text.get(start..)?.char_indices();
    Some(places.nth(column).map_or(text.len(), |(at, _)| start + at))
}

/// Adds the byte offset to a refusal, which knows only the id of the node.
fn located(refusal: analyse::Located, program: &Program) -> ExpressionError {
    let offsets = program.source_info().offset_for(refusal.node);
    let start = offsets.and_then(|(start, _)| usize::try_from(start).ok());
    ExpressionError::new(refusal.reason, start)
}

// === Evaluation ===

/// Whether the condition is met, or the reason why that cannot be decided.
fn evaluate(compiled: &Compiled, scope: &mut ConditionScope<'_>) -> Result<bool, String> {
    for name in &compiled.variables {
        scope.need(name)?;
    }
    match compiled.program.execute(scope.context()) {
        Ok(cel::Value::Bool(is_met)) => Ok(is_met),
        Ok(other) => Err(format!("expected true or false, found {}", other.type_of())),
        // The order of the mapping determines which entry fails first, and therefore the error text.
        Err(_) if compiled.has_unordered_steps => {
            Err("it fails for an entry of a mapping".to_owned())
        }
        Err(error) => Err(limits::beginning(&words(&error), limits::ERROR_BYTES)),
    }
}

/// Words an error without the content of mappings, because their entries have no defined order. Foreign text is
/// escaped.
fn words(error: &ExecutionError) -> String {
    use ExecutionError as Error;
    match error {
        Error::NoSuchKey(key) => format!("there is no key {}", go::quote(key)),
        Error::NoSuchOverload(error) => error.to_string(),
        Error::UnexpectedType { got, want } => format!("expected {want}, found {got}"),
        Error::ValuesNotComparable(a, b) => {
            format!("{} and {} cannot be compared", a.type_of(), b.type_of())
        }
        Error::UnsupportedBinaryOperator(operator, a, b) => {
            format!(
                "{operator} does not apply to {} and {}",
                a.type_of(),
                b.type_of()
            )
        }
        Error::UnsupportedIndex(index, value) => {
            format!("{} is not an index of {}", index.type_of(), value.type_of())
        }
        Error::FunctionError { function, message } => {
            format!("function {function} fails: {}", go::escape(message))
        }
        Error::DivisionByZero(_) | Error::RemainderByZero(_) => "division by zero".to_owned(),
        Error::Overflow(operator, ..) => format!("{operator} overflows 64 bits"),
        Error::IndexOutOfBounds(cel::Value::Int(index)) => format!("there is no index {index}"),
        Error::IndexOutOfBounds(_) => "there is no such index".to_owned(),
        Error::DuplicateKey(_) => "a mapping has a key twice".to_owned(),
        _ => "a value has the wrong type".to_owned(),
    }
}
