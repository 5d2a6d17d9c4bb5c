//! The answers of a scripted catalogd, down to the bytes and the end of the connection.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;

/// An answer as a sequence of steps, cheap to clone. After the last step, the next request is awaited.
#[derive(Clone, Debug)]
pub struct Answer(pub Vec<Step>);

/// A step of an answer.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends bytes.
    Send(Bytes),
    /// Sends the same bytes this many times.
    Repeat(Vec<u8>, u64),
    /// Sends one byte after another, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// Sends nothing more until the client closes the connection.
    Silence,
    /// Ends the connection.
    Close,
}

impl Answer {
    /// Returns a 200 with a `Content-Length`.
    pub fn ok(body: &[u8]) -> Self {
        Self::with(&format!("content-length: {}\r\n", body.len()), body)
    }

    /// Returns a 200 with gzip and a `Content-Length`, as catalogd does.
    pub fn gzip(body: &[u8]) -> Self {
        Self::gzipped(&gzip(body))
    }

    /// Like [`Answer::gzip`], for a body that is, or claims to be, gzip already.
    pub fn gzipped(body: &[u8]) -> Self {
        let fields = format!(
            "content-encoding: gzip\r\ncontent-length: {}\r\n",
            body.len()
        );
        Self::with(&fields, body)
    }

    /// Returns a 200 in chunks of this many bytes.
    pub fn chunked(body: &[u8], size: usize) -> Self {
        let mut chunks = Vec::new();
        for chunk in body.chunks(size) {
            write!(chunks, "{:x}\r\n", chunk.len()).unwrap();
            chunks.extend_from_slice(chunk);
            chunks.extend_from_slice(b"\r\n");
        }
        chunks.extend_from_slice(b"0\r\n\r\n");
        Self::with("transfer-encoding: chunked\r\n", &chunks)
    }

    /// Returns a 200 with additional header fields, each ended by CR LF, and this exact body.
    pub fn with(fields: &str, body: &[u8]) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/jsonl\r\n{fields}\r\n");
        Self(vec![
            Step::Send(head.into()),
            Step::Send(Bytes::copy_from_slice(body)),
        ])
    }

    /// Returns a status with its reason as the body, as catalogd does.
    pub fn status(status: &str) -> Self {
        let length = status.len();
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{status}");
        Self::raw(text.as_bytes())
    }

    /// Returns a redirect.
    pub fn redirect(to: &str) -> Self {
        let head = format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
        Self::raw(head.as_bytes())
    }

    /// Returns an answer of exactly these bytes.
    pub fn raw(bytes: &[u8]) -> Self {
        Self(vec![Step::Send(Bytes::copy_from_slice(bytes))])
    }

    /// Appends a step.
    pub fn then(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }

    /// Removes the last bytes, and closes the connection after the rest.
    pub fn cut(mut self, bytes: usize) -> Self {
        if let Some(Step::Send(last)) = self.0.last_mut() {
            last.truncate(last.len().saturating_sub(bytes));
        }
        self.then(Step::Close)
    }
}

/// Compresses bytes as a single gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
