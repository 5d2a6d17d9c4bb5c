//! About the policies of administrators.

use super::{Words, q};
use olmguard_catalog::version::go::one_line;

pub(in crate::lint) fn policy_unreadable(title: &str, why: &str) -> Words {
    Words::own(format!(
        "{} is invalid, so olmguard denies every upgrade that it matches: {}",
        one_line(title),
        one_line(why)
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
        one_line(title),
        q(package)
    ))
}
