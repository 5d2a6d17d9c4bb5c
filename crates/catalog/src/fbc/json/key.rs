//! Keys of objects, and which field each means.

use std::borrow::Cow;

use super::string::RawString;

/// A key as it is written.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    raw: RawString<'a>,
    /// The key, if it has no escapes and nothing beyond ASCII, as nearly all.
    ascii: Option<&'a [u8]>,
}

/// How a key relates to the name of a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fold {
    /// It is the name.
    Exact,
    /// It is another spelling of it.
    Other,
}

/// A field that a key means: index, name, and how it is spelled.
pub(super) type FieldOf = (usize, &'static str, Fold);

impl<'a> Key<'a> {
    pub(super) fn of(raw: RawString<'a>) -> Self {
        let ascii = raw.plain().filter(|key| key.is_ascii());
        Self { raw, ascii }
    }

    /// What it says.
    pub fn decode(&self) -> Cow<'a, str> {
        self.raw.decode()
    }

    /// Whether it means the field of this name, of ASCII letters.
    pub fn fold(&self, name: &str) -> Option<Fold> {
        match self.ascii {
            Some(key) => fold_ascii(key, name),
            None => fold_of(&self.decode(), name),
        }
    }

    /// The field that it means.
    pub(super) fn field_of(&self, fields: &[&'static str]) -> Option<FieldOf> {
        field_of(fields, |name| self.fold(name))
    }
}

/// The field that a key means.
pub(super) fn field_of(
    fields: &[&'static str],
    fold: impl Fn(&str) -> Option<Fold>,
) -> Option<FieldOf> {
    let mut folded = None;
    for (index, &name) in fields.iter().enumerate() {
        match fold(name) {
            Some(Fold::Exact) => return Some((index, name, Fold::Exact)),
            Some(Fold::Other) => folded = Some((index, name, Fold::Other)),
            None => {}
        }
    }
    folded
}

/// Whether a key means the field of this name, of ASCII letters.
///
/// Two letters beyond ASCII fold to ASCII ones: U+017F (long s) and U+212A (Kelvin sign).
pub fn fold_of(key: &str, name: &str) -> Option<Fold> {
    if key.is_ascii() {
        return fold_ascii(key.as_bytes(), name);
    }
    let letters = key.chars().map(|letter| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    });
    letters
        .eq(name.chars().map(|letter| letter.to_ascii_lowercase()))
        .then_some(Fold::Other)
}

#[inline]
fn fold_ascii(key: &[u8], name: &str) -> Option<Fold> {
    let name = name.as_bytes();
    if key == name {
        return Some(Fold::Exact);
    }
    key.eq_ignore_ascii_case(name).then_some(Fold::Other)
}
