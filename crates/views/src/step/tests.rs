mod v0;

use super::*;
use crate::see::scene::{filter, said, snapshot};
use olmguard_engine::judge::Basis;

/// The catalogs, the channels and the range asked for, from where to where, and the lines after the
/// headline.
#[track_caller]
fn check(
    edges: EdgeSource,
    catalogs: &[(&str, &str)],
    (channels, range): (&[&str], Option<&str>),
    (from, to): (&str, &str),
    olm: Generation,
    expected: &[&str],
) {
    let snapshot = snapshot(edges, catalogs);
    let filter = filter(channels, range);
    let inquiry =
        Inquiry::of(Basis::without_policies(&snapshot), &filter, &said(from)).expect("a question");
    let report = StepReport::of(&inquiry, to, olm).expect("a bundle");
    let text = report.to_text().to_string();
    let lines: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(lines, expected, "{from} -> {to}");
}

#[track_caller]
fn v1(lines: &str, asked: (&[&str], Option<&str>), step: (&str, &str), expected: &[&str]) {
    let catalogs = [("hub", lines)];
    check(
        EdgeSource::Catalog,
        &catalogs,
        asked,
        step,
        Generation::V1,
        expected,
    );
}

#[track_caller]
fn v0(lines: &str, channels: &[&str], step: (&str, &str), expected: &[&str]) {
    let (catalogs, asked) = ([("hub", lines)], (channels, None));
    check(
        EdgeSource::Catalog,
        &catalogs,
        asked,
        step,
        Generation::V0,
        expected,
    );
}

const ANY: (&[&str], Option<&str>) = (&[], None);
const FORK: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0
                    b: 1.1.0; 2.0.0 replaces 1.1.0 skipRange (>=1.0.5 <2.0.0)";

#[test]
fn an_edge_allows_a_step() {
    v1(
        FORK,
        ANY,
        ("1.1.0", "2.0.0"),
        &[
            "OLM v1      carries it out where \"2.0.0\" is pinned [Resolved]",
            "Edge        2.0.0: replaces p.v1.1.0 (channel b, catalog hub)",
            "            2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b, catalog hub)",
            "Unpinned    OLM installs 2.0.0 next",
        ],
    );
}

#[test]
fn without_an_edge_those_around_are_told() {
    v1(
        FORK,
        ANY,
        ("1.0.0", "2.0.0"),
        &[
            "OLM v1      refuses it: 2.0.0 is not a successor of 1.0.0 in catalog hub [NotASuccessor]",
            "Edge        none leads from 1.0.0 to 2.0.0",
            "To there    2.0.0: replaces p.v1.1.0 (channel b, catalog hub)",
            "            2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b, catalog hub)",
            "From here   1.1.0: replaces p.v1.0.0 (channel a, catalog hub)",
            "Needed      an entry that replaces or skips p.v1.0.0, or whose skipRange holds 1.0.0",
            "Path        1.0.0 -> 1.1.0 -> 2.0.0",
            "Unpinned    OLM installs 1.1.0 next",
        ],
    );
}

#[test]
fn a_stranger_comes_on_by_ranges_only() {
    v1(
        FORK,
        ANY,
        ("1.0.7", "2.0.0"),
        &[
            "OLM v1      carries it out where \"2.0.0\" is pinned [Resolved]",
            "Edge        2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b, catalog hub)",
            "Unpinned    OLM installs 2.0.0 next",
            "Note        no bundle has the installed version, so its name is not known: only skipRange counts; \
         VERSION,bundle=NAME says the name",
        ],
    );
    v1(
        "a: 1.0.0 replaces 0.9.0",
        ANY,
        ("p.v0.9.0", "p.v1.0.0"),
        &[
            "OLM v1      carries it out where \"1.0.0\" is pinned [Resolved]",
            "Edge        1.0.0: replaces p.v0.9.0 (channel a, catalog hub)",
            "Unpinned    OLM installs 1.0.0 next",
            "Note        no bundle has the installed name, only edges: its version is taken from the name, \
         which OLM never does",
        ],
    );
    v1(
        "a: 1.0.0 replaces 0.9.0",
        ANY,
        ("0.9.0", "1.0.0"),
        &[
            "OLM v1      carries it out where \"1.0.0\" is pinned [Resolved]",
            "Edge        1.0.0: replaces p.v0.9.0 (channel a, catalog hub)",
            "Unpinned    OLM installs 1.0.0 next",
            "Note        no bundle has the installed version: the only name of an edge that speaks of it \
         counts as its name; VERSION,bundle=NAME says another",
        ],
    );
    v1(
        "a: 1.0.0 replaces 0.9.0",
        ANY,
        ("0.8.0", "1.0.0"),
        &[
            "OLM v1      refuses it: 1.0.0 is not a successor of 0.8.0 in catalog hub [NotASuccessor]",
            "Edge        none leads from 0.8.0 to 1.0.0",
            "To there    1.0.0: replaces p.v0.9.0 (channel a, catalog hub)",
            "Needed      an entry whose skipRange holds 0.8.0",
            "Unpinned    OLM installs nothing next",
            "Note        no bundle has the installed version, so its name is not known: only skipRange counts; \
         VERSION,bundle=NAME says the name",
        ],
    );
}

