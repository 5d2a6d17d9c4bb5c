//! The answer of `/readyz`: whether API servers should send edits to a server, as text and as JSON.
//!
//! Both forms come from one value. `olmguard doctor` reads the JSON of each replica.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use olmguard_engine::explain::one_line;

/// Whether API servers should send edits to a server, and the checks behind the answer.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "olmguard.readiness/v1")]
pub struct Readiness {
    /// Schema of this object.
    schema: String,
    /// Whether API servers should send edits to this server.
    pub ready: bool,
    /// Why API servers should not send edits. Null if they should.
    pub reason: Option<String>,
    /// Readiness checks, in the order of the text output.
    pub checks: Vec<CheckReadiness>,
}

/// One readiness check.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct CheckReadiness {
    /// Name of the check in one word, such as `catalogs`.
    pub name: String,
    /// Whether the check allows API servers to send edits to this server.
    pub ok: bool,
    /// False as long as the check waits for a list. `policies` can be `ok` and wait for a list that it had before: edits can
    /// then be undecided, and an audit waits.
    #[serde(default = "known")]
    pub known: bool,
    /// State of the check, in one line.
    pub message: String,
    /// Number of loaded catalogs. Null for other checks, and until catalogs are read.
    pub catalogs: Option<CatalogCounts>,
    /// How olmguard knows which OLM runs. Null for other checks.
    pub olm: Option<OlmEvidence>,
}

/// Number of catalogs, and how many of them have a fault.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "camelCase")]
pub struct CatalogCounts {
    /// Number of catalogs that are available to OLM, or given by a flag.
    pub available: usize,
    /// Number of available catalogs whose content is loaded.
    pub loaded: usize,
    /// Number of available catalogs that are not served, not loaded, or not loaded with their
    /// newest content.
    pub faulty: usize,
    /// Number of available catalogs whose fetched content is held back, because it is probably not
    /// the catalog.
    pub held_back: usize,
}

/// How olmguard knows which OLM runs.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "camelCase")]
pub enum OlmEvidence {
    /// OLM was found in the cluster, and nothing was assumed.
    Found,
    /// The release or settings of OLM were assumed, at least in part.
    Assumed,
    /// OLM was found earlier, and cannot be checked now.
    Earlier,
    /// OLM is not known yet.
    Pending,
}

/// The reason why an answer of `/readyz` cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReadinessError {
    /// The answer is not JSON. Releases before the JSON form answer in text only.
    #[error("the answer has no JSON form")]
    NoJson,
    /// The answer has another schema.
    #[error("the answer has the schema {0}, expected {SCHEMA}")]
    Schema(String),
    /// The answer does not fit its schema.
    #[error("the answer does not fit {SCHEMA}: {0}")]
    Shape(String),
    /// The answer is too large.
    #[error("the answer is larger than {LARGEST} bytes")]
    TooLarge,
}

impl Readiness {
    /// Combines the fault that keeps the server from serving, if any, with its checks.
    pub fn new(under_way: Result<(), String>, checks: Vec<CheckReadiness>) -> Self {
        let faults = checks.iter().filter(|check| !check.ok);
        let mut faults = faults.map(|check| format!("{}: {}", check.name, check.message));
        let reason = under_way.err().or_else(|| faults.next());
        Self {
            schema: SCHEMA.to_owned(),
            ready: reason.is_none(),
            reason,
            checks,
        }
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// If the answer has another form, or is too large.
    pub fn from_json(body: &str) -> Result<Self, ReadinessError> {
        if body.len() > LARGEST {
            return Err(ReadinessError::TooLarge);
        }
        let object: serde_json::Map<_, _> =
            serde_json::from_str(body).map_err(|_| ReadinessError::NoJson)?;
        match object.get("schema").and_then(|schema| schema.as_str()) {
            Some(SCHEMA) => {}
            other => return Err(ReadinessError::Schema(quoted(other))),
        }
        let read = serde_json::from_value::<Self>(object.into());
        let shape = |error: serde_json::Error| ReadinessError::Shape(one_line(&error.to_string()));
        Ok(read.map_err(shape)?.printable())
    }

    /// Returns the whole answer in one line.
    pub fn line(&self) -> String {
        match &self.reason {
            None => "ready".to_owned(),
            Some(reason) => format!("not ready: {reason}"),
        }
    }

    /// Renders the text form: the whole answer in the first line, then one line per check.
    pub fn to_text(&self) -> String {
        let lines = self.checks.iter().map(|check| {
            let mark = if check.ok { '+' } else { '-' };
            format!("[{mark}] {}: {}\n", check.name, check.message)
        });
        let first = self.line() + "\n";
        std::iter::once(first).chain(lines).collect()
    }

    /// Returns the check of this name, if it was made.
    pub(crate) fn check(&self, name: &str) -> Option<&CheckReadiness> {
        self.checks.iter().find(|check| check.name == name)
    }

    /// Escapes terminal control characters, because the text comes from another program.
    fn printable(self) -> Self {
        let checks = self.checks.into_iter().map(|check| CheckReadiness {
            name: one_line(&check.name),
            message: one_line(&check.message),
            ..check
        });
        Self {
            reason: self.reason.map(|reason| one_line(&reason)),
            checks: checks.collect(),
            ..self
        }
    }
}

impl CheckReadiness {
    /// Creates the result of a check without further facts. A check that fails is not known either.
    pub fn new(name: &str, state: Result<String, String>) -> Self {
        Self {
            name: name.to_owned(),
            ok: state.is_ok(),
            known: state.is_ok(),
            message: state.unwrap_or_else(|words| words),
            catalogs: None,
            olm: None,
        }
    }
}

/// Default for answers of releases that do not have this field.
fn known() -> bool {
    true
}

fn quoted(schema: Option<&str>) -> String {
    match schema {
        Some(schema) if schema.len() <= LONGEST_SCHEMA => format!("\"{}\"", one_line(schema)),
        Some(_) => "of an unknown name".to_owned(),
        None => "null".to_owned(),
    }
}

const SCHEMA: &str = "olmguard.readiness/v1";

/// Maximum size of an answer in bytes: enough for one line per catalog with thousands of catalogs.
const LARGEST: usize = 1 << 20;

const LONGEST_SCHEMA: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn json(readiness: &Readiness) -> String {
        serde_json::to_string(readiness).expect("string keys only")
    }

