//! Reviews of objects that are read whole: policies and catalogs.
//!
//! The workers for edits of extensions also read these objects. If no worker is free in time, the API server applies
//! its `failurePolicy`, which is Ignore.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::Request;
use futures_util::FutureExt as _;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tracing::{debug, info};

use crate::catalog_preview::Preview;
use crate::handler::{Handler, Rejection, Telemetry};
use crate::limits::{Deadline, whole_review};
use crate::live_facts::moment;
use crate::telemetry::metrics::{CatalogReviewResult, PolicyObjectLabel};
use crate::tls::Clock as _;
use olmguard_admission::{CatalogReview, CatalogSubject, ObjectKind, ObjectReview, ReviewError};
use olmguard_views::audit_change::EditNote;

impl Handler {
    /// Answers the review of a policy.
    pub(crate) async fn admit_object(&self, request: Request) -> Result<Vec<u8>, Rejection> {
        self.counted(Instant::now(), self.object_reply(request))
            .await
    }

    /// Answers the review of a catalog. The effects of the edit are checked separately from edits of extensions.
    pub(crate) async fn admit_catalog(&self, request: Request) -> Result<Vec<u8>, Rejection> {
        self.counted(Instant::now(), self.catalog_reply(request))
            .await
    }

    async fn object_reply(&self, request: Request) -> Result<Vec<u8>, Rejection> {
        let deadline = Deadline::of(request.uri(), self.timeout);
        let judge = Arc::clone(&self.answers.judge);
        let read = move |body: &[u8]| ObjectReview::from_bytes(body, &judge.policies().upgrades);
        let read = self.read(request, deadline, read);
        let (review, _place) = read.await?;
        self.telemetry.object_answered(&review);
        Ok(review.to_bytes())
    }

    async fn catalog_reply(&self, request: Request) -> Result<Vec<u8>, Rejection> {
        let deadline = Deadline::of(request.uri(), self.timeout);
        let read = self.read(request, deadline, CatalogReview::from_bytes);
        let (review, _place) = read.await?;
        let preview = self.preview(&review, deadline).await?;
        self.telemetry.catalog_answered(&review, &preview);
        Ok(match &preview.refusal {
            Some(refusal) => review.denied(refusal, &preview.warnings, self.enforcement),
            None => review.allowed(&preview.warnings),
        })
    }

    /// Reads the review of an object whole, on a worker. The returned place must be kept for as long as any part of the
    /// review.
    async fn read<T: Send + 'static>(
        &self,
        request: Request,
        deadline: Deadline,
        read: impl FnOnce(&[u8]) -> Result<T, ReviewError> + Send + 'static,
    ) -> Result<(T, Option<OwnedSemaphorePermit>), Rejection> {
        let (peer, body) = self.body(request, deadline).await?;
        let memory = whole_review(body.bytes.len());
        let place = self.answers.place(memory, deadline).await?;
        let worker = self.answers.workers.one(peer, deadline).await;
        let worker = worker.map_err(|cause| {
            self.telemetry.unanswered(cause);
            Rejection::Busy
        })?;
        let telemetry = self.telemetry.clone();
        let reading = move || {
            let read = worker.work(|| telemetry.guarded(|| read(&body.bytes)));
            (read, place)
        };
        let (read, place) = tokio::task::spawn_blocking(reading)
            .await
            .map_err(|_| Rejection::Lost)?;
        Ok((read??, place))
    }

    async fn preview(
        &self,
        review: &CatalogReview,
        deadline: Deadline,
    ) -> Result<Preview, Rejection> {
        match (review.subject(), &self.previews) {
            (CatalogSubject::Idle, _) | (_, None) => Ok(Preview::idle()),
            (CatalogSubject::Unreadable(why), _) => {
                let note = EditNote::Unreadable(why.clone());
                Ok(Preview::only(CatalogReviewResult::Unreadable, &note))
            }
            (CatalogSubject::Edit(edit), Some(previews)) => {
                let now = moment(self.clock.now());
                let preview = previews.of(review.uid(), edit, now, deadline);
                let preview = AssertUnwindSafe(preview).catch_unwind().await;
                preview.ok().flatten().ok_or_else(|| {
                    self.telemetry.metrics.panicked();
                    Rejection::Lost
                })
            }
        }
    }
}

impl Telemetry {
    fn object_answered(&self, review: &ObjectReview) {
        let kind = match review.kind() {
            ObjectKind::UpgradePolicy => PolicyObjectLabel::UpgradePolicy,
            ObjectKind::UpgradeGuardrails => PolicyObjectLabel::UpgradeGuardrails,
            ObjectKind::Other => return,
        };
        let is_allowed = review.is_allowed();
        self.policies.reviewed(kind, is_allowed);
        let kind = kind.as_str();
        if !is_allowed {
            info!(
                uid = review.uid(),
                kind, "Denied a policy that is not valid"
            );
        }
        debug!(uid = review.uid(), kind, is_allowed, "Checked a policy");
    }

    fn catalog_answered(&self, review: &CatalogReview, preview: &Preview) {
        self.catalogs.reviewed(preview.result);
        if preview.refusal.is_some() {
            info!(
                uid = review.uid(),
                catalog = review.catalog(),
                "An upgrade policy denies an edit of a catalog"
            );
        }
        debug!(
            uid = review.uid(),
            result = preview.result.as_str(),
            warnings = preview.warnings.len(),
            "Checked an edit of a catalog"
        );
    }
}
