//! Expected texts in the repository.

use std::fmt::Display;
use std::path::Path;
use std::{env, fs};

use anyhow::{Context, Result, ensure};

/// Compares with `golden/NAME.txt`, or writes it if `OLMGUARD_BLESS` is set.
pub(super) fn compare(name: &str, text: &str, by: impl Display) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(format!("{name}.txt"));
    if env::var_os("OLMGUARD_BLESS").is_some() {
        return Ok(fs::write(path, text)?);
    }
    let golden = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let differs = golden
        .lines()
        .zip(text.lines())
        .find(|(golden, text)| golden != text);
    ensure!(
        golden == text,
        "{name} by {by}: first difference {differs:#?}; after reading it, OLMGUARD_BLESS=1 writes it anew:\n{text}"
    );
    Ok(())
}
