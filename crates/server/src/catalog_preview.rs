//! The effects of a catalog edit on the extensions that already run: `POST /validate-catalog`.
//!
//! ```text
//! review -> a worker reads it -> edit -> the catalogs after it -> list of extensions -> one preview at a time -> warnings
//!                            '-- nothing that counts: no warnings      '-- shared          '-- until the deadline
//! ```
//!
//! A preview checks every extension twice, which can take seconds. So it occupies no worker for edits of extensions,
//! its time does not count in their pace, and only one preview runs at a time. An edit is denied only if an upgrade
//! policy denies the bundle of a step that OLM would take automatically because of the edit, and the edit removes no
//! catalog.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use crate::judge::Guard;
use crate::limits::Deadline;
use crate::live_facts::FactsOfMoment;
use crate::telemetry::log::reviewing;
use crate::telemetry::metrics::CatalogReviewResult;
use olmguard_engine::audit::as_set_now;
use olmguard_engine::extension::Extension;
use olmguard_engine::judge::{Basis, Requester};
use olmguard_engine::snapshot::{CatalogEdit, EditedContent, Snapshot};
use olmguard_policy::Moment;
use olmguard_views::audit_change::{CatalogEditReport, CatalogRefusal, EditNote};

/// Lists the extensions that are installed.
pub trait ListExtensions: fmt::Debug + Send + Sync + 'static {
    /// Lists all extensions, as far as they can be listed.
    fn list(&self) -> Pin<Box<dyn Future<Output = Installations> + Send>>;
}

/// The extensions that are installed.
#[derive(Clone, Debug)]
pub struct Installations {
    /// The listed extensions.
    pub extensions: Arc<[Extension]>,
    /// The reason why the list may be incomplete, in one line.
    pub fault: Option<String>,
}

/// Answers reviews of catalogs.
#[derive(Debug)]
pub struct CatalogPreviews {
    guard: Guard,
    installed: Arc<dyn ListExtensions>,
    free: Arc<Semaphore>,
}

/// The answer to an edit.
#[derive(Clone, Debug)]
pub(super) struct Preview {
    pub(super) result: CatalogReviewResult,
    pub(super) warnings: Vec<String>,
    /// The reason why upgrade policies deny the edit, if they do.
    pub(super) refusal: Option<CatalogRefusal>,
}

/// An edit, with the facts to check it.
struct EditedSides {
    edit: CatalogEdit,
    facts: FactsOfMoment,
    /// The catalogs before the edit; absent if the snapshot of the moment has them.
    before: Option<Snapshot>,
    after: Snapshot,
    content: EditedContent,
    requester: Requester,
}

