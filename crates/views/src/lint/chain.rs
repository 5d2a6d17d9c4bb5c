//! The order of a channel as `opm validate` works it out: head, then what each replaces.
//!
//! Upstream: operator-registry, [`alpha/model/model.go`], `Head` and `validateReplacesChain`. The head is
//! the one entry that no entry names in `replaces` or `skips`; the walk from it ends where the next
//! name is skipped by any entry, or is none.
//!
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

use std::collections::{BTreeSet, HashSet};

use super::view::{ChannelView, EntryView};

/// A channel in order.
#[derive(Debug)]
pub(super) struct Chain<'v, 'w> {
    /// The entries on the way, the head first.
    pub(super) entries: Vec<&'v EntryView<'w>>,
    /// The names that some entry skips.
    pub(super) skipped: HashSet<&'w str>,
}

/// Why a channel has no order.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum ChainFault<'w> {
    NoHead,
    /// In byte order.
    SeveralHeads(Vec<&'w str>),
    /// From the name that comes twice to itself.
    Cycle(Vec<&'w str>),
    /// In byte order.
    Stranded(Vec<&'w str>),
}

impl<'v, 'w> Chain<'v, 'w> {
    /// The order of a channel, and what is wrong with it; `None` for a channel without entries.
    pub(super) fn of(channel: &'v ChannelView<'w>) -> Option<Result<Self, ChainFault<'w>>> {
        (!channel.entries.is_empty()).then(|| {
            let skipped = skipped(channel);
            let head = head(channel)?;
            let entries = walk(channel, head, &skipped)?;
            Ok(Self { entries, skipped })
        })
    }

    /// The circle below the head that OLM v0 comes to, which walks on where opm stops: at skipped entries.
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
            next = channel.entry(&view.entry.replaces.text);
        }
        None
    }

    /// The newest entry.
    pub(super) fn head(&self) -> Option<&'v EntryView<'w>> {
        self.entries.first().copied()
    }
}

/// The names that some entry of a channel skips.
pub(super) fn skipped<'w>(channel: &ChannelView<'w>) -> HashSet<&'w str> {
    let skips = channel.entries.iter().flat_map(|view| &view.entry.skips);
    skips.map(|skip| &*skip.text).collect()
}

fn head<'v, 'w>(channel: &'v ChannelView<'w>) -> Result<&'v EntryView<'w>, ChainFault<'w>> {
    let replaced = channel
        .entries
        .iter()
        .map(|view| &*view.entry.replaces.text);
    let mut named: HashSet<_> = replaced.filter(|name| !name.is_empty()).collect();
    named.extend(skipped(channel));
    let is_head = |view: &&EntryView<'w>| !named.contains(&*view.entry.name);
    let heads: Vec<_> = channel.entries.iter().filter(is_head).collect();
    match heads.as_slice() {
        [] => Err(ChainFault::NoHead),
        [head] => Ok(head),
        several => {
            let sorted = several.iter().map(|view| &*view.entry.name);
            let sorted: BTreeSet<_> = sorted.collect();
            Err(ChainFault::SeveralHeads(sorted.into_iter().collect()))
        }
    }
}

fn walk<'v, 'w>(
    channel: &'v ChannelView<'w>,
    head: &'v EntryView<'w>,
    skipped: &HashSet<&'w str>,
) -> Result<Vec<&'v EntryView<'w>>, ChainFault<'w>> {
    let mut order = vec![head];
    let mut names = vec![&*head.entry.name];
    let mut seen = HashSet::from([&*head.entry.name]);
    while let Some(last) = order.last() {
        let next = &*last.entry.replaces.text;
        if skipped.contains(next) {
            break;
        }
        if !seen.insert(next) {
            let from = names.iter().position(|name| *name == next);
            let mut cycle = names.split_off(from.unwrap_or_default());
            cycle.push(next);
            return Err(ChainFault::Cycle(cycle));
        }
        names.push(next);
        match channel.entry(next) {
            Some(entry) => order.push(entry),
            None => break,
        }
    }
    let all = channel.entries.iter().map(|view| &*view.entry.name);
    let stranded = all.filter(|name| !seen.contains(name) && !skipped.contains(name));
    let stranded: BTreeSet<_> = stranded.collect();
    if stranded.is_empty() {
        Ok(order)
    } else {
        Err(ChainFault::Stranded(stranded.into_iter().collect()))
    }
}
