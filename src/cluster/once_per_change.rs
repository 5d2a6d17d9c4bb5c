//! A fault that lasts is logged once.

/// What failed last, in words; none if the last try succeeded.
#[derive(Debug, Default)]
pub(in crate::cluster) struct OncePerChange(Option<String>);

impl OncePerChange {
    /// Takes down a fault; true if it is another one than before.
    pub(in crate::cluster) fn is_new(&mut self, fault: &str) -> bool {
        let is_new = self.0.as_deref() != Some(fault);
        self.0 = Some(fault.to_owned());
        is_new
    }

    /// Takes down a success; true if there was a fault before.
    pub(in crate::cluster) fn is_gone(&mut self) -> bool {
        self.0.take().is_some()
    }
}
