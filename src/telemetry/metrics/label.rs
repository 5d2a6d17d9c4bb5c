//! Closed sets of label values, and one metric for each of them.

use std::marker::PhantomData;

/// A label whose values are known when the program is built.
pub(super) trait Label: Copy + 'static {
    /// Every value, each at its [`place`](Self::place).
    const ALL: &'static [Self];

    /// The value as it is written.
    fn as_str(self) -> &'static str;

    /// The index of the value among all.
    fn place(self) -> usize;
}

/// One `T` for each value of a label, found without a search.
#[derive(Debug)]
pub(super) struct PerLabel<L, T> {
    made: Box<[T]>,
    label: PhantomData<L>,
}

impl<L: Label, T> PerLabel<L, T> {
    pub(super) fn new(make: impl FnMut(L) -> T) -> Self {
        Self {
            made: L::ALL.iter().copied().map(make).collect(),
            label: PhantomData,
        }
    }

    pub(super) fn of(&self, label: L) -> &T {
        self.made
            .get(label.place())
            .expect("one was made for every value")
    }
}

/// An enum that is a label: its variants, each with the word that is written.
macro_rules! label {
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident => $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        $vis enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every value.
            $vis const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word for it.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::telemetry::metrics::label::Label for $name {
            const ALL: &'static [Self] = Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }

            fn place(self) -> usize {
                self as usize
            }
        }
    };
}

pub(super) use label;
