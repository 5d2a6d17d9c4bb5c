//! The variables and functions of an expression, and the values of the variables, within their limits.
//!
//! A value over its limit is an error and is never truncated: `user.groups` without the last group could allow what
//! the whole list denies.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, Value};

use crate::change::{Change, PolicyBundle, PolicyOrigin, UserInfo};
use crate::limits;

/// The variables of one change. Each is created when the first condition reads it, and shared by all policies.
pub(crate) struct ConditionScope<'c> {
    pub(crate) change: &'c Change<'c>,
    context: Context<'static, 'static>,
    /// The outcome for each variable that was read.
    read: Vec<(&'static str, Result<(), String>)>,
}

impl<'c> ConditionScope<'c> {
    pub(crate) fn of(change: &'c Change<'c>) -> Self {
        Self {
            change,
            context: Context::with_env(Arc::clone(&ENVIRONMENT)),
            read: Vec::new(),
        }
    }

    /// Makes sure that a variable has its value.
    pub(super) fn need(&mut self, name: &'static str) -> Result<(), String> {
        if let Some((_, known)) = self.read.iter().find(|(known, _)| *known == name) {
            return known.clone();
        }
        let made = value(name, self.change).map(|value| {
            let name = internal(name);
            self.context.add_variable_from_value(name, value);
        });
        self.read.push((name, made.clone()));
        made
    }

    /// The evaluation context, which contains the variables that were needed so far.
    pub(super) fn context(&self) -> &Context<'static, 'static> {
        &self.context
    }
}

impl fmt::Debug for ConditionScope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConditionScope")
            .field("change", &self.change)
            .finish_non_exhaustive()
    }
}

/// The standard library without optional values; shared and never changed.
pub(super) static ENVIRONMENT: LazyLock<Arc<Env>> =
    LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(false)));

/// Creates the value of a variable.
fn value(name: &str, change: &Change<'_>) -> Result<Value, String> {
    let subject = change.subject;
    match name {
        "from" => match change.from {
            PolicyOrigin::Nothing => Ok(Value::Null),
            PolicyOrigin::Unknown => Err(FROM_UNKNOWN.to_owned()),
            PolicyOrigin::Bundle(from) => bundle("from", from),
        },
        "to" => bundle("to", change.to),
        "package" => text(name, subject.package),
        "catalog" => text(name, change.catalog),
        "channels" => texts(name, change.channels, limits::SCOPE_CHANNELS),
        "labels" => labels(change),
        "namespace" => text(name, subject.namespace),
        "range" => text(name, change.range.map_or("", |range| range.as_str())),
        USER => change.user.ok_or_else(|| NO_USER.to_owned()).and_then(user),
        "operation" => text(name, change.operation.as_str()),
        "bypass" => Ok(Value::Bool(change.bypass)),
        "deprecated" => Ok(Value::Bool(change.deprecated)),
        _ => Err(format!("unknown variable {name}")),
    }
}

/// Defensive: conditions that read the user are not evaluated without one.
const NO_USER: &str = "user: no one in particular edits";

/// An error instead of `null`, because `null` means that nothing is installed.
const FROM_UNKNOWN: &str = "from: the installed version is unknown or cannot be read";

fn bundle(name: &str, bundle: PolicyBundle<'_>) -> Result<Value, String> {
    let version = bundle.version;
    let mut fields = HashMap::from([
        ("major".to_owned(), number(name, version.major())?),
        ("minor".to_owned(), number(name, version.minor())?),
        ("patch".to_owned(), number(name, version.patch())?),
        ("prerelease".to_owned(), text(name, version.prerelease())?),
        ("version".to_owned(), text(name, &version.to_string())?),
    ]);
    // A bundle name that is unknown is left out instead of being empty: reading it fails.
    if !bundle.name.is_empty() {
        fields.insert("bundle".to_owned(), text(name, bundle.name)?);
    }
    Ok(fields.into())
}

fn user(user: &UserInfo) -> Result<Value, String> {
    let groups = texts("user.groups", &user.groups, limits::SCOPE_GROUPS)?;
    let name = text("user.name", &user.name)?;
    Ok(mapping([("name", name), ("groups", groups)]))
}

fn labels(change: &Change<'_>) -> Result<Value, String> {
    let labels = change.subject.labels;
    bounded("labels", labels.len(), limits::SCOPE_LABELS, "entries")?;
    let mut entries = HashMap::new();
    for (key, value) in labels {
        bounded("labels", key.len(), limits::SCOPE_BYTES, "bytes")?;
        entries.insert(key.clone(), text("labels", value)?);
    }
    Ok(entries.into())
}

fn mapping<const N: usize>(fields: [(&str, Value); N]) -> Value {
    HashMap::from(fields.map(|(key, value)| (key.to_owned(), value))).into()
}

fn texts(name: &str, texts: &[String], most: usize) -> Result<Value, String> {
    bounded(name, texts.len(), most, "entries")?;
    let values = texts.iter().map(|entry| text(name, entry));
    let values: Vec<Value> = values.collect::<Result<_, _>>()?;
    Ok(values.into())
}

fn text(name: &str, text: &str) -> Result<Value, String> {
    bounded(name, text.len(), limits::SCOPE_BYTES, "bytes")?;
    Ok(text.into())
}

/// Converts a number, because CEL integers are signed and version numbers are not.
fn number(name: &str, number: u64) -> Result<Value, String> {
    let number = i64::try_from(number);
    let number = number.map_err(|_| format!("{name}: a number of the version exceeds 64 bits"))?;
    Ok(Value::Int(number))
}

