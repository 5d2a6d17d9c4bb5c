//! Images in a registry: the pull part of the distribution protocol, with authentication by token.
//!
//! ```text
//! GET /v2/REPOSITORY/manifests/VERSION --> 401 with a challenge --> token --> the same request
//!                                      --> 307 to a blob store, without the credentials
//!                                      --> 429, 5xx: the same request later
//! ```
//!
//! Upstream: opencontainers/distribution-spec v1.1, `spec.md`; distribution, `docs/content/spec/auth/token.md`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64_simd::STANDARD;
use form_urlencoded::Serializer;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use serde::Deserialize;
use tokio::time::sleep;

use super::answer::{Challenge, RegistryAnswer, RegistryFault, is_as_safe, next, refused};
use super::containers::ContainersConfig;
use super::credentials::{CredentialFiles, Login};
use super::manifest::{ACCEPTED, MANIFEST_BYTES, SentManifest};
use super::mirrors::PullSource;
use super::reference::{ImageReference, ImageVersion, is_docker};
use crate::source::digest::Sha256;
use crate::source::http::{
    Address, AddressError, Encoding, FetchError, FetchLimits, FetchedBody, HttpClient, Retry,
    consume,
};

/// The repository of an image, in its registry or a mirror.
pub(super) struct Registry<'a> {
    pub(super) source: PullSource,
    client: HttpClient,
    /// The directory with the certificates for the host, or the default one if none exists.
    certificates: PathBuf,
    access: &'a RegistryAccess,
    /// The scheme of the registry.
    scheme: &'static str,
    /// Whether the registry has answered, so that its scheme is settled.
    is_reached: bool,
    /// The answer to the last challenge of the registry.
    authorization: Option<HeaderValue>,
    began: Instant,
}

/// The access to registries: limits, retries, credentials and configuration.
#[derive(Clone, Debug)]
pub(super) struct RegistryAccess {
    pub(super) limits: FetchLimits,
    /// The pauses between attempts.
    pub(super) retry: Retry,
    pub(super) credentials: CredentialFiles,
    pub(super) containers: ContainersConfig,
}

/// A function that reads a body. It can be called once for each attempt.
pub(super) type TakeBody<T> = Arc<dyn Fn(&mut dyn Read) -> T + Send + Sync>;

impl<'a> Registry<'a> {
    pub(super) fn new(
        source: PullSource,
        access: &'a RegistryAccess,
    ) -> Result<Self, RegistryFault> {
        if let Some(blocked) = source.blocked {
            return Err(blocked.into());
        }
        let host = &*source.image.host;
        let found = access.containers.certificates(host)?;
        let client = match &found {
            Some(folder) => HttpClient::of_host(folder, access.limits)?,
            None => HttpClient::new(None, access.limits)?,
        };
        let certificates = found.unwrap_or_else(|| Path::new(CERTIFICATES).join(host));
        Ok(Self {
            source,
            client: client.with_proxies_of_environment(),
            certificates,
            access,
            scheme: "https",
            is_reached: false,
            authorization: None,
            began: Instant::now(),
        })
    }

    /// Fetches the manifest of a version in at most as many attempts.
    pub(super) async fn manifest(
        &mut self,
        version: &ImageVersion,
        tries: u32,
    ) -> Result<SentManifest, RegistryFault> {
        let version = match version {
            ImageVersion::Tag(tag) => tag.to_string(),
            ImageVersion::Digest(digest) => digest.to_string(),
        };
        let limits = self.limits(MANIFEST_BYTES);
        let read = async |answer: Response<Incoming>| {
            let media_type = answer.headers().get(hyper::header::CONTENT_TYPE);
            let media_type = media_type
                .and_then(|it| it.to_str().ok())
                .unwrap_or_default();
            let media_type = media_type.to_owned();
            Ok(SentManifest::new(whole(answer, &limits).await?, media_type))
        };
        self.get(&format!("manifests/{version}"), tries, read).await
    }

