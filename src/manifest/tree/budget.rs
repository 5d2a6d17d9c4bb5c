//! How much one document may hold once its aliases are replaced by what they stand for.
//!
//! The limits are such that a file of the largest size and its document fit into 256 MiB together.

use super::DocumentErrorKind;
use olmguard_catalog::yaml_scalar::Scalar;

/// The most values and keys of one document.
pub const MAX_NODES: usize = 1_000_000;
/// The most bytes of text in its values and keys.
pub const MAX_TEXT: usize = 48 << 20;

/// What a part of a document takes up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) nodes: usize,
    pub(super) text: usize,
}

impl Cost {
    pub(super) fn of_scalar(scalar: &Scalar<'_>) -> Self {
        let text = if let Scalar::Str(text) = scalar {
            text.len()
        } else {
            0
        };
        Self { nodes: 1, text }
    }

    pub(super) const fn since(self, before: Self) -> Self {
        Self {
            nodes: self.nodes - before.nodes,
            text: self.text - before.text,
        }
    }
}

#[derive(Debug)]
pub(super) struct Budget {
    spent: Cost,
}

impl Budget {
    pub(super) const fn new() -> Self {
        Self {
            spent: Cost { nodes: 0, text: 0 },
        }
    }

    pub(super) const fn spent(&self) -> Cost {
        self.spent
    }

    pub(super) fn spend(&mut self, cost: Cost) -> Result<(), DocumentErrorKind> {
        let nodes = self.spent.nodes + cost.nodes;
        let text = self.spent.text + cost.text;
        if nodes > MAX_NODES {
            return Err(DocumentErrorKind::TooManyNodes { limit: MAX_NODES });
        }
        if text > MAX_TEXT {
            return Err(DocumentErrorKind::TooMuchText { limit: MAX_TEXT });
        }
        self.spent = Cost { nodes, text };
        Ok(())
    }
}
