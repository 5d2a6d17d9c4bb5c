//! A report as one page for browsers: its result, its totals, a filter, and tables with a row for each thing, whose
//! details are shown on a click.
//!
//! A page needs no network and no other file. Without its script all of it is shown: the script only filters, sorts and
//! folds. No other script may run, and nothing may be loaded: the policy in the head names script and style by digest,
//! and each text of others is escaped.

use crate::xml::{Attributes, Xml};

/// A page around its tables.
pub(crate) struct HtmlPage<'a> {
    /// Its title.
    pub(crate) title: &'a str,
    /// What the report found, in a line.
    pub(crate) result: &'a str,
    /// What could not be read, a line each.
    pub(crate) unread: &'a [String],
    /// What is counted.
    pub(crate) totals: &'a [Total],
}

/// How many extensions have a finding; the filter offers it.
pub(crate) struct Total {
    /// The word for it in [`HtmlRow::findings`].
    pub(crate) id: &'static str,
    /// The same for people.
    pub(crate) label: String,
    /// How many have it.
    pub(crate) count: usize,
    /// How bad that is.
    pub(crate) state: State,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// Nothing to do.
    Good,
    /// Someone should look at it.
    Warn,
    /// OLM or a rule refuses it, or a fact is missing.
    Bad,
    /// It was not judged.
    Aside,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Aside => "aside",
        }
    }
}

impl HtmlPage<'_> {
    /// The whole page.
    pub(crate) fn write(&self, tables: impl FnOnce(&mut Xml)) -> String {
        let mut xml = Xml::default();
        xml.raw("<!doctype html>\n");
        xml.open("html", &[("lang", &"en")]);
        self.head(&mut xml);
        xml.open("body", &[]);
        xml.text("h1", &[], self.title);
        xml.text("p", &[("id", &"result")], self.result);
        self.faults(&mut xml);
        self.totals(&mut xml);
        self.filter(&mut xml);
        xml.open("main", &[]);
        tables(&mut xml);
        xml.close();
        xml.ours("script", SCRIPT);
        xml.finish()
    }

    fn head(&self, xml: &mut Xml) {
        xml.open("head", &[]);
        xml.empty("meta", &[("charset", &"utf-8")]);
        let policy = format!(
            "default-src 'none'; script-src '{SCRIPT_DIGEST}'; style-src '{STYLE_DIGEST}'; base-uri 'none'; \
             form-action 'none'"
        );
        let policy: Attributes<'_> = &[
            ("http-equiv", &"Content-Security-Policy"),
            ("content", &policy),
        ];
        xml.empty("meta", policy);
        let viewport: Attributes<'_> = &[
            ("name", &"viewport"),
            ("content", &"width=device-width, initial-scale=1"),
        ];
        xml.empty("meta", viewport);
        xml.text("title", &[], self.title);
        xml.ours("style", STYLE);
        xml.close();
    }

    fn faults(&self, xml: &mut Xml) {
        if self.unread.is_empty() {
            return;
        }
        xml.open("section", &[("id", &"faults")]);
        xml.text("h2", &[], "Not read");
        xml.open("ul", &[]);
        for fault in self.unread {
            xml.text("li", &[], fault);
        }
        xml.close();
        xml.close();
    }

    fn totals(&self, xml: &mut Xml) {
        if self.totals.is_empty() {
            return;
        }
        xml.open("ul", &[("id", &"totals")]);
        for total in self.totals {
            xml.open("li", &[("data-state", &total.state.as_str())]);
            xml.text("b", &[], &total.count.to_string());
            xml.text("span", &[], &total.label);
            xml.close();
        }
        xml.close();
    }

    /// The form that filters; without its script it is not shown.
    fn filter(&self, xml: &mut Xml) {
        let hidden: Attributes<'_> = &[("id", &"filter"), ("role", &"search"), ("hidden", &"")];
        xml.open("form", hidden);
        xml.open("label", &[]);
        xml.text("span", &[], "Text");
        let text: Attributes<'_> = &[
            ("id", &"text"),
            ("type", &"search"),
            ("autocomplete", &"off"),
        ];
        xml.empty("input", text);
        xml.close();
        xml.open("label", &[]);
        xml.text("span", &[], "Finding");
        xml.open("select", &[("id", &"finding")]);
        xml.text("option", &[("value", &"")], "any");
        for Total { id, label, .. } in self.totals {
            xml.text("option", &[("value", id)], label);
        }
        xml.close();
        xml.close();
        xml.text("output", &[("id", &"shown"), ("for", &"text finding")], "");
        xml.close();
    }
}

