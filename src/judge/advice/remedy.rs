//! Which change of a request helps against which refusal.

mod tightest;

use std::cmp::Ordering;

use crate::dns1123::is_subdomain;
use crate::extension::{ChannelField, Fields, Filter, SelectorField};
use crate::judge::advice::proof::Prover;
use crate::judge::advice::{Advice, Fix, FixValue, pin, pin_of};
use crate::judge::{Ruled, Ruling, nearby};
use crate::resolve::{Bounds, Choice, Guards, Origin, Query, choose, shortest_way, weigh};
use crate::selector::LabelSelector;
use crate::snapshot::METADATA_NAME_LABEL;
use crate::version::Version;

/// The path and the fix for a refusal.
pub(super) fn remedy(
    prover: &Prover<'_, '_>,
    fields: &Fields,
    ruled: &Ruled<'_>,
    next: &[Choice<'_>],
) -> Advice {
    let remedies = Remedies {
        prover,
        fields,
        ruled,
        next,
    };
    let found = match &ruled.ruling {
        Ruling::Downgrade(..) | Ruling::NotASuccessor(..) => remedies.way(prover.request.filter),
        Ruling::Guardrail(_) => remedies.allowed_way(),
        Ruling::VersionNotFound { nearest } => remedies.nearest_version(nearest),
        Ruling::UnsupportedDependency(..) | Ruling::BrokenSkipRange(_) => {
            remedies.another_candidate()
        }
        Ruling::InvalidVersionRange(_) => remedies.without_range(),
        Ruling::ChannelNotFound { existing: names } | Ruling::NotInChannel { having: names } => {
            remedies.channel(names)
        }
        Ruling::AmbiguousCatalogs(left) => remedies.catalog(left),
        Ruling::PackageNotFound { nearest, .. } => remedies.package(nearest),
        _ => None,
    };
    found.unwrap_or_default()
}

struct Remedies<'a, 'p, 's> {
    prover: &'a Prover<'p, 's>,
    fields: &'a Fields,
    ruled: &'a Ruled<'a>,
    next: &'a [Choice<'a>],
}

