//! Checks whether fetched content can be the content of a catalog, and of this catalog.
//!
//! A response with status 200 can be anything: an error of a proxy, an empty body, a catalog that
//! was cut off. OLM reads some of these as a catalog with fewer packages, and edits would be denied
//! because of it. A finding here is a doubt, not a fault. A catalog can really shrink; then it is
//! fetched again and the content is the same.
//!
//! catalogd serves the blobs of one package after another. So in a catalog that was cut off, the
//! last package has channel entries without bundles, or has no channel.

use std::fmt;

use crate::blob::{BlobContent, BlobFault, BlobKey, Sink, UnfiledObject};
use crate::memory::Account;
use crate::{Catalog, Package, PackageFault};

/// A doubt about content. The content is fetched again before it is used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Doubt {
    /// The first value has no `schema`, so the content is not a file-based catalog.
    Foreign,
    /// The content has no bundle.
    Empty,
    /// A package is missing blobs that it needs: the content may have been cut off.
    Incomplete {
        /// The first such package.
        package: Box<str>,
    },
    /// The content is missing most of what is loaded of the catalog.
    Shrunk {
        /// Number of loaded packages, and how many of them the content has.
        packages: RemainingCount,
        /// Number of loaded bundles, and number of bundles in the content.
        bundles: RemainingCount,
    },
}

/// Number of items that are left, and the number before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RemainingCount {
    /// Number of items that are left.
    pub left: usize,
    /// Number of items before.
    pub of: usize,
}

/// Passes blobs on, and notes facts that the index does not have.
pub struct Glance<'s> {
    to: &'s mut dyn Sink,
    is_foreign: Option<bool>,
    has_bundle: bool,
}

impl<'s> Glance<'s> {
    /// Passes everything on to `to`.
    pub fn new(to: &'s mut dyn Sink) -> Self {
        Self {
            to,
            is_foreign: None,
            has_bundle: false,
        }
    }

    /// Returns a doubt about the blobs passed on, as the content of any catalog.
    pub fn doubt(&self) -> Option<Doubt> {
        if self.is_foreign == Some(true) {
            Some(Doubt::Foreign)
        } else {
            (!self.has_bundle).then_some(Doubt::Empty)
        }
    }
}

impl Sink for Glance<'_> {
    fn memory(&self) -> Account {
        self.to.memory()
    }

    fn blob(&mut self, key: BlobKey<'_>, content: Result<BlobContent<'_>, BlobFault>) {
        self.is_foreign.get_or_insert(key.schema.is_empty());
        // A bundle with a `/` in its name is filed under another schema.
        let is_bundle = key.schema == "olm.bundle" || matches!(content, Ok(BlobContent::Bundle(_)));
        self.has_bundle |= is_bundle && !key.package.is_empty();
        self.to.blob(key, content);
    }

    fn unfiled(&mut self, object: UnfiledObject) {
        self.is_foreign.get_or_insert(object != UnfiledObject::Blob);
        self.to.unfiled(object);
    }
}

impl fmt::Debug for Glance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Glance")
            .field("is_foreign", &self.is_foreign)
            .field("has_bundle", &self.has_bundle)
            .finish_non_exhaustive()
    }
}

impl Catalog {
    /// Returns a doubt about this content for a catalog whose loaded content is `loaded`.
    ///
    /// Without loaded content, only the content itself is checked.
    pub fn doubt(&self, loaded: Option<&Self>) -> Option<Doubt> {
        let was_empty = loaded.is_some_and(|loaded| loaded.counts.bundles == 0);
        if self.is_foreign {
            Some(Doubt::Foreign)
        } else if self.counts.bundles == 0 && !was_empty {
            Some(Doubt::Empty)
        } else {
            self.incomplete(loaded)
                .or_else(|| self.shrunk(loaded.unwrap_or(&Self::default())))
        }
    }

    fn incomplete(&self, loaded: Option<&Self>) -> Option<Doubt> {
        let mut packages = self.packages.iter();
        let found = packages.find(|(name, package)| {
            let before = loaded.and_then(|loaded| loaded.entry(name));
            is_incomplete(package) && !before.is_some_and(is_incomplete)
                || is_bare(package) && before.is_some_and(|before| !is_bare(before))
        });
        found.map(|(name, _)| Doubt::Incomplete {
            package: name.clone(),
        })
    }

    fn shrunk(&self, loaded: &Self) -> Option<Doubt> {
        let names = loaded.package_names();
        let packages = RemainingCount {
            left: names.filter(|name| self.entry(name).is_some()).count(),
            of: loaded.packages.len(),
        };
        let bundles = RemainingCount {
            left: self.counts.bundles,
            of: loaded.counts.bundles,
        };
        let is_shrunk = packages.is_less_than_half() || bundles.is_less_than_half();
        is_shrunk.then_some(Doubt::Shrunk { packages, bundles })
    }
}

impl RemainingCount {
    fn is_less_than_half(self) -> bool {
        self.left < self.of.div_ceil(2)
    }
}

/// Whether blobs are missing. A package that cannot be decoded does not count, because it has its
/// own fault.
fn is_incomplete(package: &Result<Package, PackageFault>) -> bool {
    package.as_ref().is_ok_and(|package| package.is_incomplete)
}

