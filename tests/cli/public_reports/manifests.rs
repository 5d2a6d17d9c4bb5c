//! Manifests as users write them: templates, kustomizations, fields of other APIs.

mod cluster_catalogs;
mod fields;
mod gitops;
mod placeholders;
