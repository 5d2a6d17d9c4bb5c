//! The kinds of requests, from the bundles of a package.

use super::subject::{Subject, asked};
use crate::resolver::Request;

/// The kind that is refused.
pub(crate) const REFUSED: &str = "a refused downgrade";

/// Each kind with its requests.
pub(crate) fn kinds(subject: &Subject) -> [(&'static str, Vec<Request>); 6] {
    let bundles = &subject.bundles;
    let bundle = |at: usize| bundles.get(at).expect("a bundle");
    let (lowest, middle) = (bundle(0), bundle(bundles.len() / 2));
    let request = |version: Option<&str>, installed: Option<&(String, String)>| Request {
        package: subject.package.clone(),
        version: version.map(str::to_owned),
        channel: None,
        installed: installed.cloned(),
    };
    let in_channel = |channel: &String| Request {
        channel: Some(channel.clone()),
        ..request(Some(&format!(">={}", lowest.1)), None)
    };
    // A channel can have no bundle in the range.
    let mut in_channels = subject.channels.iter().map(in_channel);
    let in_channel = in_channels.find(|request| subject.resolved(&asked(request)).is_some());
    let in_channel = in_channel.expect("a channel with a bundle in the range");
    [
        ("fresh, any version", vec![request(None, None)]),
        ("fresh, a pin", vec![request(Some(&middle.1), None)]),
        (
            "an upgrade to any version",
            vec![request(None, Some(middle))],
        ),
        ("fresh, a range in one channel", vec![in_channel]),
        (REFUSED, vec![request(Some(&lowest.1), Some(middle))]),
        ("a mix of 300", mix(subject)),
    ]
}

/// 300 requests of a shuffled list of every installed version with every kind of range.
fn mix(subject: &Subject) -> Vec<Request> {
    let mut requests = Vec::new();
    for installed in &subject.bundles {
        let request = |version| Request {
            package: subject.package.clone(),
            version,
            channel: None,
            installed: Some(installed.clone()),
        };
        requests.push(request(None));
        for (_, to) in subject.bundles.iter().step_by(7) {
            let ranges = [
                to.clone(),
                format!(">={to}"),
                format!("^{to}"),
                format!("~{to} || <1.0.0"),
            ];
            requests.extend(ranges.into_iter().map(|range| request(Some(range))));
        }
    }
    shuffle(&mut requests);
    requests.truncate(300);
    requests
}

/// Shuffles by Fisher and Yates, with a small generator of fixed seed, so the order is the same in
/// every run.
fn shuffle<T>(items: &mut [T]) {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    for last in (1..items.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let pick = usize::try_from((state >> 33) % (last as u64 + 1)).expect("below len");
        items.swap(last, pick);
    }
}
