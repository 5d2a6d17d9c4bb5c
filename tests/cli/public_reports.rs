//! What users reported in public of OLM and its tools, as inputs of our own.

mod answers;
mod installed;
mod manifests;
mod named;
