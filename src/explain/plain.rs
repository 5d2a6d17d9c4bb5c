//! Results of a run as lines for people: what is no refusal, and the counts at the end.

use crate::explain::Answer;
use crate::explain::message::{FIX, NEEDED};
use crate::judge::{Token, Verdict};
use crate::version::go;

/// What became of one extension, in one line or, for a refusal, in several.
pub fn result(answer: &Answer) -> String {
    match (&answer.message, &answer.resolved) {
        (Some(message), _) => message.clone(),
        (None, Some(resolved)) => {
            let (bundle, catalog) = (go::escape(&resolved.line()), go::escape(&resolved.catalog));
            let verb = match answer.token {
                Token::Unchanged => "stays at",
                _ => "resolves to",
            };
            format!(
                "{verb} {bundle} of catalog {catalog} [{}]",
                answer.token.as_str()
            )
        }
        (None, None) => {
            let why = answer.exempt.as_deref().unwrap_or("nothing to judge");
            format!("{why} [{}]", answer.token.as_str())
        }
    }
}

/// What is installed, where something is: its version, with its release.
pub fn from(answer: &Answer) -> Option<String> {
    let installed = answer.installed.as_ref()?;
    let version = &installed.version;
    Some(match installed.release.as_deref() {
        None | Some("") => version.clone(),
        Some(release) => format!("{version}+{release}"),
    })
}

/// What an edit resolves to or, where it resolves to nothing, what it asks for.
pub fn to(answer: &Answer) -> Option<String> {
    let resolved = answer.resolved.as_ref();
    let resolved = resolved.map(|resolved| match &resolved.release {
        Some(release) => format!("{}+{release}", resolved.version),
        None => resolved.version.clone(),
    });
    let asked = || {
        answer
            .range
            .clone()
            .filter(|range| !range.trim().is_empty())
    };
    let any = || answer.package.as_ref().map(|_| "any version".to_owned());
    resolved.or_else(asked).or_else(any)
}

/// What to do about a refusal, as its message says it.
pub fn remedy(answer: &Answer) -> Option<String> {
    let mut lines = answer.message.as_deref()?.lines();
    lines.find_map(|line| {
        let remedy = line.strip_prefix(FIX).or_else(|| line.strip_prefix(NEEDED));
        remedy.map(str::to_owned)
    })
}

/// How many of each verdict, those that are none left out, and how many objects were passed over.
pub fn summary(counts: &[(Verdict, usize)], other_kinds: usize) -> String {
    let said: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{count} {}", past(*verdict)))
        .collect();
    let results = if said.is_empty() {
        "no extension found".to_owned()
    } else {
        said.join(", ")
    };
    match other_kinds {
        0 => results,
        1 => format!("{results}; 1 object of another kind"),
        count => format!("{results}; {count} objects of other kinds"),
    }
}

/// What was done with one.
pub fn past(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allowed",
        Verdict::Deny => "denied",
        Verdict::Undecided => "undecided",
        Verdict::NotJudged => "not judged",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_none_are_left_out() {
        let counts = [
            (Verdict::Deny, 2),
            (Verdict::Undecided, 0),
            (Verdict::Allow, 1),
        ];
        assert_eq!(summary(&counts, 0), "2 denied, 1 allowed");
        assert_eq!(
            summary(&counts, 1),
            "2 denied, 1 allowed; 1 object of another kind"
        );
        assert_eq!(
            summary(&[], 3),
            "no extension found; 3 objects of other kinds"
        );
    }
}
