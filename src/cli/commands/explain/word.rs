//! The words that `olmguard explain` is given: any text, of which shells complete the names that have a page.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use olmguard_views::page;

/// Accepts every text, and offers the names of tokens and alerts.
#[derive(Clone, Debug)]
pub(super) struct WordParser;

impl TypedValueParser for WordParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(page::names().map(PossibleValue::new)))
    }
}
