//! The elements and attributes that JUnit XML may have.
//!
//! JUnit has no schema of its own, and no validator of XML Schema in Rust is well maintained. So this is a table,
//! written by hand from `junit-10.xsd`, the schema that the xunit plugin of Jenkins applies to reports. For each
//! element that olmguard writes, it has what that schema allows, or less. A report that fits the table fits the schema.
//! The schema itself is not in the repository and is not run.

use roxmltree::Node;

/// The rules for one element.
struct Allowed {
    element: &'static str,
    within: &'static [&'static str],
    /// Whether text is allowed next to elements.
    text: Text,
    attributes: &'static [&'static str],
    /// The attributes that are required.
    needed: &'static [&'static str],
}

#[derive(PartialEq)]
enum Text {
    Any,
    None,
}

const ALLOWED: [Allowed; 7] = [
    Allowed {
        element: "testsuites",
        within: &["testsuite"],
        text: Text::None,
        attributes: &["name", "time", "tests", "failures", "errors"],
        needed: &[],
    },
    Allowed {
        element: "testsuite",
        within: &["testsuite", "testcase", "system-out"],
        text: Text::None,
        attributes: &[
            "name",
            "tests",
            "failures",
            "errors",
            "group",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
        ],
        needed: &["name", "tests", "failures", "errors"],
    },
    Allowed {
        element: "testcase",
        within: &["skipped", "error", "failure", "system-out"],
        text: Text::None,
        attributes: &["name", "time", "classname", "group"],
        needed: &["name"],
    },
    bad("failure"),
    bad("error"),
    bad("skipped"),
    Allowed {
        element: "system-out",
        within: &[],
        text: Text::Any,
        attributes: &[],
        needed: &[],
    },
];

const fn bad(element: &'static str) -> Allowed {
    Allowed {
        element,
        within: &[],
        text: Text::Any,
        attributes: &["type", "message"],
        needed: &[],
    }
}

/// Returns the fault of an element or of its content.
pub fn fault(node: Node<'_, '_>) -> Option<String> {
    let name = node.tag_name().name();
    let Some(row) = ALLOWED.iter().find(|row| row.element == name) else {
        return Some(format!("no element {name}"));
    };
    let odd = node
        .attributes()
        .find(|one| !row.attributes.contains(&one.name()));
    let odd = odd.map(|one| format!("{name} has {}", one.name()));
    let mut needed = row.needed.iter();
    let missing = needed.find(|one| node.attribute(**one).is_none());
    let missing = missing.map(|one| format!("{name} lacks {one}"));
    odd.or(missing).or_else(|| fault_within(row, node))
}

fn fault_within(row: &Allowed, node: Node<'_, '_>) -> Option<String> {
    node.children().find_map(|one| {
        let inner = one.tag_name().name();
        if one.is_element() && !row.within.contains(&inner) {
            return Some(format!("{inner} in {}", row.element));
        }
        let text = one.text().filter(|_| one.is_text()).unwrap_or_default();
        if row.text == Text::None && !text.trim().is_empty() {
            return Some(format!("a text in {}", row.element));
        }
        one.is_element().then(|| fault(one)).flatten()
    })
}

/// Fails if the text is not valid JUnit XML.
#[track_caller]
pub fn assert_is_junit(xml: &str) {
    let document = roxmltree::Document::parse(xml).expect(xml);
    assert_eq!(fault(document.root_element()), None, "{xml}");
}
