//! What one that is new may have been called before.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Ancestor;

/// The names of those that are there no more, by the package they asked for; none for a package that
/// several asked for.
#[derive(Debug, Default)]
pub(crate) struct Renames(HashMap<String, Option<String>>);

impl Renames {
    pub(super) fn of<'a>(removed: impl Iterator<Item = &'a Ancestor>) -> Self {
        let mut names = HashMap::new();
        for one in removed {
            let Some(filter) = one.filter() else { continue };
            match names.entry(filter.package.clone()) {
                Entry::Vacant(first) => drop(first.insert(one.name().map(str::to_owned))),
                Entry::Occupied(mut several) => drop(several.insert(None)),
            }
        }
        Self(names)
    }

    /// The name of the only one that asked for this package.
    pub(crate) fn only(&self, package: &str) -> Option<&str> {
        self.0.get(package)?.as_deref()
    }
}
