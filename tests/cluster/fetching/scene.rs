//! A catalogd, its CA, and a client.

use std::io::Read;
use std::path::Path;

use olmguard::source::catalogd::Catalogd;
use olmguard::source::http::{FetchError, FetchLimits, FetchedBody};
use olmguard::source::{Progress, SourceError, read_from};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};
use olmguard_server::telemetry::metrics::LoadFailure;
use tempfile::NamedTempFile;

use olmguard_support::catalogd::answer::Answer;
use olmguard_support::catalogd::authority::Authority;
use olmguard_support::catalogd::scripted::{Asked, Scripted};

/// A server with a valid certificate.
pub(crate) struct Scene {
    pub(crate) server: Scripted,
    pub(crate) ca: NamedTempFile,
    pub(crate) limits: FetchLimits,
}

impl Scene {
    pub(crate) async fn of(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let authority = Authority::new("catalogd");
        let ca = NamedTempFile::new().unwrap();
        std::fs::write(ca.path(), authority.pem()).unwrap();
        let server = Scripted::tls(authority.server(), script).await;
        let limits = FetchLimits::default();
        Self { server, ca, limits }
    }

    /// Starts a server that always gives this answer.
    pub(crate) async fn answering(answer: Answer) -> Self {
        Self::of(move |_| answer.clone()).await
    }

    /// Sets other limits.
    pub(crate) fn within(self, limits: FetchLimits) -> Self {
        Self { limits, ..self }
    }

    pub(crate) fn catalogd(&self) -> Catalogd {
        Catalogd::new(Some(self.ca.path()), self.limits).unwrap()
    }

    /// Fetches the content of the catalog `c`.
    pub(crate) async fn fetch(&self) -> Result<FetchedBody<String>, FetchError> {
        fetch(&self.catalogd(), &self.server).await
    }
}

/// Fetches the content of the catalog `c` from this catalogd.
pub(crate) async fn fetch(
    catalogd: &Catalogd,
    server: &Scripted,
) -> Result<FetchedBody<String>, FetchError> {
    catalogd.fetch(&server.base("c"), text).await
}

/// Returns the rest of the input as text.
pub(crate) fn text(input: &mut dyn Read) -> Result<String, SourceError> {
    let mut text = String::new();
    input.read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// Returns the input as a catalog.
pub(crate) fn catalog(input: &mut dyn Read) -> Result<Catalog, SourceError> {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    read_from("c", input, &Progress::default(), &mut builder)?;
    Ok(builder.finish().expect("no bound"))
}

pub(crate) fn unreadable(source: std::io::Error) -> SourceError {
    let (path, action) = ("c".into(), "read");
    SourceError::Io {
        path,
        action,
        source,
    }
}

/// Compares two errors of the same fault, and returns their class and message.
#[track_caller]
pub(crate) fn same(first: &FetchError, second: &FetchError) -> (&'static str, String) {
    assert_eq!(
        first.to_string(),
        second.to_string(),
        "the same fault, the same words"
    );
    let class = LoadFailure::from(first.class());
    (class.as_str(), first.to_string())
}

/// Returns a client that trusts only `ca`.
pub(crate) fn trusting(ca: &Path) -> Catalogd {
    Catalogd::new(Some(ca), FetchLimits::default()).unwrap()
}

/// Fetches twice from a server with this answer. Both fetches must fail with the same message.
pub(crate) async fn fails(answer: Answer, class: &str, words: &str) {
    fails_within(FetchLimits::default(), answer, class, words).await;
}

/// Like [`fails`], with other limits.
pub(crate) async fn fails_within(limits: FetchLimits, answer: Answer, class: &str, words: &str) {
    let scene = Scene::answering(answer).await.within(limits);
    let (first, second) = (scene.fetch().await, scene.fetch().await);
    let found = same(&first.unwrap_err(), &second.unwrap_err());
    assert_eq!(found, (class, words.to_owned()));
    assert!(!words.contains('\n'), "one line");
    assert_eq!(scene.server.connections(), 2, "a connection for each try");
}
