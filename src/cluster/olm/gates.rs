//! The feature gates that a container is started with.

use k8s_openapi::api::core::v1::Container;

use olmguard_catalog::olm::{GateError, Gates, OlmRelease};

/// The gates, and what of them is not understood.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) gates: Gates,
    /// Each setting that was taken, in the order of the arguments.
    pub(super) settings: Vec<String>,
    pub(super) ignored: Vec<GateError>,
}

/// The gates of `--feature-gates`, which may be repeated, in both of its forms.
///
/// A gate that is unknown here belongs to a release that is: it runs, so operator-controller knows it.
pub(super) fn of(container: &Container, release: OlmRelease) -> Set {
    let (mut settings, mut ignored) = (Vec::new(), Vec::new());
    for setting in written(container) {
        match Gates::parse([setting], release) {
            Ok(_) => settings.push(setting.to_owned()),
            Err(error) => ignored.push(error),
        }
    }
    let all = settings.iter().map(String::as_str);
    let gates = Gates::parse(all, release).unwrap_or_default();
    Set {
        gates,
        settings,
        ignored,
    }
}

fn written(container: &Container) -> impl Iterator<Item = &str> {
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
