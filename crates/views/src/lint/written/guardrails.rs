//! What is written of upgrade steps, with the place of each rule.

use serde_json::Value;

use super::Spot;
use super::locate::Locator;
use olmguard_catalog::fbc::raw;
use olmguard_catalog::guardrail::{self, UnreadGuardrails, read_text};

/// A blob or a property that holds guardrails, or would in another version of the schema.
#[derive(Debug)]
pub(crate) struct Guardrails {
    pub(crate) carrier: Carrier,
    pub(crate) spot: Spot,
    pub(crate) schema: Box<str>,
    pub(crate) package: Box<str>,
    pub(crate) name: Box<str>,
    /// What they say; none in another version of the schema.
    pub(crate) stated: Option<Result<guardrail::Guardrails, UnreadGuardrails>>,
    /// The rules in the order written, if they can be read.
    pub(crate) rules: Vec<RuleSpot>,
    /// Where they cannot be read.
    pub(crate) fault: Spot,
}

/// What holds guardrails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Carrier {
    /// A blob of its own.
    Blob,
    /// A property of the `olm.package`.
    Property,
}

/// Where a rule stands.
#[derive(Debug)]
pub(crate) struct RuleSpot {
    pub(crate) id: Box<str>,
    pub(crate) spot: Spot,
    /// Whether it has a key `bypassable`.
    pub(crate) says_bypassable: bool,
}

impl Guardrails {
    /// Of a version of the schema that is not known here.
    pub(super) fn unknown(
        carrier: Carrier,
        spot: Spot,
        schema: &str,
        (package, name): (&str, &str),
    ) -> Self {
        Self {
            carrier,
            spot,
            schema: schema.into(),
            package: package.into(),
            name: name.into(),
            stated: None,
            rules: Vec::new(),
            fault: spot,
        }
    }

    /// What is written in a blob, or in a property of a package.
    pub(super) fn of(
        carrier: Carrier,
        written: &raw::RawGuardrails<'_>,
        names: (&str, &str),
        locator: &mut Locator<'_>,
    ) -> Self {
        let spot = locator.find(written.at);
        let mut own = Self::unknown(carrier, spot, &written.schema, names);
        if guardrail::is_of_other_version(&written.schema) {
            return own;
        }
        let stated = read_text(&written.text);
        match &stated {
            Ok(_) => own.rules = rules(written, locator),
            Err(unread) => {
                let rule = rule_of(&unread.path).and_then(|index| written.rules.get(index));
                own.fault = rule.map_or(spot, |at| locator.find(*at));
            }
        }
        own.stated = Some(stated);
        own
    }
}

/// The rules of guardrails that can be read.
fn rules(written: &raw::RawGuardrails<'_>, locator: &mut Locator<'_>) -> Vec<RuleSpot> {
    let whole: Value = serde_json::from_str(&written.text).unwrap_or_default();
    let rules = whole.get("rules").and_then(Value::as_array);
    let rules = rules.into_iter().flatten().zip(&written.rules);
    let rules = rules.map(|(rule, at)| RuleSpot {
        id: rule
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .into(),
        spot: locator.find(*at),
        says_bypassable: rule.get("bypassable").is_some_and(|said| !said.is_null()),
    });
    rules.collect()
}

/// Which rule a field such as `rules[2].via` is of.
fn rule_of(path: &str) -> Option<usize> {
    let (index, _) = path.strip_prefix("rules[")?.split_once(']')?;
    index.parse().ok()
}
