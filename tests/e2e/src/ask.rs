//! A GET over plain HTTP, as the probe of a kubelet sends it.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use http::Uri;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;

/// The timeout of a probe.
const PROBE: Duration = Duration::from_secs(2);

/// Returns the status code and the body.
pub(crate) async fn get(address: SocketAddr, path: &str) -> Result<(u16, String)> {
    let uri: Uri = format!("http://{address}{path}").parse()?;
    let asked = async {
        let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build_http();
        let answer = client.get(uri).await?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await?.to_bytes();
        Ok((status, String::from_utf8(body.to_vec())?))
    };
    timeout(PROBE, asked).await?
}
