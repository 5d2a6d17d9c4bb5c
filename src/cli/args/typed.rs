//! The options that stand on a command line, for a form of the command that has only some of them.

use std::marker::PhantomData;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use crate::cli::ends_with;

/// The long names of a command's options that were typed: neither defaults nor variables of the environment are among
/// them, because those are not about this call.
///
/// As a flattened field, it stands before every other field: each takes its own out of the matches.
#[derive(Clone, Debug)]
pub(crate) struct TypedOptions<Of> {
    long: Vec<String>,
    of: PhantomData<fn() -> Of>,
}

/// Options that a form of a command does not have.
#[derive(Debug, thiserror::Error)]
#[error("{}: only with {expected}, not with {form}", options.join(", "))]
pub(crate) struct NotOfForm {
    pub(crate) options: Vec<String>,
    /// The form of the command that was used.
    pub(crate) form: &'static str,
    /// The arguments of the form that has the options.
    pub(crate) expected: &'static str,
}

ends_with!(Usage: NotOfForm);

impl<Of> TypedOptions<Of> {
    /// Refuses every option but the ones of this form.
    pub(crate) fn refuse_but(
        &self,
        own: &[&str],
        form: &'static str,
        expected: &'static str,
    ) -> Result<(), NotOfForm> {
        let others = self.long.iter().filter(|long| !own.contains(&&***long));
        let options: Vec<_> = others.cloned().collect();
        if options.is_empty() {
            return Ok(());
        }
        Err(NotOfForm {
            options,
            form,
            expected,
        })
    }
}

impl<Of: Args> Args for TypedOptions<Of> {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl<Of: Args> FromArgMatches for TypedOptions<Of> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let own = Of::augment_args(Command::new(""));
        let is_typed = |arg: &&Arg| {
            let source = matches.value_source(arg.get_id().as_str());
            !arg.is_positional() && source == Some(ValueSource::CommandLine)
        };
        let typed = own.get_arguments().filter(is_typed);
        let long = typed.filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
        Ok(Self {
            long: long.collect(),
            of: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
