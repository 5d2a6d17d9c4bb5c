//! What OLM v0 makes of a step.

use super::{ANY, check, v0};
use crate::generation::Generation;
use olmguard_catalog::olm::EdgeSource;

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
fn olm_v0_is_silent_without_an_upgrade_edge() {
    let lines = "a: 1.1.0\nb: 1.0.0; 1.1.0; 1.2.0";
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
