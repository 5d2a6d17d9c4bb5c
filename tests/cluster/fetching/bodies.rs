//! Complete and incomplete bodies.

use olmguard::source::digest::Sha256;
use olmguard::source::http::{FetchClass, FetchError, FetchedBody};

use super::scene::{Scene, catalog, fails};
use olmguard_support::catalogd::answer::{Answer, gzip};

const BODY: &str = "{\"schema\":\"olm.package\",\"name\":\"lantern\"}\n";

#[track_caller]
fn is_body(fetched: Result<FetchedBody<String>, FetchError>, sent: usize) {
    let fetched = fetched.unwrap();
    assert_eq!(fetched.value, BODY);
    assert_eq!(fetched.bytes, sent as u64);
    assert_eq!(fetched.sha256, Sha256::of(BODY.as_bytes()));
}

#[tokio::test]
async fn a_body_is_read_as_it_stands() {
    let scene = Scene::answering(Answer::ok(BODY.as_bytes())).await;
    is_body(scene.fetch().await, BODY.len());
}

#[tokio::test]
async fn chunks_are_put_together() {
    let scene = Scene::answering(Answer::chunked(BODY.as_bytes(), 7)).await;
    is_body(scene.fetch().await, BODY.len());
}

#[tokio::test]
async fn gzip_is_decompressed() {
    let scene = Scene::answering(Answer::gzip(BODY.as_bytes())).await;
    is_body(scene.fetch().await, gzip(BODY.as_bytes()).len());
}

#[tokio::test]
async fn gzip_of_several_pieces_is_read_to_its_end() {
    let (first, second) = BODY.as_bytes().split_at(20);
    let pieces = [gzip(first), gzip(b""), gzip(second)].concat();
    let scene = Scene::answering(Answer::gzipped(&pieces)).await;
    is_body(scene.fetch().await, pieces.len());
}

#[tokio::test]
async fn an_empty_body_is_one() {
    let scene = Scene::answering(Answer::ok(b"")).await;
    assert_eq!(scene.fetch().await.unwrap().value, "");
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_none() {
    let length = "body is cut off: it ended before the 42 bytes of its Content-Length";
    fails(Answer::ok(BODY.as_bytes()).cut(1), "truncated", length).await;
    fails(Answer::ok(BODY.as_bytes()).cut(42), "truncated", length).await;

    let chunk = "body is cut off: it ended before its last chunk";
    for cut in [1, 5, 9, 20] {
        let answer = Answer::chunked(BODY.as_bytes(), 8).cut(cut);
        fails(answer, "truncated", chunk).await;
    }
}

#[tokio::test]
async fn gzip_that_is_cut_off_is_none() {
    let words = "body is cut off: it ended before the end of its gzip data";
    let whole = gzip(BODY.as_bytes());
    for cut in [1, 8, 9, whole.len() - 3, whole.len()] {
        let (start, _) = whole.split_at(whole.len() - cut);
        fails(Answer::gzipped(start), "truncated", words).await;
    }
    let second = [&whole[..], &whole[..12]].concat();
    fails(Answer::gzipped(&second), "truncated", words).await;
}

#[tokio::test]
async fn what_says_to_be_gzip_and_is_not_is_refused() {
    let words = "body is not valid gzip, which its Content-Encoding announces: invalid gzip header";
    fails(Answer::gzipped(BODY.as_bytes()), "content", words).await;
    let mut damaged = gzip(BODY.as_bytes());
    let last = damaged.len() - 5;
    damaged[last] ^= 1;
    let words = "body is not valid gzip, which its Content-Encoding announces: corrupt gzip stream \
                 does not have a matching checksum";
    fails(Answer::gzipped(&damaged), "content", words).await;
}

#[tokio::test]
async fn a_body_without_an_end_is_refused() {
    let words = "answer has neither Content-Length nor chunked encoding: expected one of them, to \
                 know that the body is complete";
    fails(
        Answer::with("connection: close\r\n", BODY.as_bytes()).cut(0),
        "other",
        words,
    )
    .await;
}

#[tokio::test]
async fn another_compression_is_refused() {
    let of = |encoding| format!("answer has Content-Encoding {encoding:?}, expected gzip or none");
    for (encoding, shown) in [("zstd", "zstd"), ("gzip, gzip", "gzip, gzip"), ("", "")] {
        let fields = format!("content-encoding: {encoding}\r\ncontent-length: 0\r\n");
        fails(Answer::with(&fields, b""), "other", &of(shown)).await;
    }
}

#[tokio::test]
async fn a_fault_within_is_told_with_its_place() {
    let line = BODY.repeat(1000);
    let damaged = format!("{line}{{\"schema\":\"olm.package\",}}\n{line}");
    let scene = Scene::answering(Answer::gzip(damaged.as_bytes())).await;
    let base = scene.server.base("c");
    let error = scene.catalogd().fetch(&base, catalog).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::Content);
    let words = "c: byte 42024: invalid JSON: expected a key in quotes, found '}'";
    assert_eq!(error.to_string(), words);
}
