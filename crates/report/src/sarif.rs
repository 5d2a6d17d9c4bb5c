//! Findings as SARIF 2.1.0.
//!
//! Paths are given as they were named, but without a leading `./` and with `/` between directories.
//! Columns count characters. The fingerprint of a finding stays the same if its location changes:
//! it is computed from the file, the id and the finding's identity.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ring::digest::{Context, SHA256};
use serde_json::json;
pub use serde_sarif::sarif::Sarif;
use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, LogicalLocation, Message, MultiformatMessageString,
    Notification, PhysicalLocation, Region, ReportingConfiguration, ReportingDescriptor,
    Result as SarifResult, ResultLevel, Run, Tool, ToolComponent,
};

use crate::finding::{Finding, Place, Severity, in_repository};
use olmguard_catalog::version::go::one_line;

/// A rule, as a viewer shows it next to its findings.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The id of its findings.
    pub id: &'static str,
    /// The problem that the rule finds.
    pub title: String,
    /// The reason why the problem matters, if the help does not include it.
    pub why: Option<&'static str>,
    /// The help: how to fix the problem.
    pub help: &'static str,
    /// Whether the help is Markdown.
    pub is_markdown: bool,
    /// The default severity, if it can be changed.
    pub severity: Option<Severity>,
}

/// The end of a run.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'f> {
    /// Its exit code.
    pub code: u8,
    /// The messages of the run in addition to its results.
    pub faults: &'f [Finding],
}

/// Creates the log of one run.
pub fn sarif(rules: &[Rule], findings: &[Finding], ended: Option<Ended<'_>>) -> Sarif {
    let driver = ToolComponent::builder()
        .name("olmguard")
        .version(env!("CARGO_PKG_VERSION"))
        .rules(rules.iter().map(descriptor).collect::<Vec<_>>())
        .build();
    let results = findings.iter().map(|finding| result(finding, rules));
    let mut run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .column_kind(json!("unicodeCodePoints"))
        .results(results.collect::<Vec<_>>())
        .build();
    run.invocations = ended.map(|ended| vec![invocation(ended)]);
    Sarif::builder()
        .version(json!("2.1.0"))
        .schema(SCHEMA)
        .runs(vec![run])
        .build()
}

fn descriptor(rule: &Rule) -> ReportingDescriptor {
    let mut help = text(rule.help);
    help.markdown = rule.is_markdown.then(|| rule.help.to_owned());
    let mut descriptor = ReportingDescriptor::builder()
        .id(rule.id)
        .short_description(text(&rule.title))
        .help(help)
        .build();
    descriptor.full_description = rule.why.map(text);
    descriptor.default_configuration = rule.severity.map(|severity| {
        ReportingConfiguration::builder()
            .level(json!(severity.as_str()))
            .build()
    });
    descriptor
}

fn result(finding: &Finding, rules: &[Rule]) -> SarifResult {
    let index = rules.iter().position(|rule| rule.id == finding.id);
    let index = index.and_then(|index| i64::try_from(index).ok());
    let mut result = SarifResult::builder()
        .rule_id(finding.id)
        .rule_index(index.unwrap_or(-1))
        .level(match finding.severity {
            Severity::Error => ResultLevel::Error,
            Severity::Warning => ResultLevel::Warning,
            Severity::Note => ResultLevel::Note,
        })
        .message(message(&finding.clean()))
        .locations(location(&finding.place).into_iter().collect::<Vec<_>>())
        .build();
    let print = finding.identity.as_ref();
    let print = print.map(|identity| fingerprint(finding, identity));
    result.partial_fingerprints =
        print.map(|print| BTreeMap::from([(FINGERPRINT.to_owned(), print)]));
    result
}

/// The fingerprint of a finding. Equal parts give the same one, whatever the position in the file.
fn fingerprint(finding: &Finding, [name, detail]: &[String; 2]) -> String {
    let file = match &finding.place {
        Place::File(file, _) => in_repository(file),
        Place::Run | Place::Named(_) => "",
    };
    let mut context = Context::new(&SHA256);
    for part in [file, name, finding.id, detail] {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    let mut hex = String::new();
    for byte in context.finish().as_ref() {
        write!(hex, "{byte:02x}").expect("a String takes everything");
    }
    hex
}

fn invocation(Ended { code, faults }: Ended<'_>) -> Invocation {
    let is_whole = faults.iter().all(|one| one.severity != Severity::Error);
    Invocation::builder()
        .execution_successful(is_whole)
        .exit_code(i64::from(code))
        .tool_execution_notifications(faults.iter().map(notification).collect::<Vec<_>>())
        .build()
}

fn notification(fault: &Finding) -> Notification {
    let mut notification = Notification::builder()
        .level(json!(fault.severity.as_str()))
        .message(message(&fault.line()))
        .build();
    notification.locations = location(&fault.place).map(|place| vec![place]);
    notification
}

/// A text about a rule.
fn text(text: &str) -> MultiformatMessageString {
    MultiformatMessageString::builder().text(text).build()
}

/// A text about a result. Brackets are escaped if the text would be read as a link
/// (`[words](where)`), because none of our texts has links.
fn message(text: &str) -> Message {
    let text = if text.contains("](") {
        text.replace('[', "\\[").replace(']', "\\]")
    } else {
        text.to_owned()
    };
    Message::builder().text(text).build()
}

fn location(place: &Place) -> Option<Location> {
    match place {
        Place::Run => None,
        Place::File(file, at) => Some(in_file(file, *at)),
        Place::Named(name) => {
            let name = LogicalLocation::builder()
                .fully_qualified_name(one_line(name))
                .build();
            Some(Location::builder().logical_locations(vec![name]).build())
        }
    }
}

/// A location in a file, or the file as a whole.
fn in_file(file: &str, at: Option<(u32, u32)>) -> Location {
    let file = ArtifactLocation::builder().uri(uri(file)).build();
    let mut place = PhysicalLocation::builder().artifact_location(file).build();
    place.region = at.map(|(line, column)| {
        Region::builder()
            .start_line(i64::from(line.max(1)))
            .start_column(i64::from(column.max(1)))
            .build()
    });
    Location::builder().physical_location(place).build()
}

/// A path as a relative reference of RFC 3986. An absolute path stays absolute. Two leading slashes
/// are reduced, because they would start a host name.
fn uri(path: &str) -> String {
    let path = in_repository(path);
    let path = match path.trim_start_matches('/') {
        relative if relative.len() + 1 < path.len() => &format!("/{relative}"),
        _ => path,
    };
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

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The name of the fingerprint's algorithm.
const FINGERPRINT: &str = "olmguardFileNameAnswer/v1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        for (path, expected) in [
            ("apps/a.yaml", "apps/a.yaml"),
            ("./a.yaml", "a.yaml"),
            ("/etc/a.yaml", "/etc/a.yaml"),
            ("//host/a", "/host/a"),
            ("-", "-"),
            ("c:a b?#%\n.yaml", "c%3Aa%20b%3F%23%25%0A.yaml"),
            ("ä", "%C3%A4"),
            ("", ""),
        ] {
            assert_eq!(uri(path), expected, "{path}");
        }
    }

    #[test]
    fn a_text_holds_no_link() {
        let shown = |text| message(text).text.expect("a text");
        assert_eq!(shown("refused [Token]"), "refused [Token]");
        assert_eq!(
            shown("[here](https://h) [Token]"),
            "\\[here\\](https://h) \\[Token\\]"
        );
    }
}
