//! Which options were typed: those of the environment are meant for whichever command heeds them.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::ExplainArgs;

/// The long names of the options that stand on the command line.
#[derive(Clone, Debug)]
pub(super) struct TypedOptions(pub(super) Vec<String>);

impl Args for TypedOptions {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for TypedOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let own = ExplainArgs::augment_args(Command::new("explain"));
        let is_typed = |arg: &&Arg| {
            let source = matches.value_source(arg.get_id().as_str());
            !arg.is_positional() && source == Some(ValueSource::CommandLine)
        };
        let typed = own.get_arguments().filter(is_typed);
        let long = typed.filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
        Ok(Self(long.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
