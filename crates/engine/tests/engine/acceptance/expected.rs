//! What a row expects, and whether it came out.

use olmguard_fixtures::question::Question;

/// What a row says comes out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expected {
    /// This version, whatever the deprecations.
    Gives(&'static str),
    /// This version from this catalog.
    GivesFrom(&'static str, &'static str),
    /// This version, and its catalog's deprecations are returned.
    GivesDep(&'static str),
    /// This version, and no deprecations are returned.
    GivesNoDep(&'static str),
    /// Exactly this error.
    Fails(&'static str),
    /// An error that contains this.
    FailsWith(&'static str),
}

/// What came out.
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

/// Puts each row's question, and fails with every row that comes out otherwise.
#[track_caller]
pub(super) fn check(table: &str, rows: impl IntoIterator<Item = (u32, Question, Expected)>) {
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
