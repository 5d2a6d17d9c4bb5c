//! What OLM v1 does not support, or does not look at.

use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::view::PackageView;
use crate::lint::words;

pub(super) fn check(package: &PackageView<'_>, report: &mut Findings<'_>) {
    let mut stated = Vec::new();
    for view in &package.bundles {
        let bundle = view.bundle;
        if let Some((kind, spot)) = bundle.dependency {
            let words = words::unsupported_dependency(&bundle.name, kind);
            report.say(Rule::UnsupportedDependency, spot, package.name, words);
        }
        if bundle.all_namespaces == Some(false) {
            let words = words::unsupported_install_mode(&bundle.name);
            report.say(
                Rule::UnsupportedInstallMode,
                bundle.spot,
                package.name,
                words,
            );
        }
        if !bundle.min_kube_version.text.is_empty() {
            stated.push(bundle);
        }
    }
    if let Some(first) = stated.first() {
        let names: Vec<_> = stated.iter().map(|bundle| &*bundle.name).collect();
        let words = words::min_kube_version_ignored(package.name, &names);
        let spot = first.min_kube_version.spot;
        report.say(Rule::MinKubeVersionIgnored, spot, package.name, words);
    }
}
