//! Floods of reviews that are far heavier than ordinary ones. The server must stay within the memory that its limits
//! allow, and an ordinary client at another address must get right answers all the time.
//!
//! The figures are those of one server, so this is a single test.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use olmguard_support::ALONE;
use std::net::Ipv4Addr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::{fs, io, thread};

use olmguard_server::Limits;
use olmguard_support::load::review::{Edit, post};
use olmguard_support::load::served::Served;
use olmguard_support::load::wire::Target;
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// In an earlier version, 140 of the first, 600 of the second or 200 of the third alone took a server past 384 MiB:
/// each such body was stored in a form 8 to 14 times as large, even while it waited.
#[tokio::test(flavor = "multi_thread")]
async fn floods_of_heavy_reviews_take_no_more_than_their_share() {
    let _alone = ALONE.lock().await;
    let files = olmguard_support::load::files::raise_limit();
    if files < 3000 {
        println!("left out: floods of reviews, a process may open {files} files only");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("id");
    let script = format!(r#"echo $$ > {}; exec "$@""#, file.display());
    let server = Served::under(&["sh", "-c", &script, "sh"], &["--workers=2"]);
    let id = fs::read_to_string(file).unwrap();
    let kib = |figure: &str| kib(id.trim(), figure);
    let limits = Limits {
        workers: NonZeroUsize::new(2).unwrap(),
        ..Limits::default()
    };
    let most = limits.most_memory(thread::available_parallelism().unwrap().get()) / 1024;
    for _ in 0..20 {
        ordinary(&server.target).await;
    }
    let before = kib("VmRSS");
    let channels = |size: usize| heavy("channels", &json!(vec!["a"; size / 8]));
    let expression = json!({"key": "a", "operator": "Exists"});
    let expressions = json!({"matchExpressions": vec![expression; (2 << 20) / 2 / 33]});
    for (name, count, body) in [
        ("140 x 512 KiB of channels", 140, channels(512 << 10)),
        ("600 x 63 KiB of channels", 600, channels(63 << 10)),
        ("600 x 15 KiB of channels", 600, channels(15 << 10)),
        (
            "200 x 2 MB of selectors",
            200,
            heavy("selector", &expressions),
        ),
    ] {
        let (answers, asked) = flood(&server.target, count, &body).await;
        let grown = kib("VmHWM") - before;
        println!("{name}: {answers} answered, {asked} ordinary ones meanwhile, {grown} KiB more");
        assert!(grown < most, "{name}: {grown} KiB more, {most} at most");
    }
}

/// Sends this many copies of one review at the same time, while ordinary ones come from another address. Returns how
/// many of the flood and how many ordinary ones were answered, all of them correctly.
async fn flood(target: &Target, count: usize, body: &str) -> (usize, usize) {
    let request: Arc<[u8]> = post(body).into();
    let mut crowd = JoinSet::new();
    for at in 0..count {
        let (target, request) = (target.clone(), Arc::clone(&request));
        crowd.spawn(async move {
            // Every fourth client stalls in the middle of its body until it is disconnected.
            let end = if at % 4 == 3 {
                request.len() / 2
            } else {
                request.len()
            };
            let answer = ask(&target, FLOOD, request.get(..end).unwrap()).await;
            answer.is_ok_and(|answer| !answer.is_empty())
        });
    }
    let mut asked = 0;
    let mut answered = 0;
    loop {
        ordinary(target).await;
        asked += 1;
        while let Some(done) = crowd.try_join_next() {
            answered += usize::from(done.unwrap());
        }
        if crowd.is_empty() {
            return (answered, asked);
        }
    }
}

/// Sends an ordinary edit, and checks its answer.
async fn ordinary(target: &Target) {
    let edit = Edit {
        package: "p",
        catalog: "c",
        installed: ("p.v1", "1.0.0"),
        wanted: "1.1.0",
    };
    let answer = ask(target, ORDINARY, &post(&edit.review())).await.unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains(r#""token":"Resolved""#), "{answer}");
}

/// Sends one request from this address on a new connection, and returns the start of the response.
async fn ask(target: &Target, from: Ipv4Addr, request: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = connect(target, from).await?;
    stream.write_all(request).await?;
    stream.flush().await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"}}") && stream.read_buf(&mut answer).await? > 0 {
        if answer.starts_with(b"HTTP/1.1 ") && !answer.starts_with(b"HTTP/1.1 200") {
            break;
        }
    }
    Ok(answer)
}

async fn connect(target: &Target, from: Ipv4Addr) -> io::Result<TlsStream<tokio::net::TcpStream>> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    let tcp = socket.connect(target.address).await?;
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    TlsConnector::from(Arc::clone(&target.tls))
        .connect(name, tcp)
        .await
}

/// Returns an update of an extension with this field in both objects.
fn heavy(field: &str, value: &Value) -> String {
    let object = |version: &str| {
        let mut object = json!({
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": {"name": "x"},
            "spec": {"source": {"sourceType": "Catalog", "catalog": {"packageName": "p", "version": version}}},
        });
        let catalog = object.pointer_mut("/spec/source/catalog");
        let catalog = catalog.and_then(Value::as_object_mut).unwrap();
        catalog.insert(field.to_owned(), value.clone());
        object
    };
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {"uid": "u", "operation": "UPDATE", "object": object("1.0.0"), "oldObject": object("1.1.0")},
    })
    .to_string()
}

/// Returns a figure of the server's memory in KiB.
fn kib(id: &str, figure: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(figure));
    let figure = line.unwrap().trim_start_matches(':').trim();
    figure.trim_end_matches(" kB").parse().unwrap()
}

const FLOOD: Ipv4Addr = Ipv4Addr::LOCALHOST;
const ORDINARY: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
