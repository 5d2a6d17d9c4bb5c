//! One evaluation of a compiled condition.

use cel::{ExecutionError, Value};

use super::scope::Scope;
use super::{Compiled, names};
use crate::limits;

/// Whether the condition is met, or why that cannot be decided.
pub(super) fn evaluate(compiled: &Compiled, scope: &mut Scope<'_>) -> Result<bool, String> {
    for name in &compiled.variables {
        scope.need(name)?;
    }
    match compiled.program.execute(scope.context()) {
        Ok(Value::Bool(is_met)) => Ok(is_met),
        Ok(other) => Err(format!("expected true or false, found {}", other.type_of())),
        // Which entry fails first depends on the order of a mapping, and so would the text.
        Err(_) if compiled.has_unordered_steps => {
            Err("it fails for an entry of a mapping".to_owned())
        }
        Err(error) => Err(limits::beginning(&words(&error), limits::ERROR_BYTES)),
    }
}

/// The error in words that contain no mapping: the order of its entries is not defined.
fn words(error: &ExecutionError) -> String {
    use ExecutionError as Error;
    match error {
        Error::NoSuchKey(key) => format!("there is no key {key:?}"),
        Error::UndeclaredReference(name) => format!("unknown name {:?}", names::external(name)),
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
            format!("function {function} fails: {message}")
        }
        Error::DivisionByZero(_) | Error::RemainderByZero(_) => "division by zero".to_owned(),
        Error::Overflow(operator, ..) => format!("{operator} overflows 64 bits"),
        Error::IndexOutOfBounds(Value::Int(index)) => format!("there is no index {index}"),
        Error::IndexOutOfBounds(_) => "there is no such index".to_owned(),
        Error::DuplicateKey(_) => "a mapping has a key twice".to_owned(),
        _ => "a value has the wrong type".to_owned(),
    }
}
