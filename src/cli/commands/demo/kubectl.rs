//! What kubectl prints for a reply of the webhook, told from its bytes alone.
//!
//! Upstream: Kubernetes, [`apiserver/pkg/admission/plugin/webhook/errors/statuserror.go`] (the words
//! before the message) and kubectl, [`pkg/cmd/util/helpers.go`] (the words before those).
//!
//! [`apiserver/pkg/admission/plugin/webhook/errors/statuserror.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go
//! [`pkg/cmd/util/helpers.go`]: https://github.com/kubernetes/kubectl/blob/v0.36.1/pkg/cmd/util/helpers.go

use std::fmt::Write as _;

use hyper::StatusCode;
use serde::Deserialize;

use crate::cli::commands::demo::case::{Case, GROUP};
use crate::cli::commands::demo::client::ReceivedReply;

/// Why a reply is none that an API server would take.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplyError {
    #[error("the webhook answered {status}: {body}")]
    Status { status: StatusCode, body: String },
    #[error("the webhook's reply is not an AdmissionReview: {0}")]
    Json(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct Review {
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    allowed: bool,
    #[serde(default)]
    status: Status,
    #[serde(default)]
    warnings: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Status {
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
}

/// The lines that a user sees, each with its line break.
pub(super) fn prints(case: &Case, received: &ReceivedReply) -> Result<String, ReplyError> {
    if received.status != StatusCode::OK {
        return Err(ReplyError::Status {
            status: received.status,
            body: String::from_utf8_lossy(&received.body)
                .trim_end()
                .to_owned(),
        });
    }
    let review: Review = serde_json::from_slice(&received.body)?;
    Ok(lines(case, &review.response))
}

fn lines(case: &Case, response: &Response) -> String {
    let mut lines = String::new();
    for warning in &response.warnings {
        writeln!(lines, "Warning: {warning}").expect("a String takes everything");
    }
    let last = if response.allowed {
        format!(
            "clusterextension.{GROUP}/{} {}",
            case.extension,
            case.done()
        )
    } else {
        refusal(case, &response.status)
    };
    writeln!(lines, "{last}").expect("a String takes everything");
    lines
}

fn refusal(case: &Case, status: &Status) -> String {
    let reason = match status.reason.as_str() {
        "" => String::new(),
        reason => format!(" ({reason})"),
    };
    format!(
        "Error from server{reason}: {}admission webhook \"{WEBHOOK}\" denied the request: {}",
        case.context(),
        status.message
    )
}

/// The name of the webhook in its configuration.
const WEBHOOK: &str = "validate.olmguard.dev";
