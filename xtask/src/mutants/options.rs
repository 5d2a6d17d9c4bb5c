//! Which mutants are tried.

use super::area::{AREAS, Area, Share};

#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) areas: Vec<&'static Area>,
    pub(super) share: Share,
    /// Only those on lines that differ from this revision.
    pub(super) since: Option<String>,
    pub(super) is_written: bool,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum OptionsError {
    #[error("no area {found:?}: expected {}", AREAS.each_ref().map(|area| area.name).join(", "))]
    Area { found: String },
    #[error("{flag} needs {expected}")]
    Value {
        flag: &'static str,
        expected: &'static str,
    },
}

impl Options {
    pub(super) fn read(arguments: &[&str]) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let mut arguments = arguments.iter().copied();
        while let Some(argument) = arguments.next() {
            match argument {
                "--write" => options.is_written = true,
                "--shard" => options.share = Share::Part(shard(arguments.next())?),
                "--since" => options.since = Some(since(arguments.next())?),
                name => options.areas.push(area(name)?),
            }
        }
        if options.areas.is_empty() {
            options.areas = AREAS.iter().collect();
        }
        Ok(options)
    }
}

fn area(name: &str) -> Result<&'static Area, OptionsError> {
    let found = AREAS.iter().find(|area| area.name == name);
    found.ok_or_else(|| OptionsError::Area {
        found: name.to_owned(),
    })
}

fn shard(value: Option<&str>) -> Result<String, OptionsError> {
    let is_one = |value: &&str| {
        let parts = value.split_once('/');
        let parts = parts.map(|(one, all)| (one.parse::<u32>(), all.parse::<u32>()));
        matches!(parts, Some((Ok(one), Ok(all))) if one < all)
    };
    let expected = "K/N, such as 0/24, with K less than N";
    let value = value.filter(is_one).ok_or(OptionsError::Value {
        flag: "--shard",
        expected,
    })?;
    Ok(value.to_owned())
}

fn since(value: Option<&str>) -> Result<String, OptionsError> {
    let value = value.filter(|value| !value.starts_with('-'));
    let value = value.ok_or(OptionsError::Value {
        flag: "--since",
        expected: "a revision of git, such as HEAD^",
    })?;
    Ok(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        let arguments: Vec<_> = line.split_whitespace().collect();
        Options::read(&arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn areas_are_chosen_by_their_names_and_all_are_taken_without_one() {
        let names = |line| {
            let options = read(line).unwrap();
            options
                .areas
                .iter()
                .map(|area| area.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(""), ["engine", "policy", "admission", "server"]);
        assert_eq!(names("server --shard 0/3"), ["server"]);
        assert_eq!(
            read("servers").unwrap_err(),
            "no area \"servers\": expected engine, policy, admission, server"
        );
    }

    #[test]
    fn a_value_that_cannot_be_used_is_refused_before_anything_is_built() {
        let options = read("--since main --shard 2/24 --write").unwrap();
        assert_eq!(options.since.as_deref(), Some("main"));
        assert_eq!(options.share, Share::Part("2/24".to_owned()));
        assert!(options.is_written);
        for line in ["--shard", "--shard 3/3", "--shard 3", "--shard a/b"] {
            let expected = "--shard needs K/N, such as 0/24, with K less than N";
            assert_eq!(read(line).unwrap_err(), expected);
        }
        for line in ["--since", "--since --write"] {
            let expected = "--since needs a revision of git, such as HEAD^";
            assert_eq!(read(line).unwrap_err(), expected);
        }
    }
}
