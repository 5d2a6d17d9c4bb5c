//! The decision: facts to a verdict to words.
//!
//! ```text
//! catalogs --> snapshot::Snapshot      extension::Extension (Filter, Installed)
//!                    |                      |
//!                    '-------> judge <------'     the decision table; resolve says what
//!                                |                operator-controller would do
//!                           Judgement (data, with its evidence)
//!                                |
//!                             explain             the only module that words them
//! ```
//!
//! No I/O, no clock, no environment, no threads and no order of a hash map: the same facts give the same bytes,
//! on every replica and offline.

/// A closed set of words: an enum with all of its variants in their order, and the word of each for programs.
macro_rules! word_set {
    ($(#[$about:meta])* $set:ident { $($(#[$doc:meta])* $word:ident => $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum $set {
            $($(#[$doc])* $word,)+
        }

        impl $set {
            /// Every one, in this order.
            pub const ALL: &'static [Self] = &[$(Self::$word),+];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)+
                }
            }
        }
    };
}

pub mod audit;
pub mod explain;
pub mod extension;
pub mod inquiry;
pub mod judge;
pub mod nearest;
pub mod resolve;
pub mod snapshot;
