//! About the policies of administrators.

use super::load::escape_text;
use super::{Words, q};

pub(in crate::lint) fn policy_unreadable(title: &str, why: &str) -> Words {
    Words::own(format!(
        "{} is invalid, so olmguard denies every upgrade that it matches: {}",
        escape_text(title),
        escape_text(why)
    ))
}

pub(in crate::lint) fn policy_of_unknown_package(
    title: &str,
    package: &str,
    near: Option<&str>,
) -> Words {
    let advice = match near {
        Some(near) => format!("did you mean {}?", q(near)),
        None => "expected the name of an olm.package of the catalogs".to_owned(),
    };
    Words::own(format!(
        "{} is for package {}, which no catalog has; {advice}",
        escape_text(title),
        q(package)
    ))
}
