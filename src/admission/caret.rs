//! A line of a text of an object, with a caret below the place where it cannot be read.

use serde_json::Value;

/// The line that has byte `at` of the text of a field such as `spec.rules.windows[0].timeZone`, and a caret below it;
/// none if the field has no text.
pub(super) fn pointed_at(object: &Value, path: &str, at: usize) -> Option<String> {
    let text = value(object, path)?.as_str()?;
    let at = text.floor_char_boundary(at);
    let (before, after) = text.split_at_checked(at)?;
    let before: Vec<char> = before.rsplit('\n').next()?.chars().collect();
    let shown = before.len().min(BESIDE);
    let skipped = before.get(before.len() - shown..)?;
    let rest = after.split('\n').next()?.chars().take(BESIDE);
    let line: String = skipped.iter().copied().chain(rest).map(printable).collect();
    Some(format!("  {line}\n  {}^", " ".repeat(shown)))
}

/// The value of a field.
fn value<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    let mut steps = path.split(['.', '[']).filter(|step| !step.is_empty());
    steps.try_fold(object, |value, step| match step.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(step),
    })
}

/// One character stays one, so that the caret is below its place.
fn printable(character: char) -> char {
    if character.is_control() || is_invisible(character) {
        ' '
    } else {
        character
    }
}

/// Marks that turn the direction of a text, or have no width.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

/// How many characters are shown on each side of the place.
const BESIDE: usize = 60;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn points(text: &str, at: usize, expected: &str) {
        let object = json!({"spec": {"rules": [{}, {"expression": text}]}});
        let found = pointed_at(&object, "spec.rules[1].expression", at);
        assert_eq!(found.as_deref(), Some(expected), "{text:?} {at}");
    }

    #[test]
    fn the_caret_is_below_the_place() {
        points(">=1 <x", 5, "  >=1 <x\n       ^");
        points(">=1", 3, "  >=1\n     ^");
        points(">=1", 99, "  >=1\n     ^");
        points("ä <x", 4, "  ä <x\n     ^");
    }

    #[test]
    fn of_several_lines_the_right_one_is_shown() {
        points("a &&\nb c\n&& d", 7, "  b c\n    ^");
        points("a\tb\u{202e}c", 5, "  a b c\n     ^");
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides() {
        let text = "a".repeat(200);
        let half = "a".repeat(60);
        points(
            &text,
            100,
            &format!("  {half}{half}\n  {}^", " ".repeat(60)),
        );
    }

    #[test]
    fn without_a_text_there_is_nothing_to_point_at() {
        for path in ["", "spec", "spec.rules[7]", "spec.rules[x]", "a.b"] {
            assert_eq!(pointed_at(&json!({"spec": {"rules": [1]}}), path, 0), None);
        }
    }
}
