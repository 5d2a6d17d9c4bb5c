//! Tests of the command line as a whole, its promised interfaces, and files of the repository generated from the
//! program.

mod chart;
mod compatibility;
mod crds;

use super::*;

/// The flags of every command, each with the name of its command.
fn flags() -> Vec<(String, clap::Arg)> {
    command().get_subcommands().flat_map(flags_of).collect()
}

fn flags_of(command: &clap::Command) -> Vec<(String, clap::Arg)> {
    let name = command.get_name();
    let flags = command
        .get_arguments()
        .filter(|flag| flag.get_long().is_some());
    let own = flags.map(|flag| (name.to_owned(), flag.clone()));
    let below = command.get_subcommands().flat_map(flags_of);
    own.chain(below).collect()
}

#[test]
fn the_command_line_is_well_made() {
    command().debug_assert();
}

#[test]
fn every_flag_has_a_line_of_help() {
    let flags = flags();
    assert!(flags.len() > 30, "{}", flags.len());
    for (command, flag) in flags {
        let name = flag.get_long().unwrap_or_default();
        let help = flag.get_help().map(ToString::to_string);
        assert!(
            help.is_some_and(|help| !help.is_empty()),
            "{command} --{name}"
        );
    }
}

#[test]
fn the_page_about_a_command_tells_of_every_flag_of_it() {
    for (page, command) in [
        (include_str!("../../docs/webhook.md"), "serve"),
        (include_str!("../../docs/doctor.md"), "doctor"),
    ] {
        let own = flags().into_iter().filter(|(name, _)| name == command);
        let untold = own.filter_map(|(_, flag)| {
            let name = format!("--{}", flag.get_long()?);
            let is_told = page.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            (!is_told.into_iter().any(|word| word == name)).then_some(name)
        });
        assert_eq!(
            untold.collect::<Vec<_>>(),
            Vec::<String>::new(),
            "{command}"
        );
    }
}

#[test]
fn the_page_about_doctor_has_a_row_for_each_check() {
    let page = include_str!("../../docs/doctor.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows: Vec<_> = rows.filter_map(|row| row.split_once('`')).collect();
    let told = rows.iter().map(|(name, _)| *name);
    let told: Vec<_> = told.filter(|name| !name.contains(' ')).collect();
    assert_eq!(
        told,
        olmguard_views::doctor::Check::ALL.map(olmguard_views::doctor::Check::as_str)
    );
}

#[test]
fn a_panic_is_an_internal_fault_and_nothing_else_is() {
    let code = |run: fn() -> ExitCode| format!("{:?}", guarded(run));
    let expected = |code: u8| format!("{:?}", ExitCode::from(code));
    assert_eq!(code(|| panic!("on purpose")), expected(5));
    assert_eq!(code(|| Exit::Denied.into()), expected(1));
}
