//! `--color WHEN`: whether text has colors.

use std::borrow::Cow;
use std::env;
use std::ffi::OsString;

use clap::ValueEnum;

/// When text has colors.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal; `NO_COLOR` and `CLICOLOR_FORCE` override this
    #[default]
    Auto,
    /// Always, also in files and pipes
    Always,
    /// Never
    Never,
}

impl Color {
    /// The color of help texts and usage errors, which clap prints before it has read all flags.
    pub(crate) fn of_words(words: &[OsString]) -> Self {
        let variable = env::var("OLMGUARD_COLOR").ok();
        let named = named(words).or(variable);
        let color = named.and_then(|name| Self::from_str(&name, false).ok());
        color.unwrap_or_default()
    }

    /// Applies to everything that this process prints from now on.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// The value of the first `--color` on a command line.
fn named(words: &[OsString]) -> Option<String> {
    let flags = words.iter().take_while(|word| *word != "--");
    let mut flags = flags.map(|word| word.to_string_lossy());
    while let Some(word) = flags.next() {
        if word == "--color" {
            return flags.next().map(Cow::into_owned);
        }
        if let Some(value) = word.strip_prefix("--color=") {
            return Some(value.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(words: &[&str], expected: Option<&str>) {
        let words: Vec<_> = words.iter().map(OsString::from).collect();
        assert_eq!(named(&words).as_deref(), expected, "{words:?}");
    }

    #[test]
    fn the_flag_is_found_in_both_forms() {
        found(&["check", "--color", "never", "--help"], Some("never"));
        found(&["--color=always"], Some("always"));
        found(&["check", "--color"], None);
        found(&["explain", "--", "--color=always"], None);
    }
}
