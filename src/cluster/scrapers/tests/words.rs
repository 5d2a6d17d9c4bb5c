//! What is said and logged, in which there is never a token.

use std::time::Duration;

use hyper::StatusCode;
use serde_json::json;
use tokio::time::advance;

use super::{ACCESSES, TOKENS, api, api_with, user};
use crate::cluster::FaultClass;
use crate::cluster::scrapers::Scrapers;
use crate::cluster::tests::logged::logged;
use crate::telemetry::{Authorizer, ScrapeDenied};
use olmguard_support::api::{ApiServer, Trouble};

/// As long as one of a service account.
fn token() -> String {
    "c4n4ry-s3cr3t.".repeat(80)
}

/// The API server refuses both reviews with this status and message, in its own words.
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

/// An API server may repeat what it was sent, whole or where a text is cut.
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
                // What is known already is not logged again.
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
