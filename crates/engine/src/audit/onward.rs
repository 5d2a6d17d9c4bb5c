//! The next edit of an extension towards the newest version that it can reach, and when upgrade policies allow that
//! edit.
//!
//! The bypass does not count here. The path follows edges, so an extension with the bypass has a path back to them.
//!
//! Windows apply to edits. No admission request exists for automatic upgrades, so no window stops them.

use crate::extension::{Fields, Filter};
use crate::judge::{Basis, OneEdit, Request, pin};
use crate::resolve::{
    Bounds, Choice, EditContext, Guards, InstallBound, MatchingPolicies, Offer, Origin, PathFound,
    PathSearch, Requester,
};
use olmguard_policy::{Opening, PolicyRule};

/// The newer version that edits can upgrade an extension to.
#[derive(Debug)]
pub enum Onward<'s> {
    /// No newer version exists.
    Newest,
    /// A newer version can be reached now.
    Now(NextEdit<'s>),
    /// A newer version can be reached once a window of the upgrade policies is open.
    Later(NextEdit<'s>, Opening),
    /// Edges allow a path to a newer version along these bundles, but guardrails or upgrade policies forbid a step of
    /// each path.
    Forbidden(Vec<Choice<'s>>),
    /// A newer version could be reached if operator-controller installed each bundle of the path.
    NotInstallable(UninstallablePath<'s>),
    /// A newer version could be reached along these bundles if the extension requested no channels.
    OtherChannels(Vec<Choice<'s>>),
    /// A newer version could be reached in one catalog if OLM could choose between the several catalogs with the
    /// package.
    Tied,
    /// Newer versions exist, but edges allow no path to any of them.
    Stranded,
    /// The search reached its limit.
    NotFound,
}

/// A path that the rules allow, with a bundle that operator-controller does not install. No other path exists.
#[derive(Debug)]
pub struct UninstallablePath<'s> {
    /// The bundle that each edit would install.
    pub path: Vec<Choice<'s>>,
    /// The first bundle that is not installed.
    pub refused: Choice<'s>,
}

/// The edits to the newest reachable version.
#[derive(Debug)]
pub struct NextEdit<'s> {
    /// The bundle that each edit installs, at least one; the newest reachable version is last.
    pub path: Vec<Choice<'s>>,
    /// A single edit that replaces all edits, if there are several and one is enough.
    pub one_edit: Option<OneEdit>,
}

impl NextEdit<'_> {
    /// The value of the version field: the range of the single edit, or the first version of the path if the API
    /// accepts it.
    pub fn range(&self) -> Option<String> {
        let one_edit = self.one_edit.as_ref().map(|edit| edit.value.clone());
        one_edit.or_else(|| pin(*self.path.first()?))
    }
}

/// The extension to upgrade, and its installed bundle.
pub(super) struct Question<'a, 's> {
    pub(super) basis: Basis<'s>,
    pub(super) request: Request<'a>,
    /// The field paths of the extension's shape.
    pub(super) fields: &'a Fields,
    pub(super) origin: &'a Origin<'a>,
    /// The request of the extension, without the range and without the bypass.
    pub(super) in_channels: &'a Filter,
    /// The same request for any channel.
    pub(super) anywhere: &'a Filter,
}

impl<'s> Question<'_, 's> {
    pub(super) fn onward(&self, has_newer: bool) -> Onward<'s> {
        let offers = offers(self.basis, self.in_channels, self.origin).unwrap_or_default();
        let along_edges = self.along_edges(&offers);
        match along_edges.steps {
            Some(path) => self.allowed(&offers, path),
            None if along_edges.is_cut => Onward::NotFound,
            None if has_newer => self.elsewhere(),
            None => Onward::Newest,
        }
    }

    /// The path that guardrails and policies allow, now or when a window opens.
    fn allowed(&self, offers: &[Offer<'s>], along_edges: Vec<Choice<'s>>) -> Onward<'s> {
        let mut requester = self.request.context.requester.clone();
        let mut opening: Option<Opening> = None;
        let mut is_cut = false;
        let mut tried = requester.at;
        for _ in 0..MOST_OPENINGS {
            tried = requester.at;
            let found = self.upwards(offers, &requester, self.install(offers));
            is_cut |= found.is_cut;
            if let Some(path) = found.steps {
                return self.next_edit(path, &requester, opening);
            }
            let opens = self.opening(&along_edges, &requester);
            let Some(opens) = opens.filter(|opens| opens.at > requester.at) else {
                break;
            };
            requester.at = opens.at;
            opening = Some(opens);
        }
        requester.at = tried;
        match self.uninstallable(offers, &requester) {
            _ if is_cut => Onward::NotFound,
            Some(found) => Onward::NotInstallable(found),
            None => Onward::Forbidden(along_edges),
        }
    }

    fn uninstallable(
        &self,
        offers: &[Offer<'s>],
        requester: &Requester,
    ) -> Option<UninstallablePath<'s>> {
        let bound = self.install(offers)?;
        let path = self.upwards(offers, requester, None).steps?;
        let rules = self.basis.snapshot.rules();
        let mut refused = path.iter().filter(|step| bound.refuses(step, rules));
        let refused = *refused.next()?;
        Some(UninstallablePath { path, refused })
    }

    fn install(&self, offers: &[Offer<'s>]) -> Option<InstallBound<'_>> {
        InstallBound::of(self.request.context.install, self.basis.snapshot, offers)
    }

    fn next_edit(
        &self,
        path: Vec<Choice<'s>>,
        requester: &Requester,
        opening: Option<Opening>,
    ) -> Onward<'s> {
        let request = Request {
            filter: self.in_channels,
            context: self.context(requester),
            ..self.request
        };
        let one_edit = OneEdit::of(self.basis, &request, self.fields, &path);
        let next = NextEdit { path, one_edit };
        match opening {
            None => Onward::Now(next),
            Some(opening) => Onward::Later(next, opening),
        }
    }

    /// The path that only the requested channels block.
    fn elsewhere(&self) -> Onward<'s> {
        let offers = offers(self.basis, self.anywhere, self.origin).unwrap_or_default();
        let found = self.along_edges(&offers);
        match found.steps {
            Some(path) => Onward::OtherChannels(path),
            None if found.is_cut => Onward::NotFound,
            None if self.is_tied(&offers) => Onward::Tied,
            None => Onward::Stranded,
        }
    }

    /// Whether edges allow a path in a single catalog, while catalogs of one priority with the same versions block each
    /// path.
    fn is_tied(&self, offers: &[Offer<'s>]) -> bool {
        let alone = offers.chunks(1).filter(|_| offers.len() > 1);
        alone
            .into_iter()
            .any(|alone| self.along_edges(alone).steps.is_some())
    }

    /// The opening of the last window that still blocks the first of these steps.
    fn opening(&self, path: &[Choice<'s>], requester: &Requester) -> Option<Opening> {
        let denials = self
            .policies(requester)
            .denials_of_pin(self.origin, path.first()?);
        let openings = denials
            .into_iter()
            .filter_map(|found| match found.violation.rule {
                PolicyRule::Window { opens, .. } => opens,
                _ => None,
            });
        openings.max_by_key(|opens| opens.at)
    }

    fn along_edges(&self, offers: &[Offer<'s>]) -> PathFound<'s> {
        let bounds = Bounds {
            rules: self.basis.snapshot.rules(),
            guards: &Guards::default(),
            policies: None,
            install: None,
            effort: None,
        };
        upwards(offers, self.origin, &bounds)
    }

    fn upwards(
        &self,
        offers: &[Offer<'s>],
        requester: &Requester,
        install: Option<InstallBound<'_>>,
    ) -> PathFound<'s> {
        let bounds = Bounds {
            rules: self.basis.snapshot.rules(),
            guards: &self.basis.guards_on(&self.in_channels.package, offers),
            policies: Some(&self.policies(requester)),
            install,
            effort: None,
        };
        upwards(offers, self.origin, &bounds)
    }

    fn policies<'r>(&'r self, requester: &'r Requester) -> MatchingPolicies<'r, 's> {
        self.basis
            .policies_on(self.in_channels, self.context(requester))
    }

    fn context<'r>(&'r self, requester: &'r Requester) -> EditContext<'r> {
        EditContext {
            requester,
            ..self.request.context
        }
    }
}

/// The shortest path to the highest reachable version, if that version is newer than the installed one.
fn upwards<'s>(
    offers: &[Offer<'s>],
    origin: &Origin<'_>,
    bounds: &Bounds<'_, 's>,
) -> PathFound<'s> {
    let mut found = PathSearch::from(offers, origin, bounds).path_to(None, offers);
    let is_up = |last: &Choice<'_>| origin.is_older_than(last.package, last.index);
    found.steps = found.steps.filter(|path| path.last().is_some_and(is_up));
    found
}

/// The most openings that are tried, because the windows of several policies may rarely be open together.
const MOST_OPENINGS: usize = 16;

/// The offers for a filter; `None` if a selected catalog cannot answer or no catalog has the package. Deprecated
/// bundles are not candidates, nor are prereleases if a release is installed. A path can pass through them, but cannot
/// end at them.
pub(super) fn offers<'s>(
    basis: Basis<'s>,
    filter: &Filter,
    origin: &Origin<'_>,
) -> Option<Vec<Offer<'s>>> {
    let mut offers = Offer::of(basis.snapshot, filter)?;
    for offer in &mut offers {
        offer.keep(|choice| origin.suggests(choice) && !choice.is_deprecated());
    }
    (!offers.is_empty()).then_some(offers)
}
