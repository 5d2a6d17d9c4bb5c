//! Scrapers and what an API server says of them, in virtual time.

mod bounds;
mod words;

use hyper::StatusCode;
use serde_json::{Value, json};

use super::Scrapers;
use crate::cluster::FaultClass;
use crate::telemetry::{Authorizer, ScrapeDenied};
use olmguard_support::api::{ApiServer, Trouble};

const TOKENS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const ACCESSES: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const USER: &str = "system:serviceaccount:monitoring:prometheus-k8s";

/// An API server that says this of every token, and of every user.
fn api_with(token: &Value, access: &Value) -> ApiServer {
    let api = ApiServer::start();
    let review = |kind: &str, group: &str, status: &Value| {
        let version = format!("{group}.k8s.io/v1");
        json!({"kind": kind, "apiVersion": version, "spec": {}, "status": status}).to_string()
    };
    let tokens = review("TokenReview", "authentication", token);
    api.route(TOKENS, StatusCode::CREATED, tokens);
    let accesses = review("SubjectAccessReview", "authorization", access);
    api.route(ACCESSES, StatusCode::CREATED, accesses);
    api
}

/// One to which every token is of [`USER`].
fn api(is_allowed: bool) -> ApiServer {
    api_with(
        &json!({"authenticated": true, "user": user()}),
        &json!({"allowed": is_allowed}),
    )
}

fn user() -> Value {
    json!({
        "username": USER, "uid": "u-1", "groups": ["system:serviceaccounts", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/pod-name": ["prometheus-k8s-0"]},
    })
}

fn unavailable(class: FaultClass) -> Result<(), ScrapeDenied> {
    Err(ScrapeDenied::Unavailable { class })
}

/// What was sent to the API server, in order, by the kind of the review.
fn sent(api: &ApiServer) -> Vec<(String, Value)> {
    let asked = api.asked().into_iter();
    let reviews = asked.map(|asked| {
        assert_eq!(asked.method, hyper::Method::POST);
        let mut review: Value = serde_json::from_slice(&asked.body).unwrap();
        (asked.path, review["spec"].take())
    });
    reviews.collect()
}

#[tokio::test]
async fn whose_token_it_is_is_asked_first_and_then_what_that_user_can_do() {
    let api = api(true);
    let scrapers = Scrapers::new(api.client());
    assert_eq!(scrapers.authorize("t-1").await, Ok(()));
    let mut access = user();
    access["user"] = access["username"].take();
    access.as_object_mut().unwrap().remove("username");
    access["nonResourceAttributes"] = json!({"path": "/metrics", "verb": "get"});
    let expected = [
        (TOKENS.to_owned(), json!({"token": "t-1"})),
        (ACCESSES.to_owned(), access),
    ];
    assert_eq!(sent(&api), expected);
}

#[tokio::test]
async fn a_token_that_the_cluster_does_not_know_is_refused_without_a_second_question() {
    for status in [
        json!({}),
        json!({"authenticated": false}),
        json!({"error": "[invalid bearer token, service account token has expired]"}),
        json!({"authenticated": false, "user": user()}),
    ] {
        let api = api_with(&status, &json!({"allowed": true}));
        let ruling = Scrapers::new(api.client()).authorize("t-1").await;
        assert_eq!(ruling, Err(ScrapeDenied::Unauthenticated), "{status}");
        assert_eq!(api.asked().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_user_without_the_right_is_named() {
    let ruling = Scrapers::new(api(false).client()).authorize("t-1").await;
    let user = USER.to_owned();
    assert_eq!(ruling, Err(ScrapeDenied::Forbidden { user }));
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_away_refuses_and_allows_nobody() {
    for path in [TOKENS, ACCESSES] {
        for (trouble, class) in [
            (Trouble::Refused, FaultClass::Unreachable),
            (Trouble::Silent, FaultClass::Silent),
            (Trouble::Empty, FaultClass::Undecodable),
            (
                Trouble::Status(StatusCode::FORBIDDEN),
                FaultClass::Forbidden,
            ),
            (
                Trouble::Status(StatusCode::UNAUTHORIZED),
                FaultClass::Unauthorized,
            ),
            (
                Trouble::Status(StatusCode::TOO_MANY_REQUESTS),
                FaultClass::Throttled,
            ),
            (
                Trouble::Status(StatusCode::INTERNAL_SERVER_ERROR),
                FaultClass::Server,
            ),
        ] {
            let api = api(true);
            api.trouble(trouble, move |asked| asked.path == path);
            let scrapers = Scrapers::new(api.client());
            let ruling = scrapers.authorize("t-1").await;
            assert_eq!(ruling, unavailable(class), "{path} {trouble:?}");
            api.heal();
            assert_eq!(scrapers.authorize("t-1").await, Ok(()), "nothing is kept");
        }
    }
}

#[tokio::test]
async fn an_answer_that_lacks_something_allows_nobody() {
    let known = json!({"authenticated": true, "user": user()});
    for (token, access) in [
        (json!(null), json!({"allowed": true})),
        (json!({"authenticated": true}), json!({"allowed": true})),
        (
            json!({"authenticated": true, "user": {}}),
            json!({"allowed": true}),
        ),
        (known, json!(null)),
    ] {
        let api = api_with(&token, &access);
        let ruling = Scrapers::new(api.client()).authorize("t-1").await;
        assert_eq!(
            ruling,
            unavailable(FaultClass::Undecodable),
            "{token} {access}"
        );
    }
}
