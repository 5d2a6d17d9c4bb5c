//! Tests of committed files that are not programs: pages, examples, manifests, alerts, schemas, and the module layers.

mod alerting;
mod book;
mod examples;
mod layering;
mod manifests;
mod readme;
mod schemas;
mod upstream;
mod voice;
