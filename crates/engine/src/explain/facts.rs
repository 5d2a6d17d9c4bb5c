//! The facts that the text of a refusal is made from, the phrases that several rows share, and OLM's own text.

use crate::explain::text::{CutLine, recorded, versioned};
use crate::extension::{Extension, Installed, InstalledBundle, SelectorField};
use crate::judge::{
    Advice, DeadEnd, Edit, FoundAdvice, Judgement, NoCatalogs, PathInOneCatalog, PreflightRefusal,
    Request, Ruling,
};
use crate::resolve::{Choice, NotLoadedCause};
use crate::snapshot::CatalogState;
use olmguard_catalog::DependencyKind;
use olmguard_catalog::version::go::quote;

/// The facts that the text about one edit is made from.
#[derive(Debug)]
pub(super) struct MessageFacts<'a> {
    pub(super) extension: &'a Extension,
    pub(super) request: Option<Request<'a>>,
    pub(super) judgement: &'a Judgement<'a>,
    pub(super) advice: &'a Advice,
    /// The known facts if no advice helps.
    pub(super) dead_end: Option<&'a DeadEnd<'a>>,
    pub(super) catalog: Option<&'a CatalogState>,
    /// OLM's own text for the refusal.
    pub(super) upstream: Option<String>,
}

impl<'a> MessageFacts<'a> {
    /// The facts of an edit, its judgement, and the advice that was found.
    pub(super) fn of(
        edit: &Edit<'a>,
        judgement: &'a Judgement<'a>,
        found: &'a FoundAdvice<'a>,
    ) -> Self {
        let request = edit.request();
        let ruled = &judgement.ruled;
        let upstream = request.and_then(|request| upstream(&request, &ruled.ruling));
        Self {
            extension: edit.new,
            request,
            judgement,
            advice: &found.advice,
            dead_end: found.dead_end.as_ref(),
            catalog: ruled.cited_catalog(),
            upstream,
        }
    }

    /// Whether the API server refuses to change the package, because the object already exists.
    pub(super) fn is_package_fixed(&self) -> bool {
        let exists = self
            .request
            .is_some_and(|it| it.context.is_update || *it.installed != Installed::Nothing);
        // A question about a package does not concern any object.
        let is_object = self.extension.identity.name.is_some();
        exists && is_object && self.extension.fields.is_package_immutable()
    }

    /// The requested range; empty if none is set.
    pub(super) fn range(&self) -> &'a str {
        let range = self.request.and_then(|request| request.filter.range());
        range.unwrap_or_default()
    }

    pub(super) fn channels(&self) -> &'a [String] {
        self.request
            .map_or(&[], |request| request.filter.channels.as_slice())
    }

    pub(super) fn installed(&self) -> Option<&'a InstalledBundle> {
        self.request?.installed.bundle()
    }

    /// Whether the installed bundle is unknown.
    pub(super) fn is_installed_unknown(&self) -> bool {
        let installed = self.request.map(|request| request.installed);
        matches!(installed, Some(Installed::Unknown(_)))
    }

    pub(super) fn installed_version(&self) -> CutLine {
        let version = |bundle| CutLine::default().version(recorded(bundle));
        self.installed().map_or_else(CutLine::default, version)
    }

    /// The bundles that a number of candidates counts, as a phrase.
    pub(super) fn scope(&self) -> &'static str {
        match (self.range(), self.channels()) {
            ("", []) => "of the package",
            ("", _) => "in the channels",
            _ => "in range",
        }
    }

    /// The statement that no upgrade path exists. The caller ends the sentence.
    pub(super) fn no_path_to(&self, to: CutLine) -> CutLine {
        CutLine::default()
            .say("No upgrade path from ")
            .then(self.installed_version())
            .say(" to ")
            .then(to)
    }

    /// Another request that has a path, or who can add one.
    pub(super) fn other_path(&self) -> CutLine {
        let end = self.dead_end.map(|end| (end.elsewhere, end.in_one_catalog));
        let can_select = self.extension.fields.selector == SelectorField::Present;
        let line = CutLine::default();
        match end.unwrap_or_default() {
            (Some(to), _) => line
                .say(" Without channels, olmguard path shows one to ")
                .then(versioned(to))
                .say("."),
            (None, PathInOneCatalog::To(to)) if can_select => line
                .say(" With a selector for catalog ")
                .name(&to.catalog.name)
                .say(" alone, a path leads to ")
                .then(versioned(to))
                .say("."),
            (None, PathInOneCatalog::Absent) => line.say(" Only the catalog author can add one."),
            (None, PathInOneCatalog::To(_) | PathInOneCatalog::Unknown) => line,
        }
    }

    /// The highest reachable release, and the highest reachable prerelease if that is higher.
    pub(super) fn highest(&self) -> CutLine {
        let reached = self.dead_end.map(|end| (end.highest, end.prerelease));
        match reached.unwrap_or_default() {
            (Some(release), None) => reachable(release).say("."),
            (Some(release), Some(prerelease)) => reachable(release)
                .say(". Highest prerelease: ")
                .then(versioned(prerelease))
                .say("."),
            (None, Some(prerelease)) => reachable(prerelease).say(" (prerelease)."),
            (None, None) => CutLine::default(),
        }
    }
}

fn reachable(highest: Choice<'_>) -> CutLine {
    CutLine::default()
        .say(" Highest reachable: ")
        .then(versioned(highest))
}

