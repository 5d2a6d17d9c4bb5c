//! OLM's own text for a refusal, so that people can search for it.
//!
//! Upstream: operator-controller, [`internal/operator-controller/resolve/catalog.go`].
//!
//! [`internal/operator-controller/resolve/catalog.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/catalog.go

use crate::judge::{NoCatalogs, PreflightRefusal, Request, Ruling};
use crate::resolve::{Choice, NotLoadedCause};
use olmguard_catalog::DependencyKind;
use olmguard_catalog::version::go::quote;

/// The text, never cut; `None` where OLM has none, or quotes Go's JSON or YAML decoder in it.
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

/// There whenever something is installed, whatever is asked.
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
