//! Warnings as text: at most five, each one line of at most 120 characters.

use crate::explain::refusal::preflight;
use crate::explain::text::{CutLine, recorded, words};
use crate::explain::{Answer, counted, guardrail, policy};
use crate::extension::{Extension, Filter, Hint, Instead};
use crate::judge::{
    BaseDoubt, Continuation, Exemption, Jump, OldKubernetes, PreflightRefusal, ShortWebhookNames,
    Token, UnjudgedSteps, Verdict, Warning,
};
use crate::resolve::{Choice, Violation};
use crate::snapshot::CatalogState;
use olmguard_catalog::Bundle;
use olmguard_catalog::version::Version;
use olmguard_policy::PolicyProblem;
use olmguard_preflight::bundle::BundledKind;
use olmguard_preflight::content::NeededObject;

/// The most warnings of one answer, because an API server drops warnings beyond a total size.
pub const MOST: usize = 5;

/// The most characters of a warning, because an API server may cut longer ones.
const LENGTH: usize = 120;

/// The warnings as text. If there are too many, the last ones are omitted.
pub(super) fn warnings(extension: &Extension, warnings: &[Warning<'_>]) -> Vec<String> {
    warnings
        .iter()
        .take(MOST)
        .map(|warning| shorten(&line(extension, warning)))
        .collect()
}

/// Puts a warning before all others. If there are too many, the last one is omitted.
pub fn warn_first(warnings: &mut Vec<String>, warning: String) {
    warnings.insert(0, warning);
    warnings.truncate(MOST);
}

/// Puts a warning after all others, if there is room for it.
pub fn warn_last(warnings: &mut Vec<String>, warning: Option<String>) {
    warnings.extend(warning);
    warnings.truncate(MOST);
}

/// Adds a warning if a base resolves to nothing, so the edit was checked as a new installation. Also adds one if a base
/// pins no version and another installed version can change the answer.
pub fn warn_of_base(answer: &mut Answer, doubt: Option<BaseDoubt>) {
    let line = CutLine::default();
    let line = match (answer.verdict(), doubt, &answer.installed) {
        (Verdict::NotJudged, _, _) => return,
        (_, Some(BaseDoubt::Unresolved(token)), _) => line
            .say("what the base requests resolves to nothing now [")
            .say(token.as_str())
            .say("]: checked as a new installation"),
        (_, Some(BaseDoubt::Range), Some(installed)) if is_by_installed(answer.token) => line
            .say("the base pins no version: ")
            .name(&recorded(installed))
            .say(" is what it resolves to today, and another one can be installed"),
        _ => return,
    };
    warn_last(&mut answer.warnings, Some(shorten(&line)));
}

/// Whether another installed version can change the answer.
fn is_by_installed(token: Token) -> bool {
    matches!(
        token,
        Token::Downgrade
            | Token::NotASuccessor
            | Token::Guardrail
            | Token::Policy
            | Token::Resolved
            | Token::Unchanged
    )
}

/// The warning about a new extension that requests the package of a removed one.
pub fn renamed(removed: &str) -> String {
    let line = CutLine::default().name(removed);
    let line = line.say(" requested this package and is removed: ");
    shorten(&line.say("under a new name OLM uninstalls it and installs it again"))
}

/// The warning about an undecided edit that is allowed.
pub fn let_through(answer: &Answer) -> String {
    allowed("undecided, and allowed: ", answer)
}

/// The warning about an edit that would be refused if olmguard did not only observe.
pub fn only_observed(answer: &Answer) -> String {
    allowed(OBSERVED, answer)
}

/// The warning about such an edit of a `ClusterCatalog`.
pub fn only_observed_of_catalog(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    shorten(&words(OBSERVED).said(first))
}

const OBSERVED: &str = "allowed in observe mode: ";

/// The text with the first line of the message, or with its brief form if there is no room.
fn allowed(words: &str, answer: &Answer) -> String {
    let mut lines = answer.message.iter().flat_map(|message| message.lines());
    let whole = [words, lines.next().unwrap_or_default()].concat();
    if whole.chars().count() <= LENGTH {
        return whole;
    }
    shorten(&CutLine::from(words).then(answer.brief.clone()))
}

/// The warnings about a write of an upgrade policy that makes the policies with these names too costly in total.
pub fn too_costly_together(names: &[&str]) -> Vec<String> {
    let (noun, verb) = match names {
        [] => return Vec::new(),
        [_] => ("policy ", " is not valid"),
        _ => ("policies ", " are not valid"),
    };
    let line = CutLine::default().say("with this change ").say(noun);
    let line = line.then(first_named(names)).say(verb);
    vec![shorten(&line), PolicyProblem::TooCostlyTogether.to_string()]
}

/// The warning about an object that was not judged, if one is due.
pub(super) fn of_exemption(exemption: &Exemption) -> Option<String> {
    let Exemption::UnknownVersion { api_version, kind } = exemption else {
        return None;
    };
    let line = CutLine::default().name(kind).say(" in ").name(api_version);
    Some(shorten(
        &line.say(" is not known to this olmguard and was not checked"),
    ))
}

fn line(extension: &Extension, warning: &Warning<'_>) -> CutLine {
    match warning {
        Warning::StricterDoesNotResolve(ruled) => does_not_resolve(ruled.ruling.token()),
        Warning::Bypass { jump } => bypass(extension, *jump),
        Warning::CatalogsSuperseded(catalogs) => superseded(catalogs),
        Warning::CatalogsOld(catalogs) => old(catalogs),
        Warning::BundleDeprecated(choice) => bundle_deprecated(*choice),
        Warning::PackageDeprecated { message } => package_deprecated(extension, message),
        Warning::ChannelDeprecated { channel, message } => channel_deprecated(channel, message),
        Warning::NewestNotDirect {
            newest,
            resolved,
            then,
        } => newest_not_direct(*newest, *resolved, *then),
        Warning::OtherBuild(choice) => other_build(extension, *choice),
        Warning::Tie { resolved, other } => tie(*resolved, other),
        Warning::UpperBoundRemoved => words(UPPER_BOUND_REMOVED),
        Warning::ChannelMissing { channel, nearest } => channel_missing(channel, *nearest),
        Warning::Preflight(refusal) => not_installed(refusal),
        Warning::ImageUnread(choice) => named(&choice.bundle().name, IMAGE_UNREAD),
        Warning::NeededMissing(needed) => needed_missing(needed),
        Warning::KindsNeeded { bundle, kinds } => kinds_needed(*bundle, kinds),
        Warning::KubernetesTooOld(old) => kubernetes_too_old(old),
        Warning::WebhookNamesShort(short) => webhook_names_short(short),
        Warning::RollingOut => words(ROLLING_OUT),
        Warning::InstalledNameUnknown => words(INSTALLED_NAME_UNKNOWN),
        Warning::InstalledNameInferred(name) => named(name, INSTALLED_NAME_INFERRED),
        Warning::GuardrailLifted {
            from,
            to,
            violation,
        } => guardrail_lifted(from, *to, violation),
        Warning::Policy(found) => policy::against(found, range(extension)),
        Warning::GuardrailsNotApplied(why) => words(&not_applied(*why)),
        Warning::PoliciesNotApplied(looked_at) => words(&goes_on("upgrade policies", *looked_at)),
        Warning::GuardrailsUnknown(schemas) => guardrails_unknown(schemas),
        Warning::Hint(found) => hint(found),
    }
}

fn named(name: &str, words: &str) -> CutLine {
    CutLine::default().name(name).say(words)
}

const UPPER_BOUND_REMOVED: &str =
    "the range no longer has an upper bound: from now on the extension upgrades automatically";
const ROLLING_OUT: &str = "an upgrade is still rolling out: OLM applies this change after it";
const INSTALLED_NAME_UNKNOWN: &str = "no catalog has the installed version: replaces and skips were not checked; \
     bundle=NAME adds its name";
const IMAGE_UNREAD: &str = ": its image is not read yet, so its manifests and CRDs are not checked";
const INSTALLED_NAME_INFERRED: &str =
    " is assumed to be installed: the only name in the edges that fits the version";

/// The full text about why a bundle cannot be installed, or possibly cannot, for a report without a length limit.
pub fn of_preflight(refusal: &PreflightRefusal<'_>) -> String {
    not_installed(refusal).within(usize::MAX)
}

fn not_installed(refusal: &PreflightRefusal<'_>) -> CutLine {
    let verb = if refusal.faults.are_overridden() {
        "OLM does not check this, as crdUpgradeSafety is None: "
    } else if refusal.faults.is_certain {
        "OLM will not install this: "
    } else {
        "OLM might not install this: "
    };
    words(verb).then(preflight::in_short(refusal))
}

fn needed_missing(needed: &NeededObject) -> CutLine {
    let line = match needed {
        NeededObject::Namespace(name) => named_after("namespace ", name),
        NeededObject::WatchedNamespace(name) => named_after("watched namespace ", name),
        NeededObject::ServiceAccount { namespace, name } => {
            let line = named_after("service account ", name);
            line.say(" in namespace ").name(namespace)
        }
    };
    let check = needed.check().as_str();
    line.say(&format!(
        " does not exist, and OLM does not create it [{check}]"
    ))
}

fn named_after(what: &str, name: &str) -> CutLine {
    words(what).name(name)
}

fn kinds_needed(bundle: Choice<'_>, kinds: &[BundledKind]) -> CutLine {
    let [first, more @ ..] = kinds else {
        return CutLine::default();
    };
    let line = named(&bundle.bundle().name, " needs ").name(&first.kind);
    let line = line.say(" in ").name(&first.api_version);
    let line = match more.len() {
        0 => line,
        others => line.say(&format!(" and {}", counted(others, "other kind"))),
    };
    line.say(", not served by the cluster; OLM installs it anyway [required-api-missing]")
}

fn kubernetes_too_old(old: &OldKubernetes<'_>) -> CutLine {
    let (needed, found) = (old.needed, old.found);
    let states =
        format!(" needs Kubernetes {needed}, the cluster has {found}; OLM installs it anyway");
    named(&old.bundle.bundle().name, &states).say(" [min-kube-version]")
}

fn webhook_names_short(short: &ShortWebhookNames<'_>) -> CutLine {
    words("the API server refuses webhook ")
        .then(first_named(&short.names))
        .say(" of ")
        .name(&short.bundle.bundle().name)
        .say(": a name needs 3 segments [webhook-name-short]")
}

fn does_not_resolve(token: Token) -> CutLine {
    let line = words(match token.verdict() {
        Verdict::Undecided => {
            "it is not known whether this extension resolves without the override: "
        }
        _ => "without the override this extension no longer resolves: ",
    });
    line.say(token.as_str())
}

fn bypass(extension: &Extension, jump: Option<Jump>) -> CutLine {
    let what = match jump {
        None => ": upgrade edges are not checked",
        Some(Jump::Downgrade) => ": this is a downgrade; data loss is possible",
        Some(Jump::Leap) => ": this skips upgrade edges; data loss is possible",
        Some(Jump::Sideways) => {
            ": this moves sideways, to another bundle of this version; data loss is possible"
        }
        Some(Jump::Unknown) => ": a jump from an unknown installed version; data loss is possible",
    };
    words("upgradeConstraintPolicy is ")
        .say(extension.fields.bypass.word())
        .say(what)
}

fn superseded(catalogs: &[&CatalogState]) -> CutLine {
    let have = if catalogs.len() > 1 { " have" } else { " has" };
    catalogs_named(catalogs)
        .say(have)
        .say(" newer content that is not loaded yet: checked against what is loaded")
}

fn old(catalogs: &[&CatalogState]) -> CutLine {
    words("the content of ")
        .then(catalogs_named(catalogs))
        .say(" was last confirmed current too long ago")
}

fn bundle_deprecated(choice: Choice<'_>) -> CutLine {
    let bundle = choice.bundle();
    deprecated("bundle", &bundle.name, bundle.deprecated.as_deref())
}

fn package_deprecated(extension: &Extension, message: &str) -> CutLine {
    let filter = extension.filter.as_ref();
    let package = filter.map_or("", |filter| &filter.package);
    deprecated("package", package, Some(message))
}

fn channel_deprecated(channel: &str, message: &str) -> CutLine {
    deprecated("channel", channel, Some(message))
}

fn other_build(extension: &Extension, choice: Choice<'_>) -> CutLine {
    CutLine::default()
        .written(range(extension))
        .say(" resolves to ")
        .name(&choice.bundle().name)
        .say(": OLM ignores build metadata, so you cannot pin a release")
}

fn tie(resolved: Choice<'_>, other: &Bundle) -> CutLine {
    CutLine::default()
        .name(&resolved.bundle().name)
        .say(" and ")
        .name(&other.name)
        .say(" have the same version: OLM can install either")
}

fn channel_missing(channel: &str, nearest: Option<&str>) -> CutLine {
    let line = words("channel ").name(channel);
    let line = line.say(" does not exist and is ignored");
    match nearest {
        Some(nearest) => line.say("; the nearest is ").name(nearest),
        None => line,
    }
}

fn guardrail_lifted(from: &Version, to: Choice<'_>, violation: &Violation<'_>) -> CutLine {
    guardrail::against(violation, from, to).say("; the override lifts it")
}

fn guardrails_unknown(schemas: &[&str]) -> CutLine {
    words("guardrails of schema ")
        .then(first_named(schemas))
        .say(" are not known to this olmguard and not applied")
}

/// The newest version of a range that the edit does not install directly.
fn newest_not_direct(newest: Choice<'_>, resolved: Choice<'_>, then: Continuation<'_>) -> CutLine {
    let of_range = version(newest).say(" is the newest match but ");
    let direct = |line: CutLine| {
        line.say("not a direct upgrade: OLM installs ")
            .then(version(resolved))
    };
    match then {
        Continuation::Newest => direct(of_range)
            .say(" first, then continues to ")
            .then(version(newest)),
        Continuation::Unknown => direct(of_range).say(" first"),
        Continuation::Stops(last) if last == resolved => of_range
            .say("OLM does not get there: it stops at ")
            .then(version(resolved)),
        Continuation::Stops(last) => of_range
            .say("OLM does not get there: it installs ")
            .then(version(resolved))
            .say(" and stops at ")
            .then(version(last)),
    }
}

/// Catalogs as a part of a sentence.
fn catalogs_named(catalogs: &[&CatalogState]) -> CutLine {
    let names: Vec<_> = catalogs.iter().map(|catalog| &*catalog.name).collect();
    CutLine::default().say("catalog ").then(first_named(&names))
}

/// The first name, and the number of further names.
fn first_named(names: &[&str]) -> CutLine {
    let line = CutLine::default();
    match names {
        [] => line,
        [only] => line.name(only),
        [first, others @ ..] => line.name(first).say(&format!(" and {} more", others.len())),
    }
}

/// Why some steps were not compared with guardrails.
fn not_applied(why: UnjudgedSteps) -> String {
    match why {
        UnjudgedSteps::First => {
            "guardrails were not applied: the installed version is unknown or cannot be read"
                .to_owned()
        }
        UnjudgedSteps::Later { looked_at } => goes_on("guardrails", looked_at),
    }
}

/// The text that only the first automatic steps were compared with these rules.
pub fn goes_on(rules: &str, looked_at: usize) -> String {
    format!(
        "OLM goes on by itself for more than {looked_at} steps: {rules} were applied to so many only"
    )
}

/// A hint about a catalog. It is not part of an answer.
pub fn of_catalog(found: &Hint) -> String {
    hint(found).within(usize::MAX)
}

/// A hint as a sentence, with its position if known.
fn hint(hint: &Hint) -> CutLine {
    let line = match hint.at {
        Some((line, column)) => CutLine::default().say(&format!("{line}:{column}: ")),
        None => CutLine::default(),
    };
    let line = line.name(&hint.field());
    match &hint.instead {
        Instead::Unknown => line
            .say(" is not a field of this API version: the API server drops or refuses it"),
        Instead::Field(field) => {
            let line = line.say(" is not a field of this API version; did you mean ");
            let whole = line.clone().name(field).say("?");
            let is_long = whole.clone().within(usize::MAX).chars().count() > LENGTH;
            match sibling(&hint.field(), field).filter(|_| is_long) {
                Some(name) => line.name(name).say("?"),
                None => whole,
            }
        }
        Instead::Experimental(minor) => line.say(&format!(
            " is in the experimental CRD of OLM 1.{minor} only: the standard CRD drops or refuses it"
        )),
        Instead::OfV0(answer) => line.say(" is of OLM v0: in v1, ").say(answer),
        Instead::Word { found, word } => line.say(": ").written(found).say(&format!(
            " is a word of another API version; did you mean {word}?"
        )),
    }
}

/// The name of a field, if it has the same parent as another field.
fn sibling<'f>(one: &str, other: &'f str) -> Option<&'f str> {
    let (above, name) = other.rsplit_once('.')?;
    one.rsplit_once('.')
        .filter(|(at, _)| *at == above)
        .map(|_| name)
}