#[test]
fn channels_and_ranges_stand_in_the_way() {
    v1(
        FORK,
        (&["a"], None),
        ("1.1.0", "2.0.0"),
        &[
            "OLM v1      refuses it: no bundle matching 2.0.0 is in channel a [NotInChannel]",
            "Edge        2.0.0: replaces p.v1.1.0 (channel b, not asked for, catalog hub)",
            "            2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b, not asked for, catalog hub)",
            "Needed      to ask for channel b",
            "            to ask for channel b, where it is",
            "Unpinned    OLM installs nothing next",
        ],
    );
    v1(
        FORK,
        (&["bb"], Some("<2")),
        ("1.1.0", "2.0.0"),
        &[
            "OLM v1      refuses it: channel bb does not exist [ChannelNotFound]",
            "Edge        2.0.0: replaces p.v1.1.0 (channel b, not asked for, catalog hub)",
            "            2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b, not asked for, catalog hub)",
            "Needed      to ask for channel b",
            "            to ask for channel b, where it is",
            "            a version range that holds it: \"<2\" does not",
            "Unpinned    OLM installs nothing next",
            "Note        channel bb does not exist; nearest: b",
        ],
    );
    v1(
        "a: 1.0.0\n(none): 1.1.0",
        (&["a"], None),
        ("1.0.0", "1.1.0"),
        &[
            "OLM v1      refuses it: no bundle matching 1.1.0 is in channel a [NotInChannel]",
            "Edge        none leads from 1.0.0 to 1.1.0",
            "Needed      an entry that replaces or skips p.v1.0.0, or whose skipRange holds 1.0.0",
            "            to ask for no channel: it is in none",
            "Unpinned    OLM installs nothing next",
        ],
    );
}

#[test]
fn bundles_stand_in_the_way() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0 requires olm.gvk.required; 1.2.0 skipRange >1";
    v1(
        lines,
        ANY,
        ("1.0.0", "1.1.0"),
        &[
            "OLM v1      refuses it: p.v1.1.0 declares olm.gvk.required, which OLM v1 does not support \
         [UnsupportedDependency]",
            "Edge        1.1.0: replaces p.v1.0.0 (channel a, catalog hub)",
            "Needed      a bundle without olm.gvk.required, which OLM v1 does not support",
            "Unpinned    OLM installs nothing next",
        ],
    );
    let broken = "a: 1.0.0; 1.1.0 skipRange (v1); 1.2.0 skipRange (<1.0.0 || || >1.0.0)";
    v1(
        broken,
        ANY,
        ("1.0.0", "1.1.0"),
        &[
            "OLM v1      refuses it: 1.1.0 is not a successor of 1.0.0 in catalog hub [NotASuccessor]",
            "Edge        none leads from 1.0.0 to 1.1.0",
            "Needed      an entry that replaces or skips p.v1.0.0, or whose skipRange holds 1.0.0",
            "            a skipRange that can be read: OLM ignores \"v1\"",
            "Unpinned    OLM installs nothing next",
        ],
    );
    v1(
        broken,
        ANY,
        ("1.0.0", "1.2.0"),
        &[
            "OLM v1      refuses it: OLM crashes on the skipRange of p.v1.2.0: it has an empty OR \
         group [BrokenSkipRange]",
            "Edge        none leads from 1.0.0 to 1.2.0",
            "To there    1.2.0: skipRange \"<1.0.0 || || >1.0.0\" (channel a, catalog hub)",
            "Needed      an entry that replaces or skips p.v1.0.0, or whose skipRange holds 1.0.0",
            "            a skipRange without an empty OR group: OLM crashes on it",
            "Unpinned    OLM installs nothing next",
        ],
    );
    v1(
        "a: 1.0.0; 1.1.0 replaces 1.0.0\n(deprecated): 1.1.0",
        ANY,
        ("1.0.0", "1.1.0"),
        &[
            "OLM v1      carries it out where \"1.1.0\" is pinned [Resolved]",
            "Edge        1.1.0: replaces p.v1.0.0 (channel a, catalog hub)",
            "Needed      to pin it: it is deprecated, and without a pin what is not goes before it",
            "Unpinned    OLM installs nothing next",
        ],
    );
}

