//! Upgrade policies as objects: what is read of them, and what they say of a change.

mod conditions;
mod examples;
mod facts;
mod faults;
mod matching;
mod properties;
