//! The values of the variables of an expression, within their limits, and the names that it can use.
//!
//! A value over its limit is an error, never cut off: `user.groups` without the last group could
//! allow what the whole list denies.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, Value};

use crate::change::{Change, PolicyBundle, PolicyOrigin, User};
use crate::limits;

/// The variables of one change: each is made when the first condition reads it, for all conditions of all policies.
pub(crate) struct ConditionScope<'c> {
    pub(crate) change: &'c Change<'c>,
    context: Context<'static, 'static>,
    /// What became of the variables that were read.
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

    /// What an expression whose variables have their values is evaluated in.
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

/// The standard library, without optional values: shared, never changed.
pub(super) static ENVIRONMENT: LazyLock<Arc<Env>> =
    LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(false)));

/// The value of a variable.
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

/// No condition that reads it is evaluated then.
const NO_USER: &str = "user: no one in particular edits";

/// Not `null`: that is nothing installed.
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
    // A name that is not known is no empty one: reading it fails.
    if !bundle.name.is_empty() {
        fields.insert("bundle".to_owned(), text(name, bundle.name)?);
    }
    Ok(fields.into())
}

fn user(user: User<'_>) -> Result<Value, String> {
    let groups = texts("user.groups", user.groups, limits::SCOPE_GROUPS)?;
    let name = text("user.name", user.name)?;
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

/// A number in CEL has a sign, a number in a version has none.
fn number(name: &str, number: u64) -> Result<Value, String> {
    let number = i64::try_from(number);
    let number = number.map_err(|_| format!("{name}: a number of the version exceeds 64 bits"))?;
    Ok(Value::Int(number))
}

/// How many there are is not known: no more is read of labels, groups and names than shows that they are too many.
fn bounded(name: &str, found: usize, most: usize, unit: &str) -> Result<(), String> {
    if found > most {
        return Err(format!(
            "{name}: expected at most {most} {unit}, found more"
        ));
    }
    Ok(())
}

// === The variables and functions of an expression, and how large a value of each can be ===

/// A bound on a value, in units of 64 bytes; everything counts at least one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ValueSize {
    /// The value with all that it contains.
    pub(super) weight: u64,
    /// How many entries a comprehension can go over.
    pub(super) entries: u64,
    /// The largest entry.
    pub(super) entry: u64,
    /// Whether it is, or contains, a mapping.
    pub(super) has_mapping: bool,
}

impl ValueSize {
    /// A number, a Boolean or null.
    pub(super) const SCALAR: Self = Self::entry(1);

    /// A text of at most so many bytes.
    pub(super) const fn text(bytes: usize) -> Self {
        Self::entry(1 + (bytes / 64) as u64)
    }

    /// Something of this weight of which nothing else is known: in the worst case a list of scalars.
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

/// A variable, its fields if they are known, and the bound on its value.
pub(super) struct Variable {
    pub(super) name: &'static str,
    pub(super) fields: &'static [(&'static str, ValueSize)],
    pub(super) size: ValueSize,
}

/// The variable of a name.
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

/// In the order of the documentation.
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

/// The variables that are about one step, and different for each.
pub(super) const OF_STEP: &[&str] = &["from", "to", "catalog", "deprecated"];

/// Who makes the edit.
pub(super) const USER: &str = "user";

/// The variables that are about the edit: who makes it, and what it requests.
pub(super) const OF_EDIT: &[&str] = &[USER, "operation", "range", "bypass", "channels"];

/// The functions of an expression, besides operators and comprehensions.
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

/// Words that CEL reserves although policies have variables of these names, and what stands for them
/// before the parser: equally long, so that positions stay true.
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

/// A text of the library with the names as the author writes them.
pub(super) fn externalised(text: &str) -> String {
    let mut text = text.to_owned();
    for (outside, inside) in RESERVED {
        text = text.replace(inside, outside);
    }
    text
}