#[test]
fn a_pin_gives_one_bundle_of_a_version() {
    let lines = "a: 1.0.0; 1.1.0+1 replaces 1.0.0; 1.1.0+2 replaces 1.0.0";
    v1(
        lines,
        ANY,
        ("1.0.0", "p.v1.1.0+1"),
        &[
            "OLM v1      does not install it: \"1.1.0\" gives p.v1.1.0+2 of catalog hub [Resolved]",
            "Edge        1.1.0+1: replaces p.v1.0.0 (channel a, catalog hub)",
            "From here   1.1.0+2: replaces p.v1.0.0 (channel a, catalog hub)",
            "Needed      to be the best bundle of its version: \"1.1.0\" gives p.v1.1.0+2 of catalog hub",
            "Unpinned    OLM installs 1.1.0+2 next",
        ],
    );
    v1(
        "a: 1.0.0; v1.1 replaces 1.0.0",
        ANY,
        ("1.0.0", "p.vv1.1"),
        &[
            "OLM v1      refuses it: the version of p.vv1.1 cannot be read or is too long, so no edit pins \
         it [BundleVersionInvalid]",
            "Edge        p.vv1.1: replaces p.v1.0.0 (channel a, catalog hub)",
            "Needed      a version of it that can be read",
            "Unpinned    OLM installs nothing next",
        ],
    );
    v1(
        "a: 1.0.0; 1.1.0 replaces 1.0.0\n(deprecated): 1.0.0; 1.1.0",
        ANY,
        ("1.0.0", "1.1.0"),
        &[
            "OLM v1      carries it out where \"1.1.0\" is pinned [Resolved]",
            "Edge        1.1.0: replaces p.v1.0.0 (channel a, catalog hub)",
            "Unpinned    OLM installs 1.1.0 next",
        ],
    );
}

#[test]
fn several_catalogs_tie() {
    let two = [("one", FORK), ("two", FORK)];
    check(
        EdgeSource::Catalog,
        &two,
        ANY,
        ("1.0.0", "1.1.0"),
        Generation::V1,
        &[
            "OLM v1      refuses it: 2 catalogs of the same priority (0) offer it [AmbiguousCatalogs]",
            "Edge        1.1.0: replaces p.v1.0.0 (channel a, catalog one)",
            "            1.1.0: replaces p.v1.0.0 (channel a, catalog two)",
            "Needed      different priorities of catalogs one, two, or a selector",
            "Unpinned    OLM installs nothing next",
        ],
    );
}

#[test]
fn versions_count_where_that_is_asked() {
    let hub = [("hub", FORK)];
    check(
        EdgeSource::Both,
        &hub,
        ANY,
        ("1.1.0", "2.0.0"),
        Generation::V1,
        &[
            "OLM v1      refuses it: 2.0.0 is not a successor of 1.1.0 in catalog hub [NotASuccessor]",
            "Edge        2.0.0: replaces p.v1.1.0 (channel b, catalog hub)",
            "            2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b, catalog hub)",
            "Needed      a step that versions allow: another major version",
            "Unpinned    OLM installs nothing next",
            "By semver   not allowed: another major version",
        ],
    );
    check(
        EdgeSource::CaretRange,
        &hub,
        ANY,
        ("1.0.0", "1.1.0"),
        Generation::V1,
        &[
            "OLM v1      carries it out where \"1.1.0\" is pinned [Resolved]",
            "Unpinned    OLM installs 1.1.0 next",
            "By semver   allowed by versions alone",
        ],
    );
}

#[test]
fn hindrances_are_worded() {
    use olmguard_engine::explain::hindrance;
    use olmguard_engine::inquiry::Need;
    use olmguard_engine::resolve::semver::Hindrance;
    for (what, expected) in [
        (Hindrance::Same, "the version is the same"),
        (Hindrance::Lower, "the version is lower"),
        (Hindrance::Major, "another major version"),
        (
            Hindrance::ZeroMinor,
            "below 1.0.0 another minor version is as another major one",
        ),
        (
            Hindrance::ZeroPatch,
            "below 0.1.0 no version is compatible with another",
        ),
        (Hindrance::Prerelease, "from a release to a prerelease"),
    ] {
        assert_eq!(hindrance(what), expected);
    }
    assert_eq!(text::UNREADABLE, "one of the versions cannot be read");
    for (need, expected) in [
        (Need::Version, "a version of it that can be read"),
        (Need::Installed, "an installed version that can be read"),
    ] {
        assert_eq!(text::needed(&need), expected);
    }
}
