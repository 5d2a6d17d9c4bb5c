//! Several sources: what the first design said, what OLM v0 does, and what OLM v1 does.

use olmguard_catalog::version::Version;
use olmguard_engine::resolve::classic::{Installed, Line, Source, Subscribed, first_precedence};

use super::drawn::{Drawn, pick};

const INSTALLED: &str = "1.0.0";

/// Own source, other source, and the answers: the first design, OLM v0, OLM v1 with equal priorities
/// and with the own source above the other.
const ROWS: [(&str, &str, &str, [&str; 4]); 5] = [
    (
        "Q1",
        r"c: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skipRange >=1.0.0 <1.2.0",
        r"c: 1.3.0 skipRange >=1.0.0 <1.3.0",
        ["A 1.2.0", "1.2.0, 1.1.0", "none", "A 1.2.0"],
    ),
    (
        "Q2",
        "c: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0",
        r"c: 1.3.0 skipRange >=1.0.0 <1.3.0",
        ["A 1.1.0", "1.1.0", "none", "A 1.1.0"],
    ),
    (
        "Q3",
        "c: 1.0.0",
        r"c: 1.3.0 skipRange >=1.0.0 <1.3.0",
        ["B 1.3.0", "", "none", "A 1.0.0"],
    ),
    (
        "Q4",
        "c: 0.9.0",
        r"c: 1.3.0 skipRange >=1.0.0 <1.3.0",
        ["B 1.3.0", "", "B 1.3.0", "B 1.3.0"],
    ),
    (
        "Q5",
        "c: 0.9.0",
        "c: 1.0.0; 1.1.0 replaces 1.0.0; 1.3.0 replaces 1.1.0",
        ["B 1.1.0", "", "B 1.1.0", "B 1.1.0"],
    ),
];

#[test]
fn q_precedence() {
    for (id, own, other, [first, v0, equal, above]) in ROWS {
        let (own, other) = (Drawn::read(own), Drawn::read(other));
        assert_eq!(
            by_first_design(&own, &other),
            first,
            "{id}: the first design"
        );
        let classic = own.v0("c", INSTALLED).expect("a line");
        assert_eq!(classic.candidates, v0, "{id}: OLM v0");
        let picked = |priority| {
            pick(
                &[("A", priority, &own), ("B", 0, &other)],
                &[],
                "",
                INSTALLED,
            )
        };
        assert_eq!(picked(0), equal, "{id}: OLM v1, equal priorities");
        assert_eq!(picked(1), above, "{id}: OLM v1, A above B");
    }
}

fn by_first_design(own: &Drawn, other: &Drawn) -> String {
    let (own, other) = (own.graph(), other.graph());
    let [own, other] =
        [&own, &other].map(|graph| Line::of(graph, Subscribed::To("c")).expect("a line"));
    let version = Version::parse(INSTALLED).expect("a version");
    let installed = Installed {
        name: "P.v1.0.0",
        version: Some(&version),
    };
    let own = Source {
        name: "A",
        line: &own,
    };
    let others = [Source {
        name: "B",
        line: &other,
    }];
    let (source, node) = first_precedence(own, &others, installed).expect("something");
    let version = source.line.graph().name_of(node).trim_start_matches("P.v");
    format!("{} {version}", source.name)
}
