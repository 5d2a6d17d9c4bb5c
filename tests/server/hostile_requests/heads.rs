//! Heads that an API server would not send.

use super::request::{JSON, Row, raw, review, row, with_head};

pub(crate) fn rows() -> Vec<Row> {
    [methods(), paths(), types(), lengths(), others()].concat()
}

fn methods() -> Vec<Row> {
    let of = |name, line, expected| row(name, with_head(line, JSON, b"{}"), expected);
    vec![
        of("GET", "GET /validate HTTP/1.1", NO_POST),
        of("PUT", "PUT /validate HTTP/1.1", NO_POST),
        of("PATCH", "PATCH /validate HTTP/1.1", NO_POST),
        of("DELETE", "DELETE /validate HTTP/1.1", NO_POST),
        of("OPTIONS", "OPTIONS /validate HTTP/1.1", NO_POST),
        of("TRACE", "TRACE /validate HTTP/1.1", NO_POST),
        of("a method of nobody", "BREW /validate HTTP/1.1", NO_POST),
        of("post in lower case", "post /validate HTTP/1.1", NO_POST),
        of("HEAD, which has no text", "HEAD /validate HTTP/1.1", "405 "),
        of("OPTIONS *", "OPTIONS * HTTP/1.1", NO_PATH),
        row("CONNECT", raw("CONNECT x:443 HTTP/1.1", "", b""), NO_PATH),
    ]
}

fn paths() -> Vec<Row> {
    let body = review().to_string();
    let of = |name, line, expected| row(name, with_head(line, JSON, body.as_bytes()), expected);
    vec![
        of("another path", "POST /mutate HTTP/1.1", NO_PATH),
        of("the root", "POST / HTTP/1.1", NO_PATH),
        of("a slash after it", "POST /validate/ HTTP/1.1", NO_PATH),
        of("two slashes", "POST //validate HTTP/1.1", NO_PATH),
        of("dots", "POST /x/../validate HTTP/1.1", NO_PATH),
        of("escaped", "POST /%76alidate HTTP/1.1", NO_PATH),
        of(
            "an absolute address",
            "POST https://x/validate HTTP/1.1",
            "200 u-1 allowed Resolved",
        ),
        of(
            "a timeout that is none",
            "POST /validate?timeout=x&timeout= HTTP/1.1",
            "200 u-1 allowed Resolved",
        ),
    ]
}

fn types() -> Vec<Row> {
    let body = review().to_string();
    let of = |name, headers, expected| {
        row(
            name,
            with_head("POST /validate HTTP/1.1", headers, body.as_bytes()),
            expected,
        )
    };
    vec![
        of(
            "upper case",
            "CONTENT-TYPE: APPLICATION/JSON\r\n",
            "200 u-1 allowed Resolved",
        ),
        of(
            "a charset",
            "content-type: application/json; charset=utf-8\r\n",
            "200 u-1 allowed Resolved",
        ),
        of("no type", "", NO_JSON),
        of("plain text", "content-type: text/plain\r\n", NO_JSON),
        of(
            "a form",
            "content-type: multipart/form-data; boundary=x\r\n",
            NO_JSON,
        ),
        of("a type of no text", "content-type: \u{ff}\r\n", NO_JSON),
        of(
            "two types",
            "content-type: text/plain\r\ncontent-type: application/json\r\n",
            NO_JSON,
        ),
    ]
}

fn lengths() -> Vec<Row> {
    let of = |name, headers: &str, expected| {
        row(
            name,
            raw(
                "POST /validate HTTP/1.1",
                &format!("{JSON}{headers}"),
                b"{}",
            ),
            expected,
        )
    };
    vec![
        of("a negative length", "content-length: -1\r\n", "400 "),
        of("a length of no number", "content-length: 0x2\r\n", "400 "),
        of(
            "a length beyond 64 bits",
            "content-length: 99999999999999999999\r\n",
            "400 ",
        ),
        of(
            "a length of 8 EiB",
            "content-length: 9223372036854775807\r\n",
            "413 body larger than 7340032 bytes: expected an AdmissionReview\n",
        ),
        of(
            "two lengths",
            "content-length: 2\r\ncontent-length: 3\r\n",
            "400 ",
        ),
        of(
            "a length and chunks",
            "content-length: 2\r\ntransfer-encoding: chunked\r\n",
            "400 body cannot be read: Invalid chunk size line: missing size digit\n",
        ),
        of(
            "an encoding of nobody",
            "transfer-encoding: gzip\r\n",
            "400 ",
        ),
    ]
}

fn others() -> Vec<Row> {
    let body = review().to_string();
    let of = |name, headers: &str, expected| {
        row(
            name,
            with_head(
                "POST /validate HTTP/1.1",
                &format!("{JSON}{headers}"),
                body.as_bytes(),
            ),
            expected,
        )
    };
    let many = |count| {
        let lines: Vec<_> = (0..count)
            .map(|n| {
                format!(
                    "x-{n}: y
"
                )
            })
            .collect();
        lines.concat()
    };
    let bare = |line: &str| {
        format!(
            "{line}\r\n{JSON}content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    };
    vec![
        of("90 headers", &many(90), "200 u-1 allowed Resolved"),
        of("1,000 headers", &many(1000), "431 "),
        of(
            "a header of 1 MiB",
            &format!("x: {}\r\n", "y".repeat(1 << 20)),
            "431 ",
        ),
        row(
            "a path of 1 MiB",
            with_head(
                &format!("POST /{} HTTP/1.1", "y".repeat(1 << 20)),
                JSON,
                b"",
            ),
            "431 ",
        ),
        of("a NUL in a header", "x: a\0b\r\n", "400 "),
        of("a header over two lines", "x: a\r\n b\r\n", "400 "),
        of("a space before a colon", "x : a\r\n", "400 "),
        of(
            "expect: 100-continue",
            "expect: 100-continue\r\n",
            "200 u-1 allowed Resolved",
        ),
        of(
            "an upgrade",
            "connection: upgrade\r\nupgrade: h2c\r\n",
            "200 u-1 allowed Resolved",
        ),
        row(
            "no host",
            bare("POST /validate HTTP/1.1"),
            "200 u-1 allowed Resolved",
        ),
        row(
            "HTTP/1.0",
            bare("POST /validate HTTP/1.0"),
            "200 u-1 allowed Resolved",
        ),
        row("HTTP/0.9", b"GET /validate\r\n\r\n".to_vec(), "400 "),
        row("HTTP/3.0", bare("POST /validate HTTP/3.0"), "400 "),
    ]
}

const NO_POST: &str = "405 expected POST\n";
const NO_PATH: &str = "404 not found: expected /validate or /validate-policy\n";
const NO_JSON: &str = "415 content-type is not JSON: expected application/json\n";
