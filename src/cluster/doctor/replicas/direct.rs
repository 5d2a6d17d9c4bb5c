//! At its address.

use std::error::Error;
use std::net::IpAddr;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{LARGEST, PATIENCE, ReplicaResponse};
use crate::foreign_text;

/// The answer, or why there is none.
pub(super) async fn get(host: &str, port: u16, path: &str) -> Result<ReplicaResponse, String> {
    let address: IpAddr = host
        .parse()
        .map_err(|_| format!("{host} is not an IP address"))?;
    let exchange = timeout(PATIENCE, exchange(address, port, path));
    let answer = exchange.await;
    let answer = answer.map_err(|_| format!("no answer within {} s", PATIENCE.as_secs()))?;
    answer.map_err(|error| foreign_text::one_line(&format!("{address} port {port}: {error}")))
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
