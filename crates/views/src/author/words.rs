//! Every sentence about a generated catalog.

use crate::author::promote::Promotion;
use crate::author::reach::{ChannelReach, Course, ReachRow};
use olmguard_catalog::version::go;
use olmguard_engine::explain::text::names;
use olmguard_report::{Text, Tone};

/// Describes the additional changes of a z-stream release, one line each.
pub fn z_stream(
    channel: &str,
    removed: &[Box<str>],
    dropped: &[Box<str>],
    unread: &[Box<str>],
) -> Vec<String> {
    let channel = go::quote(channel);
    let mut lines = Vec::new();
    if !removed.is_empty() {
        let names = names(removed, MOST_NAMES);
        lines.push(format!(
            "removed from channel {channel} and skipped by the new release: {names}"
        ));
    }
    if !dropped.is_empty() {
        let names = names(dropped, MOST_NAMES);
        lines.push(format!(
            "removed from the catalog because no channel has them any more: {names}"
        ));
    }
    if !unread.is_empty() {
        let names = names(unread, MOST_NAMES);
        lines.push(format!(
            "kept in channel {channel} because their versions are unknown: {names}"
        ));
    }
    lines
}

/// Describes the upgrades in a channel before and after a promotion, which adds no node.
pub fn promotion(asked: Promotion<'_>, before: &ChannelReach, after: &ChannelReach) -> String {
    let mut text = Text::with_labels(WIDTH);
    let method = asked.method.as_str();
    let (bundle, package) = (go::escape(asked.bundle), go::quote(asked.package));
    let channel = go::quote(asked.channel);
    text.line(
        Tone::Plain,
        format!("promote {bundle} to channel {channel} of package {package} with {method}"),
    );
    text.end_line();
    for (was, is) in before.rows.iter().zip(&after.rows) {
        text.line(Tone::Plain, go::escape(&is.name));
        if (&was.v1, &was.v0) == (&is.v1, &is.v0) {
            say_courses("  unchanged", is, &mut text);
        } else {
            say_courses("  before", was, &mut text);
            say_courses("  after", is, &mut text);
        }
    }
    text.end_line();
    for (when, reach) in [("before:", before), ("after:", after)] {
        let words = format!("Cannot reach the head {when:7} {}", left_behind(reach));
        text.sentence(Tone::Plain, &words);
    }
    text.to_string()
}

/// Describes the upgrades from a version with each generation of OLM.
fn say_courses(label: &str, row: &ReachRow, text: &mut Text) {
    let v0 = || format!("OLM v0: {}", course(&row.v0));
    let courses = match &row.v1 {
        Some(v1) if *v1 == row.v0 => vec![course(v1)],
        Some(v1) => vec![format!("OLM v1: {}", course(v1)), v0()],
        None => vec![v0()],
    };
    for (label, words) in [label, ""].into_iter().zip(courses) {
        text.fact(label, Tone::Plain, &words);
    }
}

pub(super) fn course(course: &Course) -> String {
    match course {
        Course::AtHead => "is the head".to_owned(),
        Course::ToHead(hops) => arrows(hops),
        Course::EndsBelow(hops) => format!("{}, below the head", arrows(hops)),
        Course::Blocked { after, by } => {
            let selects = format!("selects {} and does not install it", go::escape(by));
            after_arrows(after, &selects)
        }
        Course::Crashes(after) => after_arrows(after, "panics on a skipRange"),
        Course::Stranded => "stranded, no upgrade edge".to_owned(),
        Course::Fails => "error, it is not in the channel and has no edge into it".to_owned(),
    }
}

/// Names the versions that cannot reach the head, in any generation of OLM.
fn left_behind(reach: &ChannelReach) -> String {
    let is_left = |row: &&ReachRow| {
        row.v0.is_left_behind() || row.v1.as_ref().is_some_and(Course::is_left_behind)
    };
    let left = reach.rows.iter().filter(is_left);
    let left: Vec<_> = left.map(|row| row.name.clone()).collect();
    if left.is_empty() {
        "none".to_owned()
    } else {
        names(&left, MOST_NAMES)
    }
}

/// Joins the bundles that are installed first, if any, with what comes then.
fn after_arrows(hops: &[Box<str>], then: &str) -> String {
    match hops {
        [] => then.to_owned(),
        hops => format!("{}, then {then}", arrows(hops)),
    }
}

fn arrows(names: &[Box<str>]) -> String {
    let hops = names.iter().map(|name| format!("-> {}", go::escape(name)));
    hops.collect::<Vec<_>>().join(" ")
}

/// Maximum number of names in a line.
const MOST_NAMES: usize = 20;

/// Width of a label and its indentation.
const WIDTH: usize = 13;
