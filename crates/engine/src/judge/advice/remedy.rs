//! The changes of a request that help against each row.

use std::cmp::Ordering;

use serde::Serialize;

use crate::extension::{ChannelField, Fields, Filter, Policy, SelectorField};
use crate::judge::advice::prover::{Ground, Prover, offers};
use crate::judge::advice::{Advice, Fix, FixValue, MOST_BUNDLES, pin, pin_of};
use crate::judge::{Basis, PolicyRefusal, Request, RuledEdit, Ruling, nearby};
use crate::resolve::{Choice, Effort, Origin, PathSearch, Stop, choose, weigh};
use crate::snapshot::METADATA_NAME_LABEL;
use olmguard_catalog::dns1123::is_subdomain;
use olmguard_catalog::selector::LabelSelector;
use olmguard_catalog::version::Version;
use olmguard_catalog::version::suggestion::{self, Suggestion};
use olmguard_policy::{PolicyRule, RangeShape};

/// A refusal, with everything that can be tried against it.
pub(super) struct Remedies<'a, 'p, 's> {
    pub(super) prover: &'a Prover<'p, 's>,
    pub(super) fields: &'a Fields,
    pub(super) ruled: &'a RuledEdit<'s>,
    /// The bundles that the request could choose from without its range.
    pub(super) anything: Option<&'a Ground<'a, 's>>,
    /// The search from the installed bundle, if its version can be read.
    pub(super) search: Option<PathSearch<'a, 's>>,
    /// The bundles that can be reached in one edit, the best suggestion first.
    pub(super) next: &'a [Choice<'a>],
}

impl<'s> Remedies<'_, '_, 's> {
    /// The path and the fix.
    pub(super) fn remedy(&mut self) -> Advice {
        let found = match &self.ruled.ruling {
            Ruling::Downgrade(..) | Ruling::NotASuccessor(..) => {
                let path = self.path(self.prover.request.filter);
                Some(path.unwrap_or_else(Advice::from))
            }
            Ruling::Guardrail(_) => Some(self.allowed_path().unwrap_or_else(Advice::from)),
            Ruling::Policy(refusal) => Some(self.within_policies(refusal)),
            Ruling::VersionNotFound { nearest } => {
                self.nearest_version(nearest).map(|advice| Advice {
                    with_prereleases: self.with_prereleases(),
                    ..advice
                })
            }
            Ruling::Preflight(refusal) if !refusal.is_of_bundle() => None,
            Ruling::Preflight(_) => self.another_candidate().filter(|advice| {
                // Staying at the installed bundle is no progress: something else has to change.
                self.prover.installed().is_none() || advice.path.len() > 1
            }),
            Ruling::BrokenSkipRange(_) => {
                let path = self.path(self.prover.request.filter).ok();
                path.or_else(|| self.another_candidate())
            }
            Ruling::UnsupportedDependency(..) => self.another_candidate(),
            Ruling::InvalidVersionRange(_) | Ruling::InvalidSpec(_) => self.without_range(),
            Ruling::ChannelNotFound { existing: names }
            | Ruling::NotInChannel { having: names } => self.channel(names),
            Ruling::AmbiguousCatalogs(left) => self.catalog(left),
            Ruling::PackageNotFound { nearest, .. } => self.package(nearest),
            _ => None,
        };
        found.unwrap_or_default()
    }

    /// The path to the bundle that the filter would resolve to without edges.
    fn path(&mut self, filter: &Filter) -> Result<Advice, NoPath> {
        self.prover.origin().ok_or(NoPath::Nowhere)?;
        let steps = self.steps(filter)?;
        self.along(&steps).ok_or(NoPath::Nowhere)
    }

    /// The same path for a step that guardrails forbid, with a range that ends at the first step.
    fn allowed_path(&mut self) -> Result<Advice, NoPath> {
        let origin = self.prover.installed().ok_or(NoPath::Nowhere)?;
        let steps = self.steps(self.prover.request.filter)?;
        let advice = self.along(&steps).ok_or(NoPath::Nowhere)?;
        let range = self.anything.zip(steps.first()).and_then(|(ground, step)| {
            let range = tightest_range(self.prover, ground, origin, *step)?;
            Some(Fix {
                field: self.fields.version(),
                value: FixValue::Text(range),
            })
        });
        Ok(Advice {
            fix: range.or(advice.fix),
            ..advice
        })
    }

