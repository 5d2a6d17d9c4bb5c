//! The outcome of a request, as one line.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use serde_json::Value;

use crate::hostile_requests::request::{Manner, Row};
use olmguard_support::load::wire::Target;

/// Returns the outcome of a request over TLS: see [`outcome_of`].
pub(crate) fn ask(target: &Target, bytes: &[u8]) -> String {
    let mut stream = tls(target);
    // A server that has answered does not have to read the rest.
    drop(stream.write_all(bytes).and_then(|()| stream.flush()));
    read(&mut Answers(stream), bytes.starts_with(b"HEAD "))
}

/// Returns the status and the text of an answer. For a review, the text is the uid, the verdict and
/// the reason code. Without an answer, returns how the connection ended.
pub(crate) fn outcome_of(target: &Target, row: &Row) -> String {
    match row.manner {
        Manner::Open => ask(target, &row.bytes),
        Manner::Ended => {
            let mut stream = tls(target);
            stream.write_all(&row.bytes).unwrap();
            stream.conn.send_close_notify();
            stream.flush().unwrap();
            stream.sock.shutdown(Shutdown::Write).unwrap();
            read(&mut Answers(stream), false)
        }
        Manner::Plain => {
            let mut socket = socket(target);
            socket.write_all(&row.bytes).unwrap();
            read(&mut socket, false)
        }
    }
}

/// The answers of a server over TLS, read without sending the rest of the request again.
struct Answers(StreamOwned<ClientConnection, TcpStream>);

impl Read for Answers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let StreamOwned { conn, sock } = &mut self.0;
        loop {
            match conn.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
            conn.read_tls(sock)?;
            conn.process_new_packets().map_err(io::Error::other)?;
        }
    }
}

fn tls(target: &Target) -> StreamOwned<ClientConnection, TcpStream> {
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::clone(&target.tls), name).unwrap();
    StreamOwned::new(client, socket(target))
}

fn socket(target: &Target) -> TcpStream {
    let socket = TcpStream::connect(target.address).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    socket.set_write_timeout(Some(DEADLINE)).unwrap();
    socket
}

/// Reads one response, or to the end of the connection.
fn read(stream: &mut impl Read, is_head: bool) -> String {
    let mut read = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        if let Some(response) = response(&read, is_head) {
            return response;
        }
        match stream.read(&mut buffer) {
            Ok(0) => return ended("closed", &read),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return ended("closed", &read);
            }
            Ok(count) => read.extend_from_slice(&buffer[..count]),
            Err(error) => return ended(&error.kind().to_string(), &read),
        }
    }
}

fn ended(how: &str, read: &[u8]) -> String {
    if read.is_empty() {
        return how.to_owned();
    }
    format!("{how} after {}", read.escape_ascii())
}

fn response(read: &[u8], is_head: bool) -> Option<String> {
    let end = memchr::memmem::find(read, b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&read[..end]).unwrap().to_lowercase();
    let mut lines = head.lines();
    let status: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    if status < 200 {
        return response(&read[end..], is_head);
    }
    let length = lines.find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().unwrap());
    let body = if is_head {
        &[]
    } else {
        read.get(end..end + length)?
    };
    Some(match status {
        200 => verdict(body),
        _ => format!("{status} {}", std::str::from_utf8(body).unwrap()),
    })
}

fn verdict(body: &[u8]) -> String {
    let review: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(review["kind"], "AdmissionReview", "{review}");
    assert_eq!(review["apiVersion"], "admission.k8s.io/v1", "{review}");
    assert_eq!(review.get("request"), None, "{review}");
    let response = &review["response"];
    let uid = response["uid"].as_str().unwrap();
    let allowed = response["allowed"].as_bool().unwrap();
    let token = response["auditAnnotations"]["token"].as_str().unwrap();
    let allowed = if allowed { "allowed" } else { "denied" };
    format!("200 {uid} {allowed} {token}")
}

const DEADLINE: Duration = Duration::from_secs(20);
