//! The body of a request, whose end is noted: from then on the peer waits for us.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::server::pace::{Wait, WaitingFor};

/// The body of a request, whose end is noted.
#[derive(Debug)]
pub(super) struct ObservedBody {
    body: Incoming,
    pace: Arc<Wait>,
}

impl ObservedBody {
    pub(super) fn new(body: Incoming, pace: Arc<Wait>) -> Self {
        let awaited = Self { body, pace };
        if awaited.body.is_end_stream() {
            awaited.end();
        }
        awaited
    }

    fn end(&self) {
        if self.pace.waiting() == WaitingFor::Body {
            self.pace.change(WaitingFor::Answer);
        }
    }
}

impl Body for ObservedBody {
    type Data = <Incoming as Body>::Data;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) || self.body.is_end_stream() {
            self.end();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that nobody reads to its end is not waited for.
impl Drop for ObservedBody {
    fn drop(&mut self) {
        self.end();
    }
}