/// A table on a page.
pub(crate) struct HtmlTable<'a> {
    /// What it is about.
    pub(crate) caption: &'a str,
    /// Whether a narrow screen shows the cells of a row below each other; otherwise it scrolls.
    pub(crate) is_list: bool,
    /// A head for each cell of a row.
    pub(crate) heads: &'a [&'a str],
}

/// A row of it.
pub(crate) struct HtmlRow {
    /// How bad it is.
    pub(crate) state: State,
    /// The ids of its findings.
    pub(crate) findings: Vec<&'static str>,
    /// A text for each head; the first is the name of the row.
    pub(crate) cells: Vec<String>,
}

impl HtmlTable<'_> {
    /// The table, and what is written as its rows.
    pub(crate) fn write(&self, xml: &mut Xml, rows: impl FnOnce(&Self, &mut Xml)) {
        xml.open("div", &[("class", &"wide")]);
        let class = if self.is_list { "list" } else { "matrix" };
        xml.open("table", &[("class", &class)]);
        xml.text("caption", &[], self.caption);
        xml.open("thead", &[]);
        xml.open("tr", &[]);
        for head in self.heads {
            xml.open("th", &[("scope", &"col"), ("aria-sort", &"none")]);
            xml.text("button", &[("type", &"button")], head);
            xml.close();
        }
        xml.close();
        xml.close();
        rows(self, xml);
        xml.close();
        xml.close();
    }

    /// A row, and what is written as its details.
    pub(crate) fn row(&self, xml: &mut Xml, row: &HtmlRow, details: impl FnOnce(&mut Xml)) {
        let attributes: Attributes<'_> = &[
            ("data-state", &row.state.as_str()),
            ("data-findings", &row.findings.join(" ")),
        ];
        xml.open("tbody", attributes);
        xml.open("tr", &[]);
        let mut cells = row.cells.iter().zip(self.heads);
        if let Some((name, _)) = cells.next() {
            xml.open("th", &[("scope", &"row")]);
            let button: Attributes<'_> = &[("type", &"button"), ("aria-expanded", &"true")];
            xml.text("button", button, name);
            xml.close();
        }
        for (cell, head) in cells {
            xml.text("td", &[("class", &"fact"), ("data-head", head)], cell);
        }
        xml.close();
        xml.open("tr", &[("class", &"more")]);
        xml.open("td", &[("colspan", &self.heads.len())]);
        details(xml);
        xml.close();
        xml.close();
        xml.close();
    }
}

/// Terms, each with a text.
pub(crate) fn facts(xml: &mut Xml, facts: impl IntoIterator<Item = (impl AsRef<str>, String)>) {
    xml.open("dl", &[]);
    for (term, text) in facts {
        xml.text("dt", &[], term.as_ref());
        xml.text("dd", &[], &text);
    }
    xml.close();
}

const STYLE: &str = include_str!("html_page/page.css");
const SCRIPT: &str = include_str!("html_page/page.js");

// A digest is the one of the text in the page; a test computes it.
const SCRIPT_DIGEST: &str = "sha256-CvijtF7EQoTrvoX2eGq3jSibNK0wqFhWCI6VRiPksQ4=";
const STYLE_DIGEST: &str = "sha256-LwTvV6PZaeAsR8ECdTsHYaFgbmqiYmsnmpFJQ75sAxA=";
