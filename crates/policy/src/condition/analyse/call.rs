//! Operators and functions.

use cel::common::ast::{CallExpr, IdedExpr, operators};

use super::{Bounds, Located, Walk, at, part};
use crate::condition::names::{self, Size};
use crate::limits;

impl Walk {
    /// An operator or a function, with its arguments.
    pub(super) fn call(&mut self, node: &IdedExpr, call: &CallExpr) -> Result<Bounds, Located> {
        let name = call.func_name.as_str();
        check(node, name)?;
        let mut steps: u64 = 0;
        let mut sizes = Vec::new();
        for argument in call.target.as_deref().into_iter().chain(&call.args) {
            let (size, more) = self.node(argument)?;
            steps = steps.saturating_add(more).saturating_add(size.weight);
            sizes.push(size);
        }
        Ok((result(name, &sizes), steps))
    }
}

/// What is not known cannot be bounded, and would fail in every evaluation.
fn check(node: &IdedExpr, name: &str) -> Result<(), Located> {
    if OPERATORS.contains(&name) || names::FUNCTIONS.contains(&name) {
        return Ok(());
    }
    let name = limits::beginning(name, limits::ECHOED_BYTES);
    let known = names::FUNCTIONS.join(", ");
    Err(at(
        node,
        format!("unknown function {name:?}: expected one of {known}"),
    ))
}

/// The bound on the result.
fn result(name: &str, sizes: &[Size]) -> Size {
    match (name, sizes) {
        (operators::CONDITIONAL, [_, then, otherwise]) => larger(*then, *otherwise),
        (operators::ADD, [left, right]) => together(*left, *right),
        (operators::INDEX, [whole, _]) => part(*whole),
        ("dyn", [same]) => *same,
        // A number of 64 bits has at most 326 characters, as f64::MIN.
        ("string", [of]) => Size::entry(of.weight.saturating_add(6)),
        _ => Size::SCALAR,
    }
}

fn larger(a: Size, b: Size) -> Size {
    Size {
        weight: a.weight.max(b.weight),
        entries: a.entries.max(b.entries),
        entry: a.entry.max(b.entry),
        has_mapping: a.has_mapping || b.has_mapping,
    }
}

fn together(a: Size, b: Size) -> Size {
    Size {
        weight: a.weight.saturating_add(b.weight),
        entries: a.entries.saturating_add(b.entries),
        ..larger(a, b)
    }
}

/// All that compare, calculate and select. Optional values are not available.
const OPERATORS: &[&str] = &[
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::SUBSTRACT,
    operators::ADD,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::GREATER_EQUALS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::LESS,
    operators::NEGATE,
    operators::INDEX,
    operators::IN,
    operators::NOT_STRICTLY_FALSE,
];
