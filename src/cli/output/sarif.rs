//! SARIF 2.1.0: what is the same in every log that is printed.
//!
//! Paths are given as they were named but for a leading `./`, with `/` between folders; columns count characters.

use std::fmt::Write as _;

use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, LogicalLocation, Message, MultiformatMessageString,
    PhysicalLocation, Region, ReportingDescriptor, Result as Finding, Run, Sarif, Tool,
    ToolComponent,
};

use crate::cli::output::workflow::plain;
use crate::manifest::Position;

/// The log of one run; what is not only found but went wrong stands in the invocation.
pub(crate) fn log(
    rules: Vec<ReportingDescriptor>,
    results: Vec<Finding>,
    invocation: Option<Invocation>,
) -> Sarif {
    let driver = ToolComponent::builder()
        .name("olmguard")
        .version(env!("CARGO_PKG_VERSION"))
        .rules(rules)
        .build();
    let mut run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .column_kind(serde_json::json!("unicodeCodePoints"))
        .results(results)
        .build();
    run.invocations = invocation.map(|invocation| vec![invocation]);
    Sarif::builder()
        .version(serde_json::json!("2.1.0"))
        .schema(SCHEMA)
        .runs(vec![run])
        .build()
}

/// A text about a rule.
pub(crate) fn text(text: &str) -> MultiformatMessageString {
    MultiformatMessageString::builder().text(text).build()
}

/// A text about a result. What would be read as a link in it (`[words](where)`) is not one of ours.
pub(crate) fn message(text: &str) -> Message {
    let text = if text.contains("](") {
        text.replace('[', "\\[").replace(']', "\\]")
    } else {
        text.to_owned()
    };
    Message::builder().text(text).build()
}

/// A place in a file, or the file as a whole.
pub(crate) fn location(file: &str, at: Option<Position>) -> Location {
    let file = ArtifactLocation::builder().uri(uri(file)).build();
    let mut place = PhysicalLocation::builder().artifact_location(file).build();
    place.region = at.map(|at| {
        Region::builder()
            .start_line(i64::from(at.line.max(1)))
            .start_column(i64::from(at.column.max(1)))
            .build()
    });
    Location::builder().physical_location(place).build()
}

/// What is no file here, by its name.
pub(crate) fn named(name: &str) -> Location {
    let name = LogicalLocation::builder()
        .fully_qualified_name(name)
        .build();
    Location::builder().logical_locations(vec![name]).build()
}

/// A path as a relative reference of RFC 3986; an absolute path stays one. Two slashes at the
/// beginning would be the name of a host.
fn uri(path: &str) -> String {
    let path = plain(path);
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
