//! Static analysis of a parsed expression: its names and its costs.
//!
//! Bounds are products: a comprehension costs the number of entries that it iterates over, times
//! the cost of one turn. Every node costs one step plus the weight of its arguments, because
//! operators compare or copy them. All bounds are upper bounds and saturate.

use cel::Program;
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators,
};

use crate::condition::scope::{self, ValueSize};
use crate::limits;

/// The results of the analysis that the evaluation needs.
pub(super) struct Analysis {
    /// The variables that are read, in the order of the documentation.
    pub(super) variables: Vec<&'static str>,
    /// Whether a comprehension iterates over a mapping.
    pub(super) has_unordered_steps: bool,
    /// The maximum number of steps of an evaluation.
    pub(super) steps: u64,
}

/// The reason why an expression is refused, with the id of the node.
pub(super) struct Located {
    pub(super) reason: String,
    pub(super) node: u64,
}

/// Checks the names in a program and bounds its costs.
pub(super) fn analyse(program: &Program) -> Result<Analysis, Located> {
    let mut walk = Analyser::default();
    let (_, steps) = walk.node(program.expression())?;
    let all = scope::VARIABLES.iter().map(|variable| variable.name);
    Ok(Analysis {
        variables: all.filter(|name| walk.read.contains(name)).collect(),
        has_unordered_steps: walk.has_unordered_steps,
        steps,
    })
}

#[derive(Default)]
struct Analyser {
    /// Variables of comprehensions, the innermost last.
    local: Vec<(String, ValueSize)>,
    /// Variables of the change that are read.
    read: Vec<&'static str>,
    has_unordered_steps: bool,
}

/// The bounds on the value of a node and on the steps to compute it.
type CostBounds = (ValueSize, u64);

impl Analyser {
    fn node(&mut self, node: &IdedExpr) -> Result<CostBounds, Located> {
        let (size, steps) = match &node.expr {
            Expr::Literal(literal) => (literal_size(literal), 0),
            Expr::Ident(name) => (self.name(node, name)?, 0),
            Expr::Select(select) => self.select(node, select)?,
            Expr::Call(call) => self.call(node, call)?,
            Expr::List(list) => self.collection(list.elements.iter(), false)?,
            Expr::Map(map) => {
                let entries = map.entries.iter().filter_map(|entry| match &entry.expr {
                    EntryExpr::MapEntry(entry) => Some([&entry.key, &entry.value]),
                    EntryExpr::StructField(_) => None,
                });
                self.collection(entries.flatten(), true)?
            }
            Expr::Comprehension(comprehension) => self.comprehension(node, comprehension)?,
            Expr::Struct(_) | Expr::Unspecified => {
                return Err(at(
                    node,
                    "messages such as Name{field: value} are not supported",
                ));
            }
        };
        if size.weight > limits::EXPRESSION_VALUE {
            return Err(at(
                node,
                "a value can become too large: expected fewer + and map",
            ));
        }
        Ok((size, steps.saturating_add(1)))
    }

    fn name(&mut self, node: &IdedExpr, name: &str) -> Result<ValueSize, Located> {
        let mut local = self.local.iter().rev();
        if let Some((_, size)) = local.find(|(known, _)| known == name) {
            return Ok(*size);
        }
        let name = scope::external(name);
        let Some(variable) = scope::variable(name) else {
            let known: Vec<&str> = scope::VARIABLES.iter().map(|known| known.name).collect();
            let name = limits::beginning(name, limits::ECHOED_BYTES);
            let known = known.join(", ");
            let reason = format!("unknown variable {name:?}: expected one of {known}");
            return Err(at(node, reason));
        };
        self.read.push(variable.name);
        Ok(variable.size)
    }

    fn select(&mut self, node: &IdedExpr, select: &SelectExpr) -> Result<CostBounds, Located> {
        let (operand, steps) = self.node(&select.operand)?;
        let field = self.field(node, select)?;
        let size = match field {
            _ if select.test => ValueSize::SCALAR,
            Some(size) => size,
            None => part(operand),
        };
        Ok((size, steps))
    }

    /// Returns the size of a field, if the operand is a variable whose fields are all known.
    fn field(&self, node: &IdedExpr, select: &SelectExpr) -> Result<Option<ValueSize>, Located> {
        let Expr::Ident(name) = &select.operand.expr else {
            return Ok(None);
        };
        let is_local = self.local.iter().any(|(known, _)| known == name);
        let variable = scope::variable(name).filter(|_| !is_local);
        let Some(variable) = variable.filter(|variable| !variable.fields.is_empty()) else {
            return Ok(None);
        };
        let mut fields = variable.fields.iter();
        if let Some((_, size)) = fields.find(|(field, _)| *field == select.field) {
            return Ok(Some(*size));
        }
        let known: Vec<&str> = variable.fields.iter().map(|(field, _)| *field).collect();
        let field = limits::beginning(&select.field, limits::ECHOED_BYTES);
        let known = known.join(", ");
        let reason = format!("{name} has no field {field:?}: expected one of {known}");
        Err(at(node, reason))
    }

