//! Whatever becomes of the API server, the watch comes back, and does not press.

use hyper::StatusCode;

use super::*;
use crate::cluster::line::{ANSWER, PACE, SECONDS};
use olmguard_support::api::{Asked, error_line};

/// The longest pause with its jitter.
const PAUSE: Duration = Duration::from_mins(1);

async fn following(api: &ApiServer) -> Told {
    api.put(V1, catalog("a"));
    api.put(V1, catalog("b"));
    let mut told = Told::by(api);
    told.says("listed a b").await;
    told.alive().await;
    told
}

#[tokio::test(start_paused = true)]
async fn history_that_is_gone_is_listed_anew() {
    let api = cluster();
    let mut told = following(&api).await;
    api.send(&error_line(
        StatusCode::GONE,
        "too old resource version: 1 (2)",
    ));
    told.says("lost gone").await;
    told.says("listed a b").await;
}

#[tokio::test(start_paused = true)]
async fn what_vanished_while_nobody_watched_is_not_listed() {
    let api = cluster();
    let mut told = following(&api).await;
    api.trouble(Trouble::Refused, |_| true);
    api.break_watches();
    told.says("lost unreachable").await;
    api.delete(V1, "a");
    api.put(V1, catalog("c"));
    api.compact();
    api.heal();
    told.says("listed b c").await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_in_good_order_goes_on_where_it_was() {
    let api = cluster();
    let mut told = following(&api).await;
    api.end_watches();
    api.put(V1, catalog("c"));
    told.says("applied c").await;
    api.end_watches();
    api.compact();
    told.says("lost gone").await;
    told.says("listed a b c").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_is_asked_in_growing_pauses() {
    let api = cluster();
    let mut told = following(&api).await;
    let away = Instant::now();
    api.trouble(Trouble::Refused, |_| true);
    api.break_watches();
    told.says("lost unreachable").await;
    let healing = api.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_mins(10)).await;
        healing.heal();
    });
    // Not a word between: it would be another one than this.
    told.says("listed a b").await;
    let most = Duration::from_mins(10) + PAUSE;
    assert!(away.elapsed() <= most, "{:?}", away.elapsed());

    let asked = api.asked();
    let tries: Vec<_> = asked
        .iter()
        .map(|asked| asked.at)
        .filter(|at| *at > away)
        .collect();
    let pauses: Vec<_> = tries.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let during = &pauses[..pauses.len() - 2];
    assert!((10..40).contains(&during.len()), "{during:?}");
    let least = Duration::from_millis(800);
    assert!(
        during.iter().all(|pause| (least..=PAUSE).contains(pause)),
        "{during:?}"
    );
    let (shortest, longest) = (during[0], *during.last().unwrap());
    assert!(
        shortest <= 4 * least && longest >= Duration::from_secs(30),
        "{during:?}"
    );
    // Without jitter each would be the least one doubled a few times, or the longest.
    let longest = Duration::from_secs(30);
    let is_bare = |pause: &Duration| {
        let bare = (0..6).map(|times| least * (1 << times)).chain([longest]);
        bare.into_iter()
            .any(|bare| pause.abs_diff(bare) < Duration::from_millis(5))
    };
    assert!(!during.iter().all(is_bare), "no jitter: {during:?}");
}

#[tokio::test(start_paused = true)]
async fn each_try_that_fails_is_told_with_what_it_failed_of() {
    let api = cluster();
    let mut told = following(&api).await;
    api.trouble(Trouble::Status(StatusCode::BAD_GATEWAY), |_| true);
    api.break_watches();
    told.says("lost unreachable").await;
    let asked = api.asked().len();
    let mut lost = async || {
        let WatchEvent::Lost(fault) = told.event().await else {
            panic!("something else told");
        };
        fault.words
    };
    for _ in 0..5 {
        assert_eq!(lost().await, "the API server answers 502: as the test says");
    }
    assert_eq!(api.asked().len(), asked + 5);
    api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |_| true);
    let mut words = lost().await;
    if words.contains("502") {
        // It was on its way.
        words = lost().await;
    }
    assert_eq!(words, "the API server answers 503: as the test says");
}

#[tokio::test(start_paused = true)]
async fn each_answer_that_is_a_refusal_is_survived() {
    for (code, class) in [
        (401, "unauthorized"),
        (403, "forbidden"),
        (429, "throttled"),
        (500, "server"),
        (503, "server"),
        (418, "refused"),
    ] {
        let api = cluster();
        let mut told = following(&api).await;
        let code = StatusCode::from_u16(code).unwrap();
        api.trouble(Trouble::Status(code), |_| true);
        api.break_watches();
        // The connection that broke is the first reason, the refusal the next one.
        told.says("lost unreachable").await;
        told.says(&format!("lost {class}")).await;
        api.heal();
        told.says("listed a b").await;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_may_list_and_not_watch_is_told_again_and_again_without_haste() {
    let api = cluster();
    api.put(V1, catalog("a"));
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), Asked::is_watch);
    let mut told = Told::by(&api);
    let since = Instant::now();
    for _ in 0..8 {
        told.says("listed a").await;
        told.says("lost forbidden").await;
    }
    assert!(
        since.elapsed() > Duration::from_mins(1),
        "{:?}",
        since.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_no_event_is_answered_with_a_new_list() {
    let api = cluster();
    let mut told = following(&api).await;
    api.send("{\"type\": \"ADDED\", \"object\": [}");
    told.says("lost undecodable").await;
    told.says("listed a b").await;
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_is_told_within_the_watch_is_one() {
    let api = cluster();
    let mut told = following(&api).await;
    api.send(&error_line(
        StatusCode::INTERNAL_SERVER_ERROR,
        "etcd is away",
    ));
    let WatchEvent::Lost(fault) = told.next().await else {
        panic!("something else told");
    };
    assert_eq!(fault.words, "the API server answers 500: etcd is away");
    assert_eq!(fault.class.as_str(), "server");
    told.says("listed a b").await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_on_which_nothing_comes_any_more_is_noticed() {
    let api = cluster();
    let mut told = following(&api).await;
    let since = Instant::now();
    api.trouble(Trouble::Silent, |_| true);
    told.says("lost silent").await;
    let margin = Duration::from_secs(5);
    let bound = Duration::from_secs(SECONDS.into()) + margin + ANSWER;
    assert!(since.elapsed() <= bound, "{:?}", since.elapsed());
    api.heal();
    told.says("listed a b").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_each_watch_at_once_is_not_asked_without_a_pause() {
    let api = cluster();
    api.trouble(Trouble::Empty, Asked::is_watch);
    let mut told = Told::by(&api);
    told.says("listed ").await;
    let since = Instant::now();
    // The answer to each watch is one sign.
    for _ in 0..50 {
        told.alive().await;
    }
    assert!(since.elapsed() >= 48 * PACE, "{:?}", since.elapsed());
}
