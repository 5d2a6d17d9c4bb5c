//! A scanner of `PromQL` expressions: their metrics, and the labels that they select and group by.
//!
//! It reads words without parsing: promtool checks whether an expression is valid. A word that is neither a function
//! nor a keyword counts as a metric, so nothing unknown is accepted.

use std::iter::Peekable;
use std::vec::IntoIter;

/// The metrics and labels of an expression.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Asked {
    /// Each selector, in order.
    pub(crate) selectors: Vec<Selector>,
    /// The labels of `by`, `without`, `on` and `ignoring`.
    pub(crate) grouped: Vec<String>,
}

/// `METRIC{LABEL="VALUE"}`.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Selector {
    pub(crate) metric: String,
    /// The labels and the values that they are compared with, for any operator.
    pub(crate) labels: Vec<(String, String)>,
}

/// Scans an expression, in which templates of Grafana (`$word`) are allowed.
pub(crate) fn asked(expression: &str) -> Asked {
    let mut tokens = tokens(expression).into_iter().peekable();
    let mut asked = Asked::default();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) if GROUPING.contains(&word.as_str()) => {
                asked.grouped.extend(list(&mut tokens));
            }
            Token::Word(word) if WORDS.contains(&word.as_str()) => {}
            Token::Word(metric) => asked.selectors.push(Selector {
                metric,
                labels: labels(&mut tokens),
            }),
            Token::Symbol('[') => while tokens.next_if(|t| *t != Token::Symbol(']')).is_some() {},
            Token::Symbol(_) | Token::Text(_) => {}
        }
    }
    asked
}

#[derive(Debug, Eq, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Symbol(char),
}

type Tokens = Peekable<IntoIter<Token>>;

fn tokens(expression: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '$');
        let length = match first {
            '"' => rest[1..].find('"').expect("a text ends") + 2,
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        if first == '"' {
            tokens.push(Token::Text(token.trim_matches('"').to_owned()));
        } else if first.is_ascii_alphabetic() || first == '_' {
            tokens.push(Token::Word(token.to_owned()));
        } else if !is_word(first) && !first.is_whitespace() {
            tokens.push(Token::Symbol(first));
        }
    }
    tokens
}

/// Reads the words between the next brackets.
fn list(tokens: &mut Tokens) -> Vec<String> {
    let within = std::iter::from_fn(|| tokens.next_if(|token| *token != Token::Symbol(')')));
    let words = within.filter_map(|token| match token {
        Token::Word(word) => Some(word),
        _ => None,
    });
    words.collect()
}

/// Reads the labels in braces, if they come next.
fn labels(tokens: &mut Tokens) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    if tokens.next_if_eq(&Token::Symbol('{')).is_none() {
        return labels;
    }
    let mut label = String::new();
    while let Some(token) = tokens.next_if(|token| *token != Token::Symbol('}')) {
        match token {
            Token::Word(word) => label = word,
            Token::Text(text) => labels.push((std::mem::take(&mut label), text)),
            Token::Symbol(_) => {}
        }
    }
    labels
}

/// The keywords that are followed by labels in brackets.
const GROUPING: [&str; 4] = ["by", "without", "on", "ignoring"];

/// The functions, aggregations and operators in use.
const WORDS: [&str; 16] = [
    "absent",
    "and",
    "clamp_max",
    "count",
    "histogram_quantile",
    "increase",
    "max",
    "min",
    "offset",
    "or",
    "rate",
    "sum",
    "time",
    "topk",
    "unless",
    "vector",
];

#[test]
fn metrics_labels_and_groups_are_found() {
    let found = asked(
        "sum by (a, le) (rate(m_total{b=\"x\", c=~\"y|$z\"}[$__rate_interval])) > 2.5e3\n\
         unless on (d) other offset 10m / foo(n)",
    );
    let selector = |metric: &str, labels: &[(&str, &str)]| Selector {
        metric: metric.to_owned(),
        labels: labels
            .iter()
            .map(|(label, value)| ((*label).to_owned(), (*value).to_owned()))
            .collect(),
    };
    assert_eq!(
        found.selectors,
        [
            selector("m_total", &[("b", "x"), ("c", "y|$z")]),
            selector("other", &[]),
            selector("foo", &[]),
            selector("n", &[]),
        ]
    );
    assert_eq!(found.grouped, ["a", "le", "d"]);
}
