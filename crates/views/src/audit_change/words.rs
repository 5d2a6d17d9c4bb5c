//! Sentences of the changes. Foreign texts are not escaped here: the report makes them one printable line.

use crate::audit_change::{AuditChangeReport, Sides};
use crate::audit_report::words as now;
use crate::diff::Level;
use olmguard_catalog::version::go;
use olmguard_engine::audit::{Concern, Deprecations, Difference, other_images};
use olmguard_engine::explain::counted;
use olmguard_engine::judge::{Token, pin};

/// Formats a change as a sentence.
pub(super) fn sentence(difference: Difference, sides: &Sides<'_, '_, '_>) -> String {
    let is = |concern| now::sentence(concern, sides.after, "");
    let onward = || is(Concern::Behind);
    match difference {
        Difference::PackageGone => "no selected catalog has the package any more".to_owned(),
        Difference::ChannelGone => channels(
            &sides.before.lost_channels(sides.after),
            ["no longer exists", "no longer exist"],
        ),
        Difference::ChannelBack => channels(
            &sides.after.lost_channels(sides.before),
            ["exists now", "exist now"],
        ),
        Difference::Ambiguous if sides.after.judgement.token() != Token::AmbiguousCatalogs => {
            TIED.to_owned()
        }
        Difference::Ambiguous
        | Difference::Unresolvable
        | Difference::Forbidden
        | Difference::Undecided => sides.reason(),
        Difference::OtherReason => before(&sides.reason(), &sides.old_reason()),
        Difference::Allowed => before("the spec is allowed", &sides.old_reason()),
        Difference::Installable => "OLM can install what the spec resolves to".to_owned(),
        Difference::Decided => before("no fact is missing", &sides.old_reason()),
        Difference::ForbiddenMove => is(Concern::ForbiddenMove),
        Difference::NotInstallable => is(Concern::NotInstallable),
        Difference::MovesToPrerelease => is(Concern::MovesToPrerelease),
        Difference::NoForbiddenMove => NO_FORBIDDEN_MOVE.to_owned(),
        Difference::BundleGone => {
            "no selected catalog has the installed bundle any more".to_owned()
        }
        Difference::BundleBack => "a selected catalog has the installed bundle".to_owned(),
        Difference::Stranded
        | Difference::PathForbidden
        | Difference::PathNotInstallable
        | Difference::ChannelEnds
        | Difference::ReachGained => reach(&onward(), sides),
        Difference::ReachLost => match &*onward() {
            "" => reach("no newer version exists", sides),
            onward => reach(onward, sides),
        },
        Difference::OtherPath => before(&onward(), &now::versions(sides.old_path())),
        Difference::PathUnknown => {
            reach("the search for an upgrade path ended at its limit", sides)
        }
        Difference::Newest => newest(sides),
        Difference::OtherImage => images(sides),
        Difference::PackageDeprecated => is(Concern::PackageDeprecated),
        Difference::BundleDeprecated => is(Concern::BundleDeprecated),
        Difference::ChannelDeprecated => now::channels(&new_deprecations(sides)),
        Difference::Undeprecated => undeprecated(sides),
        Difference::Moves => moves(sides),
        Difference::Stays => before(
            "OLM no longer upgrades automatically",
            &now::versions(&sides.moves.before),
        ),
        Difference::Bypass => is(Concern::Bypass),
    }
}

impl AuditChangeReport {
    /// Summarizes the number of extensions and the effect of the change.
    pub fn count_line(&self) -> String {
        let count = self.extensions.len();
        let catalogs: Vec<_> = self.catalogs.iter().map(|name| go::quote(name)).collect();
        let nouns = match catalogs.len() {
            1 => "catalog",
            _ => "catalogs",
        };
        let [harmful, notice, good] = Level::ALL.map(|level| self.count(level));
        let same = count - harmful - notice - good;
        format!(
            "{} with the new {nouns} {}: {harmful} with breaking changes, {notice} to review, {good} improved, \
             {same} unchanged",
            counted(count, "extension"),
            catalogs.join(", "),
        )
    }
}

fn before(now: &str, old: &str) -> String {
    let old = if old.is_empty() { "none" } else { old };
    format!("{now}; before: {old}")
}

/// Formats what can be reached now, and what could be reached before.
fn reach(now: &str, sides: &Sides<'_, '_, '_>) -> String {
    before(now, &sides.old_end().unwrap_or_default())
}

fn channels(names: &[&str], [one, several]: [&str; 2]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| go::quote(name)).collect();
    match quoted.as_slice() {
        [name] => format!("channel {name} {one}"),
        names => format!("channels {} {several}", names.join(", ")),
    }
}

fn newest(sides: &Sides<'_, '_, '_>) -> String {
    let newest =
        [&sides.before.place, &sides.after.place].map(|place| place.as_ref()?.newest.and_then(pin));
    match newest {
        [old, Some(new)] => before(
            &format!("the newest version is {new}"),
            &old.unwrap_or_default(),
        ),
        [old, None] => before("no newer version exists", &old.unwrap_or_default()),
    }
}

fn images(sides: &Sides<'_, '_, '_>) -> String {
    let others = other_images(sides.before, sides.after);
    let others = others.iter().map(|(old, new)| {
        let version = pin(*new).unwrap_or_else(|| new.bundle().name.to_string());
        let [old, new] = [old, new].map(|choice| go::quote(&choice.bundle().image));
        format!("{version} now has image {new}; before: {old}")
    });
    others.collect::<Vec<_>>().join("; ")
}

/// Returns the requested channels that are newly deprecated.
fn new_deprecations<'s>(sides: &Sides<'_, '_, 's>) -> Deprecations<'s> {
    let (old, mut new) = sides.deprecations();
    let was = |name: &str| old.of_channels.iter().any(|(known, _)| *known == name);
    new.of_channels.retain(|(name, _)| !was(name));
    new
}

fn undeprecated(sides: &Sides<'_, '_, '_>) -> String {
    let (old, new) = sides.deprecations();
    let is = |name: &str| new.of_channels.iter().any(|(known, _)| *known == name);
    let package = old.of_package.is_some() && new.of_package.is_none();
    let bundle = old.is_of_bundle && !new.is_of_bundle;
    let channels = old.of_channels.iter().filter(|(name, _)| !is(name));
    let channels = channels.map(|(name, _)| format!("channel {}", go::quote(name)));
    let whats = package.then(|| "the package".to_owned()).into_iter();
    let whats = whats.chain(bundle.then(|| "the installed bundle".to_owned()));
    let whats = whats
        .chain(channels)
        .map(|what| format!("{what} is no longer deprecated"));
    whats.collect::<Vec<_>>().join("; ")
}

fn moves(sides: &Sides<'_, '_, '_>) -> String {
    let verb = if sides.is_new() {
        "OLM installs"
    } else {
        "OLM upgrades automatically to"
    };
    let [old, new] = [&sides.moves.before, &sides.moves.after].map(|path| now::versions(path));
    before(&format!("{verb} {new}"), &old)
}

const TIED: &str =
    "several catalogs of one priority have the package, and OLM cannot choose between them";

const NO_FORBIDDEN_MOVE: &str =
    "OLM no longer upgrades automatically to a version that guardrails forbid";
