//! Everything committed that is no program: pages, examples, manifests, alerts, schemas, the layers.

mod alerting;
mod book;
mod examples;
mod layering;
mod manifests;
mod readme;
mod schemas;
mod upstream;
mod voice;
