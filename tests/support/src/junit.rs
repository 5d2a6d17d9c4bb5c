//! Which elements and attributes JUnit's XML may have.
//!
//! JUnit has no schema of its own, and no validator of XML Schema in Rust is well kept. So this is a table,
//! written by hand from the schema that Jenkins' xunit plugin puts to reports, `junit-10.xsd`: for each
//! element that is written here, what that schema allows in it, or less. What fits the table fits the schema;
//! that schema itself is not here, and is not run.

use roxmltree::Node;

/// What the table says of one element.
struct Allowed {
    element: &'static str,
    within: &'static [&'static str],
    /// Whether it holds text beside elements.
    text: Text,
    attributes: &'static [&'static str],
    /// Those of them that must be there.
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

/// What is wrong with an element, or with one in it.
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

/// Fails where this is no such XML.
#[track_caller]
pub fn assert_is_junit(xml: &str) {
    let document = roxmltree::Document::parse(xml).expect(xml);
    assert_eq!(fault(document.root_element()), None, "{xml}");
}