    fn collection<'e>(
        &mut self,
        parts: impl Iterator<Item = &'e IdedExpr>,
        is_mapping: bool,
    ) -> Result<CostBounds, Located> {
        let mut whole = ValueSize {
            weight: 1,
            has_mapping: is_mapping,
            ..ValueSize::default()
        };
        let mut steps: u64 = 0;
        for part in parts {
            let (size, more) = self.node(part)?;
            whole.weight = whole.weight.saturating_add(1).saturating_add(size.weight);
            whole.entries += 1;
            whole.entry = whole.entry.max(size.weight);
            whole.has_mapping |= size.has_mapping;
            steps = steps.saturating_add(more);
        }
        Ok((whole, steps.saturating_add(whole.weight)))
    }

    fn comprehension(
        &mut self,
        node: &IdedExpr,
        expression: &ComprehensionExpr,
    ) -> Result<CostBounds, Located> {
        let (range, mut steps) = self.node(&expression.iter_range)?;
        let (init, more) = self.node(&expression.accu_init)?;
        let collects = matches!(expression.accu_init.expr, Expr::List(_));
        if range.has_mapping && collects {
            return Err(at(
                node,
                "map and filter over a mapping have no defined order: expected a list",
            ));
        }
        self.has_unordered_steps |= range.has_mapping;
        let outside = self.local.len();
        let entry = part(range);
        self.local.push((expression.iter_var.clone(), entry));
        let second = expression.iter_var2.clone();
        self.local.extend(second.map(|name| (name, entry)));
        self.local
            .push((expression.accu_var.clone(), accumulator(init, collects)));
        let (_, condition) = self.node(&expression.loop_cond)?;
        let (step, turn) = self.node(&expression.loop_step)?;
        if let Some((_, accumulator)) = self.local.last_mut().filter(|_| collects) {
            *accumulator = times(step, range.entries);
        }
        let (size, result) = self.node(&expression.result)?;
        self.local.truncate(outside);
        let turn = turn.saturating_add(condition).saturating_add(entry.weight);
        let turns = turn.saturating_mul(range.entries);
        for more in [more, turns, result] {
            steps = steps.saturating_add(more);
        }
        Ok((size, steps))
    }
}

/// The bound on an accumulator at the start. An accumulator that collects starts empty, so one turn
/// adds exactly the result of that turn.
fn accumulator(init: ValueSize, collects: bool) -> ValueSize {
    if !collects {
        return ValueSize::SCALAR;
    }
    ValueSize {
        weight: 0,
        entries: 0,
        entry: 0,
        ..init
    }
}

fn literal_size(literal: &LiteralValue) -> ValueSize {
    match literal {
        LiteralValue::String(text) => ValueSize::text(text.inner().len()),
        LiteralValue::Bytes(bytes) => ValueSize::text(bytes.inner().len()),
        _ => ValueSize::SCALAR,
    }
}

/// The bound on a part of a value.
fn part(whole: ValueSize) -> ValueSize {
    ValueSize {
        has_mapping: whole.has_mapping,
        ..ValueSize::entry(whole.entry)
    }
}

/// The bound on `turns` copies of a value together.
fn times(size: ValueSize, turns: u64) -> ValueSize {
    ValueSize {
        weight: size.weight.saturating_mul(turns).saturating_add(1),
        entries: size.entries.saturating_mul(turns),
        ..size
    }
}

fn at(node: &IdedExpr, reason: impl Into<String>) -> Located {
    let reason = reason.into();
    let node = node.id;
    Located { reason, node }
}

// === Operators and functions ===

impl Analyser {
    /// Bounds an operator or a function call, including its arguments.
    fn call(&mut self, node: &IdedExpr, call: &CallExpr) -> Result<CostBounds, Located> {
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

/// Refuses unknown functions: they cannot be bounded, and would fail in every evaluation.
fn check(node: &IdedExpr, name: &str) -> Result<(), Located> {
    if OPERATORS.contains(&name) || scope::FUNCTIONS.contains(&name) {
        return Ok(());
    }
    let name = limits::beginning(name, limits::ECHOED_BYTES);
    let known = scope::FUNCTIONS.join(", ");
    Err(at(
        node,
        format!("unknown function {name:?}: expected one of {known}"),
    ))
}

/// The bound on the result.
fn result(name: &str, sizes: &[ValueSize]) -> ValueSize {
    match (name, sizes) {
        (operators::CONDITIONAL, [_, then, otherwise]) => larger(*then, *otherwise),
        (operators::ADD, [left, right]) => together(*left, *right),
        (operators::INDEX, [whole, _]) => part(*whole),
        ("dyn", [same]) => *same,
        // A number of 64 bits has at most 326 characters, as f64::MIN.
        ("string", [of]) => ValueSize::entry(of.weight.saturating_add(6)),
        _ => ValueSize::SCALAR,
    }
}

fn larger(a: ValueSize, b: ValueSize) -> ValueSize {
    ValueSize {
        weight: a.weight.max(b.weight),
        entries: a.entries.max(b.entries),
        entry: a.entry.max(b.entry),
        has_mapping: a.has_mapping || b.has_mapping,
    }
}

fn together(a: ValueSize, b: ValueSize) -> ValueSize {
    ValueSize {
        weight: a.weight.saturating_add(b.weight),
        entries: a.entries.saturating_add(b.entries),
        ..larger(a, b)
    }
}

/// All comparison, arithmetic and selection operators. Optional values are not available.
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