/// Whether the package can be decoded and has no bundle.
fn is_bare(package: &Result<Package, PackageFault>) -> bool {
    package
        .as_ref()
        .is_ok_and(|package| package.bundles.is_empty())
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str(
                "its first value has no schema, expected a blob of a file-based catalog",
            ),
            Self::Empty => f.write_str("it has no bundle, expected at least one"),
            Self::Incomplete { package } => write!(
                f,
                "package {package:?} is incomplete, as if the catalog was cut off"
            ),
            Self::Shrunk { packages, bundles } => write!(
                f,
                "{} of {} loaded packages and {} bundles instead of {}, expected at least half of each",
                packages.left, packages.of, bundles.left, bundles.of
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CatalogBuilder;
    use crate::fbc;
    use crate::olm::Rules;

    fn catalog(text: &str) -> Catalog {
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        fbc::read("c", text.as_bytes(), &mut builder).unwrap();
        builder.finish().expect("no bound")
    }

    /// Returns a package with this many bundles as catalogd serves it: one line per blob.
    fn package(name: &str, bundles: usize) -> String {
        let entries: Vec<_> = (0..bundles)
            .map(|n| format!(r#"{{"name":"{name}.v{n}"}}"#))
            .collect();
        let mut blobs = vec![
            format!(r#"{{"schema":"olm.package","name":"{name}"}}"#),
            format!(
                r#"{{"schema":"olm.channel","package":"{name}","name":"c","entries":[{}]}}"#,
                entries.join(",")
            ),
        ];
        blobs.extend((0..bundles).map(|n| {
            format!(r#"{{"schema":"olm.bundle","package":"{name}","name":"{name}.v{n}"}}"#)
        }));
        blobs.join("\n") + "\n"
    }

    fn packages(names: &[&str]) -> String {
        names.iter().map(|name| package(name, 2)).collect()
    }

    #[track_caller]
    fn doubts(text: &str, loaded: Option<&str>, expected: Option<&str>) {
        let loaded = loaded.map(catalog);
        let doubt = catalog(text).doubt(loaded.as_ref());
        let words = doubt.map(|doubt| doubt.to_string());
        assert_eq!(words.as_deref(), expected, "{text}");
    }

    const FOREIGN: &str = "its first value has no schema, expected a blob of a file-based catalog";
    const EMPTY: &str = "it has no bundle, expected at least one";

    #[test]
    fn what_is_no_catalog_is_doubted_whatever_is_loaded() {
        let loaded = packages(&["a"]);
        for (text, expected) in [
            (r#"{"error":"unauthorized"}"#, FOREIGN),
            (
                r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure"}"#,
                FOREIGN,
            ),
            ("error: unauthorized\n", FOREIGN),
            (&format!("{{\"package\":\"a\"}}\n{loaded}"), FOREIGN),
            ("null", EMPTY),
            ("# comment", EMPTY),
            ("  \n \n", EMPTY),
            ("---\n", EMPTY),
            ("", EMPTY),
            (r#"{"schema":"x"}"#, EMPTY),
            (r#"{"schema":"olm.package","name":"a"}"#, EMPTY),
        ] {
            doubts(text, None, Some(expected));
            doubts(text, Some(&loaded), Some(expected));
        }
        doubts("", Some(""), None);
        doubts(
            &package("a/b", 2).replace(r#""package":"a/b""#, r#""package":"a""#),
            None,
            None,
        );
        doubts(&loaded, Some(""), None);
        doubts(&format!("null\n{loaded}"), None, None);
    }

    #[test]
    fn less_than_half_of_what_is_loaded_is_doubted() {
        let shrunk = |left, of, bundles, before| {
            format!(
                "{left} of {of} loaded packages and {bundles} bundles instead of {before}, expected \
                 at least half of each"
            )
        };
        for (loaded, names, expected) in [
            (&["a"][..], &["b"][..], Some(shrunk(0, 1, 2, 2))),
            (&["a", "b"], &["a"], None),
            (&["a", "b"], &["c", "d"], Some(shrunk(0, 2, 4, 4))),
            (&["a", "b", "c"], &["a"], Some(shrunk(1, 3, 2, 6))),
            (&["a", "b", "c"], &["a", "b"], None),
            (&["a", "b", "c"], &["a", "x", "y"], Some(shrunk(1, 3, 6, 6))),
            (&["a"], &["a", "b", "c"], None),
        ] {
            doubts(
                &packages(names),
                Some(&packages(loaded)),
                expected.as_deref(),
            );
            doubts(&packages(names), None, None);
        }
        doubts(
            &package("a", 2),
            Some(&package("a", 5)),
            Some(&shrunk(1, 1, 2, 5)),
        );
        doubts(&package("a", 3), Some(&package("a", 5)), None);
    }

    #[test]
    fn a_catalog_that_is_cut_within_a_package_is_doubted() {
        let whole = package("a", 5) + &package("b", 3);
        let ends: Vec<_> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
        let doubted = |loaded: Option<&str>, end| {
            let loaded = loaded.map(catalog);
            catalog(&whole[..end]).doubt(loaded.as_ref()).is_some()
        };
        let found = ends.iter().map(|end| doubted(Some(&whole), *end));
        // Line 7 ends package a: 5 of 8 bundles and 1 of 2 packages are half, and whole in themselves.
        let expected = [
            true, true, true, true, true, true, false, true, true, true, true, false,
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let found = ends.iter().map(|end| doubted(None, *end));
        let expected = [
            true, true, true, true, true, true, false, false, true, true, true, false,
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_was_incomplete_before_is_not_doubted() {
        let whole = package("a", 3);
        let dangling = whole.replace("a.v2\"}\n", "other\"}\n");
        let words = r#"package "a" is incomplete, as if the catalog was cut off"#;
        doubts(&dangling, Some(&whole), Some(words));
        doubts(&dangling, None, Some(words));
        doubts(&dangling, Some(&dangling), None);
        doubts(&whole, Some(&dangling), None);
    }
}
