//! `match`: which extensions a policy applies to.

use olmguard_catalog::members::{self, Members, TextRule};
use serde_json::Value;

use crate::change::Subject;
use crate::fault::{FaultList, PolicyProblem};
use crate::limits;
use olmguard_catalog::dns1123;
use olmguard_catalog::selector::{LabelSelector, Selector, SelectorTexts};
use olmguard_catalog::version::go::escape;

/// The criteria that an extension must meet; an absent one always matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    packages: Option<Vec<Box<str>>>,
    selector: Selector,
    namespaces: Option<Vec<Box<str>>>,
    /// Whether `spec.match` is invalid, so the intended extensions are unknown.
    pub(crate) is_unread: bool,
}

impl Matching {
    /// Reads `spec.match`. If it has a fault, the result matches everything: a typo must not exempt
    /// an extension from a policy that is meant for it.
    pub(crate) fn read(value: &Value, faults: &mut FaultList) -> Self {
        let before = faults.count();
        let read = Self::parts(value, faults);
        read.filter(|_| faults.count() == before)
            .unwrap_or_else(Self::unread)
    }

    /// Returns criteria that match everything, because `spec.match` is invalid.
    pub(crate) fn unread() -> Self {
        Self {
            is_unread: true,
            ..Self::default()
        }
    }

    fn parts(value: &Value, faults: &mut FaultList) -> Option<Self> {
        let members = Members::of(value, PATH, KEYS, faults)?;
        let packages = names(&members, "packages", &PACKAGES, faults);
        let selector = members.get("extensionSelector");
        let selector = selector.and_then(|value| self::selector(value, faults));
        Some(Self {
            packages,
            selector: selector.unwrap_or_else(Selector::everything),
            namespaces: names(&members, "namespaces", &NAMESPACES, faults),
            is_unread: false,
        })
    }

    /// The package names or wildcard patterns, one of which an extension must match.
    pub(crate) fn packages(&self) -> Option<&[Box<str>]> {
        self.packages.as_deref()
    }

    /// Whether anything but the package affects the match.
    pub(crate) fn is_by_extension(&self) -> bool {
        self.namespaces.is_some() || !self.selector.is_everything()
    }

    /// A label that an extension must have, with the allowed values.
    pub(crate) fn required_label(&self) -> Option<(&str, &[Box<str>])> {
        self.selector.required_label()
    }

    /// Whether a package is matched.
    pub(crate) fn is_about(&self, package: &str) -> bool {
        let packages = self.packages.as_ref();
        packages.is_none_or(|any| any.iter().any(|pattern| covers(pattern, package)))
    }

    /// Whether an extension is matched.
    pub(crate) fn holds(&self, subject: &Subject<'_>) -> bool {
        let namespaces = self.namespaces.as_ref();
        self.is_about(subject.package)
            && namespaces.is_none_or(|any| any.iter().any(|name| **name == *subject.namespace))
            && (too_many(subject) || self.selector.matches(subject.labels))
    }
}

/// Whether there are more labels than are read. A selector cannot see the rest.
fn too_many(subject: &Subject<'_>) -> bool {
    subject.labels.len() > limits::SUBJECT_ENTRIES
}

/// The rule for the names in a list.
struct NameRule {
    many: &'static str,
    one: &'static str,
    is_one: fn(&str) -> bool,
}

const PACKAGES: NameRule = NameRule {
    many: "a list of package names",
    one: "a package name, with * for any characters",
    is_one: is_pattern,
};

const NAMESPACES: NameRule = NameRule {
    many: "a list of namespaces",
    one: "the name of a namespace (no wildcard)",
    is_one: dns1123::is_label,
};

fn names(
    members: &Members<'_>,
    key: &str,
    names: &NameRule,
    faults: &mut FaultList,
) -> Option<Vec<Box<str>>> {
    let rule = TextRule::filled(names.one, limits::NAME_BYTES);
    let mut read = Vec::new();
    for (path, item) in members.some_items(key, names.many, faults)? {
        let Some(name) = members::text(item, path.clone(), rule, faults) else {
            continue;
        };
        if !(names.is_one)(name) {
            faults.report(path, PolicyProblem::name(name, names.one));
        }
        read.push(name.into());
    }
    Some(read)
}

