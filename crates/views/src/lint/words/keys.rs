//! About keys and schemas that OLM does not know.

use super::{Words, q};
use crate::lint::written::UnknownKey;

/// `others` is how many more objects of the blob have the key.
pub(in crate::lint) fn unknown_key(key: &UnknownKey, near: Option<&str>, others: usize) -> Words {
    let others = match others {
        0 => String::new(),
        1 => " (1 more has it, too)".to_owned(),
        others => format!(" ({others} more have it, too)"),
    };
    let has = format!("{} has the key {}{others}", holder(key), q(&key.key));
    Words::own(match (key.read_as, near) {
        (Some(name), _) => format!(
            "{has}: OLM reads it as {name}, but other programs do not; write {}",
            q(name)
        ),
        (None, Some(near)) => {
            format!("{has}, which OLM ignores; did you mean {}?", q(near))
        }
        (None, None) => format!(
            "{has}, which OLM ignores; expected one of {}",
            key.known.join(", ")
        ),
    })
}

/// The object that has a key.
fn holder(key: &UnknownKey) -> String {
    let (schema, name) = &key.blob;
    let what = match &**schema {
        "olm.deprecations" => format!("the olm.deprecations of package {}", q(&key.package)),
        schema => format!("{} {}", schema.trim_start_matches("olm."), q(name)),
    };
    match (&key.entry, &*key.path) {
        (Some(entry), _) => format!("entry {} of {what}", q(entry)),
        (None, "") => what,
        (None, path) => format!("{path} of {what}"),
    }
}

pub(in crate::lint) fn misspelt_schema(schema: &str, near: &str) -> Words {
    Words::own(format!(
        "OLM does not know the schema {} and ignores the blob; did you mean {}?",
        q(schema),
        q(near)
    ))
}
