//! `conditions`: CEL for what the other rules cannot express.
//!
//! ```text
//! text --scan--> text in bounds --cel--> tree --analyse--> Condition (compiled)
//!                                                    Change --scope--> values --cel--> true, or why not
//! ```
//!
//! `scan` bounds length and nesting before the parser reads the text. `analyse` reports unknown
//! names and bounds the steps and the memory of any evaluation, from the largest values that a scope
//! can contain; so an evaluation needs no clock. A condition is met if it is `true`; every other
//! value and every error is a failure.

mod analyse;
mod compile;
mod evaluate;
mod names;
mod scan;
mod scope;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use cel::Program;
use serde_json::Value;

use crate::change::{Change, Maker};
use crate::fault::{Faults, PolicyProblem};
use crate::limits;
use crate::members::{Members, TextRule};
use crate::violation::{ConditionOutcome, ConditionSubject, PolicyRule};
pub(crate) use scope::Scope;

/// One condition, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
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

/// A program, and what is known of it.
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
pub(crate) struct Refusal {
    reason: String,
    /// Byte offset in the text.
    at: Option<usize>,
}

impl Refusal {
    fn new(reason: impl Into<String>, at: Option<usize>) -> Self {
        let reason = reason.into();
        Self { reason, at }
    }
}

/// Reads `rules.conditions`; a condition with a fault is not among those that are evaluated.
pub(crate) fn read(rules: &Members<'_>, faults: &mut Faults) -> Vec<Condition> {
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
    faults: &mut Faults,
) -> Option<Condition> {
    let members = Members::of(value, path, KEYS, faults)?;
    let message = members.text("message", MESSAGE, faults);
    members.needed("expression", EXPRESSION.expected, faults)?;
    let expression = members.text("expression", EXPRESSION, faults)?;
    let before = *budget;
    match compile::compile(expression, budget) {
        Ok(compiled) => Some(Condition {
            index,
            expression: expression.into(),
            message: message.map(Into::into),
            compiled: Arc::new(compiled),
            steps: before.saturating_sub(*budget),
        }),
        Err(Refusal { reason, at }) => {
            let problem = PolicyProblem::Expression { reason, at };
            faults.report(members.path_of("expression"), problem);
            None
        }
    }
}

impl Condition {
    /// How many steps an evaluation takes at most.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// What its answer depends on.
    fn about(&self) -> ConditionSubject {
        let reads = |names: &[&str]| self.compiled.variables.iter().any(|it| names.contains(it));
        match (reads(names::OF_STEP), reads(names::OF_EDIT)) {
            (true, false) => ConditionSubject::Bundle,
            (true, true) => ConditionSubject::Both,
            (false, _) => ConditionSubject::Edit,
        }
    }

    /// Whether it is put to a change: one about the step to each move, one about the edit to the edit, one about both to
    /// either.
    pub(crate) fn is_about(&self, change: &Change<'_>) -> bool {
        let is_edit = change.maker == Maker::User;
        match self.about() {
            ConditionSubject::Bundle => change.is_move,
            ConditionSubject::Both => change.is_move || is_edit,
            ConditionSubject::Edit => is_edit,
        }
    }

    /// Whether it is put to steps that OLM makes automatically.
    pub(crate) fn is_of_each_step(&self) -> bool {
        self.about() != ConditionSubject::Edit
    }

    /// The violation, unless the condition is met or not asked.
    pub(crate) fn violated(
        &self,
        scope: &mut Scope<'_>,
        conditions: Conditions<'_>,
    ) -> Option<PolicyRule> {
        let evaluated = match conditions {
            Conditions::Skipped => return None,
            Conditions::EvaluatedUntil(is_over) if is_over() => Err(NOT_IN_TIME.to_owned()),
            Conditions::EvaluatedUntil(_) => evaluate::evaluate(&self.compiled, scope),
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

const EXPRESSION: TextRule = TextRule {
    expected: "a CEL expression such as \"to.minor < 7\"",
    most: limits::EXPRESSION_BYTES,
};

const MESSAGE: TextRule = TextRule {
    expected: "a string",
    most: limits::MESSAGE_BYTES,
};
