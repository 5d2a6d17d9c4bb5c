//! A scripted catalogd on loopback, which records its requests.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::catalogd::answer::{Answer, Step};

/// A running server, which stops when it is dropped.
pub struct Scripted {
    address: SocketAddr,
    scheme: &'static str,
    log: Arc<Log>,
    _running: JoinSet<()>,
}

/// A recorded request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asked {
    /// The number of the request, from 0.
    pub number: usize,
    /// The number of its connection, from 0.
    pub connection: usize,
    /// The request line and the header fields.
    pub head: String,
}

/// The record of a server.
#[derive(Default)]
struct Log {
    asked: Mutex<Vec<Asked>>,
    connections: AtomicUsize,
    open: watch::Sender<usize>,
    sent: AtomicU64,
}

/// A function from requests to answers.
type Script = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

impl Scripted {
    /// Starts a server with this TLS configuration.
    pub async fn tls(
        config: ServerConfig,
        script: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self::start(Some(acceptor), Arc::new(script)).await
    }

    /// Starts a server without TLS.
    pub async fn plain(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::start(None, Arc::new(script)).await
    }

    async fn start(acceptor: Option<TlsAcceptor>, script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, log) = (listener.local_addr().unwrap(), Arc::new(Log::default()));
        let scheme = if acceptor.is_some() { "https" } else { "http" };
        let mut running = JoinSet::new();
        running.spawn(accept(listener, acceptor, script, Arc::clone(&log)));
        Self {
            address,
            scheme,
            log,
            _running: running,
        }
    }

    /// Returns the value of `status.urls.base` for a catalog.
    pub fn base(&self, catalog: &str) -> String {
        format!(
            "{}://localhost:{}/catalogs/{catalog}",
            self.scheme,
            self.port()
        )
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns all requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.log.asked.lock().unwrap().clone()
    }

    /// Returns the number of connections so far, including those without a request.
    pub fn connections(&self) -> usize {
        self.log.connections.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes sent, before encryption.
    pub fn sent(&self) -> u64 {
        self.log.sent.load(Ordering::SeqCst)
    }

    /// Waits until exactly this many connections are open.
    pub async fn open(&self, count: usize) {
        let mut open = self.log.open.subscribe();
        let reached = timeout(DEADLINE, open.wait_for(|&open| open == count)).await;
        reached.expect("in time").expect("the server runs");
    }
}

impl Log {
    fn note(&self, connection: usize, head: String) -> Asked {
        let mut all = self.asked.lock().unwrap();
        let number = all.len();
        let asked = Asked {
            number,
            connection,
            head,
        };
        all.push(asked.clone());
        asked
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    script: Script,
    log: Arc<Log>,
) {
    let mut connections = JoinSet::new();
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        let (acceptor, script) = (acceptor.clone(), Arc::clone(&script));
        let log = Arc::clone(&log);
        let connection = log.connections.fetch_add(1, Ordering::SeqCst);
        connections.spawn(async move {
            let open = Open::one(&log);
            // A client may close its connection at any time.
            drop(serve(socket, acceptor, &script, &log, connection).await);
            drop(open);
        });
    }
}

async fn serve(
    socket: TcpStream,
    acceptor: Option<TlsAcceptor>,
    script: &Script,
    log: &Log,
    connection: usize,
) -> io::Result<()> {
    let Some(acceptor) = acceptor else {
        return plain(socket, script, log, connection).await;
    };
    let stream = acceptor.accept(socket).await?;
    answer_all(stream, script, log, connection).await
}

/// Serves a connection without TLS. A client that starts with TLS gets a 400, as from other
/// servers.
async fn plain(
    mut socket: TcpStream,
    script: &Script,
    log: &Log,
    connection: usize,
) -> io::Result<()> {
    let mut first = [0];
    socket.peek(&mut first).await?;
    if first == [TLS_HANDSHAKE] {
        return socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    }
    answer_all(socket, script, log, connection).await
}

async fn answer_all(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    script: &Script,
    log: &Log,
    connection: usize,
) -> io::Result<()> {
    while let Some(head) = head(&mut stream).await? {
        let asked = log.note(connection, head);
        for step in script(&asked).0 {
            if matches!(step, Step::Close) {
                return stream.shutdown().await;
            }
            perform(&mut stream, step, log).await?;
        }
    }
    Ok(())
}

async fn perform(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    step: Step,
    log: &Log,
) -> io::Result<()> {
    match step {
        Step::Send(bytes) => send(stream, &bytes, log).await,
        Step::Repeat(bytes, times) => {
            for _ in 0..times {
                send(stream, &bytes, log).await?;
            }
            Ok(())
        }
        Step::Drip(bytes, pause) => {
            for byte in bytes {
                send(stream, &[byte], log).await?;
                sleep(pause).await;
            }
            Ok(())
        }
        Step::Silence => stream.read_u8().await.map(drop),
        Step::Close => stream.shutdown().await,
    }
}

async fn send(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8], log: &Log) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await?;
    log.sent.fetch_add(bytes.len() as u64, Ordering::SeqCst);
    Ok(())
}

/// Reads the next request head. Returns `None` if the client has closed the connection.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(String::from_utf8(head).expect("a head is ASCII")))
}

/// A guard that counts one open connection.
struct Open<'a>(&'a watch::Sender<usize>);

impl<'a> Open<'a> {
    fn one(log: &'a Log) -> Self {
        log.open.send_modify(|open| *open += 1);
        Self(&log.open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// The first byte of a TLS client.
const TLS_HANDSHAKE: u8 = 0x16;

const DEADLINE: Duration = Duration::from_secs(30);
