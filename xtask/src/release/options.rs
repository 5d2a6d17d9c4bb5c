//! The options of `cargo xtask release`.

use std::path::PathBuf;

use crate::build::Build;

/// The options, as on the command line.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Options {
    output: Option<PathBuf>,
    /// The URL prefix of the files for users, without a slash at the end.
    pub(super) url: Option<String>,
}

/// The reason why the options are not understood.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum OptionsError {
    #[error("unknown option {0:?} of release: expected --output or --url")]
    Unknown(String),
    #[error("{0} has no value: expected {0} {1}")]
    NoValue(&'static str, &'static str),
    #[error("--url: expected a prefix that starts with https://, found {0:?}")]
    Url(String),
}

impl Options {
    pub(super) fn parse(arguments: &[&str]) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(option) = arguments.next() {
            let value = arguments.next().copied();
            match *option {
                "--output" => options.output = Some(given(value, "--output", "FOLDER")?.into()),
                "--url" => options.url = Some(prefix(given(value, "--url", "PREFIX")?)?),
                unknown => return Err(OptionsError::Unknown(unknown.to_owned())),
            }
        }
        Ok(options)
    }

    /// The directory to write, by default next to cargo's outputs.
    pub(super) fn folder(&self, builds: &[Build]) -> PathBuf {
        let beside = builds.first().map(|build| build.target_folder.join("dist"));
        self.output.clone().or(beside).unwrap_or_default()
    }
}

fn given<'a>(
    value: Option<&'a str>,
    option: &'static str,
    form: &'static str,
) -> Result<&'a str, OptionsError> {
    value.ok_or(OptionsError::NoValue(option, form))
}

fn prefix(url: &str) -> Result<String, OptionsError> {
    let place = url.strip_prefix("https://").unwrap_or_default();
    if place.is_empty() || place.contains(char::is_whitespace) {
        return Err(OptionsError::Url(url.to_owned()));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_in_any_order() {
        let options = Options::parse(&["--url", "https://example.com/v1/", "--output", "out"]);
        let options = options.unwrap();
        assert_eq!(options.url.as_deref(), Some("https://example.com/v1"));
        assert_eq!(options.folder(&[]), PathBuf::from("out"));
        assert_eq!(Options::parse(&[]).unwrap(), Options::default());
    }

    #[test]
    fn errors_name_what_was_expected() {
        let message = |arguments: &[&str]| Options::parse(arguments).unwrap_err().to_string();
        assert_eq!(
            message(&["--out"]),
            "unknown option \"--out\" of release: expected --output or --url"
        );
        assert_eq!(
            message(&["--url"]),
            "--url has no value: expected --url PREFIX"
        );
        assert_eq!(
            message(&["--url", "example.com"]),
            "--url: expected a prefix that starts with https://, found \"example.com\""
        );
    }
}
