//! Results of a run as lines for users: answers without a refusal, texts that are not rendered manifests, and the
//! counts at the end.

use std::borrow::Cow;

use crate::explain::message::{fix, note, one_edit};
use crate::explain::text::recorded;
use crate::explain::{Answer, ResolvedBundle, one_line};
use crate::extension::Filter;
use crate::judge::{Token, Verdict};
use olmguard_catalog::version::go;

/// The result for one extension: one line, or several for a refusal.
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
            let why = answer.exemption.as_ref();
            let why = why.map_or("nothing to judge", |exemption| &exemption.why);
            format!("{why} [{}]", answer.token.as_str())
        }
    }
}

/// The line of an edit if no input contains the installed version.
pub fn installs_new(resolved: &ResolvedBundle) -> String {
    let version = go::escape(&resolved.version);
    format!(
        "installs {version} new: no installed version is known (use --base, --installed or --snapshot)"
    )
}

/// The line of an edit if a base determines the installed version, which only a cluster knows for certain.
pub fn assumed_from_base(answer: &Answer) -> Option<String> {
    let version = from(answer)?;
    let version = go::escape(&version);
    Some(format!(
        "installed {version} is assumed from the base (--installed sets another version)"
    ))
}

/// The note of a run if no extension has an installed version.
pub fn nothing_known_installed() -> &'static str {
    "no installed version is known, so each extension is checked as a new installation: use --base, --installed or \
     --snapshot"
}

/// The installed version with its release, if a bundle is installed.
pub fn from(answer: &Answer) -> Option<String> {
    answer.installed.as_ref().map(recorded)
}

/// The version that an edit resolves to or, if it resolves to nothing, the requested range.
pub fn to(answer: &Answer) -> Option<String> {
    let resolved = answer.resolved.as_ref();
    let resolved = resolved.map(|resolved| match &resolved.release {
        Some(release) => format!("{}+{release}", resolved.version),
        None => resolved.version.clone(),
    });
    let asked = |filter: &Filter| {
        let range = filter.range().filter(|range| !range.trim().is_empty());
        range.unwrap_or("any version").to_owned()
    };
    resolved.or_else(|| answer.requested.as_ref().map(asked))
}

/// The remedy for a refusal: the edit to make, otherwise the missing fact, otherwise the note that the search was cut
/// short.
pub fn remedy(answer: &Answer) -> Option<String> {
    match answer.verdict() {
        Verdict::Deny | Verdict::Undecided => {
            let edit = one_edit(&answer.advice).or_else(|| fix(&answer.advice));
            let missing = || answer.needed.clone();
            let cut = || note(&answer.advice).map(str::to_owned);
            edit.or_else(missing).or_else(cut)
        }
        Verdict::Allow | Verdict::NotJudged => None,
    }
}

/// The objects that were not judged, by reason.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassedOver {
    /// Extensions that have not changed.
    pub unchanged: usize,
    /// Extensions that no longer exist.
    pub removed: usize,
    /// Templates that are not rendered.
    pub templates: usize,
    /// Objects of other kinds.
    pub other_kinds: usize,
}

/// The request of an extension that no longer exists.
pub fn removed(package: Option<&str>, range: Option<&str>) -> String {
    let package = go::escape(package.unwrap_or("an unknown package"));
    match range {
        Some(range) => format!("it asked for {package}, {}", go::escape(range)),
        None => format!("it asked for {package}"),
    }
}

/// The line about a file of the base that is compared with nothing.
pub fn not_compared(why: &str) -> String {
    format!(
        "it could not be read, and is there no more: {}",
        one_line(why)
    )
}

/// The number of each verdict, without zeros, and the objects that were not judged.
pub fn summary(counts: &[(Verdict, usize)], passed_over: PassedOver) -> String {
    let said: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{count} {}", past(*verdict)))
        .collect();
    let results = match (said.is_empty(), passed_over.unchanged) {
        (true, 0) => "no extension found".to_owned(),
        (true, _) => "nothing changed".to_owned(),
        (false, _) => said.join(", "),
    };
    passed_over
        .words()
        .fold(results, |all, words| format!("{all}; {words}"))
}

