//! The value `settings` of the Helm chart: every flag of `serve`, with the values that it accepts.
//!
//! Helm refuses a setting that is not in `values.schema.json`. With `OLMGUARD_BLESS=1`, this test writes that part of
//! the file from the command line, so no flag is missing and no name is wrong.

use std::any::TypeId;
use std::fmt::Write;
use std::net::SocketAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

use clap::{Arg, ArgAction};
use olmguard_catalog::olm::OlmRelease;

use crate::cli::args::memory::MemoryLimit;
use crate::cli::args::olm::AskedRelease;

#[test]
fn the_chart_accepts_the_flags_of_serve_and_nothing_else() {
    let committed = include_str!("../../../deploy/chart/values.schema.json");
    let (before, rest) = committed.split_once(BEGIN).expect("settings");
    let (_, after) = rest.split_once(END).expect("the end of settings");
    let expected = format!("{before}{BEGIN}{}{END}{after}", settings());
    olmguard_fixtures::committed::compare("deploy/chart/values.schema.json", &expected);
}

#[test]
fn a_setting_accepts_what_its_flag_accepts() {
    for (flag, expected) in [
        ("mode", r#""enum": ["enforce", "observe"]"#),
        ("tls-min-version", r#""enum": ["1.2", "1.3"]"#),
        ("self-signed", r#""type": "boolean""#),
        ("queue", r#""type": "integer", "minimum": 0"#),
        ("workers", r#""type": "integer", "minimum": 1"#),
        ("memory-limit", r#""type": ["string", "integer"]"#),
        ("catalogd-ca", r#""type": "string""#),
    ] {
        let all = flags();
        let found = all.iter().find(|one| one.get_long() == Some(flag));
        assert_eq!(values(found.expect(flag)), expected, "{flag}");
    }
}

/// The text between `BEGIN` and `END`.
fn settings() -> String {
    let mut text = HEAD.to_owned();
    for flag in flags() {
        let name = flag.get_long().expect("a flag");
        let help = flag.get_help().map(ToString::to_string);
        let help = serde_json::to_string(&help.unwrap_or_default()).expect("a text");
        let values = values(&flag);
        let comma = if text == HEAD { "" } else { "," };
        write!(
            text,
            "{comma}\n        {name:?}: {{\n          \"description\": {help},\n          {values}\n        }}"
        )
        .expect("memory");
    }
    text.push_str("\n      }\n");
    text
}

/// Every flag of `serve`, by name.
fn flags() -> Vec<Arg> {
    let program = crate::cli::command();
    let serve = program.find_subcommand("serve").expect("serve");
    let named = serve
        .get_arguments()
        .filter(|flag| flag.get_long().is_some());
    let mut flags: Vec<_> = named.cloned().collect();
    flags.sort_by_key(|flag| flag.get_long().map(str::to_owned));
    flags
}

/// The keywords of JSON Schema for the values of a flag.
fn values(flag: &Arg) -> String {
    let parser = flag.get_value_parser();
    let parsed = parser.type_id();
    let is = |types: &[TypeId]| types.iter().any(|one| parsed == *one);
    let named = flag.get_possible_values();
    if matches!(flag.get_action(), ArgAction::SetTrue) {
        r#""type": "boolean""#.to_owned()
    } else if is(&[TypeId::of::<AskedRelease>()]) {
        one_of(["auto"].into_iter().chain(OlmRelease::names()))
    } else if !named.is_empty() {
        one_of(named.iter().map(clap::builder::PossibleValue::get_name))
    } else if is(&[TypeId::of::<NonZeroUsize>(), TypeId::of::<NonZeroU64>()]) {
        r#""type": "integer", "minimum": 1"#.to_owned()
    } else if is(&[TypeId::of::<usize>(), TypeId::of::<u64>()]) {
        r#""type": "integer", "minimum": 0"#.to_owned()
    } else if is(&[TypeId::of::<MemoryLimit>()]) {
        r#""type": ["string", "integer"]"#.to_owned()
    } else if is(&[TypeId::of::<Duration>()]) {
        format!(r#""type": "string", "pattern": {DURATION:?}"#)
    } else if is(&[TypeId::of::<SocketAddr>()]) {
        r#""type": "string", "pattern": ":[0-9]+$""#.to_owned()
    } else {
        r#""type": "string""#.to_owned()
    }
}

fn one_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let quoted: Vec<_> = names.map(|name| format!("{name:?}")).collect();
    format!("\"enum\": [{}]", quoted.join(", "))
}

const BEGIN: &str = "\n    \"settings\": {\n";
const END: &str = "    },\n    \"guardrails\": {\n";
const HEAD: &str =
    "      \"description\": \"Flags of olmguard serve, without the leading dashes.\",
      \"type\": \"object\",
      \"additionalProperties\": false,
      \"properties\": {";

/// A duration as Go writes it, such as 1m30s. Helm refuses a number without a unit.
const DURATION: &str = "^(0|(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";
