//! A document as one page for browsers: its result, its totals, a filter, and tables with a row for each thing, whose
//! details are shown on a click.
//!
//! A page needs no network and no other file. Without its script all of it is shown: the script only filters, sorts and
//! folds. No other script may run, and nothing may be loaded: the policy in the head names script and style by digest,
//! and each text of others is escaped.

use super::{Details, Document, Layout, Row, Section, Total};
use crate::text::Tone;
use crate::xml::{Attributes, Xml};

impl Document {
    /// The whole page.
    pub fn to_html(&self) -> String {
        let mut xml = Xml::default();
        xml.raw("<!doctype html>\n");
        xml.open("html", &[("lang", &"en")]);
        self.head(&mut xml);
        xml.open("body", &[]);
        xml.text("h1", &[], self.name);
        xml.text("p", &[("id", &"result")], &self.result.plain());
        self.faults(&mut xml);
        self.totals(&mut xml);
        self.filter(&mut xml);
        xml.open("main", &[]);
        for section in &self.sections {
            section.table(&mut xml);
        }
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
        xml.text("title", &[], self.name);
        xml.ours("style", STYLE);
        xml.close();
    }

    fn faults(&self, xml: &mut Xml) {
        if self.faults.is_empty() {
            return;
        }
        xml.open("section", &[("id", &"faults")]);
        xml.text("h2", &[], "Not read");
        xml.open("ul", &[]);
        for fault in &self.faults {
            xml.text("li", &[], &fault.line());
        }
        xml.close();
        xml.close();
    }

    fn totals(&self, xml: &mut Xml) {
        if self.totals.is_empty() {
            return;
        }
        xml.open("ul", &[("id", &"totals")]);
        for total in &self.totals {
            xml.open("li", &[("data-state", &state(total.tone))]);
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
        for Total { id, label, .. } in &self.totals {
            xml.text("option", &[("value", id)], label);
        }
        xml.close();
        xml.close();
        xml.text("output", &[("id", &"shown"), ("for", &"text finding")], "");
        xml.close();
    }
}

/// How bad something is, as the page knows it.
fn state(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Caution => "warn",
        Tone::Bad => "bad",
        Tone::Plain | Tone::Label => "aside",
    }
}

impl Section {
    fn table(&self, xml: &mut Xml) {
        xml.open("div", &[("class", &"wide")]);
        let class = match self.layout {
            Layout::List => "list",
            Layout::Matrix => "matrix",
        };
        xml.open("table", &[("class", &class)]);
        xml.text("caption", &[], self.caption);
        xml.open("thead", &[]);
        xml.open("tr", &[]);
        for head in &self.heads {
            xml.open("th", &[("scope", &"col"), ("aria-sort", &"none")]);
            xml.text("button", &[("type", &"button")], &head.text);
            xml.close();
        }
        xml.close();
        xml.close();
        for row in &self.rows {
            self.row(row, xml);
        }
        xml.close();
        xml.close();
    }

    fn row(&self, row: &Row, xml: &mut Xml) {
        let attributes: Attributes<'_> = &[
            ("data-state", &state(row.tone)),
            ("data-findings", &row.findings.join(" ")),
        ];
        xml.open("tbody", attributes);
        xml.open("tr", &[]);
        let mut cells = row.cells.iter().zip(&self.heads);
        if let Some((name, _)) = cells.next() {
            xml.open("th", &[("scope", &"row")]);
            let button: Attributes<'_> = &[("type", &"button"), ("aria-expanded", &"true")];
            xml.text("button", button, &name.plain());
            xml.close();
        }
        for (cell, head) in cells {
            let attributes: Attributes<'_> = &[("class", &"fact"), ("data-head", &head.text)];
            xml.text("td", attributes, &cell.plain());
        }
        xml.close();
        xml.open("tr", &[("class", &"more")]);
        xml.open("td", &[("colspan", &self.heads.len())]);
        row.details.write(xml);
        xml.close();
        xml.close();
        xml.close();
    }
}

impl Details {
    fn write(&self, xml: &mut Xml) {
        if !self.items.is_empty() {
            xml.open("ul", &[]);
            for (label, text) in &self.items {
                xml.open("li", &[]);
                if let Some(label) = label {
                    xml.text("b", &[], label);
                }
                xml.text("span", &[], text);
                xml.close();
            }
            xml.close();
        }
        xml.open("dl", &[]);
        for (term, text) in &self.facts {
            xml.text("dt", &[], term);
            xml.text("dd", &[], text);
        }
        xml.close();
    }
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

// A digest is the one of the text in the page; a test computes it.
const SCRIPT_DIGEST: &str = "sha256-CvijtF7EQoTrvoX2eGq3jSibNK0wqFhWCI6VRiPksQ4=";
const STYLE_DIGEST: &str = "sha256-LwTvV6PZaeAsR8ECdTsHYaFgbmqiYmsnmpFJQ75sAxA=";