/// The meaning of the exit code of an undecided run, and where to find help.
pub fn exit_undecided() -> &'static str {
    "Exit code 4: a fact is missing. Help: olmguard explain 4"
}

/// The number of extensions that count as denied only because of their warnings.
pub fn denied_by_warnings(count: usize) -> String {
    let extensions = match count {
        1 => "1 extension has".to_owned(),
        count => format!("{count} extensions have"),
    };
    format!("{extensions} warnings, which count as denials (--warn-as-error)")
}

impl PassedOver {
    /// The counts that are not zero, each in a few words.
    fn words(self) -> impl Iterator<Item = String> {
        let words = [
            (self.unchanged, "unchanged", "unchanged"),
            (self.removed, "removed", "removed"),
            (self.templates, "template skipped", "templates skipped"),
            (
                self.other_kinds,
                "object of another kind",
                "objects of other kinds",
            ),
        ];
        words.into_iter().filter_map(|words| match words {
            (0, ..) => None,
            (1, one, _) => Some(format!("1 {one}")),
            (count, _, many) => Some(format!("{count} {many}")),
        })
    }
}

/// The verdict as a past participle.
pub fn past(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allowed",
        Verdict::Deny => "denied",
        Verdict::Undecided => "undecided",
        Verdict::NotJudged => "not judged",
    }
}

// === Texts that are not rendered manifests, because a tool makes the manifest ===
//
// They are not checked; the message names the tool.

/// Why a text is not a rendered manifest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unrendered {
    /// The text is a template.
    Template,
    /// A tool fills in a field.
    Placeholder {
        /// The path of the field.
        field: String,
        /// The text to fill in, with its marks.
        text: String,
    },
    /// An OpenShift Template that contains objects.
    OpenShiftTemplate,
    /// A kustomization whose result is not among the inputs.
    Kustomization,
    /// A patch of a kustomization.
    Patch,
    /// A resource that a kustomization changes.
    Resource,
}

/// The tool that renders the manifests.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Renderer {
    /// `envsubst`, from this file.
    Envsubst(String),
    /// Helm, from the chart in this directory.
    Helm(String),
    /// Kustomize, from this directory.
    Kustomize(String),
    /// OpenShift's `oc process`, from this file.
    Oc(String),
    /// Unknown.
    Unknown,
}

impl Unrendered {
    /// Why the text is not checked, and what to do, in one line.
    pub fn words(&self, by: &Renderer) -> String {
        format!("{}; {}", self.what(), by.words())
    }

    /// The note that the text is skipped, and why, in one line, if no tool can be named.
    pub fn skipped(&self) -> String {
        format!("skipped: {}; render it first", self.what())
    }

    fn what(&self) -> Cow<'_, str> {
        match self {
            Self::Template => "a template".into(),
            Self::Placeholder { field, text } => {
                let text = go::quote(&crate::explain::cut_end(text, MOST_SHOWN));
                format!("a tool fills in {} later: {text}", one_line(field)).into()
            }
            Self::OpenShiftTemplate => "an OpenShift Template".into(),
            Self::Kustomization => "a kustomization".into(),
            Self::Patch => "a patch of a kustomization".into(),
            Self::Resource => "a resource that a kustomization changes".into(),
        }
    }
}

impl Renderer {
    fn words(&self) -> String {
        let command = match self {
            Self::Envsubst(file) => format!("envsubst < {}", argument(file)),
            Self::Helm(directory) => format!("helm template {}", argument(directory)),
            Self::Kustomize(directory) => format!("kubectl kustomize {}", argument(directory)),
            Self::Oc(file) => format!("oc process -f {}", argument(file)),
            Self::Unknown => return "render it first, and check the result (-f -)".to_owned(),
        };
        format!("render it first: {command} | olmguard check -f -")
    }
}

/// A path, quoted for a shell if necessary.
fn argument(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | ',');
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        one_line(&format!("'{}'", path.replace('\'', r"'\''")))
    }
}

