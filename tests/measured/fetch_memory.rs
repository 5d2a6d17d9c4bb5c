//! The memory for a body that is far larger than the part in memory.
//!
//! The figures are those of this process.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use olmguard_support::ALONE;
use std::fs;

use olmguard::source::catalogd::Catalogd;
use olmguard::source::http::FetchLimits;
use olmguard::source::{Progress, read_from};
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::olm::Rules;
use olmguard_support::catalogd::answer::{Answer, Step, gzip};
use olmguard_support::catalogd::scripted::Scripted;

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_measure_takes_no_memory() {
    let _alone = ALONE.lock().await;
    let line = line();
    let plain = [b"10000\r\n", &line[..], b"\r\n"].concat();
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let plain = Answer::raw(head).then(Step::Repeat(plain, 32768));
    let bomb = Answer::gzipped(&gzip(&line.repeat(16)).repeat(2048));
    let small = Answer::ok(&line);
    let server = Scripted::plain(move |asked| match asked.head.as_bytes() {
        head if head.starts_with(b"GET /catalogs/plain/") => plain.clone(),
        head if head.starts_with(b"GET /catalogs/bomb/") => bomb.clone(),
        _ => small.clone(),
    });
    let server = server.await;
    assert_eq!(fetched(&server, "small").await, Ok(65536));
    // This resets the peak, whatever the process did before.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = peak();
    for (catalog, size) in [("plain", "as sent"), ("bomb", "decompressed")] {
        let words = format!("body is larger than {LIMIT} bytes, {size}");
        assert_eq!(fetched(&server, catalog).await, Err(words));
        let grown = peak() - before;
        assert!(grown < 8 << 10, "{catalog}: {grown} KiB more");
    }
}

/// Fetches a catalog, and returns its size in bytes or the reason why it failed.
async fn fetched(server: &Scripted, catalog: &str) -> Result<u64, String> {
    let (wire, content) = (LIMIT, LIMIT);
    let limits = FetchLimits {
        wire,
        content,
        ..FetchLimits::default()
    };
    let client = Catalogd::new(None, limits).unwrap();
    let base = server.base(catalog);
    let fetched = client.fetch(&base, |input| {
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        read_from("c", input, &Progress::default(), &mut builder)?;
        Ok(builder.finish().expect("no bound"))
    });
    fetched
        .await
        .map(|fetched| fetched.bytes)
        .map_err(|error| error.to_string())
}

/// Returns a blob of 64 KiB.
fn line() -> Vec<u8> {
    let (start, end) = (
        &b"{\"schema\":\"olm.package\",\"name\":\"p\",\"x\":\""[..],
        b"\"}\n",
    );
    let mut line = start.to_vec();
    line.resize(65536 - end.len(), b'x');
    line.extend_from_slice(end);
    line
}

/// Returns the peak memory of this process in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

/// A quarter of what the server would send.
const LIMIT: u64 = 512 << 20;
