//! The connection of a watch to the API server: how long it may be silent, and what arrives on it.
//!
//! kube's watcher does not tell of bookmarks, nor of a watch that it begins again where the last
//! one ended; it waits for an answer for as long as that takes, and a server that ends each watch
//! at once is asked without a pause. So what it sends goes through here.

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

/// Tells when a watch is heard: its answer, and each piece of it.
#[derive(Debug)]
pub(super) struct WatchSignal(watch::Receiver<()>);

/// A client that asks through this line, and what is heard on it.
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
    /// Waits for the next event of a watch on this line; none is a sign of life without an event.
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

    /// Waits until a watch is heard.
    async fn sign(&mut self) {
        if self.0.changed().await.is_err() {
            // The line is gone, and with it whoever could be heard.
            std::future::pending::<Infallible>().await;
        }
    }

    /// Leaves out what was heard up to now.
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
    /// An answer that ends is taken whole, so that one that stops half-way is noticed.
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

    /// Waits until another watch may begin.
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
    // An answer in another format has no values.
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

/// How long an answer may take, or the beginning of a watch.
pub(super) const ANSWER: Duration = Duration::from_secs(30);
/// How large an answer may be, in bytes: a page of a list of usual objects is far below.
const LARGEST: usize = 64 << 20;
/// How many values an answer may have: a page of usual objects has some ten thousand. In memory each has some 60 bytes, a
/// map with one value 640.
const MOST_VALUES: usize = 200_000;
/// How long one watch lasts, in seconds; a line that is dead is noticed that late at most.
pub(super) const SECONDS: u32 = 120;
/// How far apart two watches begin at least.
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
