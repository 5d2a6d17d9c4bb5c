//! Upgrade policies through the whole judgement: the worked examples, what the texts say, and laws that hold for any
//! policies.

mod laws;
mod scene;
mod unlisted;
mod walks;
mod worked;
