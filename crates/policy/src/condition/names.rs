//! The variables and functions of an expression, and how large a value of each can be.

use crate::limits;

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
