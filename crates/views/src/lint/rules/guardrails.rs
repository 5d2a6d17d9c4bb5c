//! Guardrails as they are written: whether they can be read, and whose they are.

use crate::lint::check::Check;
use crate::lint::finding::Report;
use crate::lint::rule::{RuleItem, rule};
use crate::lint::view::{PackageView, View};
use crate::lint::words::{meant, q};
use crate::lint::written::{Carrier, Guardrails};
use olmguard_catalog::guardrail::{GuardrailProblem, SCHEMA, UnreadGuardrails};
use olmguard_catalog::version::go::one_line;

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

/// Reports several of one package, each of which can be valid alone.
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
            let near = report.guess(&guardrails.package, catalog.defined());
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

/// The guardrails in a catalog. There are none if the guardrails of an administrator are checked: no `opm` serves
/// that file, and an administrator can name the bypass.
fn of_authors<'w>(catalog: &View<'w>) -> impl Iterator<Item = &'w Guardrails> {
    let is_imposed = catalog.written.imposed_from.is_some();
    let guardrails = catalog.written.guardrails.iter();
    guardrails.filter(move |_| !is_imposed)
}

pub(super) const GUARDRAIL_MISNAMED: RuleItem =
    rule!("guardrail-misnamed", Users, Error).on(Check::Catalog(|catalog, report| {
        for guardrails in of_authors(catalog) {
            // A property is a member of an `olm.package`, so it makes no file name.
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

/// Whether `opm serve` accepts a text as the schema or package of a blob that it does not know: from 1.69 on it
/// rejects the whole catalog otherwise.
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
