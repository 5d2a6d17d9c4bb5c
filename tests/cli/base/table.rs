//! Every kind of change, and what becomes of it.

use crate::check::scene::asking;

/// One kind of change: what it does to files, and what is said of it.
pub(crate) struct Change {
    /// Also the name of the extension, unless the change is about another.
    pub(crate) name: &'static str,
    /// Files as they were.
    pub(crate) before: Vec<(String, String)>,
    /// Files as they are.
    pub(crate) after: Vec<(String, String)>,
    pub(crate) said: Said,
}

/// What is said of a change.
pub(crate) enum Said {
    /// `NAME CHANGE VERDICT TOKEN` of each result.
    Results(&'static [&'static str]),
    /// The same, and that an extension of this name is there no more.
    Removed(&'static str, &'static [&'static str]),
    Unchanged,
    /// That a document is a template.
    Skipped,
    /// That the file cannot be read.
    Unread,
}

/// The file of an extension.
pub(crate) fn file(name: &str) -> String {
    format!("apps/{name}.yaml")
}

/// An extension with these fields of the catalog's filter, in a file of its own.
fn one(name: &str, fields: &str) -> Vec<(String, String)> {
    vec![(file(name), asking(name, fields))]
}

/// An extension whose fields change.
fn edit(name: &'static str, before: &str, after: &str, said: &'static [&'static str]) -> Change {
    Change {
        name,
        before: one(name, before),
        after: one(name, after),
        said: Said::Results(said),
    }
}

/// An extension whose text changes in some other way.
fn rewritten(
    name: &'static str,
    fields: &str,
    rewrite: impl FnOnce(String) -> String,
    said: Said,
) -> Change {
    Change {
        name,
        before: one(name, fields),
        after: vec![(file(name), rewrite(asking(name, fields)))],
        said,
    }
}

/// The changes that are edits of one field or two.
fn edits() -> Vec<Change> {
    vec![
        edit("bump", V1_0, V1_1, &["bump changed allow Resolved"]),
        edit("leap", V1_0, V1_3, &["leap changed deny NotASuccessor"]),
        edit("back", V1_2, V1_1, &["back changed deny Downgrade"]),
        edit("unpin", V1_2, STABLE, &["unpin changed allow Resolved"]),
        edit(
            "pin",
            STABLE,
            "channels: [stable]\n      version: 1.3.0",
            &["pin changed allow Unchanged"],
        ),
        edit(
            "pin-low",
            STABLE,
            "channels: [stable]\n      version: 1.2.0",
            &["pin-low changed deny Downgrade"],
        ),
        edit(
            "widen",
            "version: 1.1.x",
            "version: '>=1.1.0, <1.3.0'",
            &["widen changed allow Resolved"],
        ),
        edit(
            "channel-move",
            "channels: [stable]\n      version: 1.3.0",
            "channels: [candidate]\n      version: 2.0.0-rc.1",
            &["channel-move changed allow Resolved"],
        ),
        edit(
            "channel-typo",
            STABLE,
            "channels: [stabel]",
            &["channel-typo changed deny ChannelNotFound"],
        ),
        edit(
            "bypass-on",
            V1_0,
            "version: 1.3.0\n      upgradeConstraintPolicy: SelfCertified",
            &["bypass-on changed allow Bypassed"],
        ),
        edit(
            "bypass-off",
            "version: 1.3.0\n      upgradeConstraintPolicy: SelfCertified",
            V1_3,
            &["bypass-off changed not_judged NotJudged"],
        ),
        edit(
            "no-range",
            V1_0,
            "version: latest",
            &["no-range changed deny InvalidSpec"],
        ),
    ]
}

/// The changes that touch what is no part of the filter, and those that touch nothing.
fn rewrites() -> Vec<Change> {
    vec![
        rewritten(
            "labels",
            V1_0,
            |text| text.replace("metadata:\n", "metadata:\n  labels: {team: a}\n"),
            Said::Results(&["labels changed not_judged NotJudged"]),
        ),
        rewritten(
            "namespace",
            V1_0,
            |text| text.replace("namespace: lantern", "namespace: torch"),
            Said::Results(&["namespace changed deny InvalidSpec"]),
        ),
        rewritten(
            "package",
            V1_0,
            |text| text.replace("lantern-operator", "wick"),
            Said::Results(&["package changed deny InvalidSpec"]),
        ),
        rewritten(
            "older-shape",
            V1_0,
            |text| text.replace("io/v1\n", "io/v1alpha1\n"),
            Said::Results(&["older-shape changed not_judged NotJudged"]),
        ),
        rewritten(
            "layout",
            V1_0,
            |text| format!("# as before\n---\n{}", text.replace("  ", "    ")),
            Said::Unchanged,
        ),
        rewritten(
            "listed",
            V1_0,
            |text| {
                format!(
                    "kind: List\nitems:\n- {}",
                    text.trim_end().replace('\n', "\n  ")
                )
            },
            Said::Unchanged,
        ),
        rewritten(
            "crlf",
            V1_0,
            |text| text.replace('\n', "\r\n"),
            Said::Unchanged,
        ),
        rewritten(
            "template",
            V1_0,
            |text| text.replace("version: 1.0.0", "version: {{ .Values.version }}"),
            Said::Skipped,
        ),
        rewritten(
            "conflict",
            V1_0,
            |text| {
                let sides = "<<<<<<< HEAD\n      version: 1.1.0\n=======\n      version: 1.2.0\n>>>>>>> other";
                text.replace("      version: 1.0.0", sides)
            },
            Said::Unread,
        ),
    ]
}

/// The changes that put extensions elsewhere, or make and remove them.
fn moves() -> Vec<Change> {
    let named = |name: &str, package: &str| asking(name, V1_0).replace("lantern-operator", package);
    vec![
        Change {
            name: "moved",
            before: one("moved", V1_0),
            after: vec![("apps/deep/other.yml".to_owned(), asking("moved", V1_0))],
            said: Said::Unchanged,
        },
        Change {
            name: "moved-bump",
            before: one("moved-bump", V1_0),
            after: vec![("apps/deep/bump.yml".to_owned(), asking("moved-bump", V1_1))],
            said: Said::Results(&["moved-bump changed allow Resolved"]),
        },
        Change {
            name: "rename",
            before: one("rename-old", V1_0),
            after: one("rename", V1_3),
            said: Said::Removed("rename-old", &["rename added allow Resolved"]),
        },
        Change {
            name: "split",
            before: vec![(file("split"), named("split", "suite"))],
            after: vec![
                (file("split-wick"), named("split-wick", "wick")),
                (file("split-shade"), named("split-shade", "shade")),
            ],
            said: Said::Removed(
                "split",
                &[
                    "split-shade added allow Resolved",
                    "split-wick added allow Resolved",
                ],
            ),
        },
        Change {
            name: "deletion",
            before: one("deletion", V1_0),
            after: Vec::new(),
            said: Said::Removed("deletion", &[]),
        },
        Change {
            name: "new",
            before: Vec::new(),
            after: one("new", V1_3),
            said: Said::Results(&["new added allow Resolved"]),
        },
        Change {
            name: "two-files",
            before: vec![(
                file("two-files"),
                format!(
                    "{}---\n{}",
                    asking("two-a", V1_0),
                    asking("two-files", V1_0)
                ),
            )],
            after: vec![
                (file("two-a"), asking("two-a", V1_0)),
                (file("two-files"), asking("two-files", V1_0)),
            ],
            said: Said::Unchanged,
        },
    ]
}

/// All of them; each extension has a name of its own, so that they fit in one repository.
pub(crate) fn changes() -> Vec<Change> {
    [edits(), rewrites(), moves()]
        .into_iter()
        .flatten()
        .collect()
}

const STABLE: &str = "channels: [stable]";
const V1_0: &str = "version: 1.0.0";
const V1_1: &str = "version: 1.1.0";
const V1_2: &str = "version: 1.2.0";
const V1_3: &str = "version: 1.3.0";
