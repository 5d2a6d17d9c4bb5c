//! `olmguard demo`: the complete webhook on this machine, with the built-in sample catalog.
//!
//! ```text
//! case --AdmissionReview--> client ==TLS==> server --> judge
//!                             |
//! what kubectl would print <--' only from the bytes that came back
//! ```

mod case;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use case::{CASES, DemoCase, Sample};
use clap::builder::BoolishValueParser;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::cli::args::heading;
use crate::cli::commands::demo::case::GROUP;
use crate::cli::{CommandFailure, Exit, Signals, ends_with, help};
use olmguard_admission::Enforcement;
use olmguard_catalog::olm::Rules;
use olmguard_server::telemetry::log::DecisionLog;
use olmguard_server::telemetry::{EditEvents, Metrics};
use olmguard_server::tls::{TlsConfig, TlsError, self_signed};
use olmguard_server::{BindError, Config, Guard, Limits, Server};

/// Try the webhook on this machine
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct DemoArgs {
    /// Keep the webhook running, and print a curl command for it
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::WEBHOOK)]
    keep: bool,
}

const EXAMPLES: &[&str] = &["olmguard demo", "olmguard demo --keep"];

/// The action after the last case.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Afterwards {
    End,
    Keep,
}

/// The error that ends a demo early.
#[derive(Debug, thiserror::Error)]
enum DemoError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Reply(#[from] ReplyError),
    #[error("cannot start: {0}")]
    Start(io::Error),
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// Plays every case, then ends or keeps the server running.
pub(super) fn run(args: DemoArgs) -> Result<Exit, CommandFailure> {
    let afterwards = if args.keep {
        Afterwards::Keep
    } else {
        Afterwards::End
    };
    let mut stdout = anstream::stdout().lock();
    match play(&Sample::built_in(), afterwards, &mut stdout) {
        // The reader of a demo may stop reading.
        Err(DemoError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        played => played?,
    }
    Ok(Exit::Good)
}

ends_with!(Internal: DemoError);

fn play(sample: &Sample, afterwards: Afterwards, out: &mut dyn Write) -> Result<(), DemoError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(DemoError::Start)?;
    runtime.block_on(async {
        let certificates = self_signed(&TlsConfig::default(), Vec::new())?;
        let certificate = certificates.leaf().der().clone();
        let guard = Guard::from(sample.snapshot(Rules::default()));
        let listening = Server::listen(config())?.certify(certificates);
        let server = listening.open(Arc::new(guard), Enforcement::default());
        let mut client = Client::connect(server.addr(), certificate).await?;
        for (number, case) in CASES.iter().enumerate() {
            show(case, number + 1, &mut client, out).await?;
        }
        drop(client);
        if afterwards == Afterwards::Keep {
            keep(&server, out).await?;
        }
        server.close().await;
        Ok(())
    })
}

fn config() -> Config {
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Config {
        listen: loopback,
        ops_listen: loopback,
        limits: Limits::default(),
        scrapes: None,
        checks: Vec::new(),
        metrics: Metrics::new(),
        decisions: DecisionLog::default(),
        events: EditEvents::default(),
        log_level: None,
    }
}

async fn show(
    case: &DemoCase,
    number: usize,
    client: &mut Client,
    out: &mut dyn Write,
) -> Result<(), DemoError> {
    let review = case.review(number);
    let received = client.post(review.to_string()).await?;
    let printed = prints(case, &received)?;
    writeln!(out, "{number}. {}", case.about)?;
    writeln!(out, "$ {}", case.command())?;
    writeln!(out, "{printed}")?;
    Ok(())
}

async fn keep(server: &Server, out: &mut dyn Write) -> Result<(), DemoError> {
    let mut signals = Signals::new().map_err(DemoError::Start)?;
    let review = CASES.first().map(|case| case.review(1));
    let review = review.unwrap_or_default();
    writeln!(
        out,
        "The server runs until you press Ctrl-C. Send it a review:"
    )?;
    writeln!(
        out,
        "curl -sk https://{}/validate -H 'content-type: application/json' -d '{review}'",
        server.addr()
    )?;
    out.flush()?;
    signals.next().await;
    server.leave();
    Ok(())
}

// === A TLS client of the webhook, similar to an API server ===
//
// It also formats replies as kubectl prints them.

/// A connection to the webhook.
#[derive(Debug)]
struct Client {
    requests: SendRequest<Full<Bytes>>,
    addr: SocketAddr,
}

/// The reply that was received.
#[derive(Clone, Debug)]
struct ReceivedReply {
    status: StatusCode,
    body: Bytes,
}

/// The reason why no reply was received.
#[derive(Debug, thiserror::Error)]
#[error("cannot ask the webhook: {source}")]
struct ClientError {
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Client {
    /// Connects, and trusts only this certificate.
    async fn connect(
        addr: SocketAddr,
        certificate: CertificateDer<'static>,
    ) -> Result<Self, ClientError> {
        let connector = TlsConnector::from(Arc::new(trusting(certificate)?));
        let tcp = TcpStream::connect(addr).await.map_err(failed)?;
        let name = ServerName::try_from("localhost").map_err(failed)?;
        let tls = connector.connect(name, tcp).await.map_err(failed)?;
        let (requests, connection) = handshake(TokioIo::new(tls)).await.map_err(failed)?;
        // If the connection ends early, the pending request fails.
        tokio::spawn(connection);
        Ok(Self { requests, addr })
    }

    /// Sends a body to `/validate`.
    async fn post(&mut self, body: String) -> Result<ReceivedReply, ClientError> {
        let request = Request::post("/validate")
            .header(header::HOST, self.addr.to_string())
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .map_err(failed)?;
        let exchange = async {
            self.requests.ready().await.map_err(failed)?;
            let response = self.requests.send_request(request).await.map_err(failed)?;
            let status = response.status();
            let body = Limited::new(response.into_body(), REPLY_LIMIT);
            let body = body
                .collect()
                .await
                .map_err(|source| ClientError { source })?;
            Ok(ReceivedReply {
                status,
                body: body.to_bytes(),
            })
        };
        tokio::time::timeout(DEADLINE, exchange)
            .await
            .map_err(failed)?
    }
}

fn trusting(certificate: CertificateDer<'static>) -> Result<ClientConfig, ClientError> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(failed)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ClientError {
    ClientError {
        source: error.into(),
    }
}

/// The deadline of a request, equal to the default timeout of an API server.
const DEADLINE: Duration = Duration::from_secs(10);

/// The maximum size of a reply in bytes, far larger than any real reply.
const REPLY_LIMIT: usize = 1 << 20;

/// The reason why an API server would not accept a reply.
#[derive(Debug, thiserror::Error)]
enum ReplyError {
    #[error("the webhook answered {status}: {body}")]
    Status { status: StatusCode, body: String },
    #[error("the webhook's reply is not an AdmissionReview: {0}")]
    Json(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct RepliedReview {
    response: RepliedResponse,
}

#[derive(Deserialize)]
struct RepliedResponse {
    allowed: bool,
    #[serde(default)]
    status: RepliedStatus,
    #[serde(default)]
    warnings: Vec<String>,
}

#[derive(Default, Deserialize)]
struct RepliedStatus {
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
}

/// The lines that kubectl prints for a reply, taken only from its bytes. Each line ends with a line break.
///
/// Upstream: Kubernetes, [`apiserver/pkg/admission/plugin/webhook/errors/statuserror.go`] (the text before the
/// message) and kubectl, [`pkg/cmd/util/helpers.go`] (the text before that).
///
/// [`apiserver/pkg/admission/plugin/webhook/errors/statuserror.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go
/// [`pkg/cmd/util/helpers.go`]: https://github.com/kubernetes/kubectl/blob/v0.36.1/pkg/cmd/util/helpers.go
fn prints(case: &DemoCase, received: &ReceivedReply) -> Result<String, ReplyError> {
    if received.status != StatusCode::OK {
        return Err(ReplyError::Status {
            status: received.status,
            body: String::from_utf8_lossy(&received.body)
                .trim_end()
                .to_owned(),
        });
    }
    let review: RepliedReview = serde_json::from_slice(&received.body)?;
    Ok(lines(case, &review.response))
}

fn lines(case: &DemoCase, response: &RepliedResponse) -> String {
    let mut lines = String::new();
    for warning in &response.warnings {
        writeln!(lines, "Warning: {warning}").expect("a String takes everything");
    }
    let last = if response.allowed {
        format!(
            "clusterextension.{GROUP}/{} {}",
            case.extension,
            case.done()
        )
    } else {
        refusal(case, &response.status)
    };
    writeln!(lines, "{last}").expect("a String takes everything");
    lines
}

fn refusal(case: &DemoCase, status: &RepliedStatus) -> String {
    let reason = match status.reason.as_str() {
        "" => String::new(),
        reason => format!(" ({reason})"),
    };
    format!(
        "Error from server{reason}: {}admission webhook \"{WEBHOOK}\" denied the request: {}",
        case.context(),
        status.message
    )
}

/// The name of the webhook in its configuration.
const WEBHOOK: &str = "validate.olmguard.dev";

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{Afterwards, Sample, play};

    #[track_caller]
    fn transcript(sample: &Sample) -> String {
        let mut out = Vec::new();
        play(sample, Afterwards::End, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The output of one case.
    fn case(transcript: &str, number: usize) -> &str {
        let from = transcript.find(&format!("{number}. ")).unwrap();
        let rest = &transcript[from..];
        let end = rest.find("\n\n").unwrap_or(rest.len());
        &rest[..end]
    }

    /// The sample with one piece of its main catalog changed.
    #[track_caller]
    fn with_edge(from: &str, to: &str) -> Sample {
        let built_in = Sample::built_in();
        let text = std::str::from_utf8(&built_in.lighthouse).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from}");
        Sample {
            lighthouse: Cow::Owned(text.replace(from, to).into_bytes()),
            ..built_in
        }
    }

    #[test]
    fn the_demo_tells_this() {
        let told = transcript(&Sample::built_in());
        assert_eq!(told, include_str!("demo/transcript.txt"), "{told}");
    }

    #[test]
    fn another_edge_is_another_answer() {
        let told = transcript(&Sample::built_in());
        assert!(case(&told, 2).contains("[NotASuccessor]"), "{told}");

        let sample = with_edge(
            "v2.0.0\n    replaces: harbor-lights-operator.v1.4.3",
            "v2.0.0\n    replaces: harbor-lights-operator.v1.1.0",
        );
        let changed = transcript(&sample);
        let patched = "clusterextension.olm.operatorframework.io/harbor-lights patched";
        assert!(case(&changed, 2).ends_with(patched), "{changed}");
        assert_eq!(case(&told, 1), case(&changed, 1));
    }

    #[test]
    fn the_sample_is_a_believable_package() {
        let snapshot = Sample::built_in().snapshot(olmguard_catalog::olm::Rules::default());
        let catalog = snapshot.catalog("lighthouse").unwrap().loaded().unwrap();
        let package = catalog.package("harbor-lights-operator").unwrap().unwrap();
        assert_eq!(package.bundles().count(), 26);
        let channels: Vec<_> = package
            .channels()
            .iter()
            .map(|channel| &*channel.name)
            .collect();
        assert_eq!(channels, ["candidate", "stable-v1", "stable-v2"]);
        let deprecated = package
            .bundles()
            .filter(|(_, bundle)| bundle.deprecated.is_some());
        assert_eq!(deprecated.count(), 2);
        let faults = catalog
            .package_names()
            .filter(|name| catalog.package(name).unwrap().is_err());
        assert_eq!(faults.count(), 0);
    }

    #[test]
    fn lint_has_nothing_against_the_sample_but_what_its_comment_defends() {
        let sample = Sample::built_in();
        let catalog = olmguard_views::lint::written("lighthouse.yaml", &sample.lighthouse);
        let mut findings = olmguard_views::lint::lint(&[catalog]);
        findings.retain(|finding| finding.severity > olmguard_views::lint::Severity::Note);
        let said: Vec<_> = findings
            .iter()
            .map(|finding| format!("{}: {}", finding.rule, finding.message))
            .collect();
        let crosses = |channel: &str, edges: &str| {
            format!(
                "major-edge: channel {channel:?} has upgrades between incompatible versions: {edges}"
            )
        };
        assert_eq!(
            said,
            [
                crosses(
                    "stable-v2",
                    "from \"harbor-lights-operator.v1.4.3\" to \"harbor-lights-operator.v2.0.0\""
                ),
                crosses(
                    "candidate",
                    "from \"harbor-lights-operator.v2.4.0-rc.2\" to \"harbor-lights-operator.v3.0.0-alpha.1\""
                ),
                crosses(
                    "stable",
                    "from \"foghorn-operator.v0.8.0\" to \"foghorn-operator.v0.9.0\""
                ),
            ]
        );
    }
}
