//! What users reported in public of OLM, as inputs of our own.

mod answers;
