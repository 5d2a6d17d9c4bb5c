//! The modules that each module may use.
//!
//! Cargo separates the crates. This list separates the modules within them.
//!
//! ```text
//! catalog: version <- catalog <- preflight, policy <- engine: snapshot <- resolve <- judge <- explain <- report <- views <- admission <- every edge
//!               telemetry, tls <- server <- cli,  source, telemetry, tls <- cluster
//!               manifest <- revision <- cli,  cluster, manifest, source <- facts <- cli
//! ```

/// The modules of the pure crates, and the pure ones of the program. Each may use those before it.
const PURE: [&str; 52] = [
    "dns1123",
    "foreign_text",
    "go_duration",
    "memory",
    "json",
    "base64",
    "yaml_scalar",
    "version",
    "members",
    "selector",
    "olm",
    "guardrail",
    "catalog",
    "graph",
    "preflight",
    "policy",
    "nearest",
    "json_values",
    "extension",
    "snapshot",
    "resolve",
    "judge",
    "inquiry",
    "audit",
    "explain",
    "xml",
    "text",
    "table",
    "finding",
    "junit",
    "sarif",
    "document",
    "report",
    "see",
    "packages",
    "path",
    "step",
    "versions",
    "range_report",
    "bundle_report",
    "migrate",
    "audit_report",
    "page",
    "picture",
    "lint",
    "diff",
    "audit_change",
    "fleet",
    "author",
    "readiness",
    "doctor",
    "admission",
];

/// The modules with I/O, each with the other edges that it may use. They may use every pure module.
const EDGES: [(&str, &[&str]); 17] = [
    ("links", &[]),
    ("pem_file", &[]),
    ("live_facts", &[]),
    ("restart", &[]),
    ("source", &["links", "pem_file"]),
    ("manifest", &["links"]),
    ("bundle_files", &["manifest", "source"]),
    ("policy_objects", &[]),
    ("policy_files", &["manifest", "policy_objects"]),
    ("revision", &["manifest"]),
    ("telemetry", &[]),
    ("tls", &["pem_file", "restart"]),
    (
        "cluster",
        &[
            "live_facts",
            "pem_file",
            "policy_objects",
            "restart",
            "source",
            "telemetry",
            "tls",
        ],
    ),
    ("server", &["live_facts", "restart", "telemetry", "tls"]),
    (
        "facts",
        &[
            "bundle_files",
            "cluster",
            "manifest",
            "policy_files",
            "policy_objects",
            "source",
        ],
    ),
    (
        "cli",
        &[
            "bundle_files",
            "cluster",
            "facts",
            "live_facts",
            "manifest",
            "policy_files",
            "policy_objects",
            "restart",
            "revision",
            "server",
            "source",
            "telemetry",
            "tls",
        ],
    ),
    ("main", &["cli"]),
];

/// Names that no pure module may use, because they do I/O, read the environment, or wait.
const IMPURE: [&str; 17] = [
    "anyhow",
    "async",
    "axum",
    "clap",
    "hyper",
    "kube",
    "rustls",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time",
    "tokio",
    "tracing",
];

/// Writing to a buffer is not I/O, and a duration is not a clock.
const PURE_ALL_THE_SAME: [&str; 2] = ["std::io::Write", "std::time::Duration"];

/// The fault of a path in a file of `module`.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// The module is in no list, and must be added to one of those above.
    UnknownModule,
    /// The dependency points in the wrong direction.
    Arrow,
    /// A pure module uses something impure.
    Impure,
    /// The whole of `std` is imported, which would hide further uses.
    WholeStd,
}

/// Checks one path, given from the root.
pub(crate) fn fault(module: &str, path: &str) -> Option<Fault> {
    let mut names = path.split("::");
    match (names.next(), names.next()) {
        (Some("crate"), Some(used)) if used != module => arrow(module, used),
        (Some("crate"), _) => None,
        _ if is_edge(module) => None,
        (Some("std"), None) => Some(Fault::WholeStd),
        _ if PURE_ALL_THE_SAME.iter().any(|pure| is_within(path, pure)) => None,
        _ => IMPURE
            .iter()
            .any(|impure| is_within(path, impure))
            .then_some(Fault::Impure),
    }
}

/// Returns a path as if all crates were one: the root of the catalog crate is the module `catalog`.
pub(crate) fn in_one(package: &str, path: &str) -> String {
    let Some((root, rest)) = path.split_once("::") else {
        return path.to_owned();
    };
    let package = match root {
        "crate" => package,
        _ => match root.strip_prefix("olmguard_") {
            Some(
                package @ ("catalog" | "preflight" | "policy" | "engine" | "report" | "views"
                | "admission" | "server"),
            ) => package,
            _ => return path.to_owned(),
        },
    };
    let first = rest.split("::").next().unwrap_or_default();
    match package {
        "catalog" if !is_known(first) => "crate::catalog".to_owned(),
        "policy" | "preflight" | "admission" => format!("crate::{package}"),
        "server" if !is_edge(first) => "crate::server".to_owned(),
        "report" if !is_known(first) => "crate::report".to_owned(),
        _ => format!("crate::{rest}"),
    }
}

/// Whether one of the lists has this module.
pub(crate) fn is_known(module: &str) -> bool {
    is_edge(module) || rank(module).is_some()
}

fn arrow(module: &str, used: &str) -> Option<Fault> {
    if !is_known(used) {
        return Some(Fault::UnknownModule);
    }
    let may = match (rank(module), rank(used)) {
        (Some(own), Some(other)) => other < own,
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (None, None) => EDGES
            .iter()
            .any(|(edge, uses)| *edge == module && uses.contains(&used)),
    };
    (!may).then_some(Fault::Arrow)
}

fn rank(module: &str) -> Option<usize> {
    PURE.iter().position(|pure| *pure == module)
}

/// Whether a module is one of those with I/O.
pub(crate) fn is_edge(module: &str) -> bool {
    EDGES.iter().any(|(edge, _)| *edge == module)
}

fn is_within(path: &str, of: &str) -> bool {
    path.strip_prefix(of)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}
