//! What is said beside a catalog that was made: every sentence of it.

use std::fmt::Write as _;

use crate::author::promote::{Method, Promotion};
use crate::author::reach::{ChannelReach, Course, Row};
use olmguard_catalog::version::go;

/// What a z-stream release changed besides, a line each.
pub fn z_stream(
    channel: &str,
    removed: &[Box<str>],
    dropped: &[Box<str>],
    unread: &[Box<str>],
) -> Vec<String> {
    let channel = go::quote(channel);
    let mut lines = Vec::new();
    if !removed.is_empty() {
        let names = names(removed);
        lines.push(format!(
            "left channel {channel}, skipped from now on: {names}"
        ));
    }
    if !dropped.is_empty() {
        let names = names(dropped);
        lines.push(format!(
            "in no channel any more, so left out of the catalog: {names}"
        ));
    }
    if !unread.is_empty() {
        let names = names(unread);
        lines.push(format!(
            "of no known version, so left as they are in channel {channel}: {names}"
        ));
    }
    lines
}

/// Who gets where in a channel before and after a promotion, which adds no node.
pub fn promotion(asked: Promotion<'_>, before: &ChannelReach, after: &ChannelReach) -> String {
    let mut text = String::new();
    let method = match asked.method {
        Method::Replaces => "replaces",
        Method::Skips => "skips",
        Method::SkipRange => "skipRange",
    };
    let (bundle, package) = (go::escape(asked.bundle), go::quote(asked.package));
    let channel = go::quote(asked.channel);
    line(
        &mut text,
        &format!("{bundle} into channel {channel} of package {package}, by {method}"),
    );
    line(&mut text, "");
    for (was, is) in before.rows.iter().zip(&after.rows) {
        line(&mut text, &go::escape(&is.name));
        if (&was.v1, &was.v0) == (&is.v1, &is.v0) {
            line(&mut text, &format!("  as before  {}", courses(is)));
        } else {
            line(&mut text, &format!("  before     {}", courses(was)));
            line(&mut text, &format!("  after      {}", courses(is)));
        }
    }
    line(&mut text, "");
    line(
        &mut text,
        &format!("Left behind before: {}", left_behind(before)),
    );
    line(
        &mut text,
        &format!("Left behind after:  {}", left_behind(after)),
    );
    text
}

/// Where a version gets with each OLM.
fn courses(row: &Row) -> String {
    match &row.v1 {
        Some(v1) if *v1 == row.v0 => course(v1),
        Some(v1) => format!("OLM v1: {}; OLM v0: {}", course(v1), course(&row.v0)),
        None => format!("OLM v0: {}", course(&row.v0)),
    }
}

fn course(course: &Course) -> String {
    match course {
        Course::AtHead => "the head".to_owned(),
        Course::ToHead(hops) => arrows(hops),
        Course::EndsBelow(hops) => format!("{}, which is not the head", arrows(hops)),
        Course::Stranded => "stranded, no edge leads on".to_owned(),
        Course::Fails => "error, not in the channel and no edge leads into it".to_owned(),
    }
}

/// Who does not get to the head, with either OLM.
fn left_behind(reach: &ChannelReach) -> String {
    let is_left =
        |row: &&Row| row.v0.is_left_behind() || row.v1.as_ref().is_some_and(Course::is_left_behind);
    let left = reach.rows.iter().filter(is_left);
    let left: Vec<_> = left.map(|row| row.name.clone()).collect();
    if left.is_empty() {
        "nobody".to_owned()
    } else {
        names(&left)
    }
}

fn arrows(names: &[Box<str>]) -> String {
    let hops = names.iter().map(|name| format!("-> {}", go::escape(name)));
    hops.collect::<Vec<_>>().join(" ")
}

fn names(names: &[Box<str>]) -> String {
    let names: Vec<_> = names.iter().map(|name| go::escape(name)).collect();
    names.join(", ")
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes every write");
}
