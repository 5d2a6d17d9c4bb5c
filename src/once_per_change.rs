//! A fault or an answer that lasts is reported once.

use std::borrow::Borrow;

/// The value that was reported last; none if there is nothing to report.
#[derive(Debug)]
pub(crate) struct OncePerChange<T = String>(Option<T>);

impl<T> Default for OncePerChange<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> OncePerChange<T> {
    /// Records the current value; true if it differs from the value that was reported last.
    pub(crate) fn is_new<Q>(&mut self, now: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: PartialEq + ToOwned<Owned = T> + ?Sized,
    {
        let is_new = self.0.as_ref().map(T::borrow) != Some(now);
        if is_new {
            self.0 = Some(now.to_owned());
        }
        is_new
    }

    /// Records that there is nothing to report any more; true if there was.
    pub(crate) fn is_gone(&mut self) -> bool {
        self.0.take().is_some()
    }

    /// The value that was reported last.
    pub(crate) fn last(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_is_new_once_and_gone_once() {
        let mut fault = OncePerChange::<String>::default();
        assert!(!fault.is_gone());
        let news = ["one", "one", "other"].map(|now| fault.is_new(now));
        assert_eq!(news, [true, false, true]);
        assert_eq!(fault.last().map(String::as_str), Some("other"));
        assert_eq!([fault.is_gone(), fault.is_gone()], [true, false]);
        assert!(fault.is_new("other"), "again");
    }
}
