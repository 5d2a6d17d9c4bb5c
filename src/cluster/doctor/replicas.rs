//! The readiness of each replica, from its health port.
//!
//! The API server's proxy reaches every pod. If the user may not use it, or the endpoint has no pod, the address is
//! used directly, which works only from within the cluster.

use std::error::Error;
use std::net::IpAddr;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use kube::core::Status;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::cluster::doctor::{Examination, need};
use crate::cluster::{Silent, fault_words};
use crate::foreign_text::one_line;
use olmguard_server::tls::{Authorities, Leaf, is_for, utc};
use olmguard_views::doctor::{Certificate, Endpoint, MissingAnswer, Replica, ReplicaStatus, Trust};
use olmguard_views::readiness::Readiness;

/// The trust of API servers in the certificate that they get.
#[derive(Debug)]
pub(super) struct CertificateTrust {
    /// The CAs that they trust; none if unknown.
    pub(super) authorities: Option<Authorities>,
    /// The name that they expect.
    pub(super) server_name: Option<String>,
}

/// The status and body of an answer.
type ReplicaResponse = (StatusCode, String);

/// The route to a replica.
enum ReplicaRoute<'e> {
    Proxy(&'e Client, String),
    Address(String, u16),
}

/// Queries one endpoint.
pub(super) async fn ask(
    client: &Client,
    of: &Examination,
    trusted: &CertificateTrust,
    endpoint: &Endpoint,
) -> Replica {
    let name = endpoint.pod.as_ref().unwrap_or(&endpoint.address).clone();
    Replica {
        told: told(client, of, trusted, endpoint).await,
        name,
    }
}

async fn told(
    client: &Client,
    of: &Examination,
    trusted: &CertificateTrust,
    endpoint: &Endpoint,
) -> Result<ReplicaStatus, MissingAnswer> {
    let address = ReplicaRoute::Address(endpoint.address.clone(), of.ops_port);
    let proxy = endpoint.pod.as_ref().map(|pod| {
        let namespace = &of.names.namespace;
        let port = of.ops_port;
        let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}:{port}/proxy");
        ReplicaRoute::Proxy(client, path)
    });
    let Some(proxy) = proxy else {
        return by(&address, of, trusted).await;
    };
    match by(&proxy, of, trusted).await {
        Ok(told) => Ok(told),
        // If both routes fail, the error of the proxy is returned, because the proxy should work everywhere.
        Err(first) => by(&address, of, trusted).await.map_err(|_| first),
    }
}

async fn by(
    way: &ReplicaRoute<'_>,
    of: &Examination,
    trusted: &CertificateTrust,
) -> Result<ReplicaStatus, MissingAnswer> {
    let (code, readyz) = way.get("/readyz?format=json", of).await?;
    let version = way.version(of).await;
    if version.is_none() {
        way.doubt(of)?;
    }
    let certificate = match way.get("/certificate", of).await {
        Ok((StatusCode::OK, chain)) => certificate(&chain, of, trusted),
        Ok((code, words)) => Err(format!("{}: {}", code.as_u16(), words.trim())),
        Err(unasked) => Err(unasked.why),
    };
    Ok(ReplicaStatus {
        version,
        is_ready: code == StatusCode::OK,
        readiness: Readiness::from_json(&readyz),
        certificate,
    })
}

impl ReplicaRoute<'_> {
    /// Rejects an answer without a version at an address. Outside of their cluster, the addresses of pods can belong to
    /// any other server.
    fn doubt(&self, of: &Examination) -> Result<(), MissingAnswer> {
        match self {
            Self::Proxy(..) => Ok(()),
            Self::Address(host, port) => {
                let why = format!(
                    "the server at {host} port {port} does not identify itself as olmguard"
                );
                Err(unanswered(of, (false, why)))
            }
        }
    }

    /// Returns the version of olmguard: from the metrics, which every version serves, or otherwise from `/version`,
    /// because metrics can have a port of their own.
    async fn version(&self, of: &Examination) -> Option<String> {
        let (_, metrics) = self.get("/metrics", of).await.ok()?;
        if let Some(version) = version(&metrics) {
            return Some(version);
        }
        let (_, text) = self.get("/version", of).await.ok()?;
        Some(one_line(text.strip_prefix("olmguard ")?))
    }

    async fn get(&self, path: &str, of: &Examination) -> Result<ReplicaResponse, MissingAnswer> {
        let answer = match self {
            Self::Proxy(client, prefix) => get_proxied(client, &format!("{prefix}{path}")).await,
            Self::Address(host, port) => {
                let answer = get_directly(host, *port, path).await;
                answer.map_err(|why| (false, why))
            }
        };
        answer.map_err(|error| unanswered(of, error))
    }
}

/// Converts the reason why a replica did not answer, and whether the proxy is forbidden.
fn unanswered(of: &Examination, (is_forbidden, why): (bool, String)) -> MissingAnswer {
    MissingAnswer {
        need: need("get", "pods/proxy", Some(&of.names.namespace), None),
        is_forbidden,
        why,
    }
}

