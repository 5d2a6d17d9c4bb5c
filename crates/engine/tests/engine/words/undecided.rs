//! Answers for which a fact is missing.

use olmguard_engine::extension::{Installed, UnknownCause};
use olmguard_engine::snapshot::{Availability, CatalogState, Content, ServingState, Snapshot};

use crate::words::{argo, one, reads};
use olmguard_fixtures::question::{Question, ask, content, rules};

fn unknown(cause: UnknownCause) -> Question {
    argo().with_installed(Installed::Unknown(cause))
}

#[test]
fn no_catalogs() {
    reads(
        &ask(&[]).answer(),
        r#"
            P: install of any version undecided: there is no ClusterCatalog [NoCatalogs]
            See: kubectl get clustercatalogs --show-labels
            Create a ClusterCatalog that is Available and that the selector matches.
            OLM: no bundles found for package "P"
        "#,
    );
    reads(
        &ask(&[]).answer_by(&Snapshot::not_given(rules("1.11", &[]))),
        r"
            P: install of any version undecided: no catalog is given [NoCatalogs]
            Fix: use --catalog NAME=PATH, --snapshot FILE or --from-cluster
        ",
    );
    reads(
        &argo().of_catalog("other").answer(),
        r#"
            argocd-operator: install of any version undecided: the selector matches no ClusterCatalog [NoCatalogs]
            See: kubectl get clustercatalogs --show-labels
            Create a ClusterCatalog that is Available and that the selector matches.
            OLM: no bundles found for package "argocd-operator"
        "#,
    );
    reads(
        &argo()
            .state("operatorhubio", |state| {
                state.availability = Availability::Unavailable;
            })
            .answer(),
        r#"
            argocd-operator: install of any version undecided: every ClusterCatalog that matches is Unavailable [NoCatalogs]
            See: kubectl get clustercatalogs --show-labels
            Create a ClusterCatalog that is Available and that the selector matches.
            OLM: no bundles found for package "argocd-operator"
        "#,
    );
}

#[test]
fn installed_unknown() {
    reads(
        &unknown(UnknownCause::Condition).answer(),
        "
            argocd-operator: unknown -> any version undecided: the installed version is unknown: condition Installed is Unknown [InstalledUnknown]
            The status must name the installed bundle and its version.
        ",
    );
    reads(
        &unknown(UnknownCause::ImageOnly).answer(),
        "
            argocd-operator: unknown -> any version undecided: the installed version is unknown: the status names only an image [InstalledUnknown]
            The status must name the installed bundle and its version.
        ",
    );
    reads(
        &unknown(UnknownCause::WrongType { field: "status.install.bundle" }).answer(),
        "
            argocd-operator: unknown -> any version undecided: the installed version is unknown: the status is malformed [InstalledUnknown]
            Field: status.install.bundle
            The status must name the installed bundle and its version.
        ",
    );
    reads(
        &unknown(UnknownCause::NotToBeHad { why: "the API server answers 403: no".to_owned() }).answer(),
        "
            argocd-operator: unknown -> any version undecided: the installed version is unknown: the cluster does not report it [InstalledUnknown]
            Cause: the API server answers 403: no
            Use a cluster that shows its extensions, or set --installed.
        ",
    );
    reads(
        &unknown(UnknownCause::NotInBase { why: "main:apps/a.yaml cannot be read completely".to_owned() }).answer(),
        "
            argocd-operator: unknown -> any version undecided: the installed version is unknown: the base does not show it [InstalledUnknown]
            Cause: main:apps/a.yaml cannot be read completely
            Use a base that can be read and has the extension once, or set --installed.
        ",
    );
    reads(
        &unknown(UnknownCause::Several { bundles: vec!["a".to_owned(), "b".to_owned()] }).answer(),
        "
            argocd-operator: unknown -> any version undecided: several bundles have the installed version [InstalledUnknown]
            Candidates: a, b
            Add the name of the installed bundle: --installed EXTENSION=VERSION,bundle=NAME.
        ",
    );
    reads(
        &unknown(UnknownCause::Nameless { names: vec!["a".to_owned(), "b".to_owned()] }).answer(),
        "
            argocd-operator: unknown -> any version undecided: the name of the installed bundle is unknown [InstalledUnknown]
            Cause: no selected catalog has a bundle of the installed version
            Candidates: a, b
            Add the name of the installed bundle: --installed EXTENSION=VERSION,bundle=NAME.
        ",
    );
}

