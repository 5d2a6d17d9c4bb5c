//! The paths of the schemas inside the schema of a version.

use serde_json::Value;

use crate::crd::CrdGeneration;
use crate::crd::schema::{SchemaNode, element, items};

/// All schemas of a version with their paths, in byte order of the paths. Names are not escaped in a path, so one
/// schema can hide another.
///
/// Invariant: every path is unique.
#[derive(Debug)]
pub(super) struct Paths<'a>(Vec<PathNode<'a>>);

#[derive(Debug)]
struct PathNode<'a> {
    path: Box<str>,
    schema: &'a SchemaNode,
}

/// A limit of comparisons. Each protects the memory or the time of a process from a CRD that anyone may write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ComparisonLimit {
    /// The levels of a schema. No API server accepts as many.
    Levels,
    /// The text of paths and findings. A path repeats the names of all fields that contain it.
    Text,
    /// The bytes that are compared for one CRD. A schema is compared again with each schema that contains it, and with
    /// each other version.
    Work,
    /// The bytes that are compared for all CRDs of a bundle.
    WorkOfBundle,
}

impl ComparisonLimit {
    /// The fault of a version that exceeds the limit.
    pub(super) fn exceeded_by(self, version: &str) -> String {
        match self {
            Self::Levels => format!(
                "the schema of version {version} is nested too deep: expected at most {MOST_LEVELS} levels"
            ),
            Self::Text => format!(
                "the paths of version {version} are too long: expected at most {MOST_TEXT} bytes"
            ),
            Self::Work => format!(
                "the comparison of version {version} takes too long: expected at most {MOST_COMPARED} compared bytes"
            ),
            Self::WorkOfBundle => format!(
                "the comparison of version {version} takes too long: expected at most {MOST_COMPARED_OF_BUNDLE} compared \
                 bytes for all CRDs of a bundle"
            ),
        }
    }
}

/// The number of bytes that comparisons of one bundle may still use.
#[derive(Clone, Debug)]
pub struct ComparisonBudget {
    text: usize,
    work: usize,
    limit: ComparisonLimit,
}

impl Default for ComparisonBudget {
    /// The budget of a bundle.
    fn default() -> Self {
        Self {
            text: MOST_TEXT,
            work: MOST_COMPARED_OF_BUNDLE,
            limit: ComparisonLimit::WorkOfBundle,
        }
    }
}

impl ComparisonBudget {
    /// The part of this budget that one CRD may use.
    pub(super) fn of_crd(&self) -> Self {
        if self.work < MOST_COMPARED {
            return self.clone();
        }
        Self {
            text: self.text,
            work: MOST_COMPARED,
            limit: ComparisonLimit::Work,
        }
    }

    /// Subtracts what a CRD used of the part that it got: its work, and the text that is kept of it.
    pub(super) fn settle(&mut self, left: &Self, kept: usize) {
        self.work -= self.of_crd().work - left.work;
        self.text = self.text.saturating_sub(kept);
    }

    /// Subtracts bytes of text.
    pub(super) fn spend_text(&mut self, bytes: usize) -> Result<(), ComparisonLimit> {
        let left = self.text.checked_sub(bytes);
        self.text = left.ok_or(ComparisonLimit::Text)?;
        Ok(())
    }

    /// Subtracts bytes that are compared.
    pub(super) fn spend_work(&mut self, bytes: usize) -> Result<(), ComparisonLimit> {
        let left = self.work.checked_sub(bytes);
        self.work = left.ok_or(self.limit)?;
        Ok(())
    }
}

impl<'a> Paths<'a> {
    /// Returns the paths in a schema; no paths if there is no schema.
    pub(super) fn of(
        schema: Option<&'a SchemaNode>,
        generation: CrdGeneration,
        budget: &mut ComparisonBudget,
    ) -> Result<Self, ComparisonLimit> {
        let mut walk = PathWalk {
            has_own_paths: generation >= CrdGeneration::V1_9,
            path: String::from("^"),
            budget,
            found: Vec::new(),
        };
        if let Some(schema) = schema {
            walk.at(schema, 0)?;
        }
        let mut found = walk.found;
        // The sort is stable and `dedup_by` keeps the first of equal neighbours, so the schema that was found last
        // remains.
        found.reverse();
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found.dedup_by(|one, other| one.path == other.path);
        Ok(Self(found))
    }

    /// Iterates over the paths, each with its schema and the schema at the same path of the other version.
    pub(super) fn beside<'p>(
        &'p self,
        other: &'p Self,
    ) -> impl Iterator<Item = (&'p str, &'a SchemaNode, Option<&'a SchemaNode>)> {
        let mut others = other.0.iter().peekable();
        self.0.iter().map(move |node| {
            while others.next_if(|it| it.path < node.path).is_some() {}
            let after = others.next_if(|it| it.path == node.path);
            (&*node.path, node.schema, after.map(|it| it.schema))
        })
    }
}