impl CatalogPreviews {
    /// Creates previews that use the catalogs of `guard` and the extensions that `installed` lists.
    pub fn new(guard: Guard, installed: Arc<dyn ListExtensions>) -> Self {
        Self {
            guard,
            installed,
            free: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Returns the preview of an edit that is made now, as far as time allows; none if checking it panicked. `uid` is
    /// the uid of the review.
    pub(super) async fn of(
        &self,
        uid: &str,
        edit: &CatalogEdit,
        now: Moment,
        deadline: Deadline,
    ) -> Option<Preview> {
        let Some(sides) = self.sides(uid, edit, now) else {
            let note = EditNote::UnknownContent(edit.name().to_owned());
            return Some(Preview::only(CatalogReviewResult::UnknownContent, &note));
        };
        let waiting = async {
            let installed = self.installed.list().await;
            let free = Arc::clone(&self.free).acquire_owned().await.ok();
            (installed, free)
        };
        let Ok((installed, free)) = timeout_at(deadline.at, waiting).await else {
            return Some(Preview::not_in_time());
        };
        let uid = uid.to_owned();
        let checking = spawn_blocking(move || {
            let _named = reviewing(&uid);
            // The permit is kept until the end, which is after the deadline if one extension takes long.
            let _free = free;
            sides.preview(&installed, deadline)
        });
        match timeout_at(deadline.at, checking).await {
            Ok(preview) => preview.ok(),
            Err(_) => Some(Preview::not_in_time()),
        }
    }

    /// Returns the edit with the facts to check it; none if its content is unknown.
    fn sides(&self, uid: &str, edit: &CatalogEdit, now: Moment) -> Option<EditedSides> {
        let _named = reviewing(uid);
        let facts = self.guard.facts().now();
        let edited = edit.after(&facts.snapshot);
        Some(EditedSides {
            edit: edit.clone(),
            before: edit.before(&facts.snapshot),
            facts,
            after: edited.snapshot?,
            content: edited.content,
            requester: Requester {
                at: now,
                ..Requester::unknown().clone()
            },
        })
    }
}

impl EditedSides {
    /// Checks one extension after the other, until none is left or the time is nearly over.
    fn preview(&self, installed: &Installations, deadline: Deadline) -> Preview {
        let Installations { extensions, fault } = installed;
        let end = deadline.at - deadline.within / RESERVE;
        let mut report = CatalogEditReport::of(self.edit.name());
        for extension in extensions.iter().take_while(|_| Instant::now() < end) {
            report.check(&as_set_now(extension, &self.requester), self.sides());
        }
        let unfinished = (report.checked() < extensions.len()).then(|| EditNote::Unfinished {
            checked: report.checked(),
            of: extensions.len(),
        });
        let result = self.result(fault.is_some(), unfinished.is_some());
        let notes = [
            fault.clone().map(EditNote::NotListed),
            unfinished,
            self.content_note().filter(|_| !extensions.is_empty()),
        ];
        let notes: Vec<_> = notes.into_iter().flatten().collect();
        let refusal = report
            .refusal()
            .filter(|_| self.edit.can_be_denied(&self.content));
        Preview {
            result: refusal
                .as_ref()
                .map_or(result, |_| CatalogReviewResult::Denied),
            warnings: report.warnings(&notes),
            refusal,
        }
    }

    fn sides(&self) -> [Basis<'_>; 2] {
        let before = self.before.as_ref().unwrap_or(&self.facts.snapshot);
        [before, &self.after].map(|snapshot| self.facts.basis(snapshot))
    }

    fn result(&self, is_unlisted: bool, is_unfinished: bool) -> CatalogReviewResult {
        match self.content {
            _ if is_unlisted => CatalogReviewResult::NotListed,
            _ if is_unfinished => CatalogReviewResult::NotInTime,
            EditedContent::Unknown => CatalogReviewResult::UnknownContent,
            EditedContent::Same | EditedContent::LoadedAs(_) => CatalogReviewResult::Checked,
        }
    }

    /// Returns a note about the content that the edit was checked with, if the edit names another image.
    fn content_note(&self) -> Option<EditNote> {
        let name = self.edit.name().to_owned();
        match &self.content {
            EditedContent::Same => None,
            EditedContent::LoadedAs(other) => Some(EditNote::LoadedAs(name, other.clone())),
            EditedContent::Unknown => Some(EditNote::PresentContent(name)),
        }
    }
}

impl Preview {
    /// A preview with a single warning.
    pub(super) fn only(result: CatalogReviewResult, note: &EditNote) -> Self {
        Self {
            result,
            warnings: vec![note.warning()],
            refusal: None,
        }
    }

    /// A preview without warnings, because the edit changes nothing that counts.
    pub(super) fn idle() -> Self {
        Self {
            result: CatalogReviewResult::Idle,
            warnings: Vec::new(),
            refusal: None,
        }
    }

    fn not_in_time() -> Self {
        Self::only(CatalogReviewResult::NotInTime, &EditNote::NotInTime)
    }
}

/// The most previews that run at the same time; each occupies a core.
const AT_ONCE: usize = 1;

/// The part of the time that must be left to check another extension, as a divisor. One takes some milliseconds at
/// most.
const RESERVE: u32 = 10;
