//! Manifests as people write them: templates, kustomizations, fields of other APIs.

mod gitops;
mod placeholders;
