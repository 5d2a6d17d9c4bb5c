//! Text that a tool fills in before a manifest is applied: `{{ x }}`, `${X}`, `$(x)`, `<x>`, `@X@`.
//!
//! No name, range, selector or word of an extension can contain such a text, so it is never a value.

use serde_json::Value;

use super::position::ValueStep;

/// A field that a tool fills in later.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Placeholder<'o> {
    /// The path of the field from the root of its object.
    pub(crate) path: Vec<ValueStep<'o>>,
    /// The placeholder, including its delimiters.
    pub(crate) text: &'o str,
}

/// Returns the first placeholder in a text. The search covers more than the longest valid value of
/// any field.
pub(crate) fn placeholder(text: &str) -> Option<&str> {
    let text = beginning(text, MOST_SEARCHED);
    let whole = surrounded(text, "__").filter(|found| found.len() == text.len());
    let mut starts = text.char_indices().filter_map(|(at, _)| text.get(at..));
    whole.or_else(|| starts.find_map(starting))
}

/// Returns the first placeholder in the fields below these paths, except below the paths in
/// `except`.
pub(crate) fn placeholder_in<'o>(
    object: &'o Value,
    below: &[&'o [&'o str]],
    except: &[&[&str]],
) -> Option<Placeholder<'o>> {
    below.iter().find_map(|keys| {
        let value = keys.iter().try_fold(object, |value, key| value.get(key))?;
        let path = keys.iter().map(|key| ValueStep::Key(key)).collect();
        search(path, value, except)
    })
}

/// Searches a value. The recursion is as deep as a document, which is bounded.
fn search<'o>(
    path: Vec<ValueStep<'o>>,
    value: &'o Value,
    except: &[&[&str]],
) -> Option<Placeholder<'o>> {
    let below = |step| path.iter().copied().chain([step]).collect::<Vec<_>>();
    match value {
        Value::String(text) => placeholder(text).map(|text| Placeholder { path, text }),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| search(below(ValueStep::Index(index)), item, except))
        }
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            let path = below(ValueStep::Key(key));
            let is_path = |keys: &&[&str]| {
                let steps = keys.iter().map(|key| ValueStep::Key(key));
                path.iter().copied().eq(steps)
            };
            if except.iter().any(is_path) {
                return None;
            }
            match placeholder(key) {
                Some(text) => Some(Placeholder { path, text }),
                None => search(path, value, except),
            }
        }),
        _ => None,
    }
}

/// Returns the name of a field: `spec.source.catalog.channels[0]`.
pub(crate) fn name(path: &[ValueStep<'_>]) -> String {
    let mut name = String::new();
    for step in path {
        match step {
            ValueStep::Key(key) if name.is_empty() => name.push_str(key),
            ValueStep::Key(key) => name.extend([".", key]),
            ValueStep::Index(index) => name.extend(["[", &index.to_string(), "]"]),
        }
    }
    name
}

/// Returns the placeholder at the start of a text.
pub(super) fn starting(text: &str) -> Option<&str> {
    let text = beginning(text, LONGEST);
    let mut pairs = PAIRS.iter();
    let pair = pairs.find_map(|(open, close)| {
        let inner = text.strip_prefix(open)?.find(close)?;
        text.get(..open.len() + inner + close.len())
    });
    let marked = || ["@", "%"].iter().find_map(|mark| surrounded(text, mark));
    pair.or_else(|| variable(text))
        .or_else(marked)
        .or_else(|| angled(text))
}

/// Matches `$VERSION`, as in shells and envsubst.
fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let length = word(name);
    (length > 0).then(|| text.get(..=length)).flatten()
}

/// Matches a word between two equal delimiters: `@VERSION@`.
fn surrounded<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let inner = text.strip_prefix(mark)?;
    let length = inner.find(mark)?;
    let is_word = length > 0 && word(inner.get(..length)?) == length;
    is_word.then(|| text.get(..length + 2 * mark.len()))?
}

/// Matches `<your-version>`, but not the bounds of `<2.0.0 >1.0.0`. The inner text starts with a
/// letter, ends like a word and is not a version, and no version follows the placeholder.
fn angled(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let length = inner.find('>')?;
    let (inner, behind) = (inner.get(..length)?, inner.get(length + 1..)?);
    let is_version = |text: &str| {
        let number = text.strip_prefix(['v', 'V']).unwrap_or(text);
        number.starts_with(|c: char| c.is_ascii_digit())
    };
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '_' | ':' | '/');
    let is_text = inner.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && inner.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        && inner.chars().all(is_inner);
    let is_bound = is_version(inner) || behind.starts_with('=') || is_version(behind);
    (is_text && !is_bound).then(|| text.get(..length + 2))?
}

