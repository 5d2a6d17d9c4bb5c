//! The content of one catalog: from catalogd, else through the API server.

use std::io::Read;

use tokio::time::timeout;

use crate::cluster::look::ClusterReader;
use crate::cluster::proxy::{self, ProxyError};
use crate::source::SourceError;
use crate::source::catalogd::{
    AwaitedPart, Encoding, FetchClass, FetchError, FetchLimits, FetchedBody, consume, content_url,
};

/// Why the content of a catalog was not to be had.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// Its address was asked, or cannot be, and there is no other way.
    #[error(transparent)]
    Direct(FetchError),
    /// Neither way leads there.
    #[error("{direct}; {proxied}")]
    Both {
        /// What became of asking its address.
        direct: FetchError,
        /// What became of asking the API server.
        proxied: ProxiedContentError,
    },
}

/// Why nothing came through the API server.
#[derive(Debug, thiserror::Error)]
pub enum ProxiedContentError {
    /// There was no content in its answer.
    #[error(transparent)]
    Answer(ProxyError),
    /// There was, and it could not be taken.
    #[error("through the API server: {0}")]
    Body(FetchError),
}

impl ContentError {
    /// Whether the content was there, and is no catalog.
    pub(super) fn is_of_content(&self) -> bool {
        match self {
            Self::Direct(error) => error.class() == FetchClass::Content,
            Self::Both { proxied, .. } => match proxied {
                ProxiedContentError::Answer(_) => false,
                ProxiedContentError::Body(error) => error.class() == FetchClass::Content,
            },
        }
    }
}

impl ClusterReader {
    /// What `read` makes of the content at `base`.
    pub(super) async fn content<T, F>(
        &self,
        base: &str,
        name: &str,
        read: &F,
    ) -> Result<T, ContentError>
    where
        T: Send + 'static,
        F: Fn(&str, &mut dyn Read) -> Result<T, SourceError> + Clone + Send + 'static,
    {
        let reading = || {
            let (name, read) = (name.to_owned(), read.clone());
            move |body: &mut dyn Read| read(&name, body)
        };
        let direct = match self.catalogd.fetch(base, reading()).await {
            Ok(fetched) => return Ok(fetched.value),
            Err(error) => error,
        };
        if !is_unreachable_from_outside(&direct) {
            return Err(ContentError::Direct(direct));
        }
        match self.through_the_api_server(base, reading()).await {
            Ok(fetched) => Ok(fetched.value),
            Err(ProxiedContentError::Answer(ProxyError::NoService { .. })) => {
                Err(ContentError::Direct(direct))
            }
            Err(proxied) => Err(ContentError::Both { direct, proxied }),
        }
    }

    async fn through_the_api_server<T, F>(
        &self,
        base: &str,
        read: F,
    ) -> Result<FetchedBody<T>, ProxiedContentError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
    {
        let url = content_url(base).map_err(|error| ProxiedContentError::Body(error.into()))?;
        let body = proxy::get(&self.client, &url).await;
        let body = body.map_err(ProxiedContentError::Answer)?;
        let limits: &FetchLimits = self.catalogd.limits();
        // The client has decompressed it.
        let fetched = consume(body, Encoding::Identity, limits, read);
        let fetched = timeout(limits.total, fetched).await;
        let fetched = fetched.unwrap_or(Err(FetchError::Timeout {
            awaited: AwaitedPart::Whole,
            limit: limits.total,
        }));
        fetched.map_err(ProxiedContentError::Body)
    }
}

/// Whether a client outside of the cluster fails like this: the names and the authorities of the cluster are not known
/// there.
fn is_unreachable_from_outside(error: &FetchError) -> bool {
    matches!(
        error.class(),
        FetchClass::Connect | FetchClass::Tls | FetchClass::Timeout
    )
}
