//! `--metrics-listen`: metrics over TLS, for clients whose token the API server allows.

use std::io::{Read, Write};
use std::net::TcpStream;

use axum::http::StatusCode;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use serde_json::{Value, json};

use crate::serve::{address, file, get};
use olmguard_support::api_server::ApiServer;
use olmguard_support::https::Certificate;
use olmguard_support::process::Process;

const TOKENS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const ACCESSES: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// A server in a cluster, and its addresses.
struct Scene {
    api: ApiServer,
    certificate: Certificate,
    process: Process,
    ops: String,
    metrics: String,
}

impl Scene {
    fn start() -> Self {
        let api = ApiServer::start("1.11");
        let certificate = Certificate::generate();
        let files = [
            ("kubeconfig", api.kubeconfig()),
            ("tls-cert", certificate.pem()),
            ("tls-key", certificate.key_pem()),
        ];
        let files = files.map(|(flag, content)| {
            let path = file(&format!("scrapes.{flag}"), &content);
            format!("--{flag}={}", path.display())
        });
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        let mut process = Process::start(&[&FLAGS[..], &files].concat());
        let _reviews = process.line();
        let (ops, metrics) = (process.line(), process.line());
        let metrics = address(&metrics, "https://").strip_suffix("/metrics");
        Self {
            api,
            certificate,
            ops: address(&ops, "http://").to_owned(),
            metrics: metrics.unwrap().to_owned(),
            process,
        }
    }

    fn says(&self, path: &str, kind: &str, status: &Value) {
        let group = path.strip_prefix("/apis/").unwrap();
        let (version, _) = group.rsplit_once('/').unwrap();
        let review = json!({"kind": kind, "apiVersion": version, "spec": {}, "status": status});
        self.api.put(path, &review);
    }

    /// Returns the whole response to a scrape with this token.
    fn scrape(&self, token: &str) -> String {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(self.certificate.client(), name).unwrap();
        let socket = TcpStream::connect(&self.metrics).unwrap();
        let mut stream = StreamOwned::new(connection, socket);
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n"
        )
        .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    #[track_caller]
    fn is(&self, token: &str, status: u16, text: &str) {
        let response = self.scrape(token);
        let begin = format!("HTTP/1.1 {status} ");
        assert!(response.starts_with(&begin), "{token}: {response}");
        assert!(response.contains(text), "{token}: {response}");
    }
}

#[test]
fn metrics_are_served_over_tls_to_those_whom_the_api_server_allows() {
    let scene = Scene::start();
    let user = json!({"authenticated": true, "user": {"username": "monitoring"}});
    scene.says(TOKENS, "TokenReview", &user);
    scene.says(ACCESSES, "SubjectAccessReview", &json!({"allowed": true}));
    scene.is("c4n4ry-good", 200, "\nolmguard_build_info{version=");
    scene.says(ACCESSES, "SubjectAccessReview", &json!({"allowed": false}));
    scene.is("c4n4ry-other", 403, "user \"monitoring\" cannot get");
    scene.says(
        TOKENS,
        "TokenReview",
        &json!({"error": "unknown c4n4ry-bad"}),
    );
    scene.is("c4n4ry-bad", 401, "\nwww-authenticate: Bearer\r\n");
    scene
        .api
        .answer(TOKENS, StatusCode::BAD_GATEWAY, "what c4n4ry-new?");
    scene.is("c4n4ry-new", 503, "no answer from the API server (");
    scene.is("c4n4ry-good", 200, "\nolmguard_build_info{version=");

    let plain = get(&scene.ops, "/metrics");
    assert!(plain.starts_with("HTTP/1.1 404 "), "{plain}");
    assert!(!plain.contains("olmguard_build_info"), "{plain}");

    scene.process.terminate();
    let ended = scene.process.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for expected in [
        "Serving metrics over TLS",
        "Denied a metrics client, its user cannot get /metrics",
        "Denied a metrics client, its token is invalid",
        "Failed to check the token of a metrics client, answering 503",
    ] {
        assert!(
            ended.stderr.contains(expected),
            "{expected}: {}",
            ended.stderr
        );
    }
    assert!(!ended.stderr.contains("c4n4ry"), "{}", ended.stderr);
}

const FLAGS: [&str; 7] = [
    "serve",
    "--listen=127.0.0.1:0",
    "--ops-listen=127.0.0.1:0",
    "--metrics-listen=127.0.0.1:0",
    "--shutdown-delay=0s",
    "--log-format=json",
    "--log-level=debug",
];