    /// Fetches a blob, which is read as it arrives. The caller must compare its digest.
    pub(super) async fn blob<T: Send + 'static>(
        &mut self,
        digest: Sha256,
        size: u64,
        take: &TakeBody<T>,
    ) -> Result<FetchedBody<T>, RegistryFault> {
        let limits = self.limits(size);
        let read = async |answer: Response<Incoming>| {
            let take = Arc::clone(take);
            let f = move |body: &mut dyn Read| Ok(take(body));
            consume(answer.into_body(), Encoding::Identity, &limits, f).await
        };
        self.get(&format!("blobs/{digest}"), TRIES, read).await
    }

    /// The limits for a response of at most this many bytes.
    fn limits(&self, bytes: u64) -> FetchLimits {
        FetchLimits {
            wire: bytes,
            content: bytes,
            ..self.access.limits
        }
    }

    /// Fetches a path of the repository, with retries if the registry fails temporarily.
    async fn get<T>(
        &mut self,
        path: &str,
        tries: u32,
        read: impl AsyncFn(Response<Incoming>) -> Result<T, FetchError>,
    ) -> Result<T, RegistryFault> {
        let mut failed = 0;
        loop {
            let limit = self.access.limits.total;
            if self.began.elapsed() > limit {
                let host = self.source.image.host.clone();
                return Err(RegistryFault::Slow { host, limit });
            }
            let error = match self.follow(path, &read).await {
                Err(error) if error.is_passing() => error,
                ended => return ended,
            };
            failed += 1;
            if failed >= tries {
                return Err(error);
            }
            let pause = self.access.retry.delay(failed);
            sleep(pause.max(error.wait())).await;
        }
    }

    /// Makes one attempt, which follows redirects and answers the challenge of the registry.
    async fn follow<T>(
        &mut self,
        path: &str,
        read: &impl AsyncFn(Response<Incoming>) -> Result<T, FetchError>,
    ) -> Result<T, RegistryFault> {
        if !self.is_reached {
            self.scheme = "https";
        }
        let mut place = self.place(path)?;
        let (mut redirects, mut is_elsewhere, mut is_answered) = (0, false, false);
        loop {
            let login = self.authorization.clone().filter(|_| !is_elsewhere);
            let (status, answer) = match self.ask(&place, login, read).await {
                Err(error) if self.is_plain(&place, &error) => {
                    self.scheme = "http";
                    place = self.place(path)?;
                    continue;
                }
                asked => asked.map_err(|error| self.fault(error))?,
            };
            self.is_reached = true;
            match answer {
                RegistryAnswer::Content(content) => return Ok(content),
                RegistryAnswer::Challenged(challenge) if !is_answered && !is_elsewhere => {
                    self.authorization = self.answer(&place, challenge).await?;
                    is_answered = true;
                }
                RegistryAnswer::Moved(location) => {
                    redirects += 1;
                    let next = next(&place, location.as_deref(), redirects)?;
                    is_elsewhere |= next.host != place.host;
                    place = next;
                }
                answer => return Err(refused(&place, status, answer.wait())),
            }
        }
    }

    fn fault(&self, error: FetchError) -> RegistryFault {
        RegistryFault::of(error, &self.source, &self.certificates)
    }

    /// Whether to repeat the request without TLS.
    fn is_plain(&self, place: &Address, error: &FetchError) -> bool {
        let is_first = !self.is_reached && self.scheme == "https";
        is_first && self.source.is_plain(place, error)
    }

    fn place(&self, path: &str) -> Result<Address, AddressError> {
        let ImageReference {
            host, repository, ..
        } = &self.source.image;
        let host = if is_docker(host) {
            "registry-1.docker.io"
        } else {
            host
        };
        let scheme = self.scheme;
        Address::of(&format!("{scheme}://{host}/v2/{repository}/{path}"))
    }

    /// Makes one request.
    async fn ask<T>(
        &self,
        place: &Address,
        login: Option<HeaderValue>,
        read: &impl AsyncFn(Response<Incoming>) -> Result<T, FetchError>,
    ) -> Result<(StatusCode, RegistryAnswer<T>), FetchError> {
        let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(ACCEPTED))]);
        headers.extend(login.map(|login| (AUTHORIZATION, login)));
        let answered = async |answer: Response<Incoming>| {
            let status = answer.status();
            let outcome = match status {
                StatusCode::OK => RegistryAnswer::Content(read(answer).await?),
                status => RegistryAnswer::of(status, answer.headers()),
            };
            Ok((status, outcome))
        };
        self.client.get(place, headers, answered).await
    }

    /// Answers a challenge. Without credentials, it requests an anonymous token.
    async fn answer(
        &self,
        place: &Address,
        challenge: Challenge,
    ) -> Result<Option<HeaderValue>, RegistryFault> {
        let login = self.access.credentials.login(&self.source.image).await?;
        match challenge {
            Challenge::Basic => Ok(login.as_ref().map(basic)),
            Challenge::Bearer { realm, service } => {
                let url = self.token_url(&realm, service.as_deref());
                let token = Address::of(&url).ok();
                let is_safe = |token: &Address| is_as_safe(place, token);
                let token = token.filter(is_safe).ok_or_else(|| RegistryFault::Token {
                    host: place.host.clone(),
                    why: "its token service is not a URL with https".into(),
                })?;
                self.token(&token, login.as_ref()).await.map(Some)
            }
            Challenge::Other(found) => Err(RegistryFault::Challenge {
                host: place.host.clone(),
                found,
            }),
        }
    }

    fn token_url(&self, realm: &str, service: Option<&str>) -> String {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(service.map(|service| ("service", service)));
        let scope = format!("repository:{}:pull", self.source.image.repository);
        query.append_pair("scope", &scope);
        let joint = if realm.contains('?') { '&' } else { '?' };
        format!("{realm}{joint}{}", query.finish())
    }

    async fn token(
        &self,
        place: &Address,
        login: Option<&Login>,
    ) -> Result<HeaderValue, RegistryFault> {
        let login = login.map(basic);
        let limits = self.limits(TOKEN_BYTES);
        let read = async |answer| whole(answer, &limits).await;
        let asked = self.ask(place, login, &read).await;
        let (status, outcome) = asked.map_err(|error| self.fault(error))?;
        let RegistryAnswer::Content(bytes) = outcome else {
            return Err(refused(place, status, outcome.wait()));
        };
        let token = serde_json::from_slice::<TokenAnswer>(&bytes).ok();
        let token = token.and_then(|answer| {
            let mut tokens = [answer.token, answer.access_token].into_iter().flatten();
            tokens.find(|token| !token.is_empty())
        });
        let token = token.and_then(|token| sensitive(&format!("Bearer {token}")));
        token.ok_or_else(|| RegistryFault::Token {
            host: place.host.clone(),
            why: "its answer has none".into(),
        })
    }
}

