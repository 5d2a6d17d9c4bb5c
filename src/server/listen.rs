//! Listening on an address, on IPv4 where a machine has no IPv6.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::TcpListener;

/// An address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {addr}: {source}; give another address or port")]
pub struct BindError {
    /// The address as asked for.
    pub addr: SocketAddr,
    /// What the system says.
    pub source: io::Error,
}

/// A socket that accepts, and where.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) socket: TcpListener,
    pub(super) addr: SocketAddr,
}

/// Listens. `[::]`, which stands for every address of either family, is `0.0.0.0` where there is
/// no IPv6.
pub(super) async fn bind(addr: SocketAddr) -> Result<Listener, BindError> {
    let failed = |source| BindError { addr, source };
    let socket = match TcpListener::bind(addr).await {
        Err(error) if addr.ip() == Ipv6Addr::UNSPECIFIED && lacks_family(&error) => {
            let addr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), addr.port());
            TcpListener::bind(addr).await
        }
        bound => bound,
    }
    .map_err(failed)?;
    let addr = socket.local_addr().map_err(failed)?;
    Ok(Listener { socket, addr })
}

/// A kernel without IPv6 knows no such family; one that has it switched off, no such address.
fn lacks_family(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn port_0_becomes_a_real_one() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        assert_ne!(listener.addr.port(), 0);
        let listener = bind("[::]:0".parse().unwrap()).await.unwrap();
        assert!(listener.addr.ip().is_unspecified());
    }

    #[tokio::test]
    async fn an_address_in_use_is_named() {
        let taken = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let error = bind(taken.addr).await.unwrap_err().to_string();
        let expected = format!("cannot listen on {}: Address already in use", taken.addr);
        assert!(error.starts_with(&expected), "{error}");
    }

    #[test]
    fn a_taken_port_is_no_reason_to_try_the_other_family() {
        assert!(!lacks_family(&io::ErrorKind::AddrInUse.into()));
        assert!(lacks_family(&io::ErrorKind::AddrNotAvailable.into()));
        assert!(lacks_family(&io::ErrorKind::Unsupported.into()));
    }
}
