//! How much of a revision is looked at: what is in it may be made to be endless.

use super::error::FileError;

/// What is left of it; nothing once more was asked for than there was.
#[derive(Debug)]
pub(super) struct Budget {
    left: Option<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        let left = Some(MOST_ENTRIES);
        Self { left }
    }
}

impl Budget {
    /// Pays for so many entries of folders.
    pub(super) fn take(&mut self, entries: u64) -> Result<(), FileError> {
        self.left = self.left.and_then(|left| left.checked_sub(entries));
        let limit = MOST_ENTRIES;
        self.left.map(drop).ok_or(FileError::TooMany { limit })
    }

    /// Pays for a file of so many bytes: [`MOST_ENTRIES`] buy a GiB.
    pub(super) fn take_file(&mut self, bytes: u64) -> Result<(), FileError> {
        self.take(1 + bytes / 1024)
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.is_none()
    }
}

/// The most entries of folders that are looked at: many times what any repository of manifests has.
const MOST_ENTRIES: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_paid_for_spends_the_rest() {
        let limit = MOST_ENTRIES;
        let mut budget = Budget::default();
        assert_eq!(budget.take(limit - 2), Ok(()));
        assert_eq!(budget.take_file(1024), Ok(()));
        assert!(!budget.is_spent());
        assert_eq!(budget.take_file(0), Err(FileError::TooMany { limit }));
        assert!(budget.is_spent());
        assert_eq!(budget.take(0), Err(FileError::TooMany { limit }));
    }
}