async fn whole(answer: Response<Incoming>, limits: &FetchLimits) -> Result<Vec<u8>, FetchError> {
    let f = |body: &mut dyn Read| {
        let mut bytes = Vec::new();
        // The fetch keeps an error as its fault.
        let read = body.read_to_end(&mut bytes);
        Ok(read.map(|_| bytes).unwrap_or_default())
    };
    let fetched = consume(answer.into_body(), Encoding::Identity, limits, f).await?;
    Ok(fetched.value)
}

fn basic(login: &Login) -> HeaderValue {
    let pair = format!("{}:{}", login.user, login.password);
    let value = format!("Basic {}", STANDARD.encode_to_string(pair));
    sensitive(&value).expect("base64 is text of a header")
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
}

impl RegistryAccess {
    /// The access of the current user. `total` limits each request and the whole image.
    pub(super) fn of_user(total: Duration) -> Self {
        Self {
            limits: FetchLimits {
                connect: Duration::from_secs(15),
                silence: Duration::from_secs(30),
                total,
                wire: MANIFEST_BYTES,
                content: MANIFEST_BYTES,
            },
            retry: Retry {
                base: Duration::from_secs(1),
                cap: Duration::from_secs(10),
            },
            credentials: CredentialFiles::of_user(),
            containers: ContainersConfig::of_user(),
        }
    }
}

/// The default directory of certificates for hosts, shared by all users of a machine.
const CERTIFICATES: &str = "/etc/containers/certs.d";

/// The largest response of a token service. A token with its claims has some kilobytes.
const TOKEN_BYTES: u64 = 256 << 10;

/// The number of attempts for each part of an image.
pub(super) const TRIES: u32 = 4;