/// The rules that a path must satisfy, if guardrails or policies block the others.
pub(super) fn allowed_by(by_guardrails: bool, by_policies: bool) -> Option<&'static str> {
    match (by_guardrails, by_policies) {
        (true, true) => Some(" that all guardrails and policies allow."),
        (true, false) => Some(" that all guardrails allow."),
        (false, true) => Some(" that all policies allow."),
        (false, false) => None,
    }
}

// === OLM's own text for a refusal, so that users can search for it ===
//
// Upstream: operator-controller, [`internal/operator-controller/resolve/catalog.go`].
//
// [`internal/operator-controller/resolve/catalog.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/catalog.go

/// OLM's text, never cut. `None` if OLM has no text, or if the text quotes Go's JSON or YAML decoder.
pub(super) fn upstream(request: &Request<'_>, ruling: &Ruling<'_>) -> Option<String> {
    match ruling {
        Ruling::InvalidSelector(error) => {
            Some(format!("desired catalog selector is invalid: {error}"))
        }
        Ruling::InvalidVersionRange(error) => {
            let range = quote(request.filter.range().unwrap_or_default());
            Some(format!("desired version range {range} is invalid: {error}"))
        }
        Ruling::CatalogNotLoaded(failed) => match failed.why {
            NotLoadedCause::NotServing => Some(not_served(request, &failed.catalog.name)),
            _ => None,
        },
        Ruling::InstalledVersionInvalid(error) => Some(format!(
            "error walking catalogs: error finding upgrade edges: {error}"
        )),
        Ruling::NoCatalogs(
            NoCatalogs::NoneExist | NoCatalogs::NoneMatch | NoCatalogs::AllUnavailable,
        )
        | Ruling::PackageNotFound { .. }
        | Ruling::ChannelNotFound { .. }
        | Ruling::NotInChannel { .. }
        | Ruling::VersionNotFound { .. }
        | Ruling::Downgrade(..)
        | Ruling::NotASuccessor(..) => Some(nothing_left(request)),
        Ruling::AmbiguousCatalogs(left) => Some(ambiguous(request, left)),
        Ruling::BundleVersionInvalid(choice, error) => error.is_olms_own().then(|| {
            let bundle = quote(&choice.bundle().name);
            format!("error getting resolved bundle version for bundle {bundle}: {error}")
        }),
        Ruling::UnsupportedDependency(choice, kind) => Some(dependency(*choice, *kind)),
        Ruling::Preflight(refusal) => refused_install(refusal),
        Ruling::NotJudged(_)
        | Ruling::Unanswered(_)
        | Ruling::InvalidSpec(_)
        | Ruling::NoCatalogs(NoCatalogs::NoneGiven)
        | Ruling::InstalledUnknown(_)
        | Ruling::CatalogOutdated(_)
        | Ruling::BrokenSkipRange(_)
        | Ruling::Guardrail(_)
        | Ruling::Policy(_)
        | Ruling::PoliciesUnknown(_)
        | Ruling::Allowed(..) => None,
    }
}

fn not_served(request: &Request<'_>, catalog: &str) -> String {
    let (package, catalog) = (quote(&request.filter.package), quote(catalog));
    format!(
        "error walking catalogs: error getting package {package} from catalog {catalog}: \
         catalog {catalog} is not being served"
    )
}

fn nothing_left(request: &Request<'_>) -> String {
    let what = what(request);
    format!("{}no bundles found for package {what}", prefix(request))
}

fn ambiguous(request: &Request<'_>, left: &[Choice<'_>]) -> String {
    let mut catalogs: Vec<&str> = left
        .iter()
        .map(|choice| choice.catalog.name.as_str())
        .collect();
    catalogs.sort_unstable();
    let (prefix, what, catalogs) = (prefix(request), what(request), catalogs.join(" "));
    format!(
        "{prefix}found bundles for package {what} \
         in multiple catalogs with the same priority [{catalogs}]"
    )
}

fn dependency(choice: Choice<'_>, kind: DependencyKind) -> String {
    let bundle = quote(&choice.bundle().name);
    format!(
        "validating bundle {bundle}: bundle {bundle} has a dependency declared via property \"{}\" \
         which is currently not supported",
        kind.as_str()
    )
}

fn refused_install(refusal: &PreflightRefusal<'_>) -> Option<String> {
    let error = refusal.faults.upstream()?;
    let bundle = quote(&refusal.resolved.bundle().name);
    let version = quote(refusal.version.as_deref()?);
    let resolved = format!("for resolved bundle {bundle} with version {version}");
    Some(if refusal.faults.are_named_last() {
        format!("{error} {resolved}")
    } else {
        format!("error {resolved}: {error}")
    })
}

/// The prefix of an error if a bundle is installed, regardless of the request.
fn prefix(request: &Request<'_>) -> String {
    match request.installed.bundle() {
        Some(bundle) => {
            format!(
                "error upgrading from currently installed version {}: ",
                quote(&bundle.version)
            )
        }
        None => String::new(),
    }
}

fn what(request: &Request<'_>) -> String {
    let filter = request.filter;
    let range = filter
        .range()
        .map(|range| format!(" matching version {}", quote(range)));
    let channels = (!filter.channels.is_empty())
        .then(|| format!(" in channels [{}]", filter.channels.join(" ")));
    let (range, channels) = (range.unwrap_or_default(), channels.unwrap_or_default());
    format!("{}{range}{channels}", quote(&filter.package))
}
