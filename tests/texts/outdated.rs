//! Catalogs whose content is not, or may not be, what they hold by now.

use olmguard::explain::Answer;
use olmguard::judge::Token;
use olmguard::snapshot::{Age, Availability, CatalogState, Currency, OnOldCatalog, Serving};

use super::{argo, argo_at, reads};
use crate::common::question::{Question, ask};
use crate::common::written::{Written, written};

fn superseded(state: &mut CatalogState) {
    state.currency = Currency::Superseded;
}

fn old(state: &mut CatalogState) {
    state.age = Age::Old(OnOldCatalog::Warn);
}

fn too_old(state: &mut CatalogState) {
    state.age = Age::Old(OnOldCatalog::Undecided);
}

/// Catalogs `a`, `b` and `c`.
fn three([a, b, c]: [&Written<'_>; 3]) -> Question {
    ask(&[("a", 0, a), ("b", 0, b), ("c", 0, c)])
}

const P: &Written<'_> = &written("stable: 1.0.0");

/// A package that nobody asks for.
const Q: &Written<'_> = &Written {
    package: "Q",
    prefix: "Q.v",
    lines: "stable: 1.0.0",
};

#[test]
fn too_old_to_be_judged_on() {
    reads(
        &argo().state("operatorhubio", too_old).answer(),
        "
            argocd-operator: install of any version undecided: the content of catalog operatorhubio was last known to be current too long ago [CatalogOutdated]
            See: kubectl describe clustercatalog operatorhubio
            Needed: a guard that reaches the API server and catalogd: its /readyz says what it lacks
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
        ",
    );
    let several = three([P, P, P]);
    reads(
        &several.state("c", too_old).state("a", too_old).answer(),
        "
            P: install of any version undecided: the content of 2 catalogs was last known to be current too long ago [CatalogOutdated]
            Catalogs: a, c
            See: kubectl get clustercatalogs --show-labels
            Needed: a guard that reaches the API server and catalogd: its /readyz says what it lacks
        ",
    );
}

#[test]
fn the_row_stands_between_its_neighbours() {
    let question = || three([Q, Q, P]).state("b", too_old);
    let not_served = |state: &mut CatalogState| state.serving = Serving::KnownNot;
    let unavailable = |state: &mut CatalogState| state.availability = Availability::Unavailable;
    for (question, expected) in [
        (question(), Token::CatalogOutdated),
        // A bypass is no reason to trust what may not be so.
        (question().bypass(), Token::CatalogOutdated),
        // Row 5, whichever name comes first.
        (question().state("c", not_served), Token::CatalogNotLoaded),
        // Row 6.
        (question().package("other"), Token::CatalogOutdated),
        // Row 4a, and row 7 behind it.
        (question().installed("garbage"), Token::CatalogOutdated),
        // What is not in play decides nothing.
        (question().state("b", unavailable), Token::Resolved),
        (question().of_catalog("c"), Token::Resolved),
        (question().state("b", old), Token::Resolved),
    ] {
        assert_eq!(question.answer().token, expected, "{question:?}");
    }
}

#[test]
fn judged_on_what_is_loaded() {
    reads(
        &argo().state("operatorhubio", superseded).answer(),
        "
            (Resolved)
            warning: catalog operatorhubio has newer content that is not loaded yet: judged on what is loaded
        ",
    );
    reads(
        &argo().state("operatorhubio", old).answer(),
        "
            (Resolved)
            warning: the content of catalog operatorhubio was last known to be current too long ago
        ",
    );
    // That it is superseded is known; that it is old adds nothing.
    reads(
        &argo_at("0.5.0").bypass().state("operatorhubio", superseded).state("operatorhubio", old).answer(),
        "
            (Bypassed)
            warning: upgradeConstraintPolicy is SelfCertified: this leaps over upgrade edges; data loss is possible
            warning: catalog operatorhubio has newer content that is not loaded yet: judged on what is loaded
        ",
    );
    let several = three([P, P, P]);
    let several = several
        .state("a", superseded)
        .state("b", superseded)
        .state("c", old);
    assert_eq!(
        several
            .state("c", |state| state.priority = 1)
            .answer()
            .warnings,
        [
            "catalog a and 1 more have newer content that is not loaded yet: judged on what is loaded",
            "the content of catalog c was last known to be current too long ago",
        ]
    );
}

/// A refusal may be gone with the content that is not there yet: it comes with the same warning.
#[test]
fn a_refusal_says_it_too() {
    let warnings = |question: Question| {
        let answer: Answer = question.state("operatorhubio", superseded).answer();
        (answer.token, answer.warnings)
    };
    let warning =
        "catalog operatorhubio has newer content that is not loaded yet: judged on what is loaded";
    for (question, expected) in [
        (argo_at("0.5.0").range("0.7.0"), Token::NotASuccessor),
        (argo().range("9"), Token::VersionNotFound),
        (argo().package("other"), Token::PackageNotFound),
    ] {
        assert_eq!(warnings(question), (expected, vec![warning.to_owned()]));
    }
}

#[test]
fn what_cannot_matter_is_not_told() {
    let question = || three([Q, Q, P]);
    for (question, expected) in [
        // Another catalog has the package.
        (question().state("a", superseded), 0),
        (question().state("c", superseded), 1),
        // None has it: any may have it by now.
        (question().package("other").state("a", superseded), 1),
        (
            question()
                .package("other")
                .of_catalog("c")
                .state("a", superseded),
            0,
        ),
        // The answer rests on no content.
        (question().range("garbage").state("c", superseded), 0),
        (
            question()
                .state("a", |state| state.serving = Serving::KnownNot)
                .state("c", superseded),
            0,
        ),
    ] {
        assert_eq!(question.answer().warnings.len(), expected, "{question:?}");
    }
}
