//! The two questions to the API server: whose token it is, and what that user can do.

use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};

use super::known::Ruling;
use super::tell;
use crate::cluster::fault::{FaultClass, WatchFault};
use crate::foreign_text::one_line;
use crate::telemetry::ScrapeDenied;

/// What the API server says of a token.
pub(super) async fn ruling(client: &Client, token: &str) -> Result<Ruling, WatchFault> {
    let Some(user) = user(client, token).await? else {
        return Ok(Err(ScrapeDenied::Unauthenticated));
    };
    let name = one_line(user.username.as_deref().unwrap_or_default());
    if can_read(client, token, user).await? {
        return Ok(Ok(()));
    }
    tell::forbidden();
    Ok(Err(ScrapeDenied::Forbidden { user: name }))
}

/// Whose it is; none if it is nobody's. It is asked without audiences, so the token has to be for the
/// API server, as the token of a service account in a pod is.
async fn user(client: &Client, token: &str) -> Result<Option<UserInfo>, WatchFault> {
    let review = TokenReview {
        spec: TokenReviewSpec {
            token: Some(token.to_owned()),
            audiences: None,
        },
        ..TokenReview::default()
    };
    let api: Api<TokenReview> = Api::all(client.clone());
    let answered = api.create(&PostParams::default(), &review).await;
    let status = answered.map_err(|error| fault(error, token))?.status;
    let status = status.ok_or_else(|| lacks("TokenReview", "status"))?;
    if status.authenticated != Some(true) {
        let error = status.error.unwrap_or_default();
        tell::unauthenticated(&one_line(&without(token, &error)));
        return Ok(None);
    }
    let user = status.user.filter(|user| user.username.is_some());
    user.map(Some).ok_or_else(|| lacks("TokenReview", "user"))
}

async fn can_read(client: &Client, token: &str, user: UserInfo) -> Result<bool, WatchFault> {
    let review = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: user.username,
            groups: user.groups,
            uid: user.uid,
            extra: user.extra,
            non_resource_attributes: Some(NonResourceAttributes {
                path: Some("/metrics".to_owned()),
                verb: Some("get".to_owned()),
            }),
            resource_attributes: None,
        },
        ..SubjectAccessReview::default()
    };
    let api: Api<SubjectAccessReview> = Api::all(client.clone());
    let answered = api.create(&PostParams::default(), &review).await;
    let status = answered.map_err(|error| fault(error, token))?.status;
    let status = status.ok_or_else(|| lacks("SubjectAccessReview", "status"))?;
    Ok(status.allowed)
}

/// Whatever an API server answers may repeat what it was sent, the token.
fn fault(error: kube::Error, token: &str) -> WatchFault {
    match error {
        kube::Error::Api(mut status) => {
            // Before the text is cut, which could leave a part of the token.
            status.message = without(token, &status.message);
            WatchFault::from(&kube::Error::Api(status))
        }
        kube::Error::SerdeError(_) => WatchFault {
            class: FaultClass::Undecodable,
            words: "an answer that is not the requested review".to_owned(),
        },
        other => WatchFault::from(&other),
    }
}

fn without(token: &str, text: &str) -> String {
    text.replace(token, "[token]")
}

fn lacks(kind: &str, field: &str) -> WatchFault {
    WatchFault {
        class: FaultClass::Undecodable,
        words: format!("the API server returned a {kind} without a {field}"),
    }
}
