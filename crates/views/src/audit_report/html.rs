//! What already runs as one page for browsers: a row for each extension, the worst first.

use crate::audit_report::{AuditReport, ExtensionReport, FindingReport, label};
use crate::html_page::{HtmlPage, HtmlRow, HtmlTable, State, Total, facts};
use crate::see::BundleReport;
use crate::xml::Xml;
use olmguard_engine::audit::Concern;
use olmguard_engine::judge::Verdict;

impl AuditReport {
    /// A whole page. `faults` are what could not be read, a line each.
    pub fn html(&self, faults: &[String]) -> String {
        let totals: Vec<_> = self.totals().collect();
        let page = HtmlPage {
            title: "olmguard audit",
            result: &self.count_line(),
            unread: faults,
            totals: &totals,
        };
        page.write(|xml| {
            TABLE.write(xml, |table, xml| {
                for extension in &self.extensions {
                    table.row(xml, &row(extension), |xml| details(extension, xml));
                }
            });
        })
    }

    /// How many extensions have each finding, the worst finding first.
    fn totals(&self) -> impl Iterator<Item = Total> {
        Concern::ALL.iter().filter_map(|concern| {
            let id = concern.as_str();
            Some(Total {
                id,
                label: label(id),
                count: *self.summary.get(id)?,
                state: of_concern(*concern),
            })
        })
    }
}

/// A spec that OLM or a rule refuses, and what is not known, is bad; all else is worth a look.
fn of_concern(concern: Concern) -> State {
    match concern {
        Concern::Unresolvable
        | Concern::Forbidden
        | Concern::ForbiddenMove
        | Concern::Undecided => State::Bad,
        _ => State::Warn,
    }
}

const TABLE: HtmlTable<'_> = HtmlTable {
    caption: "Extensions",
    is_list: true,
    heads: &[
        "Extension",
        "Package",
        "Installed",
        "Newest",
        "Findings",
        "Set version to",
    ],
};

fn row(extension: &ExtensionReport) -> HtmlRow {
    let findings = extension.findings.iter().map(FindingReport::label);
    let not_judged = extension.exemption().map(|_| "not judged".to_owned());
    let findings: Vec<_> = findings.chain(not_judged).collect();
    let newest = extension.newest.as_ref().map(BundleReport::label);
    HtmlRow {
        state: state(extension),
        findings: extension.findings.iter().map(|one| one.id).collect(),
        cells: vec![
            extension.name().to_owned(),
            extension.package().to_owned(),
            extension.installed(),
            newest.unwrap_or_default(),
            findings.join(", "),
            extension.next_range().unwrap_or_default().to_owned(),
        ],
    }
}

fn state(extension: &ExtensionReport) -> State {
    let mut concerns = extension.concerns.iter();
    match extension.judged {
        Verdict::NotJudged => State::Aside,
        _ if extension.concerns.is_empty() => State::Good,
        _ if concerns.any(|one| of_concern(*one) == State::Bad) => State::Bad,
        _ => State::Warn,
    }
}

fn details(extension: &ExtensionReport, xml: &mut Xml) {
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
    facts(xml, known(extension));
}

/// The facts that are known, each with its name.
fn known(extension: &ExtensionReport) -> Vec<(&'static str, String)> {
    let version = |bundle: &Option<BundleReport>| bundle.as_ref().map(BundleReport::label);
    let path = |path: &[BundleReport]| {
        let steps: Vec<_> = path.iter().map(BundleReport::label).collect();
        Some(steps.join(" -> ")).filter(|_| !steps.is_empty())
    };
    let next = extension.next.as_ref();
    let channels = Some(extension.channels.join(", ")).filter(|text| !text.is_empty());
    let facts = [
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
        ("Path", next.and_then(|next| path(&next.path))),
        ("Allowed from", next.and_then(|next| next.opens.clone())),
    ];
    let known = facts.into_iter();
    known
        .filter_map(|(term, text)| Some((term, text?)))
        .collect()
}