/// Returns at most the first `most` bytes of a text.
fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// Returns the length of the variable name at the start of a text, in bytes.
fn word(text: &str) -> usize {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let is_name = !text.starts_with(|c: char| c.is_ascii_digit());
    if is_name { length } else { 0 }
}

/// Many times the longest value that OLM accepts.
const MOST_SEARCHED: usize = 4096;

/// The maximum length of a placeholder. It bounds the search for its end.
const LONGEST: usize = 512;

/// The delimiters of Helm, Go and Jinja; envsubst, Flux and OpenShift; Kustomize, Tekton and make;
/// ERB; Python; Octopus; Concourse.
const PAIRS: [(&str, &str); 9] = [
    ("{{", "}}"),
    ("{%", "%}"),
    ("{#", "#}"),
    ("${", "}"),
    ("$(", ")"),
    ("<%", "%>"),
    ("%(", ")"),
    ("#{", "}"),
    ("((", "))"),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_tool_fills_in_is_no_value() {
        for (text, found) in [
            ("{{ .Values.version }}", "{{ .Values.version }}"),
            (">={{ version }}", "{{ version }}"),
            (
                "{{- include \"x\" . | quote -}}",
                "{{- include \"x\" . | quote -}}",
            ),
            ("{{x}}-rc.1", "{{x}}"),
            ("{% if x %}1.0.0{% endif %}", "{% if x %}"),
            ("{# version #}", "{# version #}"),
            ("${VERSION}", "${VERSION}"),
            ("${VERSION:=1.0.0}", "${VERSION:=1.0.0}"),
            ("${{ inputs.version }}", "${{ inputs.version }"),
            ("lantern-${ENV}", "${ENV}"),
            ("$VERSION", "$VERSION"),
            ("v$VERSION.0", "$VERSION"),
            ("$$VERSION", "$VERSION"),
            ("$(params.version)", "$(params.version)"),
            ("$(VERSION)", "$(VERSION)"),
            ("<x>", "<x>"),
            ("<VERSION>", "<VERSION>"),
            ("<your version>", "<your version>"),
            ("release-<major.minor>", "<major.minor>"),
            ("<version>-rc", "<version>"),
            ("@VERSION@", "@VERSION@"),
            ("@@VERSION@@", "@VERSION@"),
            ("%VERSION%", "%VERSION%"),
            ("%(version)s", "%(version)"),
            ("__VERSION__", "__VERSION__"),
            ("<%= version %>", "<%= version %>"),
            ("#{Version}", "#{Version}"),
            ("((version))", "((version))"),
        ] {
            assert_eq!(placeholder(text), Some(found), "{text}");
        }
    }

    #[test]
    fn what_can_be_a_value_is_no_placeholder() {
        for text in [
            "",
            "1.2.3",
            "<2.0.0",
            ">1.0.0 <2.0.0",
            "<2.0.0 >1.0.0",
            "<2.0.0, >1.0.0",
            "<2.0.0 || >3.0.0",
            "<2.0.0||>3.0.0",
            "<v2.0.0 >v1.0.0",
            "<v2.0.0>v1.0.0",
            "<x >1",
            "<x>1.0.0",
            "<X >=1",
            "<x>=1",
            "<=2.0.0 >=1.0.0",
            "=<2.0.0 =>1.0.0",
            "<> 1.0.0",
            "~>1.2",
            "^1.0.0 || ~2.1",
            "1.*]",
            "|",
            "*",
            "1.0.0-rc.1+build.7",
            "1.0.0-a--b",
            "lantern-operator",
            "a__b__c",
            "A__B__C",
            "stable-v1.2",
            "olm.operatorframework.io/metadata.name",
            "registry.example/a__b/c@sha256:0123",
            "registry.example:5000/c:v1.0_x",
            "$",
            "100%",
            "a@b",
            "__",
            "____",
            "{",
            "CatalogProvided",
        ] {
            assert_eq!(placeholder(text), None, "{text}");
        }
    }

    #[test]
    fn the_first_field_is_named() {
        let object = json!({"kind": "K", "metadata": {"name": "n", "labels": {"a": "${A}"}},
            "spec": {"config": {"inline": {"a": "${B}"}}, "source": {"list": ["x", "${C}"]}}});
        let below: [&[&str]; 3] = [&["kind"], &["metadata", "name"], &["spec"]];
        let found = placeholder_in(&object, &below, &[&["spec", "config", "inline"]]);
        let found = found.map(|found| (name(&found.path), found.text));
        assert_eq!(found, Some(("spec.source.list[1]".to_owned(), "${C}")));
        let key = json!({"spec": {"matchLabels": {"{{ key }}": "x"}}});
        let found = placeholder_in(&key, &below, &[]).map(|found| found.text);
        assert_eq!(found, Some("{{ key }}"));
    }
}