#[test]
fn catalog_not_loaded() {
    reads(
        &argo()
            .state("operatorhubio", |state| {
                state.serving = ServingState::KnownNot;
            })
            .answer(),
        r#"
            argocd-operator: install of any version undecided: catalog operatorhubio is not being served [CatalogNotLoaded]
            See: kubectl describe clustercatalog operatorhubio
            Load the content of the catalog, or exclude the catalog with a selector.
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
            OLM: error walking catalogs: error getting package "argocd-operator" from catalog "operatorhubio": catalog "operatorhubio" is not being served
        "#,
    );
    reads(
        &argo().state("operatorhubio", |state| state.content = Content::Missing).answer(),
        "
            argocd-operator: install of any version undecided: catalog operatorhubio is not loaded [CatalogNotLoaded]
            See: kubectl describe clustercatalog operatorhubio
            Load the content of the catalog, or exclude the catalog with a selector.
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
        ",
    );
    reads(
        &argo().state("operatorhubio", |state| { let reason = "line 3: expected a string".to_owned(); state.content = Content::Unreadable(reason); }).answer(),
        "
            argocd-operator: install of any version undecided: catalog operatorhubio is not loaded [CatalogNotLoaded]
            Cause: line 3: expected a string
            See: kubectl describe clustercatalog operatorhubio
            Load the content of the catalog, or exclude the catalog with a selector.
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
        ",
    );
    reads(
        &argo().state("operatorhubio", |state| { let blob = r#"{"schema": "olm.channel", "package": "argocd-operator", "name": "c", "entries": [{"name": 3}]}"#; state.content = content(blob, &rules("1.11", &[])); }).answer(),
        r#"
            argocd-operator: install of any version undecided: catalog operatorhubio has the package, but it cannot be decoded [CatalogNotLoaded]
            Cause: catalog: byte 0: olm.channel "c" of package "argocd-operator": entries[0].name: expected a string, found a number
            Load the content of the catalog, or exclude the catalog with a selector.
            Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
        "#,
    );
}

#[test]
fn a_catalog_that_is_not_fetched_says_why() {
    for reason in [
        "not fetched yet: being fetched",
        "fetch failed: connection refused, try 4",
    ] {
        let answer = argo()
            .state("operatorhubio", |state| {
                state.content = Content::Unfetched(reason.to_owned());
            })
            .answer();
        reads(
            &answer,
            &format!(
                "
                argocd-operator: install of any version undecided: catalog operatorhubio is not loaded [CatalogNotLoaded]
                Cause: {reason}
                See: kubectl describe clustercatalog operatorhubio
                Load the content of the catalog, or exclude the catalog with a selector.
                Catalog: operatorhubio@sha256:1a2b3c4d, content of 2026-08-21T10:03:00Z
                "
            ),
        );
    }
}

/// A catalog that no cluster has reported is not looked for in one, and its name does not become a
/// part of a command.
#[test]
fn only_what_a_cluster_has_is_looked_for_there() {
    let unread = |state: &mut CatalogState| state.content = Content::Missing;
    reads(
        &one("stable: 1.0.0").state("c", unread).answer(),
        "
            P: install of any version undecided: catalog c is not loaded [CatalogNotLoaded]
            Fix: use --catalog c=PATH
            Load the content of the catalog, or exclude the catalog with a selector.
            Catalog: c
        ",
    );
    let hostile = |state: &mut CatalogState| {
        state.name = "c; reboot".to_owned();
        state.serving = ServingState::KnownNot;
    };
    reads(
        &one("stable: 1.0.0").state("c", hostile).answer(),
        r#"
            P: install of any version undecided: catalog c; reboot is not being served [CatalogNotLoaded]
            Load the content of the catalog, or exclude the catalog with a selector.
            Catalog: c; reboot
            OLM: error walking catalogs: error getting package "P" from catalog "c; reboot": catalog "c; reboot" is not being served
        "#,
    );
}
