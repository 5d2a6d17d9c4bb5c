//! Requests that get no review back: the reason, and the response.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tracing::{debug, error};

use crate::server::body::BodyError;
use crate::telemetry::metrics::DecodeError;
use olmguard_admission::ReviewError;

/// Why a request gets no review back.
#[derive(Debug, thiserror::Error)]
pub(super) enum Rejection {
    #[error("content-type is not JSON: expected application/json")]
    MediaType,
    #[error("content-encoding is not identity: expected a body that is not compressed")]
    Encoding,
    #[error("transfer-encoding is not supported: expected chunked, or a content-length")]
    TransferCoding,
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Review(#[from] ReviewError),
    #[error("no worker is free in time: expected fewer reviews at once; try again")]
    Busy,
    #[error("internal fault: the review cannot be answered; please report this")]
    Lost,
}

impl Rejection {
    fn status(&self) -> StatusCode {
        match self {
            Self::MediaType | Self::Encoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TransferCoding => StatusCode::NOT_IMPLEMENTED,
            Self::Body(BodyError::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(BodyError::NoRoom(_)) | Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Body(BodyError::TooSlow(_)) => StatusCode::REQUEST_TIMEOUT,
            Self::Body(BodyError::Broken(_)) | Self::Review(_) => StatusCode::BAD_REQUEST,
            Self::Lost => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// What was wrong with the request; none where it was us.
    pub(super) fn class(&self) -> Option<DecodeError> {
        Some(match self {
            Self::MediaType | Self::Encoding | Self::TransferCoding => DecodeError::MediaType,
            Self::Body(BodyError::TooLarge) => DecodeError::TooLarge,
            Self::Body(BodyError::NoRoom(_)) => DecodeError::NoMemory,
            Self::Body(BodyError::TooSlow(_)) => DecodeError::Timeout,
            Self::Body(BodyError::Broken(_)) => DecodeError::Body,
            Self::Review(error) => error.into(),
            Self::Busy | Self::Lost => return None,
        })
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        if matches!(self, Self::Lost) {
            error!(error = %self, "Failed to answer a request");
        } else {
            debug!(error = %self, "Rejected a request");
        }
        (self.status(), format!("{self}\n")).into_response()
    }
}
