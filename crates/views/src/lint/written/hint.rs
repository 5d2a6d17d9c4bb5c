//! What somebody may have meant whose text is none.

/// The first line of YAML whose value begins with `>` and goes on as no block does.
pub(super) fn unquoted(text: &[u8]) -> Option<Box<str>> {
    let lines = text.split(|byte| *byte == b'\n');
    let mut lines = lines.filter_map(|line| str::from_utf8(line).ok());
    let line = lines.find(|line| {
        let value = line.split_once(": ").map(|(_, value)| value.trim());
        value.is_some_and(|value| value.starts_with('>') && value.contains(['=', '.', '<']))
    })?;
    Some(line.trim().chars().take(SHOWN).collect::<String>().into())
}

/// How many characters of a line a hint shows.
const SHOWN: usize = 80;
