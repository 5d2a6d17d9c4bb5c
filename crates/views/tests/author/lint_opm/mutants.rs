//! Catalogs made from a good one by changing a few lines or documents at random.

use fastrand::Rng;

/// The mutant of this number; the same number gives the same one.
pub(crate) fn mutant(good: &str, number: u64) -> String {
    let mut random = Rng::with_seed(number);
    let mut text = good.to_owned();
    for _ in 0..random.usize(1..=3) {
        text = if random.u8(0..4) == 0 {
            mutate_document(&text, &mut random)
        } else {
            mutate_line(&text, &mut random)
        };
    }
    text
}

fn mutate_document(text: &str, random: &mut Rng) -> String {
    let mut documents: Vec<_> = text.split("---\n").collect();
    let (at, other) = (
        random.usize(..documents.len()),
        random.usize(..documents.len()),
    );
    match random.u8(0..3) {
        0 if documents.len() > 1 => drop(documents.remove(at)),
        1 => documents.insert(other, documents[at]),
        _ => documents.swap(at, other),
    }
    documents.join("---\n")
}

fn mutate_line(text: &str, random: &mut Rng) -> String {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let (at, other) = (random.usize(..lines.len()), random.usize(..lines.len()));
    match random.u8(0..8) {
        0 if lines.len() > 1 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at].clone()),
        2 | 3 => {
            // The value of another line with the same key.
            let key = key(&lines[at]).map(str::to_owned);
            let same: Vec<_> = lines
                .iter()
                .filter(|line| key.is_some() && self::key(line) == key.as_deref())
                .cloned()
                .collect();
            let taken = same
                .get(random.usize(..same.len().max(1)))
                .and_then(|line| line.split_once(": "));
            if let (Some((_, value)), Some((key, _))) = (taken, lines[at].split_once(": ")) {
                lines[at] = format!("{key}: {value}");
            }
        }
        4 | 5 => {
            if let Some((key, _)) = lines[at].split_once(": ") {
                lines[at] = format!("{key}: {}", VALUES[random.usize(..VALUES.len())]);
            }
        }
        6 => {
            let edge = EDGES[random.usize(..EDGES.len())];
            let entries: Vec<_> = (0..lines.len())
                .filter(|line| lines[*line].starts_with("  - name: "))
                .collect();
            if !entries.is_empty() {
                let entry = entries[random.usize(..entries.len())];
                lines.insert(entry + 1, format!("    {edge}"));
            }
        }
        _ => {
            let line = &lines[at];
            lines[at] = match line.split_once(": ") {
                Some((key, value)) => format!("{}: {value}", key.to_uppercase()),
                None => format!("{line} "),
            };
        }
    }
    lines.join("\n") + "\n"
}

fn key(line: &str) -> Option<&str> {
    line.split_once(": ")
        .map(|(key, _)| key.trim_start_matches([' ', '-']))
}

const VALUES: [&str; 22] = [
    "''",
    "1",
    "1.5",
    "true",
    "[]",
    "{}",
    "null",
    "[a, b]",
    "v1.0.0",
    "1.0",
    "1.0.0-rc.1",
    "1.0.0+build",
    "lantern",
    "wick",
    "lantern.v1.0.0",
    "lantern.v1.1.0",
    "lantern.v1.2.0",
    "stable",
    "'>=1.0.0'",
    ">=1.0.0",
    "olm.channel",
    "olm.bundle",
];

const EDGES: [&str; 10] = [
    "replaces: lantern.v1.0.0",
    "replaces: lantern.v1.2.0",
    "skips: [lantern.v1.0.0]",
    "skips: [lantern.v1.1.0]",
    "skips: [lantern.v1.2.0, '']",
    "skips: lantern.v1.0.0",
    "skipRange: '<1.2.0'",
    "skipRange: 'v1.0.0'",
    "skipRange: '1.0.0 || || 2.0.0'",
    "skipRange: ''",
];
