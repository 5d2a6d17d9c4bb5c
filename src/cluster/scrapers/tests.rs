//! Scrapers and the answers of an API server about them, in virtual time.

use std::time::Duration;

use futures_util::future::join_all;
use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::time::{Instant, advance, timeout};

use super::Scrapers;
use crate::cluster::FaultClass;
use crate::cluster::scrapers::{ALLOWED, MOST, PATIENCE, PLACES, REFUSED, RulingCache, TokenHash};
use crate::cluster::tests::logged;
use olmguard_server::telemetry::{Authorizer, ScrapeDenied};
use olmguard_support::api::{ApiServer, Trouble};

const TOKENS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";

const ACCESSES: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

const USER: &str = "system:serviceaccount:monitoring:prometheus-k8s";

/// Returns an API server that gives this answer for every token, and for every user.
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

/// Returns an API server for which every token belongs to [`USER`].
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

/// Returns the kinds of the reviews that were sent to the API server, in order.
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

// === The use that clients can cause is bounded: cache size, cache time and concurrent requests ===

const A_MOMENT: Duration = Duration::from_millis(1);

fn reviews(api: &ApiServer) -> usize {
    let asked = api.asked().into_iter();
    asked.filter(|asked| asked.path == TOKENS).count()
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_for_its_time_and_no_longer() {
    for (is_allowed, life) in [(true, ALLOWED), (false, REFUSED)] {
        let api = api(is_allowed);
        let scrapers = Scrapers::new(api.client());
        let first = scrapers.authorize("t-1").await;
        assert_eq!(first.is_ok(), is_allowed);
        advance(life.saturating_sub(A_MOMENT)).await;
        assert_eq!(scrapers.authorize("t-1").await, first);
        assert_eq!(reviews(&api), 1);
        advance(A_MOMENT).await;
        assert_eq!(scrapers.authorize("t-1").await, first);
        assert_eq!(reviews(&api), 2);
    }
}

/// This also holds while the API server is unavailable: a client that was allowed a moment ago still is.
#[tokio::test(start_paused = true)]
async fn each_token_is_one_of_its_own() {
    let api = api(true);
    let scrapers = Scrapers::new(api.client());
    assert_eq!(scrapers.authorize("t-1").await, Ok(()));
    api.trouble(Trouble::Refused, |_| true);
    assert_eq!(scrapers.authorize("t-1").await, Ok(()));
    for other in ["t-2", "t-", "t-11", "T-1"] {
        assert_eq!(
            scrapers.authorize(other).await,
            unavailable(FaultClass::Unreachable)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_unknown_tokens_takes_bounded_room_and_not_that_of_a_scraper() {
    let mut known = RulingCache::default();
    let now = Instant::now();
    let scraper = TokenHash::of("scraper");
    known.insert(scraper, Ok(()), now);
    for number in 0..10 * MOST {
        let key = TokenHash::of(&number.to_string());
        known.insert(key, Err(ScrapeDenied::Unauthenticated), now);
        assert!(known.0.len() <= MOST);
        assert_eq!(
            known.get(&key, now),
            Some(Err(ScrapeDenied::Unauthenticated))
        );
    }
    assert_eq!(known.0.len(), MOST);
    assert_eq!(known.get(&scraper, now), Some(Ok(())));
    known.insert(scraper, Ok(()), now + ALLOWED);
    assert_eq!(known.0.len(), 1, "what is too old is not kept");
}

#[tokio::test(start_paused = true)]
async fn few_tokens_are_asked_about_at_once_and_nobody_waits_for_long() {
    let api = api(true);
    api.trouble(Trouble::Silent, |_| true);
    let scrapers = Scrapers::new(api.client());
    let tokens: Vec<_> = (0..10 * PLACES).map(|number| number.to_string()).collect();
    let begun = Instant::now();
    let mut all = Box::pin(join_all(
        tokens.iter().map(|token| scrapers.authorize(token)),
    ));
    assert!(
        timeout(PATIENCE.saturating_sub(A_MOMENT), &mut all)
            .await
            .is_err()
    );
    assert_eq!(reviews(&api), PLACES);
    let rulings = all.await;
    assert_eq!(rulings, vec![unavailable(FaultClass::Silent); tokens.len()]);
    assert!(begun.elapsed() <= PATIENCE + A_MOMENT);
}

/// Two replicas of Prometheus share one token, and may come at the same time.
#[tokio::test(start_paused = true)]
async fn who_waited_for_a_place_learns_what_others_were_told_of_the_same_token() {
    let api = api(true);
    let scrapers = Scrapers::new(api.client());
    let all = join_all((0..10 * PLACES).map(|_| scrapers.authorize("t-1"))).await;
    assert_eq!(all, vec![Ok(()); 10 * PLACES]);
    assert_eq!(reviews(&api), PLACES);
}

// === Answers and log lines, which never contain a token ===

/// A token as long as those of service accounts.
fn token() -> String {
    "c4n4ry-s3cr3t.".repeat(80)
}

/// Makes the API server reject both reviews with this status and message.
fn refusing(code: u16, message: &str) -> ApiServer {
    let api = ApiServer::start();
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": "Invalid", "code": code,
    });
    let code = StatusCode::from_u16(code).unwrap();
    for path in [TOKENS, ACCESSES] {
        api.route(path, code, status.to_string());
    }
    api
}

/// An API server may repeat the token that it was sent, whole or at the point where a text is truncated.
#[test]
fn a_token_that_the_api_server_repeats_is_in_no_line() {
    let token = token();
    let lines = logged(async || {
        for message in [
            format!("spec.token: Invalid value: \"{token}\": too long"),
            format!("{} {token}", "x".repeat(390)),
        ] {
            let scrapers = Scrapers::new(refusing(422, &message).client());
            assert!(scrapers.authorize(&token).await.is_err());
        }
        let error = json!({"error": format!("unknown token {token}")});
        for (review, access) in [
            (error, json!({})),
            (json!({"authenticated": token}), json!({})),
            (
                json!({"authenticated": true, "user": user()}),
                json!({"allowed": token}),
            ),
        ] {
            let scrapers = Scrapers::new(api_with(&review, &access).client());
            let denied = scrapers.authorize(&token).await.unwrap_err();
            assert!(!denied.to_string().contains("c4n4ry"), "{denied}");
        }
    });
    let errors: Vec<_> = lines
        .iter()
        .map(|line| line["error"].as_str().unwrap())
        .collect();
    let [whole, cut, unknown, rest @ ..] = &errors[..] else {
        panic!("{errors:?}")
    };
    assert!(
        whole.ends_with("422: spec.token: Invalid value: \"[token]\": too long"),
        "{whole}"
    );
    assert!(cut.contains("xxx"), "{cut}");
    assert_eq!(*unknown, "unknown token [token]");
    let expected = "an answer that is not the requested review";
    assert_eq!(rest, [expected; 2]);
}

#[test]
fn an_api_server_that_is_away_is_logged_once_a_minute() {
    let lines = logged(async || {
        let api = api(true);
        api.trouble(Trouble::Refused, |_| true);
        let scrapers = Scrapers::new(api.client());
        for second in 0..61 {
            assert!(scrapers.authorize(&second.to_string()).await.is_err());
            advance(Duration::from_secs(1)).await;
        }
    });
    let said: Vec<_> = lines
        .iter()
        .map(|line| (&line["level"], &line["message"], &line["class"]))
        .collect();
    let message = json!("Failed to check the token of a metrics client, answering 503");
    let expected = (&json!("WARN"), &message, &json!("unreachable"));
    assert_eq!(said, [expected; 2]);
}

#[test]
fn refusals_are_for_debugging_and_name_no_user() {
    let lines = logged(async || {
        let unknown = api_with(&json!({"error": "it has expired"}), &json!({}));
        for api in [api(false), unknown, api(true)] {
            let scrapers = Scrapers::new(api.client());
            for _ in 0..3 {
                // A cached answer is not logged again.
                drop(scrapers.authorize("t-1").await);
            }
        }
    });
    let said: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["level"].as_str().unwrap(),
                line["message"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        (
            "DEBUG",
            "Denied a metrics client, its user cannot get /metrics",
        ),
        ("DEBUG", "Denied a metrics client, its token is invalid"),
    ];
    assert_eq!(said, expected);
    assert!(
        !lines
            .iter()
            .any(|line| line.to_string().contains("prometheus")),
        "{lines:?}"
    );
}

#[test]
fn a_client_is_told_what_is_missing() {
    for (denied, expected) in [
        (
            ScrapeDenied::Unauthenticated,
            "unauthorized: expected the header \"Authorization: Bearer TOKEN\" with a valid token of this \
             cluster",
        ),
        (
            ScrapeDenied::Forbidden {
                user: "a:b".to_owned(),
            },
            "forbidden: user \"a:b\" cannot get the nonResourceURL /metrics",
        ),
        (
            ScrapeDenied::Unavailable {
                class: FaultClass::Silent,
            },
            "cannot check the token: no answer from the API server (silent); the log of olmguard has the \
             details",
        ),
    ] {
        assert_eq!(denied.to_string(), expected);
    }
}
