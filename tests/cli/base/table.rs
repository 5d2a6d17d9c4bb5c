//! Every kind of change, and its expected report.

use crate::check::scene::asking;

/// A kind of change: its effect on files, and the expected report.
pub(crate) struct Change {
    /// The name, which is also that of the extension, unless the change is about another one.
    pub(crate) name: &'static str,
    /// The files before the change.
    pub(crate) before: Vec<(String, String)>,
    /// The files after the change.
    pub(crate) after: Vec<(String, String)>,
    pub(crate) said: Said,
}

/// The report of a change.
pub(crate) enum Said {
    /// `NAME CHANGE VERDICT TOKEN` of each result.
    Results(&'static [&'static str]),
    /// The same, and that an extension of this name was removed.
    Removed(&'static str, &'static [&'static str]),
    Unchanged,
    /// A document is reported as a template.
    Skipped,
    /// The file is reported as unreadable.
    Unread,
}

/// Returns the file of an extension.
pub(crate) fn file(name: &str) -> String {
    format!("apps/{name}.yaml")
}

/// Returns an extension with these fields of the catalog filter, in its own file.
fn one(name: &str, fields: &str) -> Vec<(String, String)> {
    vec![(file(name), asking(name, fields))]
}

/// Returns a change of an extension's fields.
fn edit(name: &'static str, before: &str, after: &str, said: &'static [&'static str]) -> Change {
    Change {
        name,
        before: one(name, before),
        after: one(name, after),
        said: Said::Results(said),
    }
}

/// Returns another change of an extension's text.
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

/// Returns edits of one or two fields.
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

/// Returns changes outside the filter, and changes without an effect.
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

/// Returns changes that move, create or remove extensions.
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

/// Returns all changes. Each extension has its own name, so that they fit in one repository.
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
