//! The counts of one file.

/// One Rust file.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct File {
    /// The number of lines that are not blank, not comments and not tests.
    pub(super) code: usize,
    /// The number of code lines of each function that is not a test.
    pub(super) functions: Vec<usize>,
    /// The names of the types that are defined outside of tests.
    pub(super) types: Vec<String>,
    /// The number of places where unused code is expected.
    pub(super) dead_code: usize,
}

impl File {
    /// Reads a file. For a test file, only `dead_code` is counted.
    pub(super) fn read(text: &str, is_test: bool) -> Self {
        let mut file = Self {
            dead_code: text.matches("dead_code").count(),
            ..Self::default()
        };
        if is_test {
            return file;
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            if line.trim() == "#[cfg(test)]"
                && lines.get(at + 1).is_some_and(|next| next.contains("mod "))
            {
                at += 1 + length(&lines, at + 1);
                continue;
            }
            file.take(line, &lines, at);
            at += 1;
        }
        file
    }

    fn take(&mut self, line: &str, lines: &[&str], at: usize) {
        if !is_code(line) {
            return;
        }
        self.code += 1;
        let mut words = line
            .split_whitespace()
            .skip_while(|word| QUALIFIERS.iter().any(|one| word.starts_with(one)));
        match (words.next(), words.next()) {
            (Some("fn"), _) => {
                let body = lines.iter().skip(at).take(length(lines, at));
                self.functions
                    .push(body.filter(|line| is_code(line)).count());
            }
            (Some("struct" | "enum" | "trait" | "union"), Some(name)) => {
                let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
                let name = end.map_or(name, |end| name.split_at(end).0);
                self.types.push(name.to_owned());
            }
            _ => {}
        }
    }
}

fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

/// The number of lines of the item that starts at a line. A string of several lines can end like an item, so a block
/// that is opened on the first line ends only at its brace.
fn length(lines: &[&str], at: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let first = lines.get(at).copied().unwrap_or_default();
    let is_block = first.ends_with('{');
    let ends = |line: &&str| {
        let is_outer = indent(line) == indent(first) && !line.is_empty();
        let is_end = match line.trim() {
            "}" => true,
            line => !is_block && (line.ends_with('}') || line.ends_with(';')),
        };
        is_outer && is_end
    };
    let rest = lines.iter().skip(at);
    1 + rest.take_while(|line| !ends(line)).count()
}

const QUALIFIERS: [&str; 4] = ["pub", "const", "async", "unsafe"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_comments_and_blanks_are_no_code() {
        let text = "\
//! A file.

pub(crate) struct One<'a>(&'a str);

impl One<'_> {
    /// Says so.
    pub(crate) async fn say(
        &self,
    ) -> &str {
        // Why.
        self.0
    }
}

#[cfg(test)]
mod tests {
    #[expect(dead_code, reason = \"\")]
    struct Two;
    const THREE: &str = \"
a: {b: c}
\";
}
enum Three {}
";
        let expected = File {
            code: 9,
            functions: vec![5],
            types: vec!["One".to_owned(), "Three".to_owned()],
            dead_code: 1,
        };
        assert_eq!(File::read(text, false), expected);
    }
}
