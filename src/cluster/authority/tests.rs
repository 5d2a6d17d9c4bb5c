//! Replicas that share a cluster, and what becomes of its objects.

mod changes;
mod objects;
mod refusals;
mod replicas;
mod scene;