    /// The steps of the path to the bundle that the filter would resolve to without edges.
    fn steps(&mut self, filter: &Filter) -> Result<Vec<Choice<'s>>, NoPath> {
        let ground = self.anything.ok_or(NoPath::Nowhere)?;
        let search = self.search.as_mut().ok_or(NoPath::Nowhere)?;
        let asked = offers(self.prover.basis, filter).ok_or(NoPath::Nowhere)?;
        let goal = choose(&weigh(&asked, None)).ok();
        let goal = goal.map(|resolved| resolved.choice);
        let found = search.path_to(goal, &asked);
        if found.is_cut {
            return Err(NoPath::Unknown);
        }
        let mut steps = found.steps.ok_or(NoPath::Nowhere)?;
        // A pin gives the bundle of its version that has an edge, although another one may be the goal.
        let version = goal.as_ref().and_then(Choice::version);
        let is_goal = |step: &Choice<'_>| {
            let both = step.version().zip(version);
            both.is_some_and(|(step, goal)| step.cmp_precedence(goal).is_eq())
        };
        if let Some(at) = steps.iter().position(is_goal) {
            steps.truncate(at + 1);
        }
        let is_admitted = ground.admits(self.prover, &steps);
        is_admitted.then_some(steps).ok_or(NoPath::Nowhere)
    }

    /// The nearest version that can be reached, in any number of steps.
    fn nearest_version(&mut self, nearest: &[&Version]) -> Option<Advice> {
        nearest.iter().find_map(|version| {
            let pinned = self.prover.request.filter.with_version(&pin_of(version)?);
            match self.prover.admits(&pinned) {
                Some(choice) => self.along(&[choice]),
                None => self.path(&pinned).ok(),
            }
        })
    }

    /// The requested range extended to prereleases, if an edit to it installs a prerelease.
    fn with_prereleases(&self) -> Option<String> {
        let range = suggestion::with_prereleases(self.prover.request.filter.range()?)?;
        let choice = self.prover.admits_range(&range)?;
        choice.is_prerelease().then_some(range)
    }

    /// The best other version of the range that can be reached in one edit, releases first; otherwise the best
    /// reachable version of any range.
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
        versions.sort_by_key(|version| version.is_prerelease());
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

    /// The reachable version that is nearest to the version in an unreadable range.
    fn without_range(&mut self) -> Option<Advice> {
        let offers = self.anything?.offers.iter();
        let nearest = self.nearest_version(&nearby::versions(self.prover.request.filter, offers));
        Some(Advice {
            is_meant_refused: self.is_meant_refused(),
            ..nearest.unwrap_or_default()
        })
    }

    /// Whether the range that is probably meant is denied, so that the message must not suggest it.
    fn is_meant_refused(&self) -> bool {
        let filter = self.prover.request.filter;
        let meant = filter.range().and_then(suggestion::constraint);
        let allowed = meant.map(|meant| match meant {
            Suggestion::Range(range) => self.prover.admits_range(&range),
            Suggestion::Nothing => self.prover.admits(&filter.without_version()),
        });
        allowed.is_some_and(|choice| choice.is_none())
    }

    /// One existing channel instead of the requested ones, otherwise no channels.
    fn channel(&self, names: &[&str]) -> Option<Advice> {
        let names = names.iter().take(TRIES).filter(|name| is_subdomain(name));
        let mut lists = names
            .map(|name| vec![(*name).to_owned()])
            .chain([Vec::new()]);
        let helps = |channels: &Vec<String>| {
            let filter = Filter {
                channels: channels.clone(),
                ..self.prover.request.filter.clone()
            };
            self.prover.admits(&filter).is_some()
        };
        let channels = lists.find(helps)?;
        let value = match self.fields.channels {
            // The field has no text that means every channel.
            ChannelField::One => FixValue::Text(channels.into_iter().next()?),
            ChannelField::Many | ChannelField::Both => FixValue::List(channels),
        };
        Some(fix(self.fields.channels(), value))
    }

    /// The catalog with the highest version among those that tie, selected by its automatic label.
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

    /// A package with a name similar to the requested one. In most shapes the package of an object is immutable, and in
    /// no shape can it change after the installation.
    fn package(&self, nearest: &[&str]) -> Option<Advice> {
        let request = self.prover.request;
        let is_fixed = request.context.is_update && self.fields.is_package_immutable();
        if is_fixed || *request.installed != crate::extension::Installed::Nothing {
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

    /// A path of these steps, with the first step as the fix. Steps that all stay at the installed bundle are not a
    /// path.
    fn along(&self, steps: &[Choice<'_>]) -> Option<Advice> {
        let pins: Vec<String> = steps.iter().map(|step| pin(*step)).collect::<Option<_>>()?;
        let mut advice = fix(self.fields.version(), FixValue::Text(pins.first()?.clone()));
        let origin = self.prover.installed();
        let stays = |origin: &Origin<'_>| steps.iter().all(|step| origin.is_at(step.bundle()));
        if !origin.is_some_and(stays) {
            let start = origin.and_then(Origin::version);
            let start = start.map(|installed| installed.version.without_build().to_string());
            advice.path = start.into_iter().chain(pins).collect();
            advice.one_edit = one_edit(self.prover, self.fields, steps);
        }
        Some(advice)
    }
}

/// Why no path is suggested.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NoPath {
    /// No path exists.
    Nowhere,
    /// The search reached its limit, so a path may exist.
    Unknown,
}

impl From<NoPath> for Advice {
    fn from(why: NoPath) -> Self {
        Self {
            is_cut: why == NoPath::Unknown,
            ..Self::default()
        }
    }
}

fn fix(field: String, value: FixValue) -> Advice {
    Advice {
        fix: Some(Fix { field, value }),
        ..Advice::default()
    }
}

fn select(filter: &Filter, catalog: &str) -> Filter {
    let mut selector: LabelSelector = filter.selector.as_deref().cloned().unwrap_or_default();
    selector
        .match_labels
        .insert(METADATA_NAME_LABEL.to_owned(), catalog.to_owned());
    Filter {
        selector: Some(selector.into()),
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

/// The most channels or versions that are tried; the most similar and the best come first.
const TRIES: usize = 32;

// === Fixes for upgrade policies: a version, a range or an upgrade constraint policy that they allow ===

impl Remedies<'_, '_, '_> {
    /// The smallest change that the policies, the resolver and the guardrails allow.
    fn within_policies(&mut self, refusal: &PolicyRefusal<'_>) -> Advice {
        let narrower = self.narrower(refusal);
        let advice = narrower.or_else(|| self.without_bypass(refusal));
        advice.unwrap_or_else(|| match self.prover.installed() {
            Some(_) => self.past_denied(refusal),
            None => self.another_candidate().unwrap_or_default(),
        })
    }

    /// The path that the policies allow, otherwise the requested range without the denied version.
    fn past_denied(&mut self, refusal: &PolicyRefusal<'_>) -> Advice {
        let advice = self.allowed_path().unwrap_or_else(Advice::from);
        match advice.fix {
            Some(_) => advice,
            None => self.without_version(refusal).unwrap_or(advice),
        }
    }

    /// The requested range without the version of the first finding. If the edit then stays at the installed bundle,
    /// this helps only if the policy denies the version itself, not the time or the way of its installation.
    fn without_version(&self, refusal: &PolicyRefusal<'_>) -> Option<Advice> {
        let range = self.prover.request.filter.range()?;
        let first = refusal.findings.first()?;
        let denied = first.to;
        let version = denied.version()?;
        // A comparator after an OR belongs only to the last group.
        let is_one_group = !range.contains("||");
        let range = is_one_group.then(|| format!("{range} !={}", version.without_build()))?;
        let resolved = self.prover.admits_range(&range)?;
        let installed = self.prover.installed();
        let stays = installed.is_some_and(|installed| installed.is_at(resolved.bundle()));
        let rule = &first.violation.rule;
        let is_version = rule.is_of_bundle() && !matches!(rule, PolicyRule::Catalog { .. });
        (!stays || is_version).then(|| fix(self.fields.version(), FixValue::Text(range)))
    }

    /// A narrower range for the same bundle, if policies deny only the width of the range.
    fn narrower(&self, refusal: &PolicyRefusal<'_>) -> Option<Advice> {
        let mut shapes = refusal
            .findings
            .iter()
            .map(|found| match found.violation.rule {
                PolicyRule::Range { needed, .. } => Some(needed),
                _ => None,
            });
        let narrowest = shapes.try_fold(RangeShape::Any, |narrowest, shape| {
            Some(narrowest.min(shape?))
        })?;
        let bounded = (narrowest == RangeShape::Bounded)
            .then(|| self.bounded(refusal.resolved))
            .flatten();
        bounded.or_else(|| self.pinned(refusal.resolved))
    }

    /// A range with an upper bound that resolves to this bundle.
    fn bounded(&self, to: Choice<'_>) -> Option<Advice> {
        let origin = self.prover.installed()?;
        let range = tightest_range(self.prover, self.anything?, origin, to)?;
        Some(fix(self.fields.version(), FixValue::Text(range)))
    }

    /// The pin of this bundle's version.
    fn pinned(&self, to: Choice<'_>) -> Option<Advice> {
        let version = pin(to)?;
        let is_bundle = self.prover.admits_range(&version)? == to;
        is_bundle.then(|| fix(self.fields.version(), FixValue::Text(version)))
    }

    /// The upgrade constraint policy `CatalogProvided`, if a policy denies the bypass.
    fn without_bypass(&self, refusal: &PolicyRefusal<'_>) -> Option<Advice> {
        let rules = || refusal.findings.iter().map(|found| &found.violation.rule);
        if !rules().any(|rule| matches!(rule, PolicyRule::Bypass)) {
            return None;
        }
        let bound = self
            .prover
            .request
            .filter
            .with_policy(Policy::CatalogProvided);
        self.prover.admits(&bound)?;
        let word = self.fields.bypass.opposite().to_owned();
        Some(fix(self.fields.policy(), FixValue::Text(word)))
    }
}

// === The tightest range that ends at a step ===

/// The range, if an edit to it resolves to the step. The range ends before the lowest version above the step, so it
/// includes patches of the step that are published later.
///
/// If guardrails apply, a pin would exclude patches that can fix a step, and a wider range would let OLM continue to
/// the next step automatically.
fn tightest_range(
    prover: &Prover<'_, '_>,
    anything: &Ground<'_, '_>,
    origin: &Origin<'_>,
    step: Choice<'_>,
) -> Option<String> {
    let from = origin.version()?.version.without_build();
    let to = step.version()?;
    let end = match above(anything, to) {
        Some(next) => format!("<{}", next.without_build()),
        None => format!("<={}", to.without_build()),
    };
    let range = format!(">={from} {end}");
    let is_step = prover.admits_range(&range)? == step;
    is_step.then_some(range)
}

/// The lowest version of a requested channel above this version.
fn above<'s>(anything: &Ground<'_, 's>, version: &Version) -> Option<&'s Version> {
    let members = anything.offers.iter().flat_map(|offer| {
        let bundles = offer.members.iter();
        bundles.map(|index| offer.choice(index))
    });
    members
        .filter_map(|choice| choice.version())
        .filter(|other| other.cmp_precedence(version).is_gt())
        .min_by(|a, b| a.cmp_precedence(b))
}

// === One edit after which OLM takes all steps of an upgrade path automatically ===

/// One edit in place of one edit per step.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "OneEditReport")]
pub struct OneEdit {
    /// Path of the field to set.
    pub field: String,
    /// Range to set.
    pub value: String,
    /// Versions that OLM then installs automatically, in this order.
    pub through: Vec<String>,
}

impl OneEdit {
    /// The edit for a path of several steps, if OLM then reaches the end of the path and stays there.
    pub fn of(
        basis: Basis<'_>,
        request: &Request<'_>,
        fields: &Fields,
        path: &[Choice<'_>],
    ) -> Option<Self> {
        let stop = Stop::default();
        let effort = Effort::of(MOST_BUNDLES, &stop);
        one_edit(&Prover::of(basis, request, &effort), fields, path)
    }
}

/// The edit for a path of several steps, if OLM then reaches the end of the path and stays there.
fn one_edit(prover: &Prover<'_, '_>, fields: &Fields, path: &[Choice<'_>]) -> Option<OneEdit> {
    let (goal, [_, ..]) = path.split_last()? else {
        return None;
    };
    let value = range_to(prover.origin()?, *goal)?;
    let steps = prover.walk(&value, path)?;
    if steps.last() != Some(goal) {
        return None;
    }
    let through = steps.into_iter().map(pin).collect::<Option<_>>()?;
    Some(OneEdit {
        field: fields.version(),
        value,
        through,
    })
}

/// The range from the installed version to a bundle.
fn range_to(origin: &Origin<'_>, to: Choice<'_>) -> Option<String> {
    let from = origin.version()?.version.without_build();
    Some(format!(">={from} <={}", pin(to)?))
}
