//! Catalogs whose loaded content is not, or may not be, their current content.

use olmguard_engine::judge::{Advice, Token};
use olmguard_engine::snapshot::{
    Age, Availability, CatalogState, Currency, OnOldCatalog, ServingState,
};

use crate::words::{argo, argo_at, one, reads};
use olmguard_fixtures::question::{Question, ask};
use olmguard_fixtures::written::{Written, written};

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

/// A package that no edit requests.
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
            argocd-operator: install of any version undecided: the content of catalog operatorhubio was last confirmed current too long ago [CatalogOutdated]
            See: kubectl describe clustercatalog operatorhubio
            olmguard must reach the API server and catalogd: its /readyz shows what is missing.
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
        ",
    );
    let several = three([P, P, P]);
    reads(
        &several.state("c", too_old).state("a", too_old).answer(),
        "
            P: install of any version undecided: the content of 2 catalogs was last confirmed current too long ago [CatalogOutdated]
            Catalogs: a, c
            See: kubectl get clustercatalogs --show-labels
            olmguard must reach the API server and catalogd: its /readyz shows what is missing.
        ",
    );
}

#[test]
fn the_row_stands_between_its_neighbours() {
    let question = || three([Q, Q, P]).state("b", too_old);
    let not_served = |state: &mut CatalogState| state.serving = ServingState::KnownNot;
    let unavailable = |state: &mut CatalogState| state.availability = Availability::Unavailable;
    for (question, expected) in [
        (question(), Token::CatalogOutdated),
        // A bypass is no reason to trust outdated content.
        (question().bypass(), Token::CatalogOutdated),
        // Row 5, regardless of which name comes first.
        (question().state("c", not_served), Token::CatalogNotLoaded),
        // Row 6.
        (question().package("other"), Token::CatalogOutdated),
        // Row 4a, and row 7 after it.
        (question().installed("garbage"), Token::CatalogOutdated),
        // A catalog that is not selected decides nothing.
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
            warning: catalog operatorhubio has newer content that is not loaded yet: checked against what is loaded
        ",
    );
    reads(
        &argo().state("operatorhubio", old).answer(),
        "
            (Resolved)
            warning: the content of catalog operatorhubio was last confirmed current too long ago
        ",
    );
    // It is already known that the catalog is superseded, so its age adds nothing.
    reads(
        &argo_at("0.5.0").bypass().state("operatorhubio", superseded).state("operatorhubio", old).answer(),
        "
            (Bypassed)
            warning: upgradeConstraintPolicy is SelfCertified: this skips upgrade edges; data loss is possible
            warning: catalog operatorhubio has newer content that is not loaded yet: checked against what is loaded
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
            "catalog a and 1 more have newer content that is not loaded yet: checked against what is loaded",
            "the content of catalog c was last confirmed current too long ago",
        ]
    );
}

/// Row 5b: the newer content may have what the loaded content is missing.
#[test]
fn superseded_content_does_not_deny() {
    reads(
        &argo_at("0.5.0").range("0.7.0").state("operatorhubio", superseded).answer(),
        "
            argocd-operator: 0.5.0 -> 0.7.0 undecided: 0.7.0 is not a successor of 0.5.0 in catalog operatorhubio [CatalogOutdated]
            Cause: catalog operatorhubio has newer content that is not loaded yet
            See: kubectl describe clustercatalog operatorhubio
            Wait until the newer content of the catalog is loaded.
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
        ",
    );
    let several = three([P, Q, P]).range("9");
    reads(
        &several
            .state("b", superseded)
            .state("c", superseded)
            .answer(),
        "
            P: install of 9 undecided: no bundle matches 9 [CatalogOutdated]
            Cause: 2 catalogs have newer content that is not loaded yet
            Catalogs: b, c
            See: kubectl get clustercatalogs --show-labels
            Wait until the newer content of the catalog is loaded.
        ",
    );
}

