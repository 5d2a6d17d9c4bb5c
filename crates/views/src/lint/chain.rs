//! The order of a channel as `opm validate` computes it: the head, then what each entry replaces.
//!
//! Upstream: operator-registry, [`alpha/model/model.go`], `Head` and `validateReplacesChain`. The head is
//! the only entry that no entry names in `replaces` or `skips`. The walk from it ends if the next name
//! is skipped by any entry, or has no entry.
//!
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::lint::view::{ChannelView, EntryView};
use olmguard_catalog::version::go;

/// An entry of a channel with the edges that opm follows.
#[derive(Debug)]
pub(crate) struct OpmEntry<'n> {
    pub(crate) name: &'n str,
    /// The replaced name, empty if there is none.
    pub(crate) replaces: &'n str,
    pub(crate) skips: Vec<&'n str>,
}

/// The reason why a channel has no order, in opm's words.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ChannelFault {
    /// Every entry is replaced or skipped.
    #[error("no channel head found in graph")]
    NoHead,
    /// Several entries are neither replaced nor skipped.
    #[error("multiple channel heads found in graph: {}", joined(heads, ", "))]
    Heads {
        /// Names of these entries, sorted.
        heads: Vec<Box<str>>,
    },
    /// The entries replace each other.
    #[error(
        "detected cycle in replaces chain of upgrade graph: {}",
        joined(cycle, " -> ")
    )]
    Cycle {
        /// Names of the entries. The first one is repeated at the end.
        cycle: Vec<Box<str>>,
    },
    /// Some entries are neither on the path from the head nor skipped.
    #[error(
        "channel contains one or more stranded bundles: {}",
        joined(stranded, ", ")
    )]
    Stranded {
        /// Names of these entries, sorted.
        stranded: Vec<Box<str>>,
    },
}

fn joined(names: &[Box<str>], separator: &str) -> String {
    let names: Vec<_> = names.iter().map(|name| go::escape(name)).collect();
    names.join(separator)
}

/// Returns the places of the entries from the head along `replaces`.
///
/// # Errors
/// The faults that `opm validate` finds: no single head, a cycle, or entries neither in the order nor skipped.
pub(crate) fn order(entries: &[OpmEntry<'_>]) -> Result<Vec<usize>, ChannelFault> {
    let skipped: HashSet<_> = entries.iter().flat_map(|entry| &entry.skips).collect();
    let places = entries.iter().enumerate().rev();
    let places: HashMap<_, _> = places.map(|(at, entry)| (entry.name, at)).collect();
    let (mut order, mut names, mut reached) = (Vec::new(), Vec::new(), HashSet::new());
    let mut next = Some(head(entries)?);
    while let Some(name) = next {
        names.push(name);
        if !reached.insert(name) {
            let cycle = names.into_iter().skip_while(|first| *first != name);
            let cycle = cycle.map(Box::from).collect();
            return Err(ChannelFault::Cycle { cycle });
        }
        let at = places.get(name).copied();
        order.extend(at);
        let entry = at.and_then(|at| entries.get(at));
        next = entry.map(|entry| entry.replaces);
        next = next.filter(|next| !skipped.contains(next));
    }
    let all = entries.iter().map(|entry| entry.name);
    let stranded = all.filter(|name| !reached.contains(name) && !skipped.contains(name));
    let stranded = sorted(stranded);
    if stranded.is_empty() {
        Ok(order)
    } else {
        Err(ChannelFault::Stranded { stranded })
    }
}

/// Returns the name of the only head.
fn head<'n>(entries: &[OpmEntry<'n>]) -> Result<&'n str, ChannelFault> {
    let replaced = entries.iter().map(|entry| entry.replaces);
    let replaced = replaced.filter(|name| !name.is_empty());
    let skipped = entries.iter().flat_map(|entry| entry.skips.iter().copied());
    let named: HashSet<_> = replaced.chain(skipped).collect();
    let all = entries.iter().map(|entry| entry.name);
    let heads: Vec<_> = all.filter(|name| !named.contains(name)).collect();
    match heads[..] {
        [] => Err(ChannelFault::NoHead),
        [head] => Ok(head),
        _ => Err(ChannelFault::Heads {
            heads: sorted(heads),
        }),
    }
}

fn sorted<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<Box<str>> {
    let names: BTreeSet<_> = names.into_iter().collect();
    names.into_iter().map(Box::from).collect()
}

/// The order of a channel for `lint`.
#[derive(Debug)]
pub(super) struct Chain<'v, 'w> {
    /// The entries from the head along `replaces`. At least one.
    pub(super) entries: Vec<&'v EntryView<'w>>,
    /// Names that any entry skips.
    pub(super) skipped: HashSet<&'w str>,
}

impl<'v, 'w> Chain<'v, 'w> {
    /// Returns the order of a channel, or its fault; `None` for a channel without entries.
    pub(super) fn of(channel: &'v ChannelView<'w>) -> Option<Result<Self, ChannelFault>> {
        let entries = channel.entries.iter().map(|view| OpmEntry {
            name: &view.entry.name,
            replaces: &view.entry.replaces.text,
            skips: view.entry.skips.iter().map(|skip| &*skip.text).collect(),
        });
        let entries: Vec<_> = entries.collect();
        (!entries.is_empty()).then(|| {
            let order = order(&entries)?.into_iter();
            Ok(Self {
                entries: order.filter_map(|at| channel.entries.get(at)).collect(),
                skipped: skipped(channel),
            })
        })
    }

    /// Returns the cycle below the head that OLM v0 reaches. It does not stop at skipped entries, unlike opm.
    pub(super) fn circle_of_v0(&self, channel: &'v ChannelView<'w>) -> Option<Vec<&'w str>> {
        let mut names = Vec::new();
        let mut seen = HashSet::new();
        let mut next = self.head();
        while let Some(view) = next {
            let name = &*view.entry.name;
            if !seen.insert(name) {
                let from = names.iter().position(|seen| *seen == name);
                let mut circle = names.split_off(from.unwrap_or_default());
                circle.push(name);
                return Some(circle);
            }
            names.push(name);
            let replaced = Some(&*view.entry.replaces.text).filter(|name| !name.is_empty());
            next = replaced.and_then(|name| channel.entry(name));
        }
        None
    }

    /// Returns the newest entry.
    pub(super) fn head(&self) -> Option<&'v EntryView<'w>> {
        self.entries.first().copied()
    }
}

/// Returns the names that any entry of a channel skips.
pub(super) fn skipped<'w>(channel: &ChannelView<'w>) -> HashSet<&'w str> {
    let skips = channel.entries.iter().flat_map(|view| &view.entry.skips);
    skips.map(|skip| &*skip.text).collect()
}