/// A walk over a schema and all schemas inside it, in the order of upstream. Of two schemas with one path, the later
/// counts.
struct PathWalk<'a, 'b> {
    /// Whether schemas other than properties, items and map values have paths of their own. Otherwise such a schema
    /// replaces the schema that contains it.
    has_own_paths: bool,
    path: String,
    budget: &'b mut ComparisonBudget,
    found: Vec<PathNode<'a>>,
}

impl<'a> PathWalk<'a, '_> {
    fn at(&mut self, schema: &'a SchemaNode, depth: usize) -> Result<(), ComparisonLimit> {
        if depth == MOST_LEVELS {
            return Err(ComparisonLimit::Levels);
        }
        let bytes = self.path.len() + size_of::<PathNode<'_>>();
        self.budget.spend_text(bytes)?;
        let path = Box::from(self.path.as_str());
        self.found.push(PathNode { path, schema });
        // Most schemas contain no other schema, and this check is faster than a look-up of each field.
        let mut fields = schema.values();
        if fields.any(|field| field.is_object() || field.is_array()) {
            self.children(schema, depth + 1)?;
        }
        Ok(())
    }

    fn children(&mut self, schema: &'a SchemaNode, depth: usize) -> Result<(), ComparisonLimit> {
        self.items(schema, depth)?;
        for name in ["allOf", "anyOf", "oneOf"] {
            for (at, child) in items(schema.get(name)).enumerate() {
                let at = at.to_string();
                self.own(&[".", name, "[", &at, "]"], element(child), depth)?;
            }
        }
        self.own(&[".not"], object(schema, "not"), depth)?;
        for (name, child) in members(schema, "properties") {
            let suffix = if name.is_empty() {
                ["[", "]"]
            } else {
                [".", name]
            };
            self.child(&suffix, element(child), depth)?;
        }
        let suffix = if self.has_own_paths {
            ".additionalProperties"
        } else {
            "[*]"
        };
        self.child(&[suffix], object(schema, "additionalProperties"), depth)?;
        self.others(schema, depth)
    }

    fn items(&mut self, schema: &'a SchemaNode, depth: usize) -> Result<(), ComparisonLimit> {
        let name = if self.has_own_paths { ".items" } else { "" };
        for (at, item) in items(schema.get("items")).enumerate() {
            let at = at.to_string();
            self.child(&[name, "[", &at, "]"], element(item), depth)?;
        }
        let suffix = if self.has_own_paths { ".items" } else { "[*]" };
        self.child(&[suffix], object(schema, "items"), depth)
    }

    fn others(&mut self, schema: &'a SchemaNode, depth: usize) -> Result<(), ComparisonLimit> {
        for (name, child) in members(schema, "patternProperties") {
            let suffix = [".patternProperties[", name, "]"];
            self.own(&suffix, element(child), depth)?;
        }
        let child = object(schema, "additionalItems");
        self.own(&[".additionalItems"], child, depth)?;
        for (name, child) in members(schema, "definitions") {
            self.own(&[".definitions[", name, "]"], element(child), depth)?;
        }
        for (name, child) in members(schema, "dependencies") {
            self.own(&[".dependencies[", name, "]"], child.as_object(), depth)?;
        }
        Ok(())
    }

    /// Visits a child with a path of its own or, in the older generation, with the path of the schema that contains
    /// it.
    fn own(
        &mut self,
        suffix: &[&str],
        child: Option<&'a SchemaNode>,
        depth: usize,
    ) -> Result<(), ComparisonLimit> {
        let suffix = if self.has_own_paths { suffix } else { &[] };
        self.child(suffix, child, depth)
    }

    fn child(
        &mut self,
        suffix: &[&str],
        child: Option<&'a SchemaNode>,
        depth: usize,
    ) -> Result<(), ComparisonLimit> {
        let Some(child) = child else {
            return Ok(());
        };
        let before = self.path.len();
        self.path.extend(suffix.iter().copied());
        let walked = self.at(child, depth);
        self.path.truncate(before);
        walked
    }
}

fn object<'a>(schema: &'a SchemaNode, field: &str) -> Option<&'a SchemaNode> {
    schema.get(field).and_then(Value::as_object)
}

fn members<'a>(
    schema: &'a SchemaNode,
    field: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    object(schema, field).into_iter().flatten()
}

/// The maximum number of levels in a schema. API servers accept fewer, because they limit cost and size.
const MOST_LEVELS: usize = 250;

/// The maximum size of the texts in a comparison, and of the findings in all CRDs of a bundle, in bytes. An object in
/// a cluster is smaller than 2 MiB, and a large CRD has 3 MiB of paths.
const MOST_TEXT: usize = 64 << 20;

/// The maximum size of the schemas in all comparisons of the versions of a CRD, in bytes. Two versions of a large CRD
/// have 20 MiB.
const MOST_COMPARED: usize = 256 << 20;

/// The same for all CRDs of a bundle. The manifests of a bundle have room for about thirty large CRDs.
const MOST_COMPARED_OF_BUNDLE: usize = 4 * MOST_COMPARED;
