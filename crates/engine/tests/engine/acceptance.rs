//! The acceptance tables of OLM v1's specification, row by row; a failure names its row.
//!
//! Tables: the resolver (8.2), the successor rule (8.3), filters and order (8.4), bundle versions (8.5), the part of
//! the end-to-end runs that resolution can answer (8.8), and the derived rows (8.9); then rows of our own table
//! (`rows`).
//!
//! Omitted, with the reason:
//!
//! - 8.2 #2, #3, #34, #35: a failing Go interface; here a catalog that cannot be read is undecided before the walk
//!   (`CatalogNotLoaded`), and its text would quote Go. 8.2 #6: a validation that a test injects. 8.2 #36: the walk
//!   itself, which every row with several catalogs shows.
//! - 8.3, the bundle without a name: a blob without a name never gets this far.
//! - 8.4, `And` and `Or`: our filters are sets.
//! - 8.6: conditions that the controller sets. 8.7: the rules of the CRD, tested with the schema.
//! - 8.8 #8 is #7 by polling; #10 to #17: revisions, recovery, installation, access control; the texts of v0.10, of
//!   which the outcomes are kept; 69196, 68821, 74108 and 70723: the graphs of their catalogs are not given.

mod bundle_versions;
mod derived;
mod end_to_end;
mod filters;
mod resolver;
mod rows;
mod successors;

use olmguard_fixtures::question::Question;
use olmguard_fixtures::written::{Written, written};

// === The data sets D1 to D7 ===

const D1: &Written<'_> = &written(
    "alpha: 0.1.0; 1.0.0 skipRange <1.0.0; 1.0.1 skipRange <1.0.1; 1.0.2 skipRange <1.0.2; \
            2.0.0 skipRange >=1.0.0 <2.0.0
     beta: 0.1.0; 1.0.2 skipRange <1.0.2
     gamma: 3.0.0 skipRange >=2.0.0 <3.0.0
     (deprecated): 1.0.0; 1.0.1",
);

/// A catalog with everything except `P`.
const WITHOUT: &Written<'_> = &Written {
    package: "other",
    prefix: "other.v",
    lines: "stable: 1.0.0",
};

/// The six catalogs a to f of D2.
const D2: [(&str, i32, &Written<'_>); 6] = [
    ("a", 0, WITHOUT),
    ("b", 0, &written("(none): 1.0.0\n (deprecated): 1.0.0")),
    ("c", 0, &written("(none): 1.0.1\n (deprecated): 1.0.1")),
    ("d", 0, &written("(none): 1.0.2")),
    ("e", 0, &written("(none): 1.0.3\n (deprecated): 1.0.3")),
    ("f", 0, &written("(none): 1.0.4; 1.0.5")),
];

const D3: &Written<'_> = &Written {
    package: "P",
    prefix: "test-package.v",
    lines: "stable: 2.0.0; 2.1.0 replaces 2.0.0; 2.2.0 replaces 2.1.0 skips 2.0.0+1; 2.2.1; \
                    2.3.0 replaces 2.2.0 skips 2.2.1; 2.4.0 skipRange >=2.3.0 <2.4.0
            (none): 2.0.0+1",
};

const D4: &Written<'_> = &Written {
    package: "P",
    prefix: "P.",
    lines: "alpha: 1.0.0; 1.0.2 replaces 1.0.0
            beta: 1.0.0; 1.0.1 replaces 1.0.0; 1.0.4; 1.2.0 replaces 1.0.1",
};

const D4_V2: &Written<'_> = &Written {
    package: "P",
    prefix: "P.",
    lines: "beta: 1.3.0 replaces 1.2.0",
};

const D5: &Written<'_> = &Written {
    package: "test",
    prefix: "test-operator.",
    lines: "alpha: 1.0.0
            beta: 1.0.0; 1.0.1 replaces 1.0.0; 1.2.0 replaces 1.0.1",
};

const D5_V2: &Written<'_> = &Written {
    package: "test",
    prefix: "test-operator.",
    lines: "beta: 2.0.0 replaces 1.2.0",
};

const D6: &Written<'_> = &Written {
    package: "prometheus",
    prefix: "operatorhub/prometheus/",
    lines: "alpha:
            beta: 1.0.0; 1.0.1 replaces 1.0.0; 1.2.0 replaces 1.0.1; 2.0.0 replaces 1.2.0
            (none): 0.37.0",
};

const D7: &Written<'_> = &written(
    "alpha: 0.1.0; 0.2.0 replaces 0.1.0; 0.3.0 replaces 0.2.0; 0.4.0 replaces 0.3.0; \
            0.5.0 replaces 0.4.0; 0.6.0 replaces 0.5.0
     beta: 0.2.0 replaces 0.1.0; 0.4.0 replaces 0.2.0; 0.6.0 replaces 0.4.0
     stable: 0.4.0 replaces 0.1.0 skips 0.2.0,0.3.0",
);

// === The expected result of a row, and the actual one ===

/// The expected result of a row.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// This version, regardless of deprecations.
    Gives(&'static str),
    /// This version from this catalog.
    GivesFrom(&'static str, &'static str),
    /// This version, with the deprecations of its catalog returned.
    GivesDep(&'static str),
    /// This version, with no deprecations returned.
    GivesNoDep(&'static str),
    /// Exactly this error.
    Fails(&'static str),
    /// An error that contains this.
    FailsWith(&'static str),
}

/// The actual result.
#[derive(Debug)]
struct Got {
    version: Option<String>,
    catalog: Option<String>,
    deprecations_of: Option<String>,
    error: Option<String>,
}

impl Got {
    fn from(question: &Question) -> Self {
        let answer = question.answer();
        let version = |resolved: &olmguard_engine::explain::ResolvedBundle| match &resolved.release
        {
            Some(release) => format!("{}+{release}", resolved.version),
            None => resolved.version.clone(),
        };
        Self {
            version: answer.resolved.as_ref().map(version),
            catalog: answer.resolved.map(|resolved| resolved.catalog),
            deprecations_of: question
                .ruled(|ruled| ruled.deprecations_of.map(|catalog| catalog.name.clone())),
            error: answer.upstream,
        }
    }

    fn meets(&self, expected: Expected) -> bool {
        let gives = |version: &str| self.version.as_deref() == Some(version);
        let error = self.error.as_deref().filter(|_| self.version.is_none());
        match expected {
            Expected::Gives(version) => gives(version),
            Expected::GivesFrom(version, from) => {
                gives(version) && self.catalog.as_deref() == Some(from)
            }
            Expected::GivesDep(version) => {
                gives(version)
                    && self.deprecations_of.is_some()
                    && self.deprecations_of == self.catalog
            }
            Expected::GivesNoDep(version) => gives(version) && self.deprecations_of.is_none(),
            Expected::Fails(text) => error == Some(text),
            Expected::FailsWith(part) => error.is_some_and(|error| error.contains(part)),
        }
    }
}

/// Evaluates each row, and fails with every row whose result differs.
#[track_caller]
fn check(table: &str, rows: impl IntoIterator<Item = (u32, Question, Expected)>) {
    let failed: Vec<String> = rows
        .into_iter()
        .filter_map(|(row, question, expected)| {
            let got = Got::from(&question);
            let failure = || format!("{table} #{row}: expected {expected:?}, got {got:?}");
            (!got.meets(expected)).then(failure)
        })
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
}
