//! Packages in the shorthand of the acceptance tables.
//!
//! One line a channel, `CHANNEL: ENTRY; ENTRY`, an entry being `VERSION [replaces VERSION]
//! [skips VERSION,VERSION] [skipRange RANGE]`. What stands in no channel has a line of its own:
//! `(none): VERSION; VERSION`, `(deprecated): VERSION; channel NAME; package`,
//! `(requires): VERSION TYPE`, `(default): CHANNEL`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A package in shorthand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    /// Its name.
    pub(crate) package: &'a str,
    /// What precedes the version in a bundle's name.
    pub(crate) prefix: &'a str,
    /// The lines.
    pub(crate) lines: &'a str,
}

/// A package `P` with bundles `P.vVERSION`.
pub(crate) const fn written(lines: &str) -> Written<'_> {
    Written {
        package: "P",
        prefix: "P.v",
        lines,
    }
}

impl Written<'_> {
    /// The catalog of this package alone, one blob a line.
    pub(crate) fn fbc(&self) -> String {
        let lines: Vec<_> = self.blobs().iter().map(Value::to_string).collect();
        lines.join("\n")
    }

    fn blobs(&self) -> Vec<Value> {
        let mut versions = BTreeSet::new();
        let mut deprecated = Vec::new();
        let mut required: Vec<(&str, &str)> = Vec::new();
        let mut default = "";
        let mut blobs = vec![];
        for line in self.lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let (head, rest) = line.split_once(':').expect("HEAD: ITEMS");
            let items = rest.split(';').map(str::trim).filter(|i| !i.is_empty());
            match head {
                "(default)" => default = rest.trim(),
                "(none)" => versions.extend(items),
                "(deprecated)" => deprecated.extend(items.map(|item| self.deprecation(item))),
                "(requires)" => required.extend(items.filter_map(|item| item.split_once(' '))),
                channel => {
                    let entries: Vec<&str> = items.collect();
                    versions.extend(entries.iter().map(|entry| first_word(entry)));
                    let entries: Vec<_> = entries.iter().map(|entry| self.entry(entry)).collect();
                    blobs.push(json!({"schema": "olm.channel", "package": self.package,
                        "name": channel, "entries": entries}));
                }
            }
        }
        blobs.push(json!({"schema": "olm.package", "name": self.package,
            "defaultChannel": default}));
        blobs.extend(
            versions
                .iter()
                .map(|version| self.bundle(version, &required)),
        );
        if !deprecated.is_empty() {
            blobs.push(
                json!({"schema": "olm.deprecations", "package": self.package,
                "entries": deprecated}),
            );
        }
        blobs
    }

    fn name(&self, version: &str) -> String {
        format!("{}{version}", self.prefix)
    }

    fn entry(&self, text: &str) -> Value {
        let (text, range) = match text.split_once(" skipRange ") {
            Some((text, range)) => (text, Some(range)),
            None => (text, None),
        };
        let words: Vec<&str> = text.split(' ').collect();
        let after = |word: &str| {
            let at = words.iter().position(|other| *other == word)?;
            words.get(at + 1).copied()
        };
        let skipped = after("skips").into_iter().flat_map(|list| list.split(','));
        json!({
            "name": self.name(first_word(text)),
            "replaces": after("replaces").map(|version| self.name(version)).unwrap_or_default(),
            "skips": skipped.map(|version| self.name(version)).collect::<Vec<_>>(),
            "skipRange": range.unwrap_or_default(),
        })
    }

    fn bundle(&self, version: &str, required: &[(&str, &str)]) -> Value {
        let mut properties = vec![json!({"type": "olm.package",
            "value": {"packageName": self.package, "version": version}})];
        let of_it = required.iter().filter(|(of, _)| *of == version);
        properties.extend(of_it.map(|(_, kind)| json!({"type": kind, "value": {}})));
        json!({"schema": "olm.bundle", "package": self.package, "name": self.name(version),
            "image": "example.com/bundle", "properties": properties})
    }

    fn deprecation(&self, item: &str) -> Value {
        let (reference, what) = match item.split_once(' ') {
            Some(("channel", name)) => (json!({"schema": "olm.channel", "name": name}), name),
            None if item == "package" => (json!({"schema": "olm.package"}), "the package"),
            _ => (
                json!({"schema": "olm.bundle", "name": self.name(item)}),
                item,
            ),
        };
        json!({"reference": reference, "message": format!("{what} is no longer kept")})
    }
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}