/// A question for every row about something missing, and the field of the finding.
fn rows_6_to_15() -> Vec<(Question, Token, &'static str)> {
    vec![
        (
            one("stable: 1.0.0").package("other"),
            Token::PackageNotFound,
            "packageName",
        ),
        (
            one("stable: 1.0.0").installed("garbage"),
            Token::InstalledVersionInvalid,
            "status",
        ),
        (
            one("stable: 1.0.0").channels(&["x"]),
            Token::ChannelNotFound,
            "channels",
        ),
        (
            one("a: 1.0.0\n b: 2.0.0").channels(&["a"]).range("2.0.0"),
            Token::NotInChannel,
            "channels",
        ),
        (
            one("stable: 1.0.0").range("9").bypass(),
            Token::VersionNotFound,
            "version",
        ),
        (
            one("stable: 1.0.0; 1.1.0 skipRange <1.0.0 || || >2.0.0")
                .installed("1.0.0")
                .range("1.1.0"),
            Token::BrokenSkipRange,
            "version",
        ),
        (
            one("stable: 1.0.0; 2.0.0")
                .installed("2.0.0")
                .range("1.0.0"),
            Token::Downgrade,
            "version",
        ),
        (
            one("stable: 1.0.0; 2.0.0")
                .installed("1.0.0")
                .range("2.0.0"),
            Token::NotASuccessor,
            "version",
        ),
        (
            one("stable: 1.0").bypass(),
            Token::BundleVersionInvalid,
            "version",
        ),
        (
            one("stable: 1.0.0\n (requires): 1.0.0 olm.constraint"),
            Token::UnsupportedDependency,
            "version",
        ),
    ]
}

#[test]
fn no_row_up_to_15_denies_by_superseded_content() {
    let spec = "spec.source.catalog";
    for (question, row, field) in rows_6_to_15() {
        let before = question.answer();
        assert_eq!(before.token, row, "{question:?}");
        let question = question.state("c", superseded);
        let answer = question.answer();
        assert_eq!(answer.token, Token::CatalogOutdated, "{row:?}");
        assert_eq!(answer.advice, Advice::default(), "{row:?}");
        assert_eq!(
            (answer.upstream, question.successors()),
            (None, None),
            "{row:?}"
        );
        let mut warnings = answer.warnings.iter();
        assert!(
            !warnings.any(|warning| warning.contains("newer content")),
            "{row:?}"
        );
        let [cause] = answer.causes.as_slice() else {
            panic!("{:?}", answer.causes);
        };
        assert_eq!(cause.message, before.causes[0].message);
        assert!(cause.field.contains(field), "{row:?}: {}", cause.field);
        assert!(
            cause
                .field
                .starts_with(if field == "status" { "status" } else { spec })
        );
    }
}

#[test]
fn any_catalog_in_play_can_have_newer_content() {
    let tie = || three([P, P, Q]);
    let c = |lines| one(lines).state("c", superseded);
    // The catalog that ties, and one that does not have the package yet.
    for name in ["b", "c"] {
        assert_eq!(tie().answer().token, Token::AmbiguousCatalogs);
        assert_eq!(
            tie().state(name, superseded).answer().token,
            Token::CatalogOutdated,
            "{name}"
        );
    }
    for (question, expected) in [
        // An edit that resolves is allowed.
        (c("stable: 1.0.0"), Token::Resolved),
        (
            c("stable: 1.0.0; 2.0.0")
                .installed("1.0.0")
                .range("2.0.0")
                .bypass(),
            Token::Bypassed,
        ),
        // Rows 2 and 3 do not depend on content.
        (
            c("stable: 1.0.0").range("garbage"),
            Token::InvalidVersionRange,
        ),
        // A catalog that is not selected has nothing missing.
        (
            three([P, Q, Q]).of_catalog("b").state("a", superseded),
            Token::PackageNotFound,
        ),
    ] {
        assert_eq!(question.answer().token, expected, "{question:?}");
    }
}

#[test]
fn what_cannot_matter_is_not_told() {
    let question = || three([Q, Q, P]);
    for (question, expected) in [
        // Another catalog has the package.
        (question().state("a", superseded), 0),
        (question().state("c", superseded), 1),
        // No catalog has the package: any of them may have it in newer content, and row 5b reports
        // this.
        (question().package("other").state("a", superseded), 0),
        (question().package("other").state("a", old), 1),
        (
            question()
                .package("other")
                .of_catalog("c")
                .state("a", superseded),
            0,
        ),
        // The answer does not depend on content.
        (question().range("garbage").state("c", superseded), 0),
        (
            question()
                .state("a", |state| state.serving = ServingState::KnownNot)
                .state("c", superseded),
            0,
        ),
    ] {
        assert_eq!(question.answer().warnings.len(), expected, "{question:?}");
    }
}
