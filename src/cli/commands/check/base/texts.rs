//! What a text may hold that cannot be read as a manifest.

use memchr::memmem;

use crate::manifest::placeholder;

/// Whether a text is about extensions or, where it spells letters otherwise, may be.
pub(super) fn is_about_extensions(text: &[u8]) -> bool {
    let mut words = WORDS.iter();
    words.any(|word| memmem::find(text, word.as_bytes()).is_some()) || spells(text)
}

/// Whether a name stands in a text, or may.
pub(super) fn may_name(text: &[u8], name: &[u8]) -> bool {
    let is_whole = |at: usize| {
        let after = text.get(at + name.len());
        let around = [before(text, at), after.copied()];
        !around.into_iter().flatten().any(is_of_name)
    };
    memmem::find_iter(text, name).any(is_whole) || spells(text)
}

/// Whether an extension in a text is given its name, or all of its metadata, by a template: then that may be
/// any.
pub(super) fn may_name_any(text: &[u8]) -> bool {
    let is_later = |key: &[u8], at: usize| {
        let is_longer = |byte| is_of_name(byte) || byte == b'/';
        let rest = text.get(at + key.len()..).unwrap_or_default();
        !before(text, at).is_some_and(is_longer) && is_rendered_later(rest)
    };
    let mut keys = [&b"name"[..], b"metadata"].into_iter();
    is_about_extensions(text)
        && keys.any(|key| memmem::find_iter(text, key).any(|at| is_later(key, at)))
}

/// Whether the value is a template in what follows a key.
fn is_rendered_later(rest: &[u8]) -> bool {
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let quote = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'"));
    let rest = quote.unwrap_or(rest).trim_ascii_start();
    let Some(value) = rest.strip_prefix(b":") else {
        return false;
    };
    let line = value.split(|byte| *byte == b'\n').next();
    let line = line.unwrap_or_default();
    if line.trim_ascii().is_empty() {
        return value.trim_ascii_start().starts_with(b"{{");
    }
    let text = std::str::from_utf8(line).unwrap_or_default();
    memmem::find(line, b"{{").is_some() || placeholder(text).is_some()
}

fn before(text: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| text.get(at)).copied()
}

/// Whether a name may go on with it.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

/// Whether there is an escape that stands for a letter, or breaks a word in two lines.
fn spells(text: &[u8]) -> bool {
    let mut escapes = memchr::memchr_iter(b'\\', text);
    let letter = |at: usize| text.get(at + 1).copied();
    escapes.any(|at| matches!(letter(at), Some(b'x' | b'u' | b'U' | b'\r' | b'\n')))
}

/// Every extension's kind has one of them in it.
const WORDS: [&str; 2] = ["ClusterExtension", "Operator"];

/// How much behind a key is looked at: more than any name may have.
const LONGEST: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_rendered_later_may_be_any() {
        for (metadata, expected) in [
            ("metadata:\n  name: {{ .Release.Name }}", true),
            ("metadata:\n  name: tower-{{ .Values.stage }}", true),
            (
                "metadata: {labels: {}, \"name\" : \"{{ .Values.name }}\"}",
                true,
            ),
            ("metadata:\n  name:\n    {{ .Release.Name }}", true),
            ("metadata:\n  {{- include \"meta\" . | nindent 2 }}", true),
            ("metadata:\n  name: tower-${STAGE}", true),
            ("metadata:\n  name: <your-name>", true),
            (
                "metadata:\n  name: tower\n  labels: {{ .Values.labels }}",
                false,
            ),
            ("metadata:\n  name: tower\n{{- if .Values.on }}", false),
            (
                "metadata:\n  name: tower\n  labels: {a/name: {{ .Release.Name }}}",
                false,
            ),
            (
                "metadata:\n  name: tower\nspec: {packageName: {{ .Values.package }}}",
                false,
            ),
            (
                "metadata:\n  name: tower\nspec: {hostname: {{ .Values.host }}}",
                false,
            ),
        ] {
            let text = |kind: &str| format!("kind: {kind}\n{metadata}\n").into_bytes();
            assert_eq!(
                may_name_any(&text("ClusterExtension")),
                expected,
                "{metadata}"
            );
            assert!(!may_name_any(&text("Service")), "{metadata}");
        }
    }
}
