//! What already runs as one page: it needs no network and no other file, and can be read without its script.
//!
//! The script only filters. No other one may run, and nothing may be loaded: the policy in the head names our script and style by
//! digest, and each text of others is escaped.

use crate::audit_report::{AuditReport, ExtensionReport};
use crate::see::BundleReport;
use crate::xml::{Attributes, Xml};

impl AuditReport {
    /// A whole page. `faults` are what could not be read, a line each.
    pub fn html(&self, faults: &[String]) -> String {
        let mut xml = Xml::default();
        xml.raw("<!doctype html>\n");
        xml.open("html", &[("lang", &"en")]);
        head(&mut xml);
        xml.open("body", &[]);
        xml.text("h1", &[], TITLE);
        xml.text("p", &[], &self.count_line());
        not_read(faults, &mut xml);
        self.filter(&mut xml);
        xml.open("main", &[]);
        for extension in &self.extensions {
            article(extension, &mut xml);
        }
        xml.close();
        xml.ours("script", SCRIPT);
        xml.finish()
    }

    /// The form that filters; without its script it is not shown.
    fn filter(&self, xml: &mut Xml) {
        xml.open(
            "form",
            &[("id", &"filter"), ("role", &"search"), ("hidden", &"")],
        );
        xml.open("label", &[]);
        xml.text("span", &[], "Text");
        xml.empty(
            "input",
            &[
                ("id", &"text"),
                ("type", &"search"),
                ("autocomplete", &"off"),
            ],
        );
        xml.close();
        xml.open("label", &[]);
        xml.text("span", &[], "Finding");
        xml.open("select", &[("id", &"finding")]);
        xml.text("option", &[("value", &"")], "any");
        for (id, count) in &self.summary {
            xml.text("option", &[("value", id)], &format!("{id} ({count})"));
        }
        xml.close();
        xml.close();
        xml.text("output", &[("id", &"shown"), ("for", &"text finding")], "");
        xml.close();
    }
}

fn head(xml: &mut Xml) {
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
    xml.text("title", &[], TITLE);
    xml.ours("style", STYLE);
    xml.close();
}

fn not_read(faults: &[String], xml: &mut Xml) {
    if faults.is_empty() {
        return;
    }
    xml.open("section", &[("id", &"faults")]);
    xml.text("h2", &[], "Not read");
    xml.open("ul", &[]);
    for fault in faults {
        xml.text("li", &[], fault);
    }
    xml.close();
    xml.close();
}

fn article(extension: &ExtensionReport, xml: &mut Xml) {
    let findings: Vec<_> = extension.findings.iter().map(|one| one.id).collect();
    let attributes: Attributes<'_> = &[
        ("data-verdict", &extension.verdict),
        ("data-findings", &findings.join(" ")),
    ];
    xml.open("article", attributes);
    xml.text("h2", &[], extension.name());
    if !extension.findings.is_empty() {
        xml.open("ul", &[]);
        for finding in &extension.findings {
            xml.open("li", &[]);
            xml.text("b", &[], finding.id);
            xml.text("span", &[], &finding.text);
            xml.close();
        }
        xml.close();
    }
    xml.open("dl", &[]);
    for (term, text) in facts(extension) {
        xml.text("dt", &[], term);
        xml.text("dd", &[], &text);
    }
    xml.close();
    xml.close();
}

/// The facts that are known, each with its name.
fn facts(extension: &ExtensionReport) -> Vec<(&'static str, String)> {
    let version = |bundle: &Option<BundleReport>| bundle.as_ref().map(BundleReport::label);
    let path = |path: &[BundleReport]| {
        let steps: Vec<_> = path.iter().map(BundleReport::label).collect();
        Some(steps.join(" -> ")).filter(|_| !steps.is_empty())
    };
    let next = extension.next.as_ref();
    let channels = Some(extension.channels.join(", ")).filter(|text| !text.is_empty());
    let facts = [
        ("Package", Some(extension.package().to_owned())),
        ("Installed", Some(extension.installed())),
        (
            "Range",
            Some(
                extension
                    .range
                    .clone()
                    .unwrap_or_else(|| "any version".to_owned()),
            ),
        ),
        ("Channels", channels),
        (
            "Answer today",
            Some(format!("{} [{}]", extension.verdict, extension.token)),
        ),
        ("Resolves to", version(&extension.resolved)),
        ("Automatic", path(&extension.automatic)),
        ("Newest", version(&extension.newest)),
        ("Next edit", extension.next_range().map(str::to_owned)),
        ("Path", next.and_then(|next| path(&next.path))),
        ("Allowed from", next.and_then(|next| next.opens.clone())),
    ];
    let known = facts.into_iter();
    known
        .filter_map(|(term, text)| Some((term, text?)))
        .collect()
}

const TITLE: &str = "olmguard audit";
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/filter.js");

// A digest is the one of the text in the page; a test computes it.
const SCRIPT_DIGEST: &str = "sha256-iaXsC19rswBJj89PGQqY3AJALKn8fIInZ0qlYdt8EOo=";
const STYLE_DIGEST: &str = "sha256-uCsWBzCdD35JxSRowwd2n5nCDHWX4Iikalka3e+N7VU=";
