//! JSON that an extension is read from, whoever holds it and in whatever form.

use std::borrow::Cow;

use serde_json::Value;

use olmguard_catalog::json_type::JsonType;

/// A reference to a JSON value. `'a` is how long its texts live.
///
/// The program has two: serde's own, which manifests come in, and that of a review, which borrows
/// from the body.
pub trait Json<'a>: Copy {
    /// What it is.
    fn kind(self) -> JsonType;

    /// The value of a key; none where it is no map.
    fn get(self, key: &str) -> Option<Self>;

    /// The text, if it is one.
    fn as_str(self) -> Option<&'a str>;

    /// Which of the two, if it is `true` or `false`.
    fn as_bool(self) -> Option<bool>;

    /// The items, if it is a list.
    fn items(self) -> Option<impl Iterator<Item = Self>>;

    /// The keys in byte order; none where it is no map.
    fn keys(self) -> impl Iterator<Item = &'a str>;

    /// The same as serde's.
    fn to_value(self) -> Cow<'a, Value>;

    /// Whether it is `null`.
    fn is_null(self) -> bool {
        self.kind() == JsonType::Null
    }

    /// Whether it is a map.
    fn is_object(self) -> bool {
        self.kind() == JsonType::Object
    }

    /// The value at a path of keys such as `/spec/source`.
    fn pointer(self, path: &str) -> Option<Self> {
        path.split('/').skip(1).try_fold(self, Self::get)
    }
}

impl<'a> Json<'a> for &'a Value {
    fn kind(self) -> JsonType {
        JsonType::of(self)
    }

    fn get(self, key: &str) -> Option<Self> {
        Value::get(self, key)
    }

    fn as_str(self) -> Option<&'a str> {
        Value::as_str(self)
    }

    fn as_bool(self) -> Option<bool> {
        Value::as_bool(self)
    }

    fn items(self) -> Option<impl Iterator<Item = Self>> {
        self.as_array().map(|items| items.iter())
    }

    fn keys(self) -> impl Iterator<Item = &'a str> {
        let fields = self.as_object().into_iter();
        fields.flat_map(|fields| fields.keys().map(String::as_str))
    }

    fn to_value(self) -> Cow<'a, Value> {
        Cow::Borrowed(self)
    }
}
