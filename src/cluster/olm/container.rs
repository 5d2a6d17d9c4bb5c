//! The container of operator-controller: which one of a Deployment it is, its image, and its feature gates.

use k8s_openapi::api::core::v1::Container;

use olmguard_catalog::olm::{GateError, Gates, OlmRelease};

/// Which container of a Deployment is operator-controller: there may be sidecars.
///
/// The first that runs a program of that name; else the one named `manager`, as in every manifest of
/// OLM v1; else the one whose image is named so; else the only one.
pub(super) fn manager(containers: &[Container]) -> Option<&Container> {
    let first = |is: fn(&Container) -> bool| containers.iter().find(|container| is(container));
    first(runs_it)
        .or_else(|| first(|container| container.name == "manager"))
        .or_else(|| first(has_its_image))
        .or(match containers {
            [only] => Some(only),
            _ => None,
        })
}

fn runs_it(container: &Container) -> bool {
    let mut words = container.command.iter().flatten();
    words
        .next()
        .is_some_and(|program| program.rsplit('/').next() == Some(NAME))
}

/// Builds of vendors carry a prefix.
fn has_its_image(container: &Container) -> bool {
    let image = container.image.as_deref().unwrap_or_default();
    image_name(image).ends_with(NAME)
}

/// The tag of an image, if there is one.
pub(super) fn image_tag(image: &str) -> Option<&str> {
    image_parts(image).1
}

/// The last part of the path of an image.
fn image_name(image: &str) -> &str {
    let path = image_parts(image).0;
    path.rsplit('/').next().unwrap_or(path)
}

/// Path and tag of an image reference: `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`.
fn image_parts(image: &str) -> (&str, Option<&str>) {
    let named = image.split_once('@').map_or(image, |(named, _)| named);
    match named.rsplit_once(':') {
        // A colon before a slash belongs to a port.
        Some((path, tag)) if !tag.contains('/') && !tag.is_empty() => (path, Some(tag)),
        _ => (named, None),
    }
}

/// The feature gates that a container is started with, and what of them is not understood.
#[derive(Debug)]
pub(super) struct SetGates {
    pub(super) gates: Gates,
    /// Each setting that was taken, in the order of the arguments.
    pub(super) settings: Vec<String>,
    pub(super) ignored: Vec<GateError>,
}

/// The gates of `--feature-gates`, which may be repeated, in both of its forms.
///
/// A gate that is unknown here belongs to a release that is: it runs, so operator-controller knows it.
pub(super) fn gates(container: &Container, release: OlmRelease) -> SetGates {
    let (mut settings, mut ignored) = (Vec::new(), Vec::new());
    for setting in written_gates(container) {
        match Gates::parse([setting], release) {
            Ok(_) => settings.push(setting.to_owned()),
            Err(error) => ignored.push(error),
        }
    }
    let all = settings.iter().map(String::as_str);
    let gates = Gates::parse(all, release).unwrap_or_default();
    SetGates {
        gates,
        settings,
        ignored,
    }
}

fn written_gates(container: &Container) -> impl Iterator<Item = &str> {
    let command = container.command.iter().flatten();
    let mut words = command.chain(container.args.iter().flatten());
    let mut lists = Vec::new();
    while let Some(word) = words.next() {
        if let Some(list) = word.strip_prefix("--feature-gates=") {
            lists.push(list);
        } else if word == "--feature-gates" {
            lists.extend(words.next().map(String::as_str));
        }
    }
    let settings = lists.into_iter().flat_map(|list| list.split(','));
    settings
        .map(str::trim)
        .filter(|setting| !setting.is_empty())
}

const NAME: &str = "operator-controller";
