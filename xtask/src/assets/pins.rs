//! The pinned versions of a module of `tests/e2e/assets`, and the key derived from them.

use std::env::consts::{ARCH, OS};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::AssetsError;
use super::table::Module;
use crate::program::root;

/// The `go.mod` and `go.sum` of a module, and the files of its subdirectories, which replace other modules.
pub(super) struct Pins {
    module: &'static Module,
    go_mod: String,
    go_sum: String,
    own: Vec<String>,
}

/// A version as Go writes it, such as `v1.35.4`.
#[derive(Debug)]
pub(super) struct Version(String);

impl Pins {
    pub(super) fn read(module: &'static Module) -> Result<Self, AssetsError> {
        let folder = sources(module);
        Ok(Self {
            module,
            go_mod: text(&folder.join("go.mod"))?,
            go_sum: text(&folder.join("go.sum"))?,
            own: own(&folder)?,
        })
    }

    /// The version of the upstream module.
    pub(super) fn version(&self) -> Result<Version, AssetsError> {
        let (module, upstream) = (self.module.name, self.module.upstream);
        pinned(&self.go_mod, upstream).ok_or(AssetsError::Unpinned { module, upstream })
    }

    /// The flags of `go build`, without paths of this machine, symbols, or information about the checkout.
    pub(super) fn flags(&self) -> Result<Vec<String>, AssetsError> {
        let mut linker = "-s -w".to_owned();
        if let Some(package) = self.module.stamp {
            linker.push_str(&self.version()?.stamp(package));
        }
        Ok(vec![
            "-mod=readonly".to_owned(),
            "-buildvcs=false".to_owned(),
            "-trimpath".to_owned(),
            format!("-tags={}", self.module.tags),
            format!("-ldflags={linker}"),
        ])
    }

    /// A key of 16 digits that identifies everything that a program is built from, except the release of Go.
    pub(super) fn key(&self) -> Result<String, AssetsError> {
        let mut hash = Sha256::new();
        let flags = self.flags()?;
        let texts = [&*self.go_mod, &self.go_sum, OS, ARCH].into_iter();
        let more = flags.iter().chain(&self.own).map(String::as_str);
        for text in texts.chain(more) {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
        let mut key = base16ct::lower::encode_string(&hash.finalize());
        key.truncate(16);
        Ok(key)
    }
}

fn text(path: &Path) -> Result<String, AssetsError> {
    fs::read_to_string(path).map_err(|source| failed(path, source))
}

/// The names and the contents of the files in the subdirectories, in order.
fn own(folder: &Path) -> Result<Vec<String>, AssetsError> {
    let mut texts = Vec::new();
    for folder in listed(folder)?.into_iter().filter(|path| path.is_dir()) {
        for file in listed(&folder)?.into_iter().filter(|path| path.is_file()) {
            let name = file.strip_prefix(root()).unwrap_or(&file);
            texts.push(name.display().to_string());
            texts.push(text(&file)?);
        }
        texts.extend(own(&folder)?);
    }
    Ok(texts)
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, AssetsError> {
    let paths = fs::read_dir(folder).and_then(|entries| {
        let paths = entries.map(|entry| Ok(entry?.path()));
        paths.collect::<io::Result<Vec<_>>>()
    });
    let mut paths = paths.map_err(|source| failed(folder, source))?;
    paths.sort();
    Ok(paths)
}

fn failed(path: &Path, source: io::Error) -> AssetsError {
    let path = path.to_owned();
    AssetsError::File { path, source }
}

impl Version {
    /// The minor version: `1.35` of `v1.35.4`.
    pub(super) fn minor(&self) -> String {
        let mut numbers = self.numbers();
        let mut next = || numbers.next().unwrap_or_default();
        format!("{}.{}", next(), next())
    }

    /// The version flags of Kubernetes' own build, with a constant date.
    fn stamp(&self, package: &str) -> String {
        let mut numbers = self.numbers();
        let mut next = || numbers.next().unwrap_or_default();
        let values = [
            ("gitVersion", self.0.as_str()),
            ("gitMajor", next()),
            ("gitMinor", next()),
            ("gitTreeState", "clean"),
            ("gitCommit", "unknown"),
            ("buildDate", "1970-01-01T00:00:00Z"),
        ];
        let flags = values.map(|(name, value)| format!(" -X {package}.{name}={value}"));
        flags.concat()
    }

    fn numbers(&self) -> impl Iterator<Item = &str> {
        self.0.trim_start_matches('v').split('.')
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The directory of the module in the checkout.
pub(super) fn sources(module: &Module) -> PathBuf {
    root().join("tests/e2e/assets").join(module.name)
}

/// The version that a `go.mod` requires of a module.
pub(super) fn pinned(go_mod: &str, upstream: &str) -> Option<Version> {
    let lines = go_mod
        .lines()
        .map(|line| line.trim_start_matches("require "));
    let mut words = lines.map(str::split_whitespace);
    let mut line = words.find(|words| words.clone().next() == Some(upstream))?;
    line.nth(1).map(|version| Version(version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    #[test]
    fn a_pin_is_the_version_of_that_module_alone() {
        let go_mod = "tool x/y/cmd\n\nrequire (\n\tx/y/z v0.1.0 // indirect\n\tx/y v1.35.4 // indirect\n)\n\
                      replace (\n\tx/y => x/y v1.0.0\n)\n";
        let version = pinned(go_mod, "x/y").unwrap();
        assert_eq!(version.minor(), "1.35");
        assert!(
            version
                .stamp("p")
                .starts_with(" -X p.gitVersion=v1.35.4 -X p.gitMajor=1 -X p.gitMinor=35 ")
        );
        assert!(pinned(go_mod, "x").is_none());
        let alone = pinned("module a\n\nrequire x/y v1.2.3\n", "x/y").unwrap();
        assert_eq!(alone.to_string(), "v1.2.3");
    }

    #[test]
    fn every_module_pins_its_upstream_and_has_a_key_of_its_own() {
        let mut keys: Vec<_> = table::all()
            .map(|module| Pins::read(module).unwrap().key().unwrap())
            .collect();
        assert!(keys.iter().all(|key| key.len() == 16));
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), table::all().count());
        let olm = Pins::read(&table::OLM).unwrap();
        assert!(
            olm.own
                .iter()
                .any(|text| text.contains("package managedcache"))
        );
    }

    #[test]
    fn the_key_tells_the_sources_the_sums_and_the_flags() {
        let of = |go_mod: &str, go_sum: &str, own: &str| Pins {
            module: &table::OTHERS[1],
            go_mod: go_mod.to_owned(),
            go_sum: go_sum.to_owned(),
            own: vec![own.to_owned()],
        };
        let pins = |go_mod, go_sum| of(go_mod, go_sum, "c");
        let key = |pins: Pins| pins.key().unwrap();
        assert_ne!(key(pins("a", "b")), key(of("a", "b", "d")));
        assert_eq!(key(pins("a", "b")), key(pins("a", "b")));
        assert_ne!(key(pins("a", "b")), key(pins("ab", "")));
        let tagged = Pins {
            module: &table::OTHERS[2],
            ..pins("a", "b")
        };
        assert_ne!(key(pins("a", "b")), key(tagged));
    }
}
