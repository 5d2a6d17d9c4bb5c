//! What upgrade policies match an extension by, besides its package.

use std::collections::BTreeMap;

use crate::extension::Json;

/// The labels of an extension, and the namespace that it installs into.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PolicySubject {
    /// The namespace that it installs into; empty if it names none.
    pub namespace: String,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
}

impl PolicySubject {
    /// Reads an object of any shape. What is missing or not a string is omitted: the API server refuses it.
    pub(super) fn read<'a>(object: impl Json<'a>) -> Self {
        let mut namespaces = NAMESPACES.iter().filter_map(|path| object.at(path));
        let namespace = namespaces.find_map(Json::as_str);
        let labels = object.at(&["metadata", "labels"]);
        Self {
            namespace: namespace.unwrap_or_default().to_owned(),
            labels: labels.map(read_labels).unwrap_or_default(),
        }
    }
}

/// One after the other: to collect so few takes longer.
fn read_labels<'a>(labels: impl Json<'a>) -> BTreeMap<String, String> {
    let mut read = BTreeMap::new();
    for (key, label) in labels.entries().into_iter().flatten() {
        if let Some(label) = label.as_str() {
            read.insert(key.to_owned(), label.to_owned());
        }
    }
    read
}

/// Where the shapes have the namespace: v0.18 and later, v0.15 to v0.17, v0.10 to v0.14.
const NAMESPACES: [&[&str]; 3] = [
    &["spec", "namespace"],
    &["spec", "install", "namespace"],
    &["spec", "installNamespace"],
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_shape_names_its_namespace_and_its_labels() {
        for spec in [
            json!({"namespace": "ns"}),
            json!({"install": {"namespace": "ns"}}),
            json!({"installNamespace": "ns"}),
        ] {
            let object = json!({"metadata": {"labels": {"tier": "a", "odd": 1}}, "spec": spec});
            let subject = PolicySubject::read(&object);
            assert_eq!(subject.namespace, "ns");
            assert_eq!(
                subject.labels,
                BTreeMap::from([("tier".to_owned(), "a".to_owned())])
            );
        }
        for object in [json!({}), json!(null), json!({"metadata": {"labels": []}})] {
            assert_eq!(PolicySubject::read(&object), PolicySubject::default());
        }
    }
}
