use super::*;
use crate::see::Generation;
use crate::see::scene::{filter, said, snapshot};
use olmguard_catalog::olm::EdgeSource;
use olmguard_engine::judge::Basis;
use olmguard_engine::resolve::EditContext;

/// Checks the lines after the headline for these catalogs, channels and range, and this step.
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
    let inquiry = Inquiry::of(
        Basis::without_policies(&snapshot),
        &filter,
        &said(from),
        EditContext::unknown(),
    )
    .expect("a question");
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
            "OLM v1        allowed with version \"2.0.0\" [Resolved]",
            "Edge          2.0.0: replaces p.v1.1.0 (channel b)",
            "              2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b)",
            "If unpinned   OLM installs 2.0.0 next",
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
            "OLM v1        denied: 2.0.0 is not a successor of 1.0.0 in catalog hub",
            "              [NotASuccessor]",
            "Fix           install 1.1.0 first",
            "Path          1.0.0 -> 1.1.0 -> 2.0.0",
            "Edge          none from 1.0.0 to 2.0.0",
            "To allow it   the catalog author must add an entry that replaces or skips",
            "                p.v1.0.0, or whose skipRange matches 1.0.0",
            "If unpinned   OLM installs 1.1.0 next",
            "Edges into 2.0.0",
            "  2.0.0: replaces p.v1.1.0 (channel b)",
            "  2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b)",
            "Edges out of 1.0.0",
            "  1.1.0: replaces p.v1.0.0 (channel a)",
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
            "OLM v1        allowed with version \"2.0.0\" [Resolved]",
            "Edge          2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b)",
            "If unpinned   OLM installs 2.0.0 next",
            "Note          no bundle has the installed version, so its name is unknown and",
            "                only a skipRange provides an upgrade; VERSION,bundle=NAME sets",
            "                the name",
        ],
    );
    v1(
        "a: 1.0.0 replaces 0.9.0",
        ANY,
        ("p.v0.9.0", "p.v1.0.0"),
        &[
            "OLM v1        allowed with version \"1.0.0\" [Resolved]",
            "Edge          1.0.0: replaces p.v0.9.0 (channel a)",
            "If unpinned   OLM installs 1.0.0 next",
            "Note          no bundle has this name, only edges: olmguard takes the version",
            "                from the name; OLM does not",
        ],
    );
    v1(
        "a: 1.0.0 replaces 0.9.0",
        ANY,
        ("0.9.0", "1.0.0"),
        &[
            "OLM v1        allowed with version \"1.0.0\" [Resolved]",
            "Edge          1.0.0: replaces p.v0.9.0 (channel a)",
            "If unpinned   OLM installs 1.0.0 next",
            "Note          no bundle has the installed version: olmguard uses the only name",
            "                in the edges that matches it; VERSION,bundle=NAME sets another",
            "                name",
        ],
    );
    v1(
        "a: 1.0.0 replaces 0.9.0",
        ANY,
        ("0.9.0,bundle=p.v0.9.O", "1.0.0"),
        &[
            "OLM v1        denied: 1.0.0 is not a successor of 0.9.0 in catalog hub",
            "              [NotASuccessor]",
            "Edge          none from 0.9.0 to 1.0.0",
            "To allow it   the catalog author must add an entry that replaces or skips",
            "                p.v0.9.O, or whose skipRange matches 0.9.0",
            "If unpinned   OLM installs nothing next",
            "Edges into 1.0.0",
            "  1.0.0: replaces p.v0.9.0 (channel a)",
            "Note          no bundle and no edge has the name of the installed bundle, so",
            "                an upgrade depends on its version alone",
        ],
    );
    // A bundle of the installed version counts as the installed one, and needs no edge.
    v1(
        FORK,
        ANY,
        ("1.0.0,bundle=old.v1.0.0", "1.0.0"),
        &[
            "OLM v1        allowed with version \"1.0.0\" [Resolved]",
            "Edge          none from 1.0.0 to 1.0.0",
            "If unpinned   OLM installs 1.0.0 next",
            "Note          no bundle and no edge has the name of the installed bundle, so",
            "                an upgrade depends on its version alone",
        ],
    );
    v1(
        "a: 1.0.0 replaces 0.9.0",
        ANY,
        ("0.8.0", "1.0.0"),
        &[
            "OLM v1        undecided: the name of the installed bundle is unknown",
            "              [InstalledUnknown]",
            "Edge          none from 0.8.0 to 1.0.0",
            "To allow it   give the name of the installed bundle: 0.8.0,bundle=NAME",
            "If unpinned   OLM installs nothing next",
            "Edges into 1.0.0",
            "  1.0.0: replaces p.v0.9.0 (channel a)",
            "Note          no bundle has the installed version, so its name is unknown and",
            "                only a skipRange provides an upgrade; VERSION,bundle=NAME sets",
            "                the name",
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
            "OLM v1        denied: no bundle matching 2.0.0 is in channel a [NotInChannel]",
            "Edge          2.0.0: replaces p.v1.1.0 (channel b, not requested)",
            "              2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b, not requested)",
            "To allow it   request channel b, which has the edge",
            "              request channel b, which has this version",
            "If unpinned   OLM installs nothing next",
        ],
    );
    v1(
        FORK,
        (&["bb"], Some("<2")),
        ("1.1.0", "2.0.0"),
        &[
            "OLM v1        denied: channel bb does not exist [ChannelNotFound]",
            "Edge          2.0.0: replaces p.v1.1.0 (channel b, not requested)",
            "              2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b, not requested)",
            "To allow it   request channel b, which has the edge",
            "              request channel b, which has this version",
            "              request a version range that matches it: \"<2\" does not",
            "If unpinned   OLM installs nothing next",
            "Note          channel bb does not exist; nearest: b",
        ],
    );
    v1(
        "a: 1.0.0\n(none): 1.1.0",
        (&["a"], None),
        ("1.0.0", "1.1.0"),
        &[
            "OLM v1        denied: no bundle matching 1.1.0 is in channel a [NotInChannel]",
            "Edge          none from 1.0.0 to 1.1.0",
            "To allow it   the catalog author must add an entry that replaces or skips",
            "                p.v1.0.0, or whose skipRange matches 1.0.0",
            "              request no channel, because this version is in none",
            "If unpinned   OLM installs nothing next",
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
            "OLM v1        denied: p.v1.1.0 declares olm.gvk.required, which OLM v1 does not",
            "              support [UnsupportedDependency]",
            "Edge          1.1.0: replaces p.v1.0.0 (channel a)",
            "To allow it   the catalog author must remove olm.gvk.required from the bundle:",
            "                OLM v1 does not support it",
            "If unpinned   OLM installs nothing next",
        ],
    );
    let broken = "a: 1.0.0; 1.1.0 skipRange (v1); 1.2.0 skipRange (<1.0.0 || || >1.0.0)";
    v1(
        broken,
        ANY,
        ("1.0.0", "1.1.0"),
        &[
            "OLM v1        denied: 1.1.0 is not a successor of 1.0.0 in catalog hub",
            "              [NotASuccessor]",
            "Edge          none from 1.0.0 to 1.1.0",
            "To allow it   the catalog author must add an entry that replaces or skips",
            "                p.v1.0.0, or whose skipRange matches 1.0.0",
            "              the catalog author must fix the skipRange \"v1\": OLM ignores it",
            "                because it is not valid",
            "If unpinned   OLM installs nothing next",
        ],
    );
    v1(
        broken,
        ANY,
        ("1.0.0", "1.2.0"),
        &[
            "OLM v1        denied: OLM crashes on the skipRange of p.v1.2.0: it has an empty",
            "              OR group [BrokenSkipRange]",
            "Edge          none from 1.0.0 to 1.2.0",
            "To allow it   the catalog author must add an entry that replaces or skips",
            "                p.v1.0.0, or whose skipRange matches 1.0.0",
            "              the catalog author must remove the empty OR group from a",
            "                skipRange: OLM crashes on it",
            "If unpinned   OLM installs nothing next",
            "Edges into 1.2.0",
            "  1.2.0: skipRange \"<1.0.0 || || >1.0.0\" (channel a)",
        ],
    );
    v1(
        "a: 1.0.0; 1.1.0 replaces 1.0.0\n(deprecated): 1.1.0",
        ANY,
        ("1.0.0", "1.1.0"),
        &[
            "OLM v1        allowed with version \"1.1.0\" [Resolved]",
            "Edge          1.1.0: replaces p.v1.0.0 (channel a)",
            "To allow it   pin it: without a pin, OLM prefers versions that are not",
            "                deprecated",
            "If unpinned   OLM installs nothing next",
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
            "OLM v1        not installed: version \"1.1.0\" installs p.v1.1.0+2 of catalog hub",
            "              [Resolved]",
            "Edge          1.1.0+1: replaces p.v1.0.0 (channel a)",
            "To allow it   it must be the best bundle of its version: version \"1.1.0\"",
            "                installs p.v1.1.0+2 of catalog hub",
            "If unpinned   OLM installs 1.1.0+2 next",
            "Edges out of 1.0.0",
            "  1.1.0+2: replaces p.v1.0.0 (channel a)",
        ],
    );
    v1(
        "a: 1.0.0; v1.1 replaces 1.0.0",
        ANY,
        ("1.0.0", "p.vv1.1"),
        &[
            "OLM v1        denied: the version of p.vv1.1 is not valid or too long, so no",
            "              edit can pin it [BundleVersionInvalid]",
            "Edge          p.vv1.1: replaces p.v1.0.0 (channel a)",
            "To allow it   the catalog author must give the bundle a valid version",
            "If unpinned   OLM installs nothing next",
        ],
    );
    v1(
        "a: 1.0.0; 1.1.0 replaces 1.0.0\n(deprecated): 1.0.0; 1.1.0",
        ANY,
        ("1.0.0", "1.1.0"),
        &[
            "OLM v1        allowed with version \"1.1.0\" [Resolved]",
            "Edge          1.1.0: replaces p.v1.0.0 (channel a)",
            "If unpinned   OLM installs 1.1.0 next",
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
            "OLM v1        denied: 2 catalogs of the same priority (0) offer it",
            "              [AmbiguousCatalogs]",
            "Edge          1.1.0: replaces p.v1.0.0 (channel a, catalog one)",
            "              1.1.0: replaces p.v1.0.0 (channel a, catalog two)",
            "To allow it   give catalogs one, two different priorities, or select one of them",
            "If unpinned   OLM installs nothing next",
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
            "OLM v1        denied: 2.0.0 is not a successor of 1.1.0 in catalog hub",
            "              [NotASuccessor]",
            "Edge          2.0.0: replaces p.v1.1.0 (channel b)",
            "              2.0.0: skipRange \">=1.0.5 <2.0.0\" (channel b)",
            "To allow it   the semver rules forbid the step (another major version), so",
            "                choose another version",
            "If unpinned   OLM installs nothing next",
            "By semver     not allowed: another major version",
        ],
    );
    check(
        EdgeSource::CaretRange,
        &hub,
        ANY,
        ("1.0.0", "1.1.0"),
        Generation::V1,
        &[
            "OLM v1        allowed with version \"1.1.0\" [Resolved]",
            "If unpinned   OLM installs 1.1.0 next",
            "By semver     allowed",
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
    assert_eq!(text::UNREADABLE, "one of the versions is not valid");
    for (need, expected) in [
        (
            Need::Version,
            "the catalog author must give the bundle a valid version",
        ),
        (
            Need::Installed,
            "the installed version must be a valid version",
        ),
    ] {
        assert_eq!(catalogs::needed(&need), expected);
    }
}

#[test]
fn olm_v0_tries_in_its_order() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skipRange (>=1.0.0 <1.2.0); \
                 1.3.0 replaces 1.2.0 skips 1.1.0";
    v0(
        lines,
        &["a"],
        ("1.0.0", "1.2.0"),
        &[
            "OLM v0        a candidate (Subscription: channel a, catalog hub)",
            "Candidates    1.2.0 (in this order)",
            "Reason        OLM v0 tries it first",
        ],
    );
    v0(
        lines,
        &["a"],
        ("1.0.0", "1.1.0"),
        &[
            "OLM v0        not a candidate (Subscription: channel a, catalog hub)",
            "Candidates    1.2.0 (in this order)",
            "Reason        another entry skips it, so OLM v0 never installs it as an update",
            "              OLM v0 tries 1.2.0 first, and installs it if possible",
        ],
    );
    v0(
        lines,
        &[],
        ("1.1.0", "1.2.0"),
        &[
            "OLM v0        a candidate (Subscription: no channel, catalog hub)",
            "Candidates    1.3.0, 1.2.0 (in this order)",
            "Reason        OLM v0 tries 1.3.0 first, and installs it if possible",
        ],
    );
    v0(
        lines,
        &["a"],
        ("1.3.0", "1.0.0"),
        &[
            "OLM v0        not a candidate (Subscription: channel a, catalog hub)",
            "Reason        the channel has no edge to it from the installed version",
            "              the installed version is the channel head",
        ],
    );
    v0(
        lines,
        &["a"],
        ("1.3.0", "1.3.0"),
        &["OLM v0        already installed (Subscription: channel a, catalog hub)"],
    );
}

