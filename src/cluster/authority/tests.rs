//! Replicas that share a cluster, and what becomes of its objects.

mod objects;
mod refusals;
mod replicas;
mod scene;