/// Returns the version in the label of `olmguard_build_info`.
fn version(metrics: &str) -> Option<String> {
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("olmguard_build_info{version=\""))?;
    Some(line.split_once('"')?.0.to_owned())
}

fn certificate(
    chain: &str,
    of: &Examination,
    trusted: &CertificateTrust,
) -> Result<Certificate, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain.as_bytes()).collect();
    let chain = chain.map_err(|error| format!("it is not PEM: {error}"))?;
    let leaf = chain.first().ok_or("its PEM has no certificate")?;
    let leaf = Leaf::read(leaf).map_err(|error| error.to_string())?;
    let now = of.clock.now();
    let since = |later: std::time::SystemTime, earlier| later.duration_since(earlier);
    Ok(Certificate {
        is_for_service: is_for_service(&leaf, trusted),
        until: utc(leaf.not_after),
        life: since(leaf.not_after, leaf.not_before).unwrap_or_default(),
        left: since(leaf.not_after, now).unwrap_or_default(),
        begins_in: since(leaf.not_before, now)
            .ok()
            .filter(|time| !time.is_zero()),
        trust: match &trusted.authorities {
            None => Trust::Unknown,
            Some(authorities) => match authorities.vouch(&chain, now) {
                Ok(()) => Trust::Trusted,
                Err(why) => Trust::Distrusted(why.to_string()),
            },
        },
        names: leaf.names,
    })
}

fn is_for_service(leaf: &Leaf, trusted: &CertificateTrust) -> Option<bool> {
    let name = ServerName::try_from(trusted.server_name.clone()?).ok()?;
    Some(is_for(leaf, &name))
}

/// The time limit for one answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest answer in bytes; metrics are the largest.
const LARGEST: usize = 4 << 20;

// === Requests to the address of a replica ===

/// Returns the answer, or the reason why there is none.
async fn get_directly(host: &str, port: u16, path: &str) -> Result<ReplicaResponse, String> {
    let address: IpAddr = host
        .parse()
        .map_err(|_| format!("{host} is not an IP address"))?;
    let exchange = timeout(PATIENCE, exchange(address, port, path));
    let answer = exchange.await;
    let answer = answer.map_err(|_| Silent(PATIENCE).to_string())?;
    answer.map_err(|error| one_line(&format!("{address} port {port}: {error}")))
}

async fn exchange(
    address: IpAddr,
    port: u16,
    path: &str,
) -> Result<ReplicaResponse, Box<dyn Error + Send + Sync>> {
    let stream = TcpStream::connect((address, port)).await?;
    let (mut requests, connection) = handshake(TokioIo::new(stream)).await?;
    let mut running = JoinSet::new();
    running.spawn(connection);
    let request = Request::get(path)
        .header(header::HOST, "olmguard")
        .body(Empty::<Bytes>::new())?;
    let answer = requests.send_request(request).await?;
    let code = answer.status();
    let body = Limited::new(answer.into_body(), LARGEST).collect().await?;
    let words = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    Ok((code, words))
}

// === Requests through the proxy of the API server ===

/// Returns the answer of the server behind the proxy. The error has the reason, and whether the proxy itself is
/// forbidden.
async fn get_proxied(client: &Client, path: &str) -> Result<ReplicaResponse, (bool, String)> {
    let request = Request::get(path).body(Body::empty());
    let request = request.map_err(|error| (false, error.to_string()))?;
    let exchange = async {
        let answer = client.send(request).await;
        let answer = answer.map_err(|error| fault_words(&error))?;
        let (parts, body) = answer.into_parts();
        let whole = Limited::new(body, LARGEST).collect().await;
        let whole = whole.map_err(|error| one_line(&error.to_string()))?;
        Ok((parts.status, whole.to_bytes()))
    };
    let (code, bytes) = timeout(PATIENCE, exchange)
        .await
        .map_err(|_| (false, Silent(PATIENCE).to_string()))?
        .map_err(|why: String| (false, why))?;
    match status(&bytes) {
        Some(status) if code != StatusCode::OK => {
            let words = fault_words(&kube::Error::Api(Box::new(status)));
            Err((code == StatusCode::FORBIDDEN, words))
        }
        _ => Ok((code, String::from_utf8_lossy(&bytes).into_owned())),
    }
}

/// Returns the answer of the API server itself, if it is one. Any other object comes from the server behind the proxy.
fn status(bytes: &[u8]) -> Option<Status> {
    let kind: AnswerKind = serde_json::from_slice(bytes).ok()?;
    let is_status = kind.kind == "Status";
    is_status.then(|| serde_json::from_slice(bytes).ok())?
}

/// The kind of an object in an answer.
#[derive(serde::Deserialize)]
struct AnswerKind {
    kind: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_of_a_replica_is_no_status() {
        for (body, is_status) in [
            (
                r#"{"kind": "Status", "apiVersion": "v1", "code": 403}"#,
                true,
            ),
            (
                r#"{"schema": "olmguard.readiness/v1", "ready": false}"#,
                false,
            ),
            ("not ready\n", false),
        ] {
            assert_eq!(status(body.as_bytes()).is_some(), is_status, "{body}");
        }
    }
}
