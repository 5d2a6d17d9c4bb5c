//! What clients can make of it is bounded: what is kept, for how long, and what is asked at once.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, advance, timeout};

use super::{TOKENS, api, unavailable};
use crate::cluster::FaultClass;
use crate::cluster::scrapers::known::{ALLOWED, Key, MOST, REFUSED, RulingCache};
use crate::cluster::scrapers::{PATIENCE, PLACES, Scrapers};
use crate::telemetry::{Authorizer, ScrapeDenied};
use olmguard_support::api::{ApiServer, Trouble};

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

/// Also while the API server is away: who was allowed a moment ago still is.
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
    let scraper = Key::of("scraper");
    known.insert(scraper, Ok(()), now);
    for number in 0..10 * MOST {
        let key = Key::of(&number.to_string());
        known.insert(key, Err(ScrapeDenied::Unauthenticated), now);
        assert!(known.len() <= MOST);
        assert_eq!(
            known.get(&key, now),
            Some(Err(ScrapeDenied::Unauthenticated))
        );
    }
    assert_eq!(known.len(), MOST);
    assert_eq!(known.get(&scraper, now), Some(Ok(())));
    known.insert(scraper, Ok(()), now + ALLOWED);
    assert_eq!(known.len(), 1, "what is too old is not kept");
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

/// Two replicas of Prometheus have one token, and may come at once.
#[tokio::test(start_paused = true)]
async fn who_waited_for_a_place_learns_what_others_were_told_of_the_same_token() {
    let api = api(true);
    let scrapers = Scrapers::new(api.client());
    let all = join_all((0..10 * PLACES).map(|_| scrapers.authorize("t-1"))).await;
    assert_eq!(all, vec![Ok(()); 10 * PLACES]);
    assert_eq!(reviews(&api), PLACES);
}
