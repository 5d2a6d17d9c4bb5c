//! A document as one page for browsers: its result, its totals, a filter, and tables. The details
//! of each row are shown on a click.
//!
//! A page needs no network and no other file. Without its script everything is visible: the script
//! only filters, sorts and collapses. No other script can run, and nothing can be loaded: the
//! policy in the head names script and style by digest, and all external texts are escaped.

use super::{Details, Document, Layout, Row, Section, Total};
use crate::text::Tone;
use crate::xml::{Attributes, Xml, escape, fill};

impl Document {
    /// Formats the document as a page.
    pub fn to_html(&self) -> String {
        let part = |write: fn(&Self, &mut Xml)| {
            let mut xml = Xml::default();
            write(self, &mut xml);
            xml.finish()
        };
        let mut name = String::new();
        escape(self.name, &mut name);
        let parts = [
            ("name", &*name),
            ("script digest", SCRIPT_DIGEST),
            ("style digest", STYLE_DIGEST),
            ("style", STYLE),
            (
                "result",
                &part(|page, xml| xml.text("p", &[("id", &"result")], &page.result.plain())),
            ),
            ("faults", &part(Self::faults)),
            ("totals", &part(Self::totals)),
            ("findings", &part(Self::findings)),
            (
                "tables",
                &part(|page, xml| page.sections.iter().for_each(|one| one.table(xml))),
            ),
            ("script", SCRIPT),
        ];
        fill(include_str!("page.html"), &parts)
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

    /// Writes the findings that the filter offers.
    fn findings(&self, xml: &mut Xml) {
        for Total { id, label, .. } in &self.totals {
            xml.text("option", &[("value", id)], label);
        }
    }
}

/// The page's name for a tone.
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

// Each digest is of the text in the page; a test computes it.
const SCRIPT_DIGEST: &str = "sha256-CvijtF7EQoTrvoX2eGq3jSibNK0wqFhWCI6VRiPksQ4=";
const STYLE_DIGEST: &str = "sha256-s06PSb+/z9xl7i41dp0aA4LHbEyFGxb8Y93npdSuvI8=";
