//! What is deprecated, and what there is instead.

use super::PackageCheck;
use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::words;

pub(super) fn check(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    let package = facts.package;
    let Some(deprecations) = package.deprecations else {
        return;
    };
    let deprecated = &facts.deprecated;
    if deprecated.contains(&("olm.package", "")) || !facts.has_all_edges() {
        return;
    }
    let bundles = package.bundles.iter().enumerate();
    let good =
        bundles.filter(|(_, view)| !deprecated.contains(&("olm.bundle", &*view.bundle.name)));
    let reaching = facts.steps.leading_to(good.map(|(index, _)| index));
    let mut channels = package.channels.iter();
    let all_deprecated =
        channels.all(|view| deprecated.contains(&("olm.channel", &*view.channel.name)));
    for entry in &deprecations.entries {
        let (what, is_left) = match &*entry.schema {
            "olm.bundle" => {
                let bundle = package.by_name.get(&*entry.name);
                (
                    "bundle",
                    bundle.is_some_and(|bundle| !reaching.contains(bundle)),
                )
            }
            "olm.channel" => (
                "channel",
                all_deprecated && package.channel(&entry.name).is_some(),
            ),
            _ => continue,
        };
        if is_left {
            let words = words::deprecated_without_replacement(what, &entry.name);
            report.say(
                Rule::DeprecatedWithoutReplacement,
                entry.spot,
                package.name,
                words,
            );
        }
    }
}