    fn readiness(under_way: Result<(), String>, words: Result<&str, &str>) -> Readiness {
        let counts = CatalogCounts {
            available: 2,
            loaded: 1,
            faulty: 1,
            held_back: 0,
        };
        let words = words.map(str::to_owned).map_err(str::to_owned);
        let checks = vec![
            CheckReadiness {
                catalogs: Some(counts),
                ..CheckReadiness::new("catalogs", words)
            },
            CheckReadiness {
                olm: Some(OlmEvidence::Found),
                ..CheckReadiness::new("olm", Ok("b".to_owned()))
            },
        ];
        Readiness::new(under_way, checks)
    }

    #[test]
    fn the_text_and_the_json_are_of_one_value() {
        let readiness = readiness(Ok(()), Err("a"));
        let text = "not ready: catalogs: a\n[-] catalogs: a\n[+] olm: b\n";
        assert_eq!(readiness.to_text(), text);
        let expected = "{\"schema\":\"olmguard.readiness/v1\",\"ready\":false,\"reason\":\"catalogs: a\",\
            \"checks\":[{\"name\":\"catalogs\",\"ok\":false,\"known\":false,\"message\":\"a\",\"catalogs\":\
            {\"available\":2,\"loaded\":1,\"faulty\":1,\"heldBack\":0},\"olm\":null},\
            {\"name\":\"olm\",\"ok\":true,\"known\":true,\"message\":\"b\",\"catalogs\":null,\"olm\":\"found\"}]}";
        assert_eq!(json(&readiness), expected);
        assert_eq!(Readiness::from_json(expected), Ok(readiness));
    }

    #[test]
    fn what_keeps_a_server_from_serving_goes_before_its_checks() {
        let leaving = readiness(Err("shutting down".to_owned()), Err("a"));
        assert_eq!(leaving.line(), "not ready: shutting down");
        let well = readiness(Ok(()), Ok("a"));
        assert_eq!((well.ready, well.line().as_str()), (true, "ready"));
    }

    #[test]
    fn what_is_read_fits_a_terminal() {
        let body = json(&readiness(Ok(()), Err("a\u{1b}[31m\nb")));
        let read = Readiness::from_json(&body).expect("it fits");
        assert_eq!(read.line(), "not ready: catalogs: a\\x1b[31m\\nb");
    }

    #[track_caller]
    fn refused(body: &str, expected: &str) {
        let error = Readiness::from_json(body).expect_err("it does not fit");
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn another_form_is_refused() {
        for text in ["", "ready\n[+] catalogs: 1 of 1 loaded\n", "[]", "{"] {
            refused(text, "the answer has no JSON form");
        }
        refused(
            r#"{"kind": "Status"}"#,
            "the answer has the schema null, expected olmguard.readiness/v1",
        );
        refused(
            r#"{"schema": "olmguard.readiness/v2"}"#,
            "the answer has the schema \"olmguard.readiness/v2\", expected olmguard.readiness/v1",
        );
        refused(
            r#"{"schema": "olmguard.readiness/v1", "ready": 1}"#,
            "the answer does not fit olmguard.readiness/v1: invalid type: integer `1`, expected a boolean",
        );
        let long = " ".repeat(LARGEST + 1);
        refused(&long, "the answer is larger than 1048576 bytes");
    }

    /// A replica of a later release can report more fields.
    #[test]
    fn keys_that_are_not_known_are_passed_over() {
        let readiness = readiness(Ok(()), Ok("a"));
        let body = json(&readiness).replace("\"ready\"", "\"more\":[1],\"ready\"");
        assert_eq!(Readiness::from_json(&body), Ok(readiness));
    }
}
