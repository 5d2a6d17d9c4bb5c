//! Checks of printed values against the committed schemas.

use std::path::Path;

use serde_json::Value;

/// Fails if a value does not fit the schema in this file, named relative to the root of the
/// repository.
#[track_caller]
pub fn assert_fits(file: &str, printed: &Value) {
    let path = Path::new(crate::ROOT).join(file);
    let schema = std::fs::read(path).expect(file);
    let schema = serde_json::from_slice(&schema).expect(file);
    let fault = jsonschema::validate(&schema, printed).err();
    let fault = fault.map(|fault| format!("{}: {fault}", fault.instance_path()));
    assert_eq!(fault, None, "{printed}");
}
