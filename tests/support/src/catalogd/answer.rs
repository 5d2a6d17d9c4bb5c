//! What a scripted catalogd answers, down to the byte and to where the connection breaks.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;

/// An answer, cheap to clone, as steps in their order. After the last one the next request is waited for.
#[derive(Clone, Debug)]
pub struct Answer(pub Vec<Step>);

/// One thing that is done.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends bytes.
    Send(Bytes),
    /// Sends the same bytes so many times.
    Repeat(Vec<u8>, u64),
    /// Sends one byte after another, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// Sends nothing more, until the client goes away.
    Silence,
    /// Ends the connection.
    Close,
}

impl Answer {
    /// 200, with a `Content-Length`.
    pub fn ok(body: &[u8]) -> Self {
        Self::with(&format!("content-length: {}\r\n", body.len()), body)
    }

    /// 200, gzip, with a `Content-Length` as catalogd sends it.
    pub fn gzip(body: &[u8]) -> Self {
        Self::gzipped(&gzip(body))
    }

    /// The same of what is gzip already, or says to be.
    pub fn gzipped(body: &[u8]) -> Self {
        let fields = format!(
            "content-encoding: gzip\r\ncontent-length: {}\r\n",
            body.len()
        );
        Self::with(&fields, body)
    }

    /// 200, in chunks of this many bytes.
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

    /// 200, with these further fields, each ended by CR LF, and this body as it stands.
    pub fn with(fields: &str, body: &[u8]) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/jsonl\r\n{fields}\r\n");
        Self(vec![
            Step::Send(head.into()),
            Step::Send(Bytes::copy_from_slice(body)),
        ])
    }

    /// A status with its words as a body, as catalogd sends it.
    pub fn status(status: &str) -> Self {
        let length = status.len();
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{status}");
        Self::raw(text.as_bytes())
    }

    /// A redirect.
    pub fn redirect(to: &str) -> Self {
        let head = format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
        Self::raw(head.as_bytes())
    }

    /// These bytes.
    pub fn raw(bytes: &[u8]) -> Self {
        Self(vec![Step::Send(Bytes::copy_from_slice(bytes))])
    }

    /// The same, with this afterwards.
    pub fn then(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }

    /// The same without its last bytes, and then the connection ends.
    pub fn cut(mut self, bytes: usize) -> Self {
        if let Some(Step::Send(last)) = self.0.last_mut() {
            last.truncate(last.len().saturating_sub(bytes));
        }
        self.then(Step::Close)
    }
}

/// Compressed in one piece.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
