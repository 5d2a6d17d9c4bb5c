mod arbitrary;
mod errors;
mod objects;
mod positions;
mod splitting;
mod values;

use serde_json::Value;

use super::{Document, DocumentError, documents};

/// What a file holds, errors as their texts.
fn contents(file: &[u8]) -> Vec<(usize, Result<Value, String>)> {
    let content = |outcome: Result<Document, DocumentError>| match outcome {
        Ok(document) => (document.index, Ok(document.value)),
        Err(error) => (error.index, Err(error.to_string())),
    };
    documents(file).map(content).collect()
}

#[track_caller]
fn only(file: impl AsRef<[u8]>) -> Document {
    let mut documents = documents(file.as_ref());
    let document = documents
        .next()
        .expect("one document")
        .expect("a good document");
    assert!(documents.next().is_none(), "one document only");
    document
}

#[track_caller]
fn error(file: impl AsRef<[u8]>) -> String {
    let mut errors = documents(file.as_ref()).filter_map(Result::err);
    errors.next().expect("an error").to_string()
}