impl Remedies<'_, '_, '_> {
    /// Hop by hop to what the filter would give if no edge counted.
    fn way(&self, filter: &Filter) -> Option<Advice> {
        let origin = self.prover.origin()?;
        self.along(&self.hops(filter, &origin)?)
    }

    /// The same where guardrails forbid the step, with the range that leads as far as the first hop.
    fn allowed_way(&self) -> Option<Advice> {
        let origin = self.prover.installed()?;
        let hops = self.hops(self.prover.request.filter, &origin)?;
        let advice = self.along(&hops)?;
        let range = tightest::range(self.prover, &origin, *hops.first()?);
        let field = self.fields.version();
        let range = range.map(|range| (field, FixValue::Text(range)));
        let range = range.map(|(field, value)| Fix { field, value });
        Some(Advice {
            fix: range.or(advice.fix),
            ..advice
        })
    }

    /// The hops of such a way.
    fn hops(&self, filter: &Filter, origin: &Origin<'_>) -> Option<Vec<Choice<'_>>> {
        let snapshot = self.prover.snapshot;
        let query = Query::compile(filter, snapshot).ok()?;
        let offers = query.offers(&query.in_play(snapshot)).ok()?;
        let goal = choose(&weigh(&offers, None))
            .ok()
            .map(|resolved| resolved.choice);
        let guards = Guards::of(snapshot.imposed(), &filter.package, &offers);
        let guards = guards.with_bypass(filter.bypasses());
        let bounds = Bounds {
            rules: snapshot.rules(),
            guards: &guards,
        };
        let way = shortest_way(&offers, origin, goal, &bounds).way?;
        self.prover.admits_way(&way.hops).then_some(way.hops)
    }

    /// The nearest version that can be reached, in as many hops as it takes.
    fn nearest_version(&self, nearest: &[&Version]) -> Option<Advice> {
        nearest.iter().find_map(|version| {
            let pinned = self.prover.request.filter.with_version(&pin_of(version)?);
            match self.prover.admits(&pinned) {
                Some(choice) => self.along(&[choice]),
                None => self.way(&pinned),
            }
        })
    }

    /// The best other version of the range, failing that of any, that can be reached at once.
    fn another_candidate(&self) -> Option<Advice> {
        let filter = self.prover.request.filter;
        let candidates = self.ruled.matched.iter().flat_map(|matched| {
            matched
                .left
                .iter()
                .map(|index| matched.package.bundle(index))
        });
        let versions = candidates.filter_map(|bundle| bundle.version.as_ref().ok());
        let mut versions: Vec<&Version> = versions.map(|read| &read.version).collect();
        versions.sort_by(|a, b| b.cmp_precedence(a));
        versions.dedup_by(|a, b| a.cmp_precedence(b) == Ordering::Equal);
        let pinned = |version: &&Version| Some(filter.with_version(&pin_of(version)?));
        let other = versions
            .iter()
            .take(TRIES)
            .filter_map(pinned)
            .find_map(|pin| self.prover.admits(&pin));
        other.map_or_else(
            || self.along(std::slice::from_ref(self.next.first()?)),
            |choice| self.along(&[choice]),
        )
    }

    /// The version nearest to what an unreadable range names that can be reached.
    fn without_range(&self) -> Option<Advice> {
        let snapshot = self.prover.snapshot;
        let free = self.prover.request.filter.without_version();
        let query = Query::compile(&free, snapshot).ok()?;
        let offers = query.offers(&query.in_play(snapshot)).ok()?;
        self.nearest_version(&nearby::versions(self.prover.request.filter, offers.iter()))
    }

    /// One existing channel in place of the asked ones.
    fn channel(&self, names: &[&str]) -> Option<Advice> {
        let name = names
            .iter()
            .take(TRIES)
            .filter(|name| is_subdomain(name))
            .find(|name| {
                let channels = vec![(**name).to_owned()];
                let filter = Filter {
                    channels,
                    ..self.prover.request.filter.clone()
                };
                self.prover.admits(&filter).is_some()
            })?;
        let value = match self.fields.channels {
            ChannelField::One => FixValue::Text((*name).to_owned()),
            ChannelField::Many | ChannelField::Both => FixValue::List(vec![(*name).to_owned()]),
        };
        Some(fix(self.fields.channels(), value))
    }

    /// One catalog of those that tie, by its automatic label: the one with the highest version.
    fn catalog(&self, left: &[Choice<'_>]) -> Option<Advice> {
        if self.fields.selector == SelectorField::Absent {
            return None;
        }
        let mut left = left.to_vec();
        left.sort_by(|a, b| by_version(*b, *a).then_with(|| a.catalog.name.cmp(&b.catalog.name)));
        let choice = left.iter().find(|choice| {
            let selected = select(self.prover.request.filter, &choice.catalog.name);
            self.prover.admits(&selected).is_some()
        })?;
        let field = format!(
            "{}.matchLabels[{METADATA_NAME_LABEL:?}]",
            self.fields.selector()
        );
        Some(fix(field, FixValue::Text(choice.catalog.name.clone())))
    }

    /// A package with a name like the asked one; once installed, a package cannot be changed.
    fn package(&self, nearest: &[&str]) -> Option<Advice> {
        if *self.prover.request.installed != crate::extension::Installed::Nothing {
            return None;
        }
        let name = nearest
            .iter()
            .filter(|name| is_subdomain(name))
            .find(|name| {
                let package = (**name).to_owned();
                let filter = Filter {
                    package,
                    ..self.prover.request.filter.clone()
                };
                self.prover.admits(&filter).is_some()
            })?;
        Some(fix(
            self.fields.package_name(),
            FixValue::Text((*name).to_owned()),
        ))
    }

    /// A path of these hops, the first of them the fix; staying where one is is no path.
    fn along(&self, hops: &[Choice<'_>]) -> Option<Advice> {
        let pins: Vec<String> = hops.iter().map(|hop| pin(*hop)).collect::<Option<_>>()?;
        let mut advice = fix(self.fields.version(), FixValue::Text(pins.first()?.clone()));
        let origin = self.prover.installed();
        let stays = |origin: &Origin<'_>| hops.iter().all(|hop| origin.is_at(hop.bundle()));
        if !origin.as_ref().is_some_and(stays) {
            let start = origin.as_ref().and_then(Origin::version);
            let start = start.map(|installed| installed.version.without_build().to_string());
            advice.path = start.into_iter().chain(pins).collect();
        }
        Some(advice)
    }
}

fn fix(field: String, value: FixValue) -> Advice {
    Advice {
        fix: Some(Fix { field, value }),
        ..Advice::default()
    }
}

fn select(filter: &Filter, catalog: &str) -> Filter {
    let mut selector: LabelSelector = filter.selector.clone().unwrap_or_default();
    selector
        .match_labels
        .insert(METADATA_NAME_LABEL.to_owned(), catalog.to_owned());
    Filter {
        selector: Some(selector),
        ..filter.clone()
    }
}

fn by_version(a: Choice<'_>, b: Choice<'_>) -> Ordering {
    match (&a.bundle().version, &b.bundle().version) {
        (Ok(a), Ok(b)) => a.cmp_precedence(b),
        (Ok(_), Err(_)) => Ordering::Greater,
        (Err(_), Ok(_)) => Ordering::Less,
        (Err(_), Err(_)) => Ordering::Equal,
    }
}

/// How many channels or versions are tried: the likest and the best come first.
const TRIES: usize = 32;
