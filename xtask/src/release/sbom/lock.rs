//! Parsers for cargo's output about packages that is not JSON.

use std::collections::{BTreeMap, BTreeSet};

/// The digest of each package's archive, by `name@version`.
pub(super) type Checksums = BTreeMap<String, String>;

/// The checksums in `Cargo.lock`, which always has the same form because cargo writes it.
pub(super) fn checksums(lock: &str) -> Checksums {
    let packages = lock.split("[[package]]\n").skip(1);
    packages.filter_map(checksum).collect()
}

fn checksum(package: &str) -> Option<(String, String)> {
    let field = |name: &str| {
        let start = format!("{name} = \"");
        let mut lines = package.lines();
        let value = lines.find_map(|line| line.strip_prefix(&start))?;
        value.strip_suffix('"')
    };
    let reference = format!("{}@{}", field("name")?, field("version")?);
    Some((reference, field("checksum")?.to_owned()))
}

/// The packages in the output of `cargo tree --prefix none`, as `name@version`. A line starts with `name vVERSION`.
pub(super) fn listed(tree: &str) -> BTreeSet<String> {
    let lines = tree.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (name, version) = (words.next()?, words.next()?);
        Some(format!("{name}@{}", version.strip_prefix('v')?))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_the_lock_and_from_the_tree() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ff\"\n\
                    dependencies = [\n \"b\",\n]\n\n[[package]]\nname = \"b\"\nversion = \"0.1.0\"\n";
        let sums = BTreeMap::from([("a@1.0.0".to_owned(), "ff".to_owned())]);
        assert_eq!(checksums(lock), sums);
        let tree = "b v0.1.0 (/b)\na v1.0.0\na v1.0.0 (*)\n\n";
        let names = BTreeSet::from(["a@1.0.0".to_owned(), "b@0.1.0".to_owned()]);
        assert_eq!(listed(tree), names);
    }
}
