//! Odd words in texts for users: none in the pages that users meet first, and elsewhere never more than now.
//!
//! `voice/counts.tsv` has the number of each odd word in each layer, outside of code. A lower count is written with
//! `OLMGUARD_BLESS=1`, but a higher one is not. Some of these words also have a correct use, so a count does not have
//! to reach zero.
#![expect(clippy::panic, reason = "a test may fail")]

mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use words::WORDS;

/// The layers of texts, with their files and directories.
const LAYERS: [(&str, &[&str]); 6] = [
    ("first contact", FIRST),
    ("tasks and reason codes", &["docs/tasks", "docs/tokens"]),
    ("guides", &["docs"]),
    ("runbooks", &["docs/runbooks"]),
    ("lint", &["docs/lint"]),
    ("contributors", &["CONTRIBUTING.md", "docs/architecture.md"]),
];

/// The pages that a new user reads first.
const FIRST: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs/comparison.md",
    "docs/edges-ranges-channels.md",
    "docs/faq.md",
    "docs/how-olmguard-decides.md",
];

/// The number of each odd word, by layer and word.
type Counts = BTreeMap<(String, String), usize>;

#[test]
fn odd_words_become_fewer() {
    let found = found();
    let recorded = recorded();
    let more: Vec<_> = found
        .iter()
        .filter(|(key, count)| **count > recorded.get(*key).copied().unwrap_or_default())
        .map(|((layer, word), count)| format!("{layer}: {word:?} {count} times: {}", plain(word)))
        .collect();
    assert!(more.is_empty(), "use plain words:\n{}", more.join("\n"));
    olmguard_fixtures::committed::compare("tests/pages/voice/counts.tsv", &text(&found));
}

#[test]
fn the_first_pages_have_none() {
    let first = found()
        .into_iter()
        .filter(|((layer, _), _)| layer == "first contact");
    let first: Vec<_> = first
        .map(|((_, word), count)| format!("{word:?} {count} times: {}", plain(&word)))
        .collect();
    assert!(first.is_empty(), "use plain words:\n{}", first.join("\n"));
}

#[test]
fn words_are_counted_outside_of_code() {
    let text = "Whoever says so.\n```sh\nwhoever\n```\n`whoever` is [told](whoever.md), WHOEVER";
    assert_eq!(count(&prose(text), "whoever"), 2);
    assert_eq!(count(&prose("so\nthat, so that"), "so that"), 2);
    assert_eq!(count(&prose("hopping hop, shop"), "hop"), 1);
}

fn found() -> Counts {
    let mut counts = Counts::new();
    for (layer, places) in LAYERS {
        let text: String = files(layer, places)
            .iter()
            .map(|file| prose(&read(file)))
            .collect();
        for (word, _) in WORDS {
            let count = count(&text, word);
            if count > 0 {
                counts.insert((layer.to_owned(), (*word).to_owned()), count);
            }
        }
    }
    counts
}

/// Returns the pages of a layer. A page belongs to the layer that names it explicitly.
fn files(layer: &str, places: &[&str]) -> Vec<PathBuf> {
    let named: Vec<_> = LAYERS
        .iter()
        .flat_map(|(_, places)| places.iter().copied())
        .collect();
    let mut files = Vec::new();
    for place in places {
        let path = root().join(place);
        if path.is_file() {
            files.push(path);
            continue;
        }
        let entries =
            fs::read_dir(&path).unwrap_or_else(|error| panic!("{layer}: {place}: {error}"));
        let pages = entries.flatten().map(|entry| entry.path());
        files.extend(pages.filter(|page| {
            let name = page.file_name().unwrap_or_default().to_string_lossy();
            let is_named = named.contains(&&*format!("{place}/{name}"));
            page.extension().is_some_and(|end| end == "md") && !is_named
        }));
    }
    files.sort();
    files
}

/// Returns the sentences of a page in lower case, without code and link targets.
fn prose(page: &str) -> String {
    let outside = page
        .split("```")
        .step_by(2)
        .flat_map(|text| text.split('`').step_by(2));
    let text = outside.collect::<Vec<_>>().join(" ");
    let mut links = text.split("](");
    let mut prose = links.next().unwrap_or_default().to_owned();
    for link in links {
        prose.push(' ');
        prose.push_str(link.split_once(')').map_or("", |(_, after)| after));
    }
    let words = prose.split_whitespace().collect::<Vec<_>>().join(" ");
    words.to_lowercase() + " "
}

/// Returns how often a word or phrase occurs as whole words in lower-case text.
fn count(text: &str, word: &str) -> usize {
    let is_inner = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let whole = text.match_indices(word).filter(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        !is_inner(before) && !is_inner(text.as_bytes().get(at + word.len()))
    });
    whole.count()
}

fn recorded() -> Counts {
    let text = read(&root().join("tests/pages/voice/counts.tsv"));
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let (layer, word) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        Some(((layer, word), parts.next()?.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn text(counts: &Counts) -> String {
    let line =
        |((layer, word), count): (&(String, String), &usize)| format!("{layer}\t{word}\t{count}\n");
    counts.iter().map(line).collect()
}

/// Returns what to write instead.
fn plain(word: &str) -> &'static str {
    let found = WORDS.iter().find(|(odd, _)| *odd == word);
    found.map_or("", |(_, plain)| plain)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
