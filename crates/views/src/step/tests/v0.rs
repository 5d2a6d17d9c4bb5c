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
            "OLM v0      a candidate, Subscription to channel a of catalog hub",
            "Tried       1.2.0",
            "Since       it is tried first",
        ],
    );
    v0(
        lines,
        &["a"],
        ("1.0.0", "1.1.0"),
        &[
            "OLM v0      no candidate, Subscription to channel a of catalog hub",
            "Tried       1.2.0",
            "Since       another entry skips it, so it is not installed by an update",
            "            1.2.0 is tried first, and installed if it can be",
        ],
    );
    v0(
        lines,
        &[],
        ("1.1.0", "1.2.0"),
        &[
            "OLM v0      a candidate, Subscription to catalog hub, no channel",
            "Tried       1.3.0, 1.2.0",
            "Since       1.3.0 is tried first, and installed if it can be",
        ],
    );
    v0(
        lines,
        &["a"],
        ("1.3.0", "1.0.0"),
        &[
            "OLM v0      no candidate, Subscription to channel a of catalog hub",
            "Since       no edge of the channel leads there",
            "            what is installed is the head",
        ],
    );
    v0(
        lines,
        &["a"],
        ("1.3.0", "1.3.0"),
        &["OLM v0      installed already, Subscription to channel a of catalog hub"],
    );
}

#[test]
fn olm_v0_is_silent_where_nothing_leads_on() {
    let lines = "a: 1.1.0\nb: 1.0.0; 1.1.0; 1.2.0";
    v0(
        lines,
        &["a"],
        ("1.0.0", "1.2.0"),
        &[
            "OLM v0      no candidate, Subscription to channel a of catalog hub",
            "Since       it is not in the channel",
            "            nothing leads on: the Subscription says AtLatestKnown, as at a head",
        ],
    );
    v0(
        lines,
        &["b"],
        ("1.0.0", "1.2.0"),
        &[
            "OLM v0      no candidate, Subscription to channel b of catalog hub",
            "Since       nothing is resolved in the whole namespace: a unique replacement chain within a \
         channel is required to determine the relative order between channel entries, but 3 replacement \
         chains were found in channel \"b\" of package \"p\": p.v1.2.0, p.v1.1.0, p.v1.0.0",
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
            "OLM v0      no candidate, Subscription to catalog one, no channel",
            "Since       the catalog does not have it",
            "OLM v0      a candidate, Subscription to catalog two, no channel",
            "Tried       1.1.0",
            "Since       it is tried first",
        ],
    );
}
