//! The reachable bundles, by the search and by one edit after another.

use std::collections::{BTreeMap, BTreeSet};

use olmguard_engine::extension::{Filter, Installed};
use olmguard_engine::judge::{Basis, Request, Verdict, pin, recorded, rule};
use olmguard_engine::resolve::{
    Bounds, Choice, EditContext, Guards, Offer, Origin, PathSearch, Query,
};
use olmguard_engine::snapshot::Snapshot;

/// A bundle, by the index of its catalog and its own index, with its number of edits.
pub(crate) type Reached = BTreeMap<(usize, u32), usize>;

/// The offers of a filter, regardless of its version; `None` if they cannot be computed.
pub(crate) fn offers<'s>(snapshot: &'s Snapshot, filter: &Filter) -> Option<Vec<Offer<'s>>> {
    let query = Query::compile(filter, snapshot).ok()?;
    query.offers(&query.in_play(snapshot)).ok()
}

/// The bundles that the search reaches.
pub(crate) fn by_search(snapshot: &Snapshot, offers: &[Offer<'_>], origin: &Origin<'_>) -> Reached {
    let bounds = Bounds {
        rules: snapshot.rules(),
        guards: &Guards::default(),
        policies: None,
        install: None,
        effort: None,
    };
    assert!(bounds.are_edges_alone());
    let reached = PathSearch::from(offers, origin, &bounds).everywhere();
    assert!(!reached.is_cut, "the packages are small");
    let steps = |choice: &Choice<'_>| Some((key(offers, choice), reached.steps_to(choice)?));
    let others = choices(offers).into_iter();
    let others = others.filter(|choice| !origin.is_at(choice.bundle()));
    others.filter_map(|choice| steps(&choice)).collect()
}

/// The bundles that edits with one pinned version each reach, judged by the whole decision table. The bundle that is
/// installed at the start counts in neither.
pub(crate) fn by_edits(
    snapshot: &Snapshot,
    filter: &Filter,
    offers: &[Offer<'_>],
    installed: &Installed,
) -> Reached {
    let is_first = |choice: &Choice<'_>| is_at(snapshot, installed, *choice);
    let pins: Vec<_> = choices(offers).into_iter().filter_map(pin).collect();
    let mut reached = Reached::new();
    let mut starts = vec![installed.clone()];
    for hops in 1.. {
        let mut next = Vec::new();
        for from in &starts {
            let resolved = pins
                .iter()
                .filter_map(|pin| edit(snapshot, filter, pin, from));
            for choice in resolved {
                let key = key(offers, &choice);
                if !is_at(snapshot, from, choice) && !reached.contains_key(&key) {
                    reached.insert(key, hops);
                    next.extend(recorded(choice, snapshot.rules()).map(Installed::Bundle));
                }
            }
        }
        if next.is_empty() {
            break;
        }
        starts = next;
    }
    let others = choices(offers)
        .into_iter()
        .filter(|choice| !is_first(choice));
    let others: BTreeSet<_> = others.map(|choice| key(offers, &choice)).collect();
    reached.retain(|key, _| others.contains(key));
    reached
}

fn edit<'s>(
    snapshot: &'s Snapshot,
    filter: &Filter,
    pin: &str,
    installed: &Installed,
) -> Option<Choice<'s>> {
    let request = Request {
        filter: &filter.with_version(pin),
        installed,
        context: EditContext::unknown(),
    };
    let ruled = rule(Basis::without_policies(snapshot), &request);
    let is_allowed = ruled.ruling.token().verdict() == Verdict::Allow;
    ruled.resolved().filter(|_| is_allowed)
}

fn is_at(snapshot: &Snapshot, installed: &Installed, choice: Choice<'_>) -> bool {
    let bundle = installed.bundle().expect("an installed bundle");
    let origin = Origin::read(bundle, snapshot.rules());
    origin
        .expect("a version that was recorded")
        .is_at(choice.bundle())
}

fn choices<'s>(offers: &[Offer<'s>]) -> Vec<Choice<'s>> {
    let all = offers.iter().flat_map(|offer| {
        let bundles = offer.package.bundles();
        bundles.map(|(index, _)| offer.choice(index))
    });
    all.collect()
}

fn key(offers: &[Offer<'_>], choice: &Choice<'_>) -> (usize, u32) {
    let is_its = |offer: &Offer<'_>| choice.is_of(offer.catalog);
    let offer = offers.iter().position(is_its).expect("an offer of it");
    (offer, choice.index.get())
}
