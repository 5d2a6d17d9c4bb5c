//! What already runs as one page: it needs no network and no other file, and can be read without its script.
//!
//! The script only filters. No other one may run, and nothing may be loaded: the policy in the head names our script and style by
//! digest, and each text of others is escaped.

mod page;

use crate::audit_report::{AuditReport, ExtensionReport, label};
use crate::see::BundleReport;
use crate::xml::{Attributes, Xml};
pub(crate) use page::Page;

impl AuditReport {
    /// A whole page. `faults` are what could not be read, a line each.
    pub fn html(&self, faults: &[String]) -> String {
        let findings: Vec<_> = self
            .summary
            .iter()
            .map(|(id, count)| (*id, label(id), *count))
            .collect();
        let page = Page {
            title: TITLE,
            counts: &self.count_line(),
            unread: faults,
            findings: &findings,
        };
        page.write(|xml| {
            for extension in &self.extensions {
                article(extension, xml);
            }
        })
    }
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
            xml.text("b", &[], &finding.label());
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
        ("Not judged", extension.exemption().map(str::to_owned)),
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
