//! What the log says of who asked.

use std::borrow::Cow;

use ring::digest::{SHA256, digest};

/// What the log says of who asked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub enum LogUser {
    /// Not at all
    #[default]
    Omit,
    /// As 16 hexadecimal digits of the SHA-256 of the name: a guessed name can be recognized
    Hash,
    /// By name
    Name,
}

impl LogUser {
    /// What is written for a name.
    pub(super) fn written(self, name: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Omit => None,
            Self::Hash => Some(hash(name).into()),
            Self::Name => Some(name.into()),
        }
    }
}

fn hash(name: &str) -> String {
    let digest = digest(&SHA256, name.as_bytes());
    let first = digest.as_ref().first_chunk().copied().unwrap_or_default();
    format!("{:016x}", u64::from_be_bytes(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_named_only_where_that_is_asked_for() {
        for (log_user, written) in [
            (LogUser::Omit, None),
            // `printf kube | sha256sum`
            (LogUser::Hash, Some("7ab9b39a15b5b065")),
            (LogUser::Name, Some("kube")),
        ] {
            assert_eq!(log_user.written("kube").as_deref(), written);
        }
    }
}
