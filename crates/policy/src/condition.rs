//! `conditions`: CEL for what the other rules cannot express.
//!
//! ```text
//! text --scan--> text in bounds --cel--> tree --analyse--> PolicyCondition
//!                                                    Change --scope--> values --cel--> true, or why not
//! ```
//!
//! `scan` bounds length and nesting before the parser reads the text. `analyse` reports unknown
//! names and bounds the steps and the memory of any evaluation, from the largest values that a scope
//! can contain; so an evaluation needs no clock. A condition is met if it is `true`; every other
//! value and every error is a failure.

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

/// One condition, compiled.
#[derive(Clone, Debug)]
pub(crate) struct PolicyCondition {
    /// Its place in the list, where those that cannot be read count too.
    index: usize,
    expression: Box<str>,
    message: Option<Box<str>>,
    compiled: Arc<Compiled>,
    /// How many steps an evaluation takes at most.
    steps: u64,
}

/// Whether the conditions of policies are evaluated: they are what can take long.
#[derive(Clone, Copy)]
pub enum Conditions<'a> {
    /// They are not: the other rules alone are asked.
    Skipped,
    /// They are, one after the other, until this is true. Those after that count as failed.
    EvaluatedUntil(&'a dyn Fn() -> bool),
}

impl Conditions<'static> {
    /// All of them.
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

/// A program, with the results of its analysis.
#[derive(Debug)]
pub(crate) struct Compiled {
    program: Program,
    /// The variables that it reads: only these are filled in and limited.
    variables: Vec<&'static str>,
    /// Whether it goes over the entries of a mapping, which have no defined order.
    has_unordered_steps: bool,
}

/// Why a text is not an expression that olmguard accepts.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct ExpressionError {
    reason: String,
    /// Byte offset in the text.
    at: Option<usize>,
}

impl ExpressionError {
    fn new(reason: impl Into<String>, at: Option<usize>) -> Self {
        let reason = reason.into();
        Self { reason, at }
    }
}

/// Reads `rules.conditions`; a condition with a fault is not among those that are evaluated.
pub(crate) fn read(rules: &Members<'_>, faults: &mut FaultList) -> Vec<PolicyCondition> {
    let items = rules.items("conditions", "a list of conditions", faults);
    let items = items.into_iter().flatten().enumerate();
    let mut budget = limits::EXPRESSION_STEPS;
    items
        .filter_map(|(index, (path, item))| condition(index, item, &path, &mut budget, faults))
        .collect()
}

/// The conditions of a policy are all evaluated for each change: they share a budget of steps.
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
    match compile(expression, budget) {
        Ok(compiled) => Some(PolicyCondition {
            index,
            expression: expression.into(),
            message: message.map(Into::into),
            compiled: Arc::new(compiled),
            steps: before.saturating_sub(*budget),
        }),
        Err(ExpressionError { reason, at }) => {
            let problem = PolicyProblem::Expression { reason, at };
            faults.report(members.path_of("expression"), problem);
            None
        }
    }
}

impl PolicyCondition {
    /// How many steps an evaluation takes at most.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// The facts that its answer depends on.
    fn about(&self) -> ConditionSubject {
        let reads = |names: &[&str]| self.compiled.variables.iter().any(|it| names.contains(it));
        match (reads(scope::OF_STEP), reads(scope::OF_EDIT)) {
            (true, false) => ConditionSubject::Bundle,
            (true, true) => ConditionSubject::Both,
            (false, _) => ConditionSubject::Edit,
        }
    }

    /// Whether it is evaluated for a change: a condition about the step for each move, one about the edit for the edit,
    /// one about both for either. One that reads the user needs a user.
    pub(crate) fn is_about(&self, change: &Change<'_>) -> bool {
        let is_edit = change.maker == Maker::User;
        let is_asked = match self.about() {
            ConditionSubject::Bundle => change.is_move,
            ConditionSubject::Both => change.is_move || is_edit,
            ConditionSubject::Edit => is_edit,
        };
        is_asked && (change.user.is_some() || !self.compiled.variables.contains(&scope::USER))
    }

    /// Whether it is evaluated for steps that OLM makes automatically.
    pub(crate) fn is_of_each_step(&self) -> bool {
        self.about() != ConditionSubject::Edit
    }

    /// The violation, unless the condition is met or not asked.
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

/// Reads an expression, or says why it is not accepted; takes its steps from the budget.
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

/// The first error of the parser, without the excerpt that it draws itself.
///
/// What is wrong with the tree (an incomplete node) only follows from what is wrong with the text.
fn syntax(text: &str, errors: &ParseErrors) -> ExpressionError {
    let mut all = errors.errors.iter();
    let of_text = all.find(|error| error.msg.starts_with(OF_TEXT));
    let Some(error) = of_text.or_else(|| errors.errors.first()) else {
        return ExpressionError::new("the parser reports no reason", None);
    };
    let message = error.msg.strip_prefix(OF_TEXT).unwrap_or(&error.msg);
    // The list of every token that could follow helps no one.
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

/// The byte offset of a line and column from 1, where columns count characters.
fn offset(text: &str, (line, column): (isize, isize)) -> Option<usize> {
    let line = usize::try_from(line).ok()?.checked_sub(1)?;
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut places = text.get(start..)?.char_indices();
    Some(places.nth(column).map_or(text.len(), |(at, _)| start + at))
}

/// The refusal with the byte offset of a node, which the analysis knows by its id.
fn located(refusal: analyse::Located, program: &Program) -> ExpressionError {
    let offsets = program.source_info().offset_for(refusal.node);
    let start = offsets.and_then(|(start, _)| usize::try_from(start).ok());
    ExpressionError::new(refusal.reason, start)
}

// === Evaluation ===

/// Whether the condition is met, or why that cannot be decided.
fn evaluate(compiled: &Compiled, scope: &mut ConditionScope<'_>) -> Result<bool, String> {
    for name in &compiled.variables {
        scope.need(name)?;
    }
    match compiled.program.execute(scope.context()) {
        Ok(cel::Value::Bool(is_met)) => Ok(is_met),
        Ok(other) => Err(format!("expected true or false, found {}", other.type_of())),
        // Which entry fails first depends on the order of a mapping, and so would the text.
        Err(_) if compiled.has_unordered_steps => {
            Err("it fails for an entry of a mapping".to_owned())
        }
        Err(error) => Err(limits::beginning(&words(&error), limits::ERROR_BYTES)),
    }
}

/// The error in words that contain no mapping: the order of its entries is not defined. What is not ours is escaped.
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