#[test]
fn olm_v0_tries_nothing_after_what_is_installed() {
    v0(
        "a: 1.0.0; 1.1.0 replaces 1.0.0 skipRange <=1.1.0\nb: 1.3.0 skipRange 1.1.0",
        &[],
        ("1.1.0", "1.3.0"),
        &[
            "OLM v0        not a candidate (Subscription: no channel, catalog hub)",
            "Reason        the skipRange of the installed version includes that version, so",
            "                OLM v0 stays there and tries no version after it",
            "              the installed version is the channel head",
        ],
    );
    let no_edge = [
        "OLM v0        not a candidate (Subscription: no channel, catalog hub)",
        "Reason        the channel has no edge to it from the installed version",
        "              the installed version is the channel head",
    ];
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0 skipRange <=1.1.0\nb: 1.3.0";
    v0(lines, &[], ("1.1.0", "1.3.0"), &no_edge);
    v0(lines, &[], ("1.1.0", "1.0.0"), &no_edge);
}

#[test]
fn olm_v0_is_silent_without_an_upgrade_edge() {
    let lines = "a: 1.1.0\nb: 1.0.0; 1.1.0; 1.2.0";
    v0(
        lines,
        &["a"],
        ("0.9.0", "1.1.0"),
        &[
            "OLM v0        not a candidate (Subscription: channel a, catalog hub)",
            "Reason        whether the channel has an edge to it depends on the name of the",
            "                installed bundle, which is unknown",
            "Note          no bundle has the installed version, so its name is unknown and",
            "                only a skipRange provides an upgrade; VERSION,bundle=NAME sets",
            "                the name",
        ],
    );
    v0(
        lines,
        &["a"],
        ("1.0.0", "1.2.0"),
        &[
            "OLM v0        not a candidate (Subscription: channel a, catalog hub)",
            "Reason        it is not in the channel",
            "              the installed version has no upgrade edge, but the Subscription",
            "                reports AtLatestKnown as at a channel head",
        ],
    );
    v0(
        lines,
        &["b"],
        ("1.0.0", "1.2.0"),
        &[
            "OLM v0        not a candidate (Subscription: channel b, catalog hub)",
            "Reason        OLM v0 resolves nothing in the whole namespace: a unique",
            "                replacement chain within a channel is required to determine the",
            "                relative order between channel entries, but 3 replacement chains",
            "                were found in channel \"b\" of package \"p\": p.v1.2.0, p.v1.1.0,",
            "                p.v1.0.0",
        ],
    );
    let two = [("one", "a: 1.0.0"), ("two", "a: 1.1.0 replaces 1.0.0")];
    check(
        EdgeSource::Catalog,
        &two,
        ANY,
        ("1.0.0", "1.1.0"),
        Generation::V0,
        &[
            "OLM v0        not a candidate (Subscription: no channel, catalog one)",
            "Reason        the catalog does not have it",
            "OLM v0        a candidate (Subscription: no channel, catalog two)",
            "Candidates    1.1.0 (in this order)",
            "Reason        OLM v0 tries it first",
        ],
    );
}
