//! Rules about guardrails as written: whether they can be read, whom they belong to, and the steps that they forbid.
//! Also rules about the policies of administrators.

use std::collections::BTreeMap;

use crate::lint::check::{Check, PolicyCheck};
use crate::lint::finding::Report;
use crate::lint::guarded::{GuardedPackage, Upwards};
use crate::lint::rule::{RuleItem, rule};
use crate::lint::view::{PackageView, Step, View};
use crate::lint::words::{meant, names, q};
use crate::lint::written::{Carrier, Guardrails, Spot};
use crate::lint::{PolicyPart, Severity};
use crate::see::EdgeField;
use olmguard_catalog::guardrail::{GuardrailProblem, SCHEMA, UnreadGuardrails};
use olmguard_catalog::version::go::one_line;
use olmguard_engine::nearest::nearest;
use olmguard_engine::resolve::ViolatedRule;

pub(super) const GUARDRAIL_UNREADABLE: RuleItem =
    rule!("guardrail-unreadable", Users, Error).on(Check::Catalog(|catalog, report| {
        for guardrails in &catalog.written.guardrails {
            if let Some(Err(unread)) = &guardrails.stated {
                let message = unreadable(&guardrails.package, unread);
                report
                    .of(&guardrails.package)
                    .say(guardrails.fault, message);
            }
        }
        for package in catalog.packages.values() {
            unreadable_together(package, &mut report.of(package.name));
        }
    }));

fn unreadable(package: &str, unread: &UnreadGuardrails) -> String {
    format!(
        "the guardrails of package {} are invalid, so olmguard denies every upgrade of it: {}",
        q(package),
        one_line(&unread.to_string())
    )
}

/// Reports several guardrails of one package, even if each is valid alone.
fn unreadable_together(package: &PackageView<'_>, report: &mut Report<'_, '_>) {
    let view = &package.guardrails;
    for several in [&view.blobs, &view.properties] {
        if let Some(second) = several.get(1) {
            let unread = UnreadGuardrails::whole(GuardrailProblem::Twice);
            report.say(second.spot, unreadable(package.name, &unread));
        }
    }
    let unread = view.unread();
    let differ = unread.filter(|unread| unread.problem == GuardrailProblem::Differ);
    if let (Some(differ), Some(blob)) = (differ, view.blobs.first()) {
        report.say(blob.spot, unreadable(package.name, &differ));
    }
}

pub(super) const GUARDRAIL_OF_UNKNOWN_PACKAGE: RuleItem =
    rule!("guardrail-of-unknown-package", Users, Warning).on(Check::Catalog(|catalog, report| {
        let guardrails = catalog.written.guardrails.iter();
        for guardrails in guardrails.filter(|guardrails| !catalog.defines(&guardrails.package)) {
            let near = report
                .findings
                .guess(&guardrails.package, catalog.defined());
            let message = of_unknown_package(&guardrails.package, near);
            report.of(&guardrails.package).say(guardrails.spot, message);
        }
    }));

fn of_unknown_package(package: &str, near: Option<&str>) -> String {
    if package.is_empty() {
        return "guardrails name no package, so they have no effect: expected the name of an \
                olm.package of the catalog in \"package\""
            .to_owned();
    }
    let advice = meant(near, "expected the name of an olm.package of the catalog");
    let package = q(package);
    format!("guardrails are for package {package}, which is not defined; {advice}")
}

pub(super) const GUARDRAIL_OTHER_VERSION: RuleItem =
    rule!("guardrail-other-version", Users, Warning).on(Check::Catalog(|catalog, report| {
        let guardrails = catalog.written.guardrails.iter();
        for guardrails in guardrails.filter(|guardrails| guardrails.stated.is_none()) {
            let (found, known) = (q(&guardrails.schema), q(SCHEMA));
            let message = format!(
                "guardrails of schema {found} are ignored, because this olmguard does not know the \
                 schema: expected {known}"
            );
            report.of(&guardrails.package).say(guardrails.spot, message);
        }
    }));

/// Returns the guardrails in a catalog. Empty if the guardrails of an administrator are checked: `opm` does not serve
/// that file, and a rule of an administrator can have the key `bypassable`.
fn of_authors<'w>(catalog: &View<'w>) -> impl Iterator<Item = &'w Guardrails> {
    let is_imposed = catalog.written.imposed_from.is_some();
    let guardrails = catalog.written.guardrails.iter();
    guardrails.filter(move |_| !is_imposed)
}

pub(super) const GUARDRAIL_MISNAMED: RuleItem =
    rule!("guardrail-misnamed", Users, Error).on(Check::Catalog(|catalog, report| {
        for guardrails in of_authors(catalog) {
            // A property is part of an `olm.package`, so it has no file name.
            if guardrails.carrier == Carrier::Blob {
                misnamed(guardrails, &mut report.of(&guardrails.package));
            }
        }
    }));

