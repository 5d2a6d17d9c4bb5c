//! What a blob or a property says of upgrade steps, and where each of its rules stands.

use std::borrow::Cow;

use crate::fbc::json::{Cursor, CursorResult, Record};
use crate::fbc::raw::property::Item;
use crate::guardrail::{self, is_of_other_version};

/// Guardrails as they are written.
#[derive(Debug)]
pub struct Guardrails<'a> {
    /// Where they begin.
    pub at: usize,
    /// The schema of the blob, or the type of the property.
    pub schema: Cow<'a, str>,
    /// The JSON that catalogd makes of them; null for those of a version that is not known here.
    pub text: Cow<'a, str>,
    /// Where each rule begins.
    pub rules: Vec<usize>,
}

/// Reads those that begin at a place.
pub(super) fn read<'a>(at: usize, cursor: &mut Cursor<'a>) -> CursorResult<Guardrails<'a>> {
    let text = cursor.rewritten(at)?.into();
    let (Places(rules), _) = cursor.isolated(|cursor| cursor.revisit(at, Cursor::record))?;
    Ok(Guardrails {
        at,
        schema: guardrail::SCHEMA.into(),
        text,
        rules,
    })
}

/// Reads those of the properties of a package, and finds those of other versions.
pub(super) fn of_properties<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Vec<Guardrails<'a>>> {
    let (items, _) = cursor.isolated(|cursor| {
        cursor.list(|cursor| {
            cursor.kind()?;
            let at = cursor.at();
            let item: Item<'a> = cursor.record()?;
            Ok((at, item))
        })
    })?;
    let is_of_them = |kind: &str| kind == guardrail::SCHEMA || is_of_other_version(kind);
    let of_them = items.into_iter().filter(|(_, item)| is_of_them(&item.kind));
    let guardrails = of_them.map(|(at, item)| match item.value {
        Some(value) if item.kind == guardrail::SCHEMA => read(value, cursor),
        _ => Ok(Guardrails {
            at,
            schema: item.kind,
            text: "null".into(),
            rules: Vec::new(),
        }),
    });
    guardrails.collect()
}

/// Where each of `rules` begins.
#[derive(Default)]
struct Places(Vec<usize>);

impl<'a> Record<'a> for Places {
    const FIELDS: &'static [&'static str] = &["rules"];

    fn read(&mut self, _: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        self.0 = cursor.list(|cursor| {
            cursor.kind()?;
            let at = cursor.at();
            cursor.skip()?;
            Ok(at)
        })?;
        Ok(())
    }
}
