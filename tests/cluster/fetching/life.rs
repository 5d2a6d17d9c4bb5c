//! The end of a fetch, and the effects of a reader on it.

use std::io::Read;
use std::sync::mpsc::channel;
use std::time::Duration;

use olmguard::source::SourceError;
use olmguard::source::digest::Sha256;
use olmguard::source::http::FetchClass;
use rustix::process::getpriority_process;

use super::scene::{Scene, unreadable};
use olmguard_support::catalogd::answer::{Answer, Step};

/// Returns a body that never ends.
fn endless() -> Answer {
    let head = Answer::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{}\n");
    head.then(Step::Silence)
}

#[tokio::test]
async fn a_reader_that_fails_ends_the_fetch_at_once() {
    let scene = Scene::answering(endless()).await;
    let fail = |input: &mut dyn Read| -> Result<(), SourceError> {
        input.read_exact(&mut [0]).map_err(unreadable)?;
        let link = "c".into();
        Err(SourceError::LinkLeadsOut { link })
    };
    let base = scene.server.base("c");
    let error = scene.catalogd().fetch(&base, fail).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::Content);
    let words =
        "c: symbolic link points outside the directory of the catalog; copy the file into it";
    assert_eq!(error.to_string(), words);
    scene.server.open(0).await;
}

#[tokio::test]
async fn a_reader_that_panics_is_an_error() {
    let scene = Scene::answering(endless()).await;
    let panics = |_: &mut dyn Read| -> Result<(), SourceError> { panic!("by intent") };
    let base = scene.server.base("c");
    let error = scene.catalogd().fetch(&base, panics).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::Other);
    let words = "internal fault: the thread that reads the body was lost; please report this";
    assert_eq!(error.to_string(), words);
    scene.server.open(0).await;
}

/// A reader that stops before the end does not make a body complete.
#[tokio::test]
async fn what_a_reader_leaves_is_looked_at_all_the_same() {
    let first = |input: &mut dyn Read| {
        let mut byte = [0];
        input.read_exact(&mut byte).map_err(unreadable)?;
        Ok(byte)
    };
    let scene = Scene::answering(Answer::ok(b"whole")).await;
    let base = scene.server.base("c");
    let fetched = scene.catalogd().fetch(&base, first).await.unwrap();
    assert_eq!((&fetched.value, fetched.bytes), (b"w", 5));
    assert_eq!(fetched.sha256, Sha256::of(b"whole"));

    let scene = Scene::answering(Answer::ok(b"not whole").cut(1)).await;
    let base = scene.server.base("c");
    let error = scene.catalogd().fetch(&base, first).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::Truncated);
}

/// An error of the reader hides nothing: the reason why the body ended is reported.
#[tokio::test]
async fn a_reader_that_passes_over_an_error_does_not_hide_it() {
    let deaf = |input: &mut dyn Read| {
        drop(input.read_to_end(&mut Vec::new()));
        Ok(())
    };
    let scene = Scene::answering(Answer::gzipped(b"\x1f\x8b")).await;
    let base = scene.server.base("c");
    let error = scene.catalogd().fetch(&base, deaf).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::Truncated);
}

#[tokio::test]
async fn a_fetch_that_is_dropped_leaves_nothing() {
    let scene = Scene::answering(endless()).await;
    let (base, catalogd) = (scene.server.base("c"), scene.catalogd());
    let (begun, mut begins) = tokio::sync::mpsc::channel(1);
    let (ended, ends) = channel();
    let fetch = tokio::spawn(async move {
        let read = move |input: &mut dyn Read| {
            input.read_exact(&mut [0]).map_err(unreadable)?;
            begun.blocking_send(()).unwrap();
            let rest = input.read_to_end(&mut Vec::new()).map_err(unreadable);
            ended
                .send(rest.as_ref().map_err(ToString::to_string).cloned())
                .unwrap();
            rest
        };
        catalogd.fetch(&base, read).await
    });
    begins.recv().await.unwrap();
    scene.server.open(1).await;
    fetch.abort();
    assert!(fetch.await.unwrap_err().is_cancelled());
    scene.server.open(0).await;
    let end = ends.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(
        end,
        Err("c: cannot read: the fetch was given up".to_owned())
    );
}

/// The thread has a lower priority than those that answer the API server.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn reading_has_the_lowest_priority() {
    let scene = Scene::answering(Answer::ok(b"x")).await;
    let base = scene.server.base("c");
    let before = getpriority_process(None).unwrap();
    let priority = |_: &mut dyn Read| Ok(getpriority_process(None).unwrap());
    let fetched = scene.catalogd().fetch(&base, priority).await.unwrap();
    assert_eq!(fetched.value, 19);
    assert_eq!(
        getpriority_process(None).unwrap(),
        before,
        "no other thread's"
    );
}
