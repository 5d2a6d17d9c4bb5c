//! The webhook: connections, routes, limits and the way out.
//!
//! ```text
//! accept --handshake--> connection --POST /validate--> admit (a thread of its own) --> judge
//!    ^                      ^
//!    '------ Phase ---------'   Serving -> Leaving (not ready, connection: close) -> Closed
//! ```
//!
//! Health is answered over plain HTTP by a listener of its own, so that a probe needs neither a
//! certificate nor a way around the API server's.
//!
//! Upstream: Kubernetes, `apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`: the API
//! server speaks HTTP/1.1 where HTTP/2 is not offered, keeps connections alive, and takes any status
//! but 200 as a failure of the webhook.
//!
//! Invariant: nothing here words or decides anything about an edit.

mod accept;
mod admit;
mod connection;
mod listen;
mod media_type;
mod ops;
mod phase;
mod validate;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use admit::Guard;
pub use listen::BindError;

use crate::tls::Certificates;
use accept::Transport;
use phase::Phase;

/// What a server is started with.
#[derive(Debug)]
pub struct Config {
    /// Where reviews are taken; port 0 for any.
    pub listen: SocketAddr,
    /// Where health is told; port 0 for any.
    pub ops_listen: SocketAddr,
    /// The certificate that is shown, as it is when a connection comes in.
    pub certificates: Certificates,
    /// What answers.
    pub guard: Guard,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address cannot be listened on.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// A server whose sockets accept.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    ops_addr: SocketAddr,
    phase: watch::Sender<Phase>,
    loops: [JoinHandle<()>; 2],
}

impl Server {
    /// Binds both addresses and starts to accept. It must be called within a runtime.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let listener = listen::bind(config.listen).await?;
        let ops_listener = listen::bind(config.ops_listen).await?;
        let (addr, ops_addr) = (listener.addr, ops_listener.addr);
        let (phase, watched) = watch::channel(Phase::Serving);
        let reviews = validate::routes(Arc::new(config.guard));
        let health = ops::routes(watched.clone());
        let loops = [
            tokio::spawn(accept::run(
                listener.socket,
                Transport::Tls(config.certificates),
                reviews,
                watched.clone(),
            )),
            tokio::spawn(accept::run(
                ops_listener.socket,
                Transport::Plain,
                health,
                watched,
            )),
        ];
        Ok(Self {
            addr,
            ops_addr,
            phase,
            loops,
        })
    }

    /// Where reviews are taken, with the real port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Where health is told, with the real port.
    pub fn ops_addr(&self) -> SocketAddr {
        self.ops_addr
    }

    /// Not ready from now on; every connection ends with its next reply. New ones are still taken.
    pub fn leave(&self) {
        self.phase.send_replace(Phase::Leaving);
    }

    /// Stops accepting, and waits until every request that is under way is answered, but no longer
    /// than an API server would.
    pub async fn close(self) {
        self.phase.send_replace(Phase::Closed);
        let all = async {
            for one in self.loops {
                // A loop that panicked has been reported by the panic hook.
                drop(one.await);
            }
        };
        if tokio::time::timeout(LONGEST_WEBHOOK_TIMEOUT, all)
            .await
            .is_err()
        {
            tracing::warn!("Closed with requests unanswered");
        }
    }
}

/// The largest `timeoutSeconds` that a webhook configuration can have.
const LONGEST_WEBHOOK_TIMEOUT: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
