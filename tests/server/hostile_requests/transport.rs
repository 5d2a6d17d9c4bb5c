//! Connections that are not HTTP/1.1 over TLS.

use super::request::{Manner, Row, row, valid};

pub(crate) fn rows() -> Vec<Row> {
    let plain = |name, bytes, expected| Row {
        manner: Manner::Plain,
        ..row(name, bytes, expected)
    };
    vec![
        row(
            "an HTTP/2 preface",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            "closed",
        ),
        row("no HTTP", b"\x16\x03\x01 hello\r\n\r\n".to_vec(), "400 "),
        row("line feeds", b"\n".repeat(1 << 17), "431 "),
        row("noise without a line", b"\x7f".repeat(1 << 17), "400 "),
        plain(
            "plain HTTP",
            valid(),
            "400 plain HTTP on a port that speaks TLS: use https\n",
        ),
        plain(
            "TLS of no kind",
            b"\x16\x03\x01\xff\xff\x01".repeat(100),
            DECODE_ERROR,
        ),
        plain("noise below TLS", b"\x80\0\0\0".repeat(100), DECODE_ERROR),
        plain("an alert", b"\x15\x03\x03\0\x02\x02\x28".to_vec(), "closed"),
    ]
}

/// A TLS alert.
const DECODE_ERROR: &str = "closed after \\x15\\x03\\x03\\x00\\x02\\x022";
