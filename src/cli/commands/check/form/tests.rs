//! Each form stays well-formed, whatever names, places and messages contain.

mod github;
mod junit;
mod markdown;
mod sarif;

use proptest::prelude::*;

use super::*;
use crate::cli::commands::check::base::Past;
use crate::cli::commands::check::cases::{self, CasePlace, Subject};
use crate::manifest::Position;
use olmguard_engine::explain::not_judged;
use olmguard_engine::extension::{Filter, Identity, InstalledBundle};
use olmguard_engine::judge::{Advice, Exemption, Fix, FixValue, Token};

/// The parts of a run, before they are reported.
#[derive(Clone, Debug)]
pub(super) struct Happened {
    results: Vec<(Ended, Exit)>,
    troubles: Vec<Finding>,
    quiet: bool,
}

type Ended = std::rc::Rc<(Case, Answer)>;

impl Happened {
    pub(super) fn run(&self) -> Run<'_> {
        let results = self.results.iter().map(|(ended, counts)| CheckedExtension {
            case: &ended.0,
            answer: &ended.1,
            counts: *counts,
        });
        Run {
            results: results.collect(),
            troubles: self.troubles.clone(),
            summary: Summary::default(),
            quiet: self.quiet,
        }
    }
}

/// A result with these texts: the name, the file, the message, the requested range, and a warning.
pub(super) fn result(token: Token, counts: Exit, texts: [&str; 5]) -> (Ended, Exit) {
    let [name, file, message, range, warning] = texts;
    let unknown = Exemption::UnknownVersion {
        api_version: String::new(),
        kind: String::new(),
    };
    let case = Case {
        place: CasePlace {
            file: file.to_owned(),
            document: 0,
            at: Position {
                line: 11,
                column: 16,
            },
        },
        identity: Identity {
            name: Some(name.to_owned()),
            ..Identity::default()
        },
        subject: Subject::Unknown(unknown.clone()),
        past: Past::NotAsked,
        told: cases::InstalledSource::default(),
    };
    let verdict = token.verdict();
    let is_told = matches!(verdict, Verdict::Deny | Verdict::Undecided);
    let answer = Answer {
        token,
        message: is_told.then(|| format!("{message}\nFix: set {range} to it\nHelp: {message}")),
        warnings: Vec::from_iter((!warning.is_empty()).then(|| warning.to_owned())),
        requested: Some(Filter {
            package: name.to_owned(),
            version: Some(range.to_owned()),
            ..Filter::default()
        }),
        installed: Some(InstalledBundle {
            name: None,
            version: range.to_owned(),
            release: None,
        }),
        advice: Advice {
            fix: Some(Fix {
                field: range.to_owned(),
                value: FixValue::Text("it".to_owned()),
            }),
            ..Advice::default()
        },
        ..not_judged(&unknown)
    };
    (std::rc::Rc::new((case, answer)), counts)
}

pub(super) fn happened(results: Vec<(Ended, Exit)>) -> Happened {
    Happened {
        results,
        troubles: Vec::new(),
        quiet: false,
    }
}

/// Texts that have a meaning in one of the forms, and arbitrary texts.
fn texts() -> impl Strategy<Value = String> {
    let traps = prop::sample::select(vec![
        "",
        "a",
        "::error::b",
        "\n::warning::b",
        "%0A",
        "%",
        "a,b:c",
        "a|b",
        "a\\|b",
        "\\",
        "\\\\|",
        "`",
        "``` ` ",
        " ` ",
        "]]>",
        "<!--",
        "-->",
        "<script>",
        "</details>",
        "&amp;",
        "\"",
        "'",
        "@someone",
        "#1",
        "[a](https://h.example)",
        "![a](b)",
        "www.a.example",
        "a@b.example",
        "\u{0}",
        "\u{1b}[31m",
        "\u{202e}",
        "\u{fffe}",
        "\u{ffff}",
        "\u{2028}",
        "\u{85}",
        "\r\n",
        "a\nb",
        "\t",
        "-",
        "//h/a",
        "..",
        "ä",
        "\u{10ffff}",
        "| --- |",
        "*a*",
        "~~a~~",
        "$a$",
    ]);
    let parts = prop_oneof![traps.prop_map(str::to_owned), any::<String>()];
    prop::collection::vec(parts, 0..4).prop_map(|parts| parts.concat())
}

fn troubles() -> impl Strategy<Value = Finding> {
    let severities = prop::sample::select(Severity::ALL.to_vec());
    (severities, places(), texts()).prop_map(|(severity, place, text)| Finding {
        place,
        ..Finding::of_run(TITLE, severity, text)
    })
}

fn places() -> impl Strategy<Value = Place> {
    let at = prop::option::of(Just((1, 1)));
    prop_oneof![
        Just(Place::Run),
        (texts(), at).prop_map(|(file, at)| Place::File(file, at)),
        texts().prop_map(Place::Named),
    ]
}

/// Any run. Its results count as anything that their verdicts allow.
pub(super) fn runs() -> impl Strategy<Value = Happened> {
    let rows: Vec<(Token, Exit)> = vec![
        (Token::Resolved, Exit::Good),
        (Token::Bypassed, Exit::Denied),
        (Token::NotJudged, Exit::Good),
        (Token::NotASuccessor, Exit::Denied),
        (Token::InvalidSpec, Exit::Denied),
        (Token::NoCatalogs, Exit::Undecided),
        (Token::NoCatalogs, Exit::Good),
        (Token::CatalogNotLoaded, Exit::BadInput),
        (Token::InstalledUnknown, Exit::Denied),
    ];
    let row = (prop::sample::select(rows), prop::array::uniform5(texts()));
    let one = row.prop_map(|((token, counts), texts)| {
        result(token, counts, texts.each_ref().map(String::as_str))
    });
    let results = prop::collection::vec(one, 0..5);
    let troubles = prop::collection::vec(troubles(), 0..3);
    (results, troubles, any::<bool>()).prop_map(|(results, troubles, quiet)| Happened {
        results,
        troubles,
        quiet,
    })
}
