//! The arguments of `cargo xtask bench`.

use olmguard_figures::Bench;

#[derive(Debug, Default, Eq, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct Options<'a> {
    /// The benches, in their order.
    pub(super) benches: Vec<Bench>,
    pub(super) has_peers: bool,
    /// Whether the static program is measured as well.
    pub(super) is_static: bool,
    pub(super) is_smoke: bool,
    /// Whether to write the page and the picture.
    pub(super) is_written: bool,
    pub(super) save: Option<&'a str>,
    pub(super) against: Option<&'a str>,
}

/// The reason why the arguments cannot be used.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum OptionsError {
    #[error(
        "no bench or flag {found:?}: expected --peer, --static, --smoke, --write, --save NAME, --against NAME, or of {benches}",
        benches = Bench::names()
    )]
    Unknown { found: String },
    #[error("{flag} has no name: write {flag} NAME")]
    NoName { flag: &'static str },
    #[error(
        "--write and names of benches exclude each other: the page has the figures of one run of all"
    )]
    PartOfPage,
    #[error("--smoke and {flag} exclude each other: the figures of a smoke mean nothing")]
    Smoke { flag: &'static str },
}

impl<'a> Options<'a> {
    pub(super) fn read(arguments: &[&'a str]) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let mut arguments = arguments.iter().copied();
        while let Some(argument) = arguments.next() {
            let mut name = |flag| arguments.next().ok_or(OptionsError::NoName { flag });
            match argument {
                "--peer" => options.has_peers = true,
                "--static" => options.is_static = true,
                "--smoke" => options.is_smoke = true,
                "--write" => options.is_written = true,
                "--save" => options.save = Some(name("--save")?),
                "--against" => options.against = Some(name("--against")?),
                found => options.benches.push(Bench::named(found).ok_or_else(|| {
                    let found = found.to_owned();
                    OptionsError::Unknown { found }
                })?),
            }
        }
        options.checked()
    }

    fn checked(mut self) -> Result<Self, OptionsError> {
        if self.is_written && !self.benches.is_empty() {
            return Err(OptionsError::PartOfPage);
        }
        let flags = [
            ("--peer", self.has_peers),
            ("--static", self.is_static),
            ("--write", self.is_written),
            ("--save", self.save.is_some()),
            ("--against", self.against.is_some()),
        ];
        if let Some((flag, _)) = flags
            .into_iter()
            .find(|(_, is_set)| self.is_smoke && *is_set)
        {
            return Err(OptionsError::Smoke { flag });
        }
        if self.benches.is_empty() {
            self.benches = Bench::ALL.into();
        }
        self.benches.sort_unstable();
        self.benches.dedup();
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: &[&str]) -> String {
        Options::read(arguments).unwrap_err().to_string()
    }

    #[test]
    fn benches_run_once_in_their_order_and_all_without_a_name() {
        let options = Options::read(&["serve", "--peer", "lint", "serve", "--save", "a"]).unwrap();
        assert_eq!(options.benches, [Bench::Lint, Bench::Serve]);
        assert!(options.has_peers && !options.is_static);
        assert_eq!((options.save, options.against), (Some("a"), None));
        assert_eq!(Options::read(&[]).unwrap().benches, Bench::ALL);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        assert_eq!(
            refused(&["fetch"]),
            "no bench or flag \"fetch\": expected --peer, --static, --smoke, --write, --save NAME, --against NAME, \
             or of resolve, growth, review, telemetry, policies, preflight, load, footprint, many, base, audit, lint, serve, catalogs"
        );
        assert_eq!(
            refused(&["--save"]),
            "--save has no name: write --save NAME"
        );
        assert_eq!(
            refused(&["--write", "lint"]),
            "--write and names of benches exclude each other: the page has the figures of one run of all"
        );
        assert_eq!(
            refused(&["--smoke", "--against", "a"]),
            "--smoke and --against exclude each other: the figures of a smoke mean nothing"
        );
    }
}
