//! Findings as SARIF 2.1.0.
//!
//! Every rule is described, found or not, so that a viewer can show what was looked for. Paths are given
//! as they were named, with `/` between folders; columns count characters. Messages are sentences for
//! people: what they take from a catalog is escaped as in the text form.

use std::fmt::Write as _;

use serde_sarif::sarif::{
    ArtifactLocation, Location, Message, MultiformatMessageString, PhysicalLocation, Region,
    ReportingConfiguration, ReportingDescriptor, Result as Finding, ResultLevel, Run, Sarif, Tool,
    ToolComponent,
};

use crate::explain::one_line;
use crate::lint::{self, Rule, Severity};

/// The log of one run.
pub fn sarif(findings: &[lint::Finding]) -> Sarif {
    let driver = ToolComponent::builder()
        .name("olmguard")
        .version(env!("CARGO_PKG_VERSION"))
        .information_uri(env!("CARGO_PKG_HOMEPAGE"))
        .rules(
            Rule::ALL
                .iter()
                .map(|rule| descriptor(*rule))
                .collect::<Vec<_>>(),
        )
        .build();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .column_kind(serde_json::json!("unicodeCodePoints"))
        .results(findings.iter().map(result).collect::<Vec<_>>())
        .build();
    Sarif::builder()
        .version(serde_json::json!("2.1.0"))
        .schema(SCHEMA)
        .runs(vec![run])
        .build()
}

fn descriptor(rule: Rule) -> ReportingDescriptor {
    ReportingDescriptor::builder()
        .id(rule.id())
        .short_description(text(rule.title()))
        .full_description(text(rule.why()))
        .help(text(rule.fix()))
        .default_configuration(
            ReportingConfiguration::builder()
                .level(serde_json::json!(rule.severity().as_str()))
                .build(),
        )
        .build()
}

fn text(text: &str) -> MultiformatMessageString {
    MultiformatMessageString::builder().text(text).build()
}

fn result(finding: &lint::Finding) -> Finding {
    let index = Rule::ALL.iter().position(|rule| *rule == finding.rule);
    let index = index.and_then(|index| i64::try_from(index).ok());
    let message = one_line(&finding.message);
    let message = match &finding.upstream {
        Some(upstream) => format!("{message}\nopm validate: {}", one_line(upstream)),
        None => message,
    };
    Finding::builder()
        .rule_id(finding.rule.id())
        .rule_index(index.unwrap_or(-1))
        .level(level(finding.severity))
        .message(Message::builder().text(message).build())
        .locations(vec![location(finding)])
        .build()
}

fn location(finding: &lint::Finding) -> Location {
    let region = Region::builder()
        .start_line(i64::from(finding.line.max(1)))
        .start_column(i64::from(finding.column.max(1)))
        .build();
    let file = ArtifactLocation::builder().uri(uri(&finding.file)).build();
    Location::builder()
        .physical_location(
            PhysicalLocation::builder()
                .artifact_location(file)
                .region(region)
                .build(),
        )
        .build()
}

/// A path as a relative reference of RFC 3986; an absolute path stays one.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02X}").expect("a String takes everything");
        }
    }
    uri
}

fn level(severity: Severity) -> ResultLevel {
    match severity {
        Severity::Note => ResultLevel::Note,
        Severity::Warning => ResultLevel::Warning,
        Severity::Error => ResultLevel::Error,
    }
}

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
