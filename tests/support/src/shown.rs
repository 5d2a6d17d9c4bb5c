//! Commands as pages show them: in fenced blocks and inline.

/// A fenced block.
pub struct Block<'a> {
    pub language: &'a str,
    pub text: &'a str,
}

pub fn blocks(text: &str) -> impl Iterator<Item = Block<'_>> {
    text.split("```").skip(1).step_by(2).filter_map(|block| {
        let (language, text) = block.split_once('\n')?;
        Some(Block { language, text })
    })
}

/// Returns the inline code of a text.
pub fn inline(text: &str) -> impl Iterator<Item = &str> {
    let outside = text.split("```").step_by(2);
    outside.flat_map(|prose| prose.split('`').skip(1).step_by(2))
}

/// Returns every command line: in blocks, as typed or through cargo, and inline.
pub fn command_lines(text: &str) -> impl Iterator<Item = String> {
    let in_blocks = blocks(text).flat_map(|block| block.text.lines());
    in_blocks.chain(inline(text)).filter_map(|line| {
        let line = line.split("  # ").next().unwrap_or(line);
        let line = line.trim_start_matches("$ ").trim();
        let through_cargo = line
            .split_once("cargo run")
            .and_then(|(_, rest)| rest.split_once("-- "));
        match through_cargo {
            Some((_, arguments)) => Some(format!("olmguard {}", arguments.trim())),
            None => line.starts_with("olmguard ").then(|| line.to_owned()),
        }
    })
}

/// Splits a line as a shell does. Only single quotes around a whole word are supported.
pub fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(n, part)| match n % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

pub fn is_flag(word: &str) -> bool {
    word.starts_with('-') && word != "-" && word != "--"
}

pub fn lists(help: &str, flag: &str) -> bool {
    let name = flag.split('=').next().unwrap_or(flag);
    help.split(|c: char| c.is_whitespace() || c == ',' || c == '=')
        .any(|word| word == name)
}
