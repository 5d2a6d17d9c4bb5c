//! Review of an object that is read whole, unlike an extension: its subject, and its reply.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ReviewError;
use crate::decode::text;
use crate::reply::{ReplyStatus, bounded};
use crate::review::{API_VERSION, KIND};
use olmguard_engine::json_values;

/// What is asked.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectRequest<'a> {
    pub(super) uid: Cow<'a, str>,
    pub(super) kind: GroupVersionKind<'a>,
    pub(super) operation: Cow<'a, str>,
    #[serde(default)]
    sub_resource: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) old_object: Option<&'a RawValue>,
}

/// The kind of the object.
#[derive(Deserialize)]
pub(super) struct GroupVersionKind<'a> {
    pub(super) group: Cow<'a, str>,
    #[serde(default)]
    pub(super) version: Cow<'a, str>,
    pub(super) kind: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    api_version: Cow<'a, str>,
    kind: Cow<'a, str>,
    #[serde(borrow)]
    request: ObjectRequest<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectReply<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: ObjectResponse<'a>,
}

#[derive(Serialize)]
struct ObjectResponse<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a ReplyStatus<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

impl<'a> ObjectRequest<'a> {
    /// Reads a review from the bytes of a request's body; its objects are not read yet.
    ///
    /// # Errors
    /// If it is no review.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, ReviewError> {
        let read: Envelope<'_> = serde_json::from_str(text(body)?)
            .map_err(|error| ReviewError::Json(error.to_string()))?;
        read.check()?;
        Ok(read.request)
    }

    /// Whether it is about a whole object, not about a part of it such as its status.
    pub(super) fn is_whole(&self) -> bool {
        self.sub_resource.as_deref().unwrap_or_default().is_empty()
    }
}

impl Envelope<'_> {
    fn check(&self) -> Result<(), ReviewError> {
        let wrong = |field, found: &str, expected| ReviewError::Field {
            field,
            found: format!("{:?}", bounded(found, LONGEST)),
            expected,
        };
        if self.kind != KIND {
            return Err(wrong("kind", &self.kind, KIND));
        }
        if self.api_version != API_VERSION {
            return Err(wrong("apiVersion", &self.api_version, API_VERSION));
        }
        match self.request.uid.len() {
            1..=LONGEST => Ok(()),
            _ => Err(wrong(
                "request.uid",
                &self.request.uid,
                "a string of 1 to 128 bytes",
            )),
        }
    }
}

/// The object in a request, or why it cannot be read. A text that is larger than any object that can be read is not
/// looked at: it would be many times as large in memory. A map with one value takes 640 bytes there, so two objects with
/// the most values are within the memory of a large review.
pub(super) fn parsed(object: Option<&RawValue>) -> Result<Value, String> {
    let text = object.map_or("null", RawValue::get);
    if text.len() > LARGEST {
        return Err(format!(
            "larger than {LARGEST} bytes: expected a smaller object"
        ));
    }
    let counted = json_values::at_most(MOST_VALUES, text.as_bytes());
    let read = counted.and_then(|()| serde_json::from_str(text));
    read.map_err(|error| error.to_string())
}

/// Whether an object is being deleted.
pub(super) fn is_leaving(object: &Value) -> bool {
    let leaving = object.pointer("/metadata/deletionTimestamp");
    leaving.is_some_and(|at| !at.is_null())
}

/// The bytes of the reply to the review of this uid, which is refused if there is a status.
pub(super) fn reply(uid: &str, status: Option<&ReplyStatus<'_>>, warnings: &[String]) -> Vec<u8> {
    let reply = ObjectReply {
        api_version: API_VERSION,
        kind: KIND,
        response: ObjectResponse {
            uid,
            allowed: status.is_none(),
            status,
            warnings,
        },
    };
    serde_json::to_vec(&reply).expect("texts are JSON")
}

/// The most bytes of an object that is read: none within the limits of its kind is as large.
const LARGEST: usize = 1 << 20;

/// The most values of an object that is read.
const MOST_VALUES: usize = 20_000;

/// The most bytes of a `uid`, and of a word that an error repeats.
const LONGEST: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_up_to_its_limit() {
        let text = |bytes: usize| format!("{:?}", "x".repeat(bytes - 2));
        let read = |text: &str| {
            let object: Box<RawValue> = serde_json::from_str(text).unwrap();
            parsed(Some(&object))
        };
        assert!(read(&text(LARGEST)).is_ok());
        assert_eq!(
            read(&text(LARGEST + 1)).unwrap_err(),
            "larger than 1048576 bytes: expected a smaller object"
        );
        assert_eq!(parsed(None), Ok(Value::Null));
    }
}
