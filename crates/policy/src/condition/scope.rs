//! The values of the variables of an expression, within their limits.
//!
//! A value over its limit is an error, never cut off: `user.groups` without the last group could
//! allow what the whole list denies.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, Value};

use crate::change::{Change, PolicyBundle, PolicyOrigin, User};
use crate::condition::names;
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
            let name = names::internal(name);
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
        names::USER => change.user.ok_or_else(|| NO_USER.to_owned()).and_then(user),
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
