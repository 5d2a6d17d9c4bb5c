//! Texts that stand in the repository: compared, or written anew.

use std::env;
use std::fs;
use std::path::Path;

/// Compares a text with a file; with `OLMGUARD_BLESS=1` writes the file instead.
#[track_caller]
pub(crate) fn compare(file: &Path, text: &str) {
    if env::var_os("OLMGUARD_BLESS").is_some_and(|bless| bless == "1") {
        fs::write(file, text).unwrap();
        return;
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    assert!(
        text == expected,
        "{} differs (OLMGUARD_BLESS=1 writes it anew):\n--- expected\n{expected}\n--- found\n{text}",
        file.display()
    );
}
