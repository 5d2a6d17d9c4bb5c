//! The sentences about a bundle.

use olmguard_catalog::version::go;
use olmguard_preflight::support::Unsupported;
use olmguard_report::Tone;

/// The result, which stands first: of a bundle, and of the way to it from another.
pub(super) fn result(
    (name, from): (&str, Option<&str>),
    (is_refused, count): (bool, usize),
) -> (Tone, String) {
    let name = go::escape(name);
    let after = from.map(|from| format!(" after {}", go::escape(from)));
    let after = after.unwrap_or_default();
    let findings = match count {
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    match (is_refused, count) {
        (true, _) => (
            Tone::Bad,
            format!("{name}: OLM cannot install it{after}: {findings}"),
        ),
        (false, 0) => (Tone::Good, format!("{name}: OLM can install it{after}")),
        (false, _) => (
            Tone::Caution,
            format!("{name}: OLM may not install it{after}: {findings}"),
        ),
    }
}

/// What to know if a CRD is in the way.
pub(super) const OVERRIDE: &str = "a ClusterExtension that sets crdUpgradeSafety.enforcement below \
    spec.install.preflight to None skips the comparison of CRDs";

pub(super) fn unsupported(reason: Unsupported, is_certain: bool) -> String {
    let reason = match reason {
        Unsupported::ApiServices => "the bundle owns an API service",
        Unsupported::Webhooks => {
            "the bundle has webhooks: OLM must have a provider of certificates"
        }
        Unsupported::NotAllNamespaces => "the install mode AllNamespaces is not supported",
        Unsupported::NoInstallMode => {
            "none of the install modes AllNamespaces, SingleNamespace and OwnNamespace is supported"
        }
    };
    if is_certain {
        return reason.to_owned();
    }
    format!("{reason}: only an OLM with other feature gates installs it")
}
