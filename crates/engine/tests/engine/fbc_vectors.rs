//! The reader of catalogs, compared with what catalogd and operator-controller read from the same
//! bytes.
//!
//! The texts of errors are Go's and are not compared. Only their scope is compared: the catalog or
//! a package.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail, and the vectors are well formed"
)]

use std::collections::BTreeMap;

use olmguard_catalog::blob::{
    BlobContent, BlobFault, BlobKey, DependencyKind, PackageProperty, ReleaseField, Sink,
};
use olmguard_catalog::fbc;
use serde_json::{Value, json};

/// The content of operator-controller's cache: of several blobs with one key, the last.
#[derive(Default)]
struct Cache(BTreeMap<[String; 3], Blob>);

struct Blob {
    folder: String,
    content: Result<(&'static str, Value), String>,
}

impl Sink for Cache {
    fn blob(&mut self, key: BlobKey<'_>, content: Result<BlobContent<'_>, BlobFault>) {
        let names = [key.package, key.schema, key.name].map(str::to_owned);
        let folder = key.folder().to_owned();
        let content = content.map(describe).map_err(|fault| fault.to_string());
        self.0.insert(names, Blob { folder, content });
    }
}

impl Cache {
    /// The result for each package, as the vectors write it.
    fn packages(&self) -> Value {
        let mut packages = BTreeMap::<&str, Result<BTreeMap<&str, Vec<Value>>, ()>>::new();
        for blob in self.0.values() {
            let package = packages
                .entry(&blob.folder)
                .or_insert_with(|| Ok(BTreeMap::new()));
            match (&blob.content, package) {
                (Ok((list, value)), Ok(lists)) => {
                    lists.entry(list).or_default().push(value.clone());
                }
                (Err(_), package) => *package = Err(()),
                (Ok(_), Err(())) => {}
            }
        }
        packages
            .into_iter()
            .map(|(name, lists)| (name.to_owned(), summary(lists)))
            .collect()
    }
}

fn summary(lists: Result<BTreeMap<&str, Vec<Value>>, ()>) -> Value {
    let Ok(mut lists) = lists else {
        return json!("fails");
    };
    let mut sorted = |list| {
        let mut values = lists.remove(list).unwrap_or_default();
        values.sort_by_key(Value::to_string);
        values
    };
    json!({
        "packages": sorted("packages").len(),
        "channels": sorted("channels"),
        "bundles": sorted("bundles"),
        "deprecations": sorted("deprecations"),
        "others": sorted("others").len(),
    })
}

fn describe(content: BlobContent<'_>) -> (&'static str, Value) {
    match content {
        BlobContent::Package(_) => ("packages", Value::Null),
        BlobContent::Guardrails(_) | BlobContent::Other => ("others", Value::Null),
        BlobContent::Channel(channel) => {
            let entry = |e: &olmguard_catalog::blob::ChannelEntry<'_>| {
                json!([e.name, e.replaces, e.skips, e.skip_range])
            };
            let entries = channel.entries.iter().map(entry).collect::<Vec<_>>();
            ("channels", json!([channel.name, entries]))
        }
        BlobContent::Bundle(bundle) => {
            let dependency = bundle.dependency.map(DependencyKind::as_str);
            let package = package_property(bundle.package_property);
            ("bundles", json!([bundle.name, package, dependency]))
        }
        BlobContent::Deprecations(entries) => {
            let entries = entries.iter().map(|e| json!([e.schema, e.name, e.message]));
            ("deprecations", entries.collect())
        }
    }
}

fn package_property(property: PackageProperty<'_>) -> Value {
    match property {
        PackageProperty::Absent => Value::Null,
        PackageProperty::Undecodable(_) => json!("undecodable"),
        PackageProperty::Present { version, release } => match release {
            ReleaseField::Absent => json!([version, "absent"]),
            ReleaseField::NotAString => json!([version, "notastring"]),
            ReleaseField::Text(text) => json!([version, format!("text:{text}")]),
        },
    }
}

/// The packages as the vectors have them, without texts of errors and with lists sorted as ours.
fn wanted(packages: &Value) -> Value {
    let packages = packages.as_object().expect("packages is an object");
    let wanted = packages.iter().map(|(name, package)| {
        let mut package = package.clone();
        if package.get("error").is_some() {
            return (name.clone(), json!("fails"));
        }
        for list in ["channels", "bundles", "deprecations"] {
            let list = package[list].as_array_mut().expect("a list");
            list.sort_by_key(Value::to_string);
        }
        (name.clone(), package)
    });
    wanted.collect()
}

fn bytes_of(case: &Value) -> Vec<u8> {
    match (case["text"].as_str(), case["base64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(text)) => base64_simd::STANDARD.decode_to_vec(text).expect("base64"),
        (None, None) => panic!("case without bytes: {case}"),
    }
}

#[test]
fn agrees_with_catalogd_and_operator_controller() {
    let vectors = include_str!("../../../../tests/vectors/fbc.jsonl");
    let mut compared = 0;
    for line in vectors.lines().skip(1) {
        let case: Value = serde_json::from_str(line).expect("vectors are well formed");
        let mut cache = Cache::default();
        let read = fbc::read("case", &bytes_of(&case), &mut cache);
        let id = &case["id"];
        match (read, case.get("refused")) {
            (Ok(()), None) => assert_eq!(cache.packages(), wanted(&case["packages"]), "{id}"),
            (Ok(()), Some(by)) => panic!("{id}: read, but {by} says {}", case["error"]),
            (Err(fault), None) => panic!("{id}: {fault}"),
            (Err(_), Some(_)) => {}
        }
        compared += 1;
    }
    assert!(compared > 400, "only {compared} cases");
}

/// catalogd stores an empty first document as `null`, on which operator-controller then fails. Such
/// a catalog still counts as loaded, in either form.
#[test]
fn a_leading_null_counts_as_loaded() {
    let package = r#"{"schema":"olm.package","name":"foo"}"#;
    let bundle = r#"{"schema":"olm.bundle","package":"foo","name":"b"}"#;
    for text in [
        format!("null\n{package}\n{bundle}\n"),
        format!("# comment\n---\n{package}\n---\n{bundle}\n"),
        format!("null\n\nnull\n{package}{bundle}"),
    ] {
        let mut cache = Cache::default();
        let read = fbc::read("case", text.as_bytes(), &mut cache);
        assert!(read.is_ok(), "{text:?}: {read:?}");
        assert_eq!(cache.0.len(), 2, "{text:?}");
    }
}
