//! Files of this repository that are made from the program itself.

use std::path::Path;

/// Compares a committed file, named from the root of the repository, with what it should hold;
/// with `OLMGUARD_BLESS=1` in the environment writes it instead.
#[track_caller]
pub(crate) fn compare(file: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("OLMGUARD_BLESS").is_some_and(|bless| bless == "1") {
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect(file);
        std::fs::write(&path, expected).expect(file);
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == expected,
        "{file} is out of date; run the test again with OLMGUARD_BLESS=1 and look at the change.\n\
         committed:\n{committed}\nexpected:\n{expected}"
    );
}
