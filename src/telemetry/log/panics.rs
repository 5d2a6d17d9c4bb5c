//! A panic as one line of the log, with the review that it struck.
//!
//! A message that was put together may quote the object under review (that of a slice out of
//! bounds quotes the text), so only messages that are literal texts of a program are written; the
//! place is told in any case.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::{self, PanicHookInfo};

use tracing::{error, field};

use crate::telemetry::log::shown::shown;

/// While it is held, panics of this thread are said to have struck this review.
#[derive(Debug)]
#[must_use = "the review is known until it is dropped"]
pub struct ReviewScope {
    before: Option<String>,
    /// What is said of one thread must not move to another.
    of_this_thread: PhantomData<*const ()>,
}

/// A review of this uid is judged by this thread until the guard is dropped.
pub fn reviewing(uid: &str) -> ReviewScope {
    ReviewScope {
        before: UID.replace(Some(uid.to_owned())),
        of_this_thread: PhantomData,
    }
}

/// Logs panics from now on, in place of the text of several lines on stderr.
pub fn log_panics() {
    panic::set_hook(Box::new(say));
}

impl Drop for ReviewScope {
    fn drop(&mut self) {
        UID.set(self.before.take());
    }
}

fn say(panic: &PanicHookInfo<'_>) {
    let uid = UID.try_with(|uid| uid.try_borrow().ok().and_then(|uid| uid.clone()));
    let uid = uid.ok().flatten();
    let literal = panic.payload().downcast_ref::<&'static str>();
    error!(
        uid = uid.as_deref().map(shown),
        panic = shown(literal.copied().unwrap_or(NOT_LITERAL)),
        location = panic.location().map(field::display),
        "Panicked"
    );
}

thread_local! {
    static UID: RefCell<Option<String>> = const { RefCell::new(None) };
}

const NOT_LITERAL: &str = "not shown: the message may quote what was judged";