/// Checks a limit. The error does not give the number found: labels, groups and names are read only until they are
/// known to be too many.
fn bounded(name: &str, found: usize, most: usize, unit: &str) -> Result<(), String> {
    if found > most {
        return Err(format!(
            "{name}: expected at most {most} {unit}, found more"
        ));
    }
    Ok(())
}

// === The variables and functions of an expression, and the largest size of each value ===

/// A bound on the size of a value, in units of 64 bytes; every value counts at least one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ValueSize {
    /// The value, including everything that it contains.
    pub(super) weight: u64,
    /// The number of entries that a comprehension can iterate over.
    pub(super) entries: u64,
    /// The size of the largest entry.
    pub(super) entry: u64,
    /// Whether the value is, or contains, a mapping.
    pub(super) has_mapping: bool,
}

impl ValueSize {
    /// A number, a Boolean or null.
    pub(super) const SCALAR: Self = Self::entry(1);

    /// A text of at most `bytes` bytes.
    pub(super) const fn text(bytes: usize) -> Self {
        Self::entry(1 + (bytes / 64) as u64)
    }

    /// A value of which only the weight is known: in the worst case a list of scalars.
    pub(super) const fn entry(weight: u64) -> Self {
        Self {
            weight,
            entries: weight,
            entry: weight,
            has_mapping: false,
        }
    }

    const fn many(entries: usize, entry: u64) -> Self {
        let entries = entries as u64;
        Self {
            weight: 1 + entries * (1 + entry),
            entries,
            entry,
            has_mapping: false,
        }
    }

    const fn mapping(self) -> Self {
        Self {
            has_mapping: true,
            ..self
        }
    }
}

/// A variable, its fields (empty if they are not known), and the bound on its value.
pub(super) struct Variable {
    pub(super) name: &'static str,
    pub(super) fields: &'static [(&'static str, ValueSize)],
    pub(super) size: ValueSize,
}

/// Returns the variable with this name.
pub(super) fn variable(name: &str) -> Option<&'static Variable> {
    VARIABLES.iter().find(|variable| variable.name == name)
}

const TEXT: ValueSize = ValueSize::text(limits::SCOPE_BYTES);
const TEXT_WEIGHT: u64 = TEXT.weight;

const BUNDLE: &[(&str, ValueSize)] = &[
    ("major", ValueSize::SCALAR),
    ("minor", ValueSize::SCALAR),
    ("patch", ValueSize::SCALAR),
    ("prerelease", TEXT),
    ("version", TEXT),
    ("bundle", TEXT),
];

const GROUPS: ValueSize = ValueSize::many(limits::SCOPE_GROUPS, TEXT_WEIGHT);

const fn plain(name: &'static str, size: ValueSize) -> Variable {
    let fields = &[];
    Variable { name, fields, size }
}

const fn with_fields(
    name: &'static str,
    fields: &'static [(&'static str, ValueSize)],
    largest: u64,
) -> Variable {
    let size = ValueSize::many(fields.len(), largest).mapping();
    Variable { name, fields, size }
}

/// The variables, in the order of the documentation.
pub(super) const VARIABLES: &[Variable] = &[
    with_fields("from", BUNDLE, TEXT_WEIGHT),
    with_fields("to", BUNDLE, TEXT_WEIGHT),
    plain("package", TEXT),
    plain("catalog", TEXT),
    plain(
        "channels",
        ValueSize::many(limits::SCOPE_CHANNELS, TEXT_WEIGHT),
    ),
    // An entry is a key and a value.
    plain(
        "labels",
        ValueSize::many(limits::SCOPE_LABELS, 2 * TEXT_WEIGHT).mapping(),
    ),
    plain("namespace", TEXT),
    plain("range", TEXT),
    with_fields("user", &[("name", TEXT), ("groups", GROUPS)], GROUPS.weight),
    plain("operation", TEXT),
    plain("bypass", ValueSize::SCALAR),
    plain("deprecated", ValueSize::SCALAR),
];

/// The variables that describe one step, and differ between steps.
pub(super) const OF_STEP: &[&str] = &["from", "to", "catalog", "deprecated"];

/// The user who makes the edit.
pub(super) const USER: &str = "user";

/// The variables that describe the edit: the user, and the requested values.
pub(super) const OF_EDIT: &[&str] = &[USER, "operation", "range", "bypass", "channels"];

/// The functions of an expression, in addition to operators and comprehensions.
pub(super) const FUNCTIONS: &[&str] = &[
    "contains",
    "double",
    "dyn",
    "endsWith",
    "int",
    "size",
    "startsWith",
    "string",
    "uint",
];

/// Words that CEL reserves although policies have variables with these names, and their replacements for the parser.
/// Both are equally long, so positions stay valid.
pub(super) const RESERVED: &[(&str, &str)] = &[("package", "__pkg__"), ("namespace", "__names__")];

/// A name as the parser reads it.
pub(super) fn internal(name: &'static str) -> &'static str {
    let reserved = RESERVED.iter().find(|(outside, _)| *outside == name);
    reserved.map_or(name, |(_, inside)| inside)
}

/// A name as the author writes it.
pub(super) fn external(name: &str) -> &str {
    let reserved = RESERVED.iter().find(|(_, inside)| *inside == name);
    reserved.map_or(name, |(outside, _)| outside)
}

/// Replaces internal names in a text of the library by the names that the author writes.
pub(super) fn externalised(text: &str) -> String {
    let mut text = text.to_owned();
    for (outside, inside) in RESERVED {
        text = text.replace(inside, outside);
    }
    text
}