fn deprecated(what: &str, name: &str, message: Option<&str>) -> CutLine {
    let line = CutLine::default()
        .say(what)
        .say(" ")
        .name(name)
        .say(" is deprecated");
    match message {
        None | Some("") => line,
        Some(message) => line.say(": ").written(message),
    }
}

fn version(choice: Choice<'_>) -> CutLine {
    match choice.version() {
        Some(version) => CutLine::default().version(version),
        None => CutLine::default().name(&choice.bundle().name),
    }
}

/// The requested range; empty if none is set.
fn range(extension: &Extension) -> &str {
    let filter = extension.filter.as_ref().ok();
    filter.and_then(Filter::range).unwrap_or_default()
}

/// A warning within the limit of characters. The limit counts characters, because catalogs are written in any script. A
/// line that exceeds it is cut by bytes, which are never fewer.
pub fn shorten(line: &CutLine) -> String {
    let text = line.clone().within(usize::MAX);
    if text.chars().count() <= LENGTH {
        text
    } else {
        line.clone().within(LENGTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(message: &str, brief: CutLine) -> Answer {
        Answer {
            message: Some(message.to_owned()),
            brief,
            ..Answer::default()
        }
    }

    #[test]
    fn what_is_let_through_says_why() {
        let undecided = answer(
            "p: install of any version undecided: catalog c is not loaded [CatalogNotLoaded]\nmore",
            CutLine::default(),
        );
        assert_eq!(
            let_through(&undecided),
            "undecided, and allowed: p: install of any version undecided: catalog c is not loaded [CatalogNotLoaded]"
        );
        let denied = answer(
            "p: 1.0.0 -> 2.0.0 refused: it is too far [NotASuccessor]\nmore",
            CutLine::default(),
        );
        assert_eq!(
            only_observed(&denied),
            "allowed in observe mode: p: 1.0.0 -> 2.0.0 refused: it is too far [NotASuccessor]"
        );
    }

    #[test]
    fn without_room_for_the_first_line_the_reason_is_whole() {
        let long = "strimzi-kafka-operator: 0.39.0 -> >=0.40.0 <0.45.0 undecided: catalog operatorhubio is not loaded \
                    [CatalogNotLoaded]";
        let brief = |package: &str| {
            let line = CutLine::default().name(package);
            line.say(": catalog operatorhubio is not loaded [CatalogNotLoaded]")
        };
        assert_eq!(
            let_through(&answer(long, brief("strimzi-kafka-operator"))),
            "undecided, and allowed: strimzi-kafka-operator: catalog operatorhubio is not loaded [CatalogNotLoaded]"
        );
        for warning in [let_through, only_observed] {
            let warning = warning(&answer(long, brief(&"ä".repeat(500))));
            assert!(warning.chars().count() <= LENGTH, "{warning}");
            assert!(
                warning.ends_with(" is not loaded [CatalogNotLoaded]"),
                "{warning}"
            );
        }
    }

    #[test]
    fn a_reason_without_room_ends_at_a_word_and_keeps_its_token() {
        let line = CutLine::default().name("q");
        let line = line.say(": all 3 bundles in range are older than 2.0.0-rc.1 and none is its successor; the best is 1.1.0+2");
        let warning = only_observed(&answer(&"x".repeat(LENGTH), line.token("Downgrade")));
        assert_eq!(
            warning,
            "allowed in observe mode: q: all 3 bundles in range are older than 2.0.0-rc.1 and none is its successor... [Downgrade]"
        );
    }

    #[test]
    fn policies_that_do_not_fit_are_named_with_the_sentence_of_their_status() {
        let why = "the conditions of all UpgradePolicies are too costly together: expected fewer, simpler or over \
                   smaller lists";
        let one = "with this change policy a is not valid";
        let more = "with this change policies a and 2 more are not valid";
        assert_eq!(too_costly_together(&[]), [""; 0]);
        assert_eq!(too_costly_together(&["a"]), [one, why]);
        assert_eq!(too_costly_together(&["a", "b", "c"]), [more, why]);
        let long = "n".repeat(253);
        for warning in too_costly_together(&[&long, "b"]) {
            assert!(warning.chars().count() <= LENGTH, "{warning}");
        }
    }
}