/// The most bytes of a placeholder that are shown.
const MOST_SHOWN: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::message::SEARCH_CUT;
    use crate::judge::{Advice, Fix, FixValue};

    #[test]
    fn what_is_removed_says_what_it_asked_for() {
        assert_eq!(removed(Some("p"), Some("1.x")), "it asked for p, 1.x");
        assert_eq!(removed(Some("p\n"), None), "it asked for p\\n");
        assert_eq!(removed(None, None), "it asked for an unknown package");
    }

    #[test]
    fn the_remedy_is_made_from_the_advice() {
        let fix = Fix {
            field: "spec.source.catalog.version".to_owned(),
            value: FixValue::Text("1.2.0".to_owned()),
        };
        let (fix, none) = (Some(fix), None);
        let set = "set spec.source.catalog.version to \"1.2.0\"";
        let (deny, edge) = (Token::NotASuccessor, Some("an edge"));
        for (token, fix, is_cut, needed, expected) in [
            (deny, &fix, false, None, Some(set)),
            (Token::NoCatalogs, &fix, true, edge, Some(set)),
            (deny, &none, false, edge, edge),
            (deny, &none, true, None, Some(SEARCH_CUT)),
            (deny, &none, false, None, None),
            (Token::Resolved, &fix, true, edge, None),
        ] {
            let advice = Advice {
                fix: fix.clone(),
                is_cut,
                ..Advice::default()
            };
            let answer = Answer {
                token,
                advice,
                needed: needed.map(str::to_owned),
                ..Answer::default()
            };
            assert_eq!(remedy(&answer).as_deref(), expected, "{answer:?}");
        }
    }

    #[test]
    fn counts_that_are_none_are_left_out() {
        let counts = [
            (Verdict::Deny, 2),
            (Verdict::Undecided, 0),
            (Verdict::Allow, 1),
        ];
        let of_other_kinds = |other_kinds| PassedOver {
            other_kinds,
            ..PassedOver::default()
        };
        assert_eq!(summary(&counts, of_other_kinds(0)), "2 denied, 1 allowed");
        assert_eq!(
            summary(&counts, of_other_kinds(1)),
            "2 denied, 1 allowed; 1 object of another kind"
        );
        assert_eq!(
            summary(&[], of_other_kinds(3)),
            "no extension found; 3 objects of other kinds"
        );
        let passed_over = PassedOver {
            unchanged: 2,
            removed: 1,
            templates: 3,
            other_kinds: 0,
        };
        assert_eq!(
            summary(&[], passed_over),
            "nothing changed; 2 unchanged; 1 removed; 3 templates skipped"
        );
    }

    #[test]
    fn each_names_the_tool() {
        let placeholder = |text: &str| Unrendered::Placeholder {
            field: "spec.namespace".to_owned(),
            text: text.to_owned(),
        };
        for (what, by, expected) in [
            (
                Unrendered::Template,
                Renderer::Unknown,
                "a template; render it first, and check the result (-f -)",
            ),
            (
                Unrendered::Template,
                Renderer::Helm("charts/a b".to_owned()),
                "a template; render it first: helm template 'charts/a b' | olmguard check -f -",
            ),
            (
                placeholder("${NS}"),
                Renderer::Envsubst("a's.yaml".to_owned()),
                "a tool fills in spec.namespace later: \"${NS}\"; render it first: envsubst < \
                 'a'\\''s.yaml' | olmguard check -f -",
            ),
            (
                Unrendered::OpenShiftTemplate,
                Renderer::Oc("t.yaml".to_owned()),
                "an OpenShift Template; render it first: oc process -f t.yaml | olmguard check -f -",
            ),
            (
                Unrendered::Patch,
                Renderer::Kustomize("overlays/prod".to_owned()),
                "a patch of a kustomization; render it first: kubectl kustomize overlays/prod | olmguard check -f -",
            ),
        ] {
            assert_eq!(what.words(&by), expected);
        }
    }
}
