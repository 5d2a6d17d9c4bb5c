//! Why a body is no review that can be answered.

/// Why a body is no review that can be answered. The texts are of one line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReviewError {
    /// It is not JSON.
    #[error("not an AdmissionReview: not JSON: {0}")]
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
