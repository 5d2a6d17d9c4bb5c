//! What `opm validate` says, leaf by leaf.
//!
//! ```text
//! invalid index:
//! └── invalid package "foo":
//!     ├── default channel must be set
//!     └── invalid channel "stable":
//!         └── no channel head found in graph
//! ```

/// One thing that opm found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Leaf {
    /// Its text.
    pub(crate) text: String,
    /// The package that it is said of, where the tree says so.
    pub(crate) package: Option<String>,
}

/// The leaves of a tree; a text that is none is a leaf itself.
pub(crate) fn leaves(text: &str) -> Vec<Leaf> {
    if !text.starts_with(ROOT) {
        let text = text.to_owned();
        return vec![Leaf {
            text,
            package: None,
        }];
    }
    let lines: Vec<_> = text.lines().map(depth_and_text).collect();
    let mut found = Vec::new();
    let mut package = None;
    for (at, (depth, line)) in lines.iter().enumerate() {
        if *depth == 1 {
            let named = line.strip_prefix("invalid package ");
            package = named.map(|name| name.trim_end_matches(':').trim_matches('"').to_owned());
        }
        let next = lines.get(at + 1).map_or(0, |(depth, _)| *depth);
        if next <= *depth {
            found.push(Leaf {
                text: (*line).to_owned(),
                package: package.clone(),
            });
        }
    }
    found
}

/// How deep a line hangs, and what it says.
fn depth_and_text(line: &str) -> (usize, &str) {
    let mut rest = line;
    let mut depth = 0;
    while let Some(deeper) = BRANCHES.iter().find_map(|branch| rest.strip_prefix(branch)) {
        rest = deeper;
        depth += 1;
    }
    (depth, rest)
}

const ROOT: &str = "invalid index:";
const BRANCHES: [&str; 4] = ["├── ", "└── ", "│   ", "    "];

#[test]
fn the_leaves_of_a_tree() {
    let text = "invalid index:\n├── invalid package \"foo\":\n│   ├── default channel must be set\n\
                │   └── invalid channel \"c\":\n│       └── no channel head found in graph\n\
                └── invalid package \"bar\":\n    └── default channel must be set";
    let leaf = |text: &str, package: &str| Leaf {
        text: text.to_owned(),
        package: Some(package.to_owned()),
    };
    let expected = [
        leaf("default channel must be set", "foo"),
        leaf("no channel head found in graph", "foo"),
        leaf("default channel must be set", "bar"),
    ];
    assert_eq!(leaves(text), expected);
    let plain = "config contains package with no name";
    assert_eq!(leaves(plain).len(), 1);
    assert_eq!(leaves("a\nb").len(), 1, "a text of several lines");
}