fn is_pattern(text: &str) -> bool {
    // Each wildcard is replaced by a letter: the rest must be able to occur in a name.
    dns1123::is_subdomain(&text.replace('*', "a"))
}

/// Whether a pattern covers a name. `*` stands for any characters, or none.
///
/// Each run between wildcards matches at its first occurrence, so the name is read once.
fn covers(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (inner, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut left) = name.strip_prefix(head) else {
        return false;
    };
    for run in inner.split('*') {
        let Some(after) = left.find(run).and_then(|at| left.get(at + run.len()..)) else {
            return false;
        };
        left = after;
    }
    left.ends_with(tail)
}

const PATH: &str = "spec.match";
const KEYS: &[&str] = &["packages", "extensionSelector", "namespaces"];

// === `match.extensionSelector`, a label selector of Kubernetes ===

/// Reads the selector; `None` if it has a fault.
fn selector(value: &Value, faults: &mut FaultList) -> Option<Selector> {
    let before = faults.count();
    check_selector(value, faults);
    if faults.count() > before {
        return None;
    }
    // The check above reports every value of another type.
    let selector = LabelSelector::read(value).ok()?;
    let selector = Selector::compile(&selector, SelectorTexts::JsonBytes)
        .map_err(|error| PolicyProblem::Selector(Box::new(error)));
    faults.take(selector, || SELECTOR.to_owned())
}

/// Reports what Go's decoder ignores in a selector (unknown fields), and what it does not limit
/// (sizes).
fn check_selector(value: &Value, faults: &mut FaultList) {
    let Some(members) = Members::of(value, SELECTOR, SELECTOR_KEYS, faults) else {
        return;
    };
    if let Some(labels) = members.get("matchLabels") {
        check_labels(labels, &members.path_of("matchLabels"), faults);
    }
    let expected = "a list of requirements";
    for (path, item) in members
        .items("matchExpressions", expected, faults)
        .into_iter()
        .flatten()
    {
        let Some(requirement) = Members::of(item, &path, REQUIREMENT_KEYS, faults) else {
            continue;
        };
        for key in ["key", "operator"] {
            requirement.text(key, LABEL, faults);
        }
        for (path, value) in requirement
            .items("values", "a list of strings", faults)
            .into_iter()
            .flatten()
        {
            check_value(value, path, faults);
        }
    }
}

fn check_labels(value: &Value, path: &str, faults: &mut FaultList) {
    let Value::Object(labels) = value else {
        Members::any(value, path, faults);
        return;
    };
    members::bounded(labels.len(), path, faults);
    for (key, value) in labels.iter().take(limits::LIST_ENTRIES) {
        let key = escape(&limits::beginning(key, limits::ECHOED_BYTES));
        check_value(value, format!("{path}.{key}"), faults);
    }
}

/// A label value can be empty.
fn check_value(value: &Value, path: String, faults: &mut FaultList) {
    if value.as_str() != Some("") {
        members::text(value, path, LABEL, faults);
    }
}

const SELECTOR: &str = "spec.match.extensionSelector";
const SELECTOR_KEYS: &[&str] = &["matchLabels", "matchExpressions"];
const REQUIREMENT_KEYS: &[&str] = &["key", "operator", "values"];

const LABEL: TextRule = TextRule::filled("a string", limits::LABEL_BYTES);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        for (pattern, name, covered) in [
            ("argocd-operator", "argocd-operator", true),
            ("argocd-operator", "argocd-operator2", false),
            ("strimzi-*", "strimzi-kafka", true),
            ("strimzi-*", "strimzi-", true),
            ("strimzi-*", "strimzi", false),
            ("*", "", true),
            ("*", "anything", true),
            ("*-operator", "argocd-operator", true),
            ("*-operator", "operator", false),
            ("a*b*c", "abc", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("**", "x", true),
            ("a*ab", "aab", true),
            ("*ab*ab", "abab", true),
            ("*ab*ab", "ab", false),
        ] {
            assert_eq!(covers(pattern, name), covered, "{pattern} {name}");
        }
    }
}
