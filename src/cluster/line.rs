//! The connection of a watch to the API server: how long it may be silent, and what arrives on it.
//!
//! kube's watcher does not report bookmarks, nor a watch that it restarts where the last one ended. It waits for an
//! answer without a limit, and if a server ends each watch immediately, it restarts without a pause. So its requests go
//! through this module.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use form_urlencoded::parse;
use futures_util::{Stream, StreamExt};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::{Request, Response};
use kube::Client;
use kube::client::Body;
use kube::runtime::watcher::{self, Event};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tower_service::Service;

use crate::cluster::{ResponseTooLarge, Silent, WatchFault};
use olmguard_engine::json_values;

/// A signal for each sign of life on a watch: its answer, and each piece of the answer.
#[derive(Debug)]
pub(super) struct WatchSignal(watch::Receiver<()>);

/// Wraps a client, and returns the wrapped client and the signal of its watches.
pub(super) fn open(client: Client) -> (Client, WatchSignal) {
    let namespace = client.default_namespace().to_owned();
    let (signs, heard) = watch::channel(());
    let line = ObservedClient {
        client,
        signs: Arc::new(signs),
        next_watch: Arc::default(),
    };
    (Client::new(line, namespace), WatchSignal(heard))
}

impl WatchSignal {
    /// Waits for the next event of a watch on this line. `None` is a sign of life without an event.
    pub(super) async fn next<K>(
        &mut self,
        events: &mut (impl Stream<Item = watcher::Result<Event<K>>> + Unpin),
    ) -> Result<Option<Event<K>>, WatchFault> {
        tokio::select! {
            biased;
            Some(event) = events.next() => {
                self.forget();
                Ok(Some(event?))
            }
            () = self.sign() => Ok(None),
        }
    }

    /// Waits for a sign of life.
    async fn sign(&mut self) {
        if self.0.changed().await.is_err() {
            // The client was dropped, so no sign of life can come any more.
            std::future::pending::<Infallible>().await;
        }
    }

    /// Discards all signs of life so far.
    pub(super) fn forget(&mut self) {
        self.0.mark_unchanged();
    }
}

#[derive(Clone)]
struct ObservedClient {
    client: Client,
    signs: Arc<watch::Sender<()>>,
    next_watch: Arc<Mutex<Option<Instant>>>,
}

type Answer = Response<UnsyncBoxBody<Bytes, kube::Error>>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Service<Request<Body>> for ObservedClient {
    type Response = Answer;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, BoxError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let line = self.clone();
        Box::pin(async move {
            if is_watch(&request) {
                line.pace().await;
                line.watch(request).await
            } else {
                line.ask(request).await
            }
        })
    }
}

impl ObservedClient {
    /// Sends a request and reads its whole answer, so that an answer that stops half-way is noticed.
    async fn ask(&self, request: Request<Body>) -> Result<Answer, BoxError> {
        let whole = async { collected(self.client.send(request).await?, LARGEST).await };
        timeout(ANSWER, whole).await.map_err(|_| Silent(ANSWER))?
    }

    async fn watch(&self, request: Request<Body>) -> Result<Answer, BoxError> {
        let begun = timeout(ANSWER, self.client.send(request)).await;
        let response = begun.map_err(|_| Silent(ANSWER))??;
        if !response.status().is_success() {
            let whole = timeout(ANSWER, collected(response, LARGEST)).await;
            return whole.map_err(|_| Silent(ANSWER))?;
        }
        self.signs.send_replace(());
        let signs = Arc::clone(&self.signs);
        let heard = move |piece| {
            signs.send_replace(());
            piece
        };
        Ok(response.map(|body| body.map_frame(heard).boxed_unsync()))
    }

    /// Waits until another watch can start.
    async fn pace(&self) {
        let begin = {
            let mut next = self
                .next_watch
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let begin = next.unwrap_or(now).max(now);
            *next = Some(begin + PACE);
            begin
        };
        sleep_until(begin).await;
    }
}

async fn collected(response: Response<Body>, limit: usize) -> Result<Answer, BoxError> {
    let (parts, body) = response.into_parts();
    let whole = Limited::new(body, limit).collect().await;
    let whole = whole.map_err(|error| {
        if error.is::<LengthLimitError>() {
            let unit = "bytes";
            ResponseTooLarge { limit, unit }.into()
        } else {
            error
        }
    })?;
    let whole = whole.to_bytes();
    // A body in another format has no JSON values.
    if json_values::at_most(MOST_VALUES, &whole).is_err_and(|error| error.is_data()) {
        let (limit, unit) = (MOST_VALUES, "values");
        return Err(ResponseTooLarge { limit, unit }.into());
    }
    let body = Full::new(whole)
        .map_err(|never| match never {})
        .boxed_unsync();
    Ok(Response::from_parts(parts, body))
}

fn is_watch(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    parse(query.as_bytes()).any(|(key, value)| key == "watch" && value != "false")
}

/// The time limit for an answer, or for the start of a watch.
pub(super) const ANSWER: Duration = Duration::from_secs(30);
/// The largest answer, in bytes. A page of a list of usual objects is far smaller.
const LARGEST: usize = 64 << 20;
/// The most JSON values in an answer. A page of usual objects has some ten thousand. In memory, each value takes some
/// 60 bytes, and a map with one value 640.
const MOST_VALUES: usize = 200_000;
/// The duration of one watch, in seconds. A dead connection is noticed after this time at the latest.
pub(super) const SECONDS: u32 = 120;
/// The least time between the starts of two watches.
pub(super) const PACE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_is_taken_up_to_a_limit() {
        let body = || Response::new(Body::from(b"12345".to_vec()));
        let whole = collected(body(), 5).await.unwrap();
        let whole = whole.into_body().collect().await.unwrap();
        assert_eq!(whole.to_bytes(), "12345");
        let error = collected(body(), 4).await.expect_err("one byte too many");
        let fault = WatchFault::from(&kube::Error::Service(error));
        assert_eq!(fault.class.as_str(), "undecodable");
        assert_eq!(fault.words, "an answer of more than 4 bytes");
    }

    #[tokio::test]
    async fn an_answer_of_very_many_values_is_not_read() {
        for (values, is_taken) in [(MOST_VALUES, true), (MOST_VALUES + 1, false)] {
            let body = format!("[{}0]", "0,".repeat(values - 1)).into_bytes();
            let taken = collected(Response::new(Body::from(body)), LARGEST).await;
            assert_eq!(taken.is_ok(), is_taken);
            if let Err(error) = taken {
                let fault = WatchFault::from(&kube::Error::Service(error));
                assert_eq!(fault.words, "an answer of more than 200000 values");
            }
        }
        let text = Response::new(Body::from(b"no JSON".to_vec()));
        assert!(collected(text, LARGEST).await.is_ok());
    }
}
