//! Upgrade policies as objects: how they are read, and which changes violate them.

mod conditions;
mod examples;
mod facts;
mod faults;
mod matching;
mod properties;
