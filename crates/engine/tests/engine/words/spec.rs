//! What an object's own fields are at fault for.

use serde_json::json;

use super::{checked, read_as, reads};

#[test]
fn invalid_spec_of_the_filter() {
    reads(
        &read_as("v1", &json!({"version": "1.0.0"})),
        "
            ClusterExtension argocd refused: spec.source.catalog.packageName is missing: expected the name of a package [InvalidSpec]
        ",
    );
    reads(
        &read_as("v1", &json!({"packageName": "p", "version": 3})),
        "
            ClusterExtension argocd refused: spec.source.catalog.version: expected string, found integer; put it in quotes to make it a string [InvalidSpec]
        ",
    );
    reads(
        &read_as("v1alpha1", &json!({"packageName": "p", "channel": "a", "channels": ["b"]})),
        "
            ClusterExtension argocd refused: spec.source.catalog.channels and spec.source.catalog.channel are both there: no OLM reads both; keep one [InvalidSpec]
        ",
    );
}

#[test]
fn invalid_spec_of_the_crd() {
    reads(
        &checked(&json!({"packageName": "argocd-operator", "version": "nonsense"})),
        "
            argocd-operator: install of nonsense refused: spec.source.catalog.version: invalid version expression [InvalidSpec]
        ",
    );
    reads(
        &checked(&json!({"packageName": "argocd-operator", "version": "2.4.1 - 2.4.9"})),
        r#"
            argocd-operator: install of 2.4.1 - 2.4.9 refused: spec.source.catalog.version: invalid version expression; write ">=2.4.1 <=2.4.9" [InvalidSpec]
        "#,
    );
    reads(
        &checked(&json!({"packageName": "argocd-operator", "version": "latest"})),
        "
            argocd-operator: install of latest refused: spec.source.catalog.version: invalid version expression; omit the version: OLM then installs the newest one [InvalidSpec]
        ",
    );
    reads(
        &checked(&json!({"packageName": "argocd-operator", "upgradeConstraintPolicy": "Ignore"})),
        r#"
            argo...ator: install of any version refused: spec.source.catalog.upgradeConstraintPolicy: Unsupported value: "Ignore": s...alogProvided", "SelfCertified" (here the word is SelfCertified) [InvalidSpec]
            warning: spec.source.catalog.upgradeConstraintPolicy: Ignore is a word of another API version; did you mean SelfCertified?
        "#,
    );
    reads(
        &checked(&json!({"packageName": "Argo", "version": "nonsense", "channels": ["A"]})),
        "
            Argo: install of nonsense refused: spec.source.catalog.packageName: packageName must be a valid DNS1123 subdomain. It must con...hanumeric character, and be no longer than 253 characters [InvalidSpec]
            Also: spec.source.catalog.version: invalid version expression; spec.source.catalog.channels[0]: channels entries must be valid DNS1123 subdomains
        ",
    );
}

#[test]
fn hints() {
    reads(
        &read_as("v1", &json!({"packageName": "argocd-operator", "channel": "alpha"})),
        "
            (Resolved)
            warning: spec.source.catalog.channel is not a field of this API version; did you mean spec.source.catalog.channels?
        ",
    );
    reads(
        &read_as("v1", &json!({"packageName": "argocd-operator", "upgradeConstraintPolicy": "Ignore"})),
        "
            (Resolved)
            warning: spec.source.catalog.upgradeConstraintPolicy: Ignore is a word of another API version; did you mean SelfCertified?
        ",
    );
    reads(
        &read_as("v1", &json!({"packageName": "argocd-operator", "chanels": ["alpha"]})),
        "
            (Resolved)
            warning: spec.source.catalog.chanels is not a field of this API version; did you mean spec.source.catalog.channels?
        ",
    );
}