fn misnamed(guardrails: &Guardrails, report: &mut Report<'_, '_>) {
    let labels = [
        ("schema", &guardrails.schema),
        ("package", &guardrails.package),
    ];
    for (key, text) in labels {
        if !text.is_empty() && !is_servable(text) {
            let message = format!(
                "the {key} {} of guardrails is not valid for opm from 1.69 on, which then does not \
                 serve the whole catalog: expected letters, digits, dots, underscores and hyphens, \
                 with a letter or a digit first",
                q(text)
            );
            report.say(guardrails.spot, message);
        }
    }
    if guardrails.name.contains('/') || guardrails.name.contains("..") {
        let message = format!(
            "guardrails with the name {} are stored in the wrong place, because OLM v1 uses the \
             name as a file name: expected no name, or a name without \"/\" and \"..\"",
            q(&guardrails.name)
        );
        report.say(guardrails.spot, message);
    }
}

/// Whether `opm serve` accepts a text as the schema or package of a blob of an unknown schema. Otherwise opm 1.69 and
/// later reject the whole catalog.
fn is_servable(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(is_inner)
}

pub(super) const GUARDRAIL_BYPASSABLE: RuleItem =
    rule!("guardrail-bypassable", Users, Note).on(Check::Catalog(|catalog, report| {
        for guardrails in of_authors(catalog) {
            let rules = guardrails.rules.iter();
            for rule in rules.filter(|rule| rule.says_bypassable) {
                let message = format!(
                    "rule {} has the key \"bypassable\", which has no effect: the override always \
                     lifts rules of authors; remove the key",
                    q(&rule.id)
                );
                report.of(&guardrails.package).say(rule.spot, message);
            }
        }
    }));

// === Steps of a catalog that guardrails forbid ===
//
// Such steps leave versions without an upgrade, and edges without an effect.
//
// OLM v1 uses the edges of all channels unless an extension requests some. A version is therefore stranded only if no
// channel has an allowed upward step from it.

pub(super) const GUARDRAIL_STRANDS_VERSION: RuleItem =
    rule!("guardrail-strands-version", Users, Error).on(Check::Guarded(|guarded, report| {
        if guarded.facts.has_all_edges() {
            for (from, upwards) in &guarded.upwards {
                stranded(guarded, *from, upwards, report);
            }
        }
    }));

/// Reports a version without an allowed upgrade, with the highest step that a rule forbids, otherwise the highest step.
fn stranded(
    guarded: &GuardedPackage<'_, '_>,
    from: usize,
    upwards: &Upwards<'_>,
    report: &mut Report<'_, '_>,
) {
    let of_a_rule = report.severity();
    let Some((to, violated)) = highest(guarded, upwards, of_a_rule) else {
        return;
    };
    let others = match upwards.len() - 1 {
        0 => String::new(),
        1 => ", and 1 other step is forbidden".to_owned(),
        others => format!(", and {others} other steps are forbidden"),
    };
    let message = format!(
        "guardrails forbid every upgrade of {}: {} forbids the step to {}{others}; {}",
        q(guarded.facts.name(from)),
        what(violated),
        q(guarded.facts.name(to)),
        way_out(violated)
    );
    let severity = weight(violated, of_a_rule);
    report.say_as(severity, spot(guarded, violated), message);
}

/// Returns the step with the highest severity if all are forbidden, and what forbids it. A tie goes to the highest
/// version.
fn highest<'u, 'v>(
    guarded: &GuardedPackage<'_, '_>,
    upwards: &'u Upwards<'v>,
    of_a_rule: Severity,
) -> Option<(usize, &'u ViolatedRule<'v>)> {
    let forbidden = upwards.iter();
    let forbidden = forbidden.map(|(to, judged)| Some((*to, judged.against.as_ref()?)));
    let forbidden = forbidden.collect::<Option<Vec<_>>>()?;
    forbidden.into_iter().max_by(|(a, by), (b, other)| {
        let versions = guarded.version(*a).zip(guarded.version(*b));
        let order = versions.map(|(a, b)| a.cmp_precedence(b));
        weight(by, of_a_rule)
            .cmp(&weight(other, of_a_rule))
            .then(order.unwrap_or(std::cmp::Ordering::Equal))
    })
}

