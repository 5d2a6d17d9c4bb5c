//! What has no end, or too much of anything, is a fault.

use std::io::{self, Read};

use super::{Blobs, package, read_bytes, read_path};
use crate::source::{Progress, read_from};

/// A file of this length without content, as far as the disk is concerned.
fn sparse(length: u64) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    file.as_file().set_len(length).expect("a sparse file");
    file
}

#[test]
fn size_is_bounded() {
    let gigabyte = sparse(1 << 30);
    let fault = read_path(gigabyte.path()).expect_err("a fault");
    let want = "ROOT: larger than 805306368 bytes, decompressed; a catalog has tens to hundreds of \
                megabytes";
    assert_eq!(fault, want);

    let blob = sparse(40 << 20);
    let fault = read_path(blob.path()).expect_err("a fault");
    let want =
        "ROOT:1:1: a blob is larger than 33554432 bytes; split it, or move large data out of it";
    assert_eq!(fault, want);

    let string = Read::chain(&b"{\"schema\":\""[..], io::repeat(b'x'));
    let fault = read_from("pipe", string, &Progress::default(), &mut Blobs::default());
    let want = "pipe: byte 0: a blob is larger than 33554432 bytes; split it, or move large data \
                out of it";
    assert_eq!(fault.expect_err("a fault").to_string(), want);
}

/// One blob of a hundred kilobytes, without end.
struct Endless(Vec<u8>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let whole = buffer.len() / self.0.len() * self.0.len();
        for piece in buffer[..whole].chunks_mut(self.0.len()) {
            piece.copy_from_slice(&self.0);
        }
        Ok(whole)
    }
}

#[test]
fn an_endless_stream_ends() {
    for (size, want) in [
        (100_000, "pipe: larger than 805306368 bytes, decompressed"),
        (1, "pipe: byte 4999999: more than 500000 blobs"),
    ] {
        let blob = [&b"{\"x\":\""[..], &vec![b'x'; size], b"\"}\n"].concat();
        let endless = io::BufReader::with_capacity(1 << 20, Endless(blob));
        let fault = read_from("pipe", endless, &Progress::default(), &mut Blobs::default());
        let fault = fault.expect_err("a fault").to_string();
        assert!(fault.starts_with(want), "{fault}");
    }
}

#[test]
fn what_a_blob_keeps_is_bounded() {
    let many = |item: &str| vec![item; 250_001].join(",");
    let keys = (0..250_001)
        .map(|n| format!("\"{n}\":1"))
        .collect::<Vec<_>>()
        .join(",");
    for blob in [
        format!(
            "{{\"schema\":\"olm.channel\",\"entries\":[{}]}}",
            many("{}")
        ),
        format!(
            "{{\"schema\":\"olm.channel\",\"entries\":[{{\"skips\":[{}]}}]}}",
            many("\"\"")
        ),
        format!("{{\"schema\":\"olm.channel\",\"entries\":[{{\"Name\":\"\",{keys}}}]}}"),
        format!("{{{keys}}}"),
    ] {
        let fault = read_bytes([package("a"), package("b"), blob].concat().as_bytes());
        let fault = fault.expect_err("a fault");
        assert!(
            fault.ends_with("a blob has more than 250000 keys and list items; split it"),
            "{fault}"
        );
    }
    let lines = (0..10_001).map(|n| ["- &a", &n.to_string(), " b\n"].concat());
    let anchors = lines.collect::<String>();
    let fault = "file:10001:11: more than 10000 YAML anchors in one document; \
        write the values out";
    assert_eq!(read_bytes(anchors.as_bytes()), Err(fault.to_owned()));
}
