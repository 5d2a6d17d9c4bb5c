//! Why a body is no review that can be answered.

/// Why a body is no review that can be answered. The texts are of one line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReviewError {
    /// It has no byte.
    #[error("not an AdmissionReview: the body is empty: expected JSON")]
    Empty,
    /// It begins with a byte order mark.
    #[error(
        "not an AdmissionReview: the body begins with a byte order mark: expected JSON in UTF-8 without one"
    )]
    ByteOrderMark,
    /// It is not UTF-8.
    #[error(
        "not an AdmissionReview: the body is not UTF-8 from byte {at} on: expected JSON in UTF-8"
    )]
    NotUtf8 {
        /// How many bytes before it are.
        at: usize,
    },
    /// It holds a byte that is 0.
    #[error("not an AdmissionReview: byte {at} of the body is 0: expected JSON in UTF-8")]
    Nul {
        /// How many bytes stand before it.
        at: usize,
    },
    /// It is not JSON.
    #[error("not an AdmissionReview: not JSON: {0}: expected one value as in RFC 8259")]
    Json(String),
    /// A field is missing or holds what its API does not take.
    #[error("not an AdmissionReview: {field} is {found}: expected {expected}")]
    Field {
        /// The path of the field.
        field: &'static str,
        /// Its JSON type, or its value in quotes.
        found: String,
        /// What the API takes.
        expected: &'static str,
    },
}
