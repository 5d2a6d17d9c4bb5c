//! The results of benches as data. A bench writes figures, one JSON object per line, and `cargo xtask bench` reads
//! them. So no program parses output for people.

mod bench;
mod fault;
mod figure;
mod number;
mod soak;
mod unit;

pub use self::bench::Bench;
pub use self::fault::FaultRow;
pub use self::figure::{Aim, Figure, LineError, OnCurve, Peer, read};
pub use self::number::number;
pub use self::soak::{SoakSample, SoakWork};
pub use self::unit::Unit;
