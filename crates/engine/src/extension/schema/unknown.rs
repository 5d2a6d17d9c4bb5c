//! The fields of an object that the table of its CRD does not have: an API server drops or refuses them.
//!
//! Left out: `status`, which an API server drops from a manifest anyway.

use crate::extension::Json;
use crate::extension::schema::SchemaRelease;
use crate::extension::schema::rule::{Crd, Field, ObjectRules, Schema};

/// A field that a CRD does not have.
#[derive(Debug)]
pub(in crate::extension) struct UnknownField<'o> {
    /// The way to it from the root of its object.
    pub(in crate::extension) path: Vec<&'o str>,
    /// What the object that it is in can have.
    pub(in crate::extension) siblings: Vec<&'static str>,
    /// Whether the experimental CRD of the release has it.
    pub(in crate::extension) is_experimental: bool,
}

/// The unknown fields in the order of their names, of too many the first ones. Without a release a field of any
/// release and of either CRD is known, and only fields of which a review keeps the names are found.
pub(super) fn unknown<'o>(
    schema: &Schema,
    olm: Option<SchemaRelease>,
    object: impl Json<'o>,
) -> Vec<UnknownField<'o>> {
    let mut search = UnknownSearch {
        olm,
        found: Vec::new(),
    };
    search.names(&[], object, ROOT);
    if let Some(metadata) = object.get("metadata") {
        search.names(&["metadata"], metadata, METADATA);
    }
    if let (Schema::Object(root), Some(spec)) = (schema, object.get("spec")) {
        let mut fields = root.fields.iter();
        if let Some(field) = fields.find(|field| field.name == "spec") {
            search.value(&["spec"], spec, field.schema);
        }
    }
    search.found
}

/// The paths of all fields of a table, but for those in lists.
pub(super) fn paths(schema: &Schema, olm: Option<SchemaRelease>) -> Vec<String> {
    let Schema::Object(rules) = schema else {
        return Vec::new();
    };
    let below = rules.fields.iter().filter(|field| is_known(field, olm));
    let below = below.flat_map(|field| {
        let deeper = paths(field.schema, olm).into_iter();
        let deeper = deeper.map(|path| format!("{}.{path}", field.name));
        [field.name.to_owned()].into_iter().chain(deeper)
    });
    below.collect()
}

fn is_known(field: &Field, olm: Option<SchemaRelease>) -> bool {
    olm.is_none_or(|olm| field.is_in(Crd::Standard, olm.minor))
}

struct UnknownSearch<'o> {
    olm: Option<SchemaRelease>,
    /// Invariant: at most [`MOST`].
    found: Vec<UnknownField<'o>>,
}

impl<'o> UnknownSearch<'o> {
    fn value(&mut self, at: &[&'o str], value: impl Json<'o>, schema: &Schema) {
        match schema {
            Schema::Object(rules) => self.object(at, value, rules),
            Schema::List { items, .. } => {
                let values = value.items().into_iter().flatten();
                for (index, value) in INDEXES.iter().zip(values) {
                    self.value(&[at, &[*index]].concat(), value, items);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, at: &[&'o str], object: impl Json<'o>, rules: &ObjectRules) {
        let olm = self.olm;
        let siblings = rules.fields.iter().filter(|field| is_known(field, olm));
        let siblings: Vec<_> = siblings.map(|field| field.name).collect();
        let is_experimental =
            |field: &&Field| olm.is_some_and(|olm| field.is_in(Crd::Experimental, olm.minor));
        for (name, value) in members(object) {
            let path = [at, &[name]].concat();
            let mut named = rules.fields.iter().filter(|field| field.name == name);
            let known = named.clone().find(|field| is_known(field, olm));
            let experimental = named.find(is_experimental);
            if known.is_none() {
                self.find(path.clone(), &siblings, experimental.is_some());
            }
            if let Some(field) = known.or(experimental) {
                self.value(&path, value, field.schema);
            }
        }
    }

    fn names(&mut self, at: &[&'o str], object: impl Json<'o>, known: &[&'static str]) {
        let unknown = members(object).into_iter().map(|(name, _)| name);
        let unknown = unknown.filter(|name| !known.contains(name));
        unknown.for_each(|name| self.find([at, &[name]].concat(), known, false));
    }

    fn find(&mut self, path: Vec<&'o str>, siblings: &[&'static str], is_experimental: bool) {
        let above = path.split_last().map(|(_, above)| above);
        let is_kept = self.olm.is_some() || above.is_some_and(|above| REVIEWED.contains(&above));
        if is_kept && self.found.len() < MOST {
            self.found.push(UnknownField {
                path,
                siblings: siblings.to_vec(),
                is_experimental,
            });
        }
    }
}

/// The members of an object in byte order of their names; none if it is no object.
fn members<'o, J: Json<'o>>(object: J) -> Vec<(&'o str, J)> {
    let mut members: Vec<_> = object.entries().into_iter().flatten().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members
}

/// The objects of which a review keeps the names of unknown fields.
const REVIEWED: [&[&str]; 3] = [
    &["spec"],
    &["spec", "source", "catalog"],
    &["spec", "install"],
];

/// An answer has room for no more.
const MOST: usize = 5;

/// The first items of a list, as parts of a path.
const INDEXES: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

const ROOT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];

/// The fields of apimachinery's `ObjectMeta`, and those of older ones.
const METADATA: &[&str] = &[
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
    "clusterName",
];
