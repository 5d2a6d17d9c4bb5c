//! Listening on an address, on IPv4 where a machine has no IPv6.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
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
pub(super) fn bind(addr: SocketAddr) -> Result<Listener, BindError> {
    let failed = |source| BindError { addr, source };
    let socket = match socket(addr) {
        Err(error) if addr.ip() == Ipv6Addr::UNSPECIFIED && lacks_family(&error) => {
            let addr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), addr.port());
            socket(addr)
        }
        bound => bound,
    }
    .map_err(failed)?;
    let addr = socket.local_addr().map_err(failed)?;
    Ok(Listener { socket, addr })
}

/// A machine may be set up so that a socket of IPv6 takes nobody else; `[::]` is for both all the
/// same.
fn socket(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    if addr.is_ipv6() {
        socket.set_only_v6(addr.ip() != Ipv6Addr::UNSPECIFIED)?;
    }
    // As the standard library does: a port is free again as soon as its server is gone.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// A kernel without IPv6 knows no such family; one that has it switched off, no such address.
fn lacks_family(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied
    )
}

/// How many connections the system takes before they are accepted; it may allow fewer.
const BACKLOG: i32 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn port_0_becomes_a_real_one() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        assert_ne!(listener.addr.port(), 0);
        let listener = bind("[::]:0".parse().unwrap()).unwrap();
        assert!(listener.addr.ip().is_unspecified());
    }

    #[tokio::test]
    async fn every_address_is_one_of_either_family() {
        let listener = bind("[::]:0".parse().unwrap()).unwrap();
        let v4 = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listener.addr.port());
        let (accepted, _client) =
            tokio::join!(listener.socket.accept(), tokio::net::TcpStream::connect(v4));
        assert!(accepted.unwrap().1.ip().to_canonical().is_ipv4());
    }

    #[tokio::test]
    async fn an_address_in_use_is_named() {
        let taken = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let error = bind(taken.addr).unwrap_err().to_string();
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