fn way_out(violated: &ViolatedRule<'_>) -> &'static str {
    match violated {
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => {
            "publish a version that the rule allows, with an edge from there, or narrow the rule"
        }
        ViolatedRule::Graph(..) => {
            "correct if upgrades should end there, otherwise write graph: Catalog"
        }
        ViolatedRule::Prerelease(_) => {
            "correct if upgrades should end there, otherwise add a rule of kind Prerelease with \
             action: Allow"
        }
    }
}

/// Returns the severity of a finding. What the base graph forbids is probably intended.
fn weight(violated: &ViolatedRule<'_>, of_a_rule: Severity) -> Severity {
    match violated {
        ViolatedRule::Graph(..) | ViolatedRule::Prerelease(_) => Severity::Note,
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => of_a_rule,
    }
}

/// Names what forbids a step.
fn what(violated: &ViolatedRule<'_>) -> String {
    match violated {
        ViolatedRule::Rule(rule) => format!("rule {}", q(&rule.id)),
        ViolatedRule::Graph(graph, _) | ViolatedRule::Prerelease(graph) => {
            format!("graph {}", graph.as_str())
        }
        ViolatedRule::Unread(_) => "an invalid rule".to_owned(),
    }
}

fn spot(guarded: &GuardedPackage<'_, '_>, violated: &ViolatedRule<'_>) -> Spot {
    match violated {
        ViolatedRule::Rule(rule) => guarded.spot(rule),
        ViolatedRule::Prerelease(_) | ViolatedRule::Graph(..) | ViolatedRule::Unread(_) => {
            guarded.written.spot
        }
    }
}

pub(super) const GUARDRAIL_AGAINST_EDGE: RuleItem = rule!("guardrail-against-edge", Users, Warning)
    .on(Check::Guarded(|guarded, report| {
        // An administrator can forbid an edge of the author.
        if guarded.facts.catalog.written.imposed_from.is_none() {
            for edges in by_field(guarded).values() {
                against_edges(guarded, edges, report);
            }
        }
    }));

/// A forbidden step, with its start node.
type Forbidden<'f> = (usize, Step, &'f ViolatedRule<'f>);

/// Groups the forbidden `replaces` and `skips` edges by channel, entry and field.
fn by_field<'f>(
    guarded: &'f GuardedPackage<'_, '_>,
) -> BTreeMap<(usize, usize, EdgeField), Vec<Forbidden<'f>>> {
    let mut by_field = BTreeMap::<_, Vec<_>>::new();
    for (from, upwards) in &guarded.upwards {
        for judged in upwards.values() {
            let Some(first) = &judged.against else {
                continue;
            };
            // A range does not name a single version.
            let edges = judged.edges.iter();
            for edge in edges.filter(|edge| edge.kind != EdgeField::SkipRange) {
                let field = (edge.channel, edge.entry, edge.kind);
                by_field
                    .entry(field)
                    .or_default()
                    .push((*from, *edge, first));
            }
        }
    }
    by_field
}

fn against_edges(
    guarded: &GuardedPackage<'_, '_>,
    edges: &[Forbidden<'_>],
    report: &mut Report<'_, '_>,
) {
    let Some((_, edge, violated)) = edges.first() else {
        return;
    };
    let facts = guarded.facts;
    // Generated catalogs skip every lower version, regardless of rules.
    let severity = match edge.kind {
        EdgeField::Replaces => weight(violated, report.severity()),
        EdgeField::Skips | EdgeField::SkipRange => Severity::Note,
    };
    let advice = match violated {
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => "remove the edge, or narrow the rule",
        ViolatedRule::Graph(..) => "correct if this is intended, otherwise write graph: Catalog",
        ViolatedRule::Prerelease(_) => {
            "correct if this is intended, otherwise add a rule of kind Prerelease with action: \
             Allow"
        }
    };
    let message = format!(
        "entry {} {} {}, but {} forbids this: OLM allows the step, olmguard denies it; {advice}",
        q(facts.name(edge.to)),
        edge.kind.as_str(),
        names(edges.iter().map(|(from, ..)| facts.name(*from))),
        what(violated)
    );
    report.say_as(severity, facts.spot_of(edge), message);
}

// === The policies of administrators, checked before they are applied ===

pub(super) const POLICY_UNREADABLE: RuleItem =
    rule!("policy-unreadable", Users, Error).on(Check::Policy(|policy| {
        let PolicyPart::Unread(why) = policy.written.part else {
            return None;
        };
        Some(format!(
            "{} is invalid, so olmguard denies every upgrade that it matches: {}",
            one_line(policy.written.title),
            one_line(why)
        ))
    }));

pub(super) const POLICY_OF_UNKNOWN_PACKAGE: RuleItem =
    rule!("policy-of-unknown-package", Users, Warning).on(Check::Policy(policy_of_unknown_package));

/// Reports a package that no catalog has. Without a catalog, no name is wrong.
fn policy_of_unknown_package(policy: &PolicyCheck<'_>) -> Option<String> {
    let package = policy.package().filter(|name| {
        let is_known = policy.packages.contains(name);
        policy.has_catalogs && !is_known
    })?;
    let near = nearest(package, policy.packages.iter().copied(), 1);
    let otherwise = "expected the name of an olm.package of the catalogs";
    let advice = meant(near.first().copied(), otherwise);
    Some(format!(
        "{} is for package {}, which no catalog has; {advice}",
        one_line(policy.written.title),
        q(package)
    ))
}
