//! Images from a scripted registry on loopback.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use olmguard_support::catalogd::answer::{Answer, Step};
use olmguard_support::oci::TestRegistry;

use super::*;

#[test]
fn a_registry_is_asked_once_for_each_part_and_never_again_for_a_layer() {
    let reader = Reader::new();
    let image = catalog().index();
    let top = image.top.clone();
    let registry = TestRegistry::of(image);
    is_catalog(
        &reader
            .read(&format!("oci:{}", registry.image("a/b:v1")))
            .unwrap(),
    );
    let first = registry.paths();
    assert_eq!(first.len(), 5, "{first:?}");
    assert_eq!(first[0], "/v2/a/b/manifests/v1");
    is_catalog(
        &reader
            .read(&format!("oci:{}", registry.image("a/b:v1")))
            .unwrap(),
    );
    assert_eq!(registry.paths()[5..], ["/v2/a/b/manifests/v1"]);
    is_catalog(
        &reader
            .read(&format!("oci:{}", registry.image(&format!("a/b@{top}"))))
            .unwrap(),
    );
    assert_eq!(
        registry.paths().len(),
        6,
        "a digest that is known needs no registry"
    );
}

#[test]
fn a_token_is_fetched_where_the_registry_asks_for_one() {
    let (image, port) = (catalog(), Arc::new(Mutex::new(String::new())));
    let host = Arc::clone(&port);
    let registry = TestRegistry::scripted(move |asked| {
        if asked
            .head
            .starts_with("GET /token?service=r&scope=repository%3Aa%2Fb%3Apull ")
        {
            return Answer::ok(br#"{"token": "t0ken"}"#);
        }
        if asked.head.contains("authorization: Bearer t0ken\r\n") {
            return image.answer(asked);
        }
        let host = host.lock().unwrap();
        let head = format!(
            "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer realm=\"http://{host}/token\",service=\"r\"\r\n\
             content-length: 0\r\n\r\n"
        );
        Answer::raw(head.as_bytes())
    });
    *port.lock().unwrap() = registry.image("").trim_end_matches('/').to_owned();
    let reader = Reader::new();
    is_catalog(
        &reader
            .read(&format!("oci:{}", registry.image("a/b:v1")))
            .unwrap(),
    );
    let tokens = registry
        .paths()
        .into_iter()
        .filter(|path| path.starts_with("/token"));
    assert_eq!(tokens.count(), 1);
}

#[test]
fn blobs_may_lie_elsewhere_and_credentials_stay_behind() {
    let image = catalog();
    let store = TestRegistry::of(image.clone());
    let elsewhere = store.image("a/b/blobs").replace("localhost", "127.0.0.1");
    let registry = TestRegistry::scripted(move |asked| {
        match asked
            .head
            .split(' ')
            .nth(1)
            .and_then(|path| path.split_once("/blobs/"))
        {
            Some((_, digest)) => Answer::redirect(&format!("http://{elsewhere}/{digest}")),
            None => image.answer(asked),
        }
    });
    is_catalog(
        &Reader::new()
            .read(&format!("oci:{}", registry.image("a/b:v1")))
            .unwrap(),
    );
    let asked = store.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|one| !one.head.contains("authorization")));
}

#[test]
fn a_registry_that_fails_for_a_while_is_asked_again() {
    let image = catalog();
    let registry = TestRegistry::scripted(move |asked| match asked.number {
        0 => Answer::raw(
            b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n",
        ),
        1 => Answer::status("503 Service Unavailable"),
        2 => Answer(vec![Step::Close]),
        4 => image.answer(asked).cut(1),
        _ => image.answer(asked),
    });
    is_catalog(
        &Reader::new()
            .read(&format!("oci:{}", registry.image("a:v1")))
            .unwrap(),
    );
}

#[test]
fn a_registry_that_is_no_use_is_told_so() {
    let head = |head: &str| {
        Answer::raw(format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\n\r\n").as_bytes())
    };
    let log_in = "log in with podman login or docker login, or name a file of credentials in REGISTRY_AUTH_FILE";
    for (answer, tries, expected) in [
        (
            Answer::status("404 Not Found"),
            1,
            "HOST answered HTTP 404 Not Found: no such image there; check its name and its tag"
                .to_owned(),
        ),
        (
            Answer::status("401 Unauthorized"),
            1,
            format!("HOST answered HTTP 401 Unauthorized: {log_in}"),
        ),
        (
            head("401 No\r\nwww-authenticate: Basic realm=x"),
            2,
            format!("HOST answered HTTP 401 Unauthorized: {log_in}"),
        ),
        (
            head("401 No\r\nwww-authenticate: Negotiate"),
            1,
            "HOST asks for the authentication \"Negotiate\": expected Bearer or Basic".to_owned(),
        ),
        (
            Answer::status("403 Forbidden"),
            1,
            format!("HOST answered HTTP 403 Forbidden: {log_in}"),
        ),
        (
            Answer::status("500 Internal Server Error"),
            4,
            "HOST answered HTTP 500 Internal Server Error".to_owned(),
        ),
        (
            Answer::redirect("/again"),
            6,
            "HOST redirected more than 5 times".to_owned(),
        ),
        (
            Answer::redirect("x"),
            1,
            "HOST redirected to a place that is not a URL with https".to_owned(),
        ),
        (
            Answer(vec![Step::Silence]),
            4,
            "timed out: no answer within 500ms".to_owned(),
        ),
        (
            Answer::ok(b"{"),
            1,
            "manifest is not valid: EOF while parsing an object at line 1 column 1".to_owned(),
        ),
        (
            Answer::with("content-length: 99999999\r\n", b""),
            1,
            "body is larger than 4194304 bytes, as sent".to_owned(),
        ),
    ] {
        let registry = TestRegistry::scripted(move |_| answer.clone());
        let fault = Reader::new()
            .read(&format!("oci:{}", registry.image("a:v1")))
            .unwrap_err();
        let host = registry.image("").trim_end_matches('/').to_owned();
        assert_eq!(fault.replace(&host, "HOST"), expected);
        assert_eq!(registry.paths().len(), tries, "{expected}");
    }
}

#[test]
fn a_registry_that_lies_about_a_digest_is_found_out() {
    let image = catalog();
    let manifest = image.manifest();
    let layer = manifest["layers"][1]["digest"].as_str().unwrap().to_owned();
    let config = manifest["config"]["digest"].as_str().unwrap().to_owned();
    let top = image.top.clone();
    for (lie, what, name) in [
        (top.clone(), "manifest", format!("a@{top}")),
        (config, "configuration", "a:v1".to_owned()),
        (layer, "layer", "a:v1".to_owned()),
    ] {
        let mut liar = image.clone();
        let bytes = liar.blobs.get_mut(&lie).unwrap();
        let end = bytes.len() - 1;
        bytes[end] ^= 1;
        let registry = TestRegistry::of(liar);
        let fault = Reader::new()
            .read(&format!("oci:{}", registry.image(&name)))
            .unwrap_err();
        assert!(
            fault.starts_with(&format!("{what} has the digest sha256:")),
            "{fault}"
        );
        assert!(fault.ends_with(&format!("expected {lie}")), "{fault}");
    }
}

#[test]
fn a_layer_with_more_bytes_than_the_manifest_says_is_cut_off() {
    let image = catalog();
    let layer = image.manifest()["layers"][0]["digest"]
        .as_str()
        .unwrap()
        .to_owned();
    let endless = Arc::new(AtomicUsize::new(0));
    let served = Arc::clone(&endless);
    let registry = TestRegistry::scripted(move |asked| {
        if !asked.head.contains(&layer) {
            return image.answer(asked);
        }
        served.fetch_add(1, Ordering::SeqCst);
        let zeros = format!("{:x}\r\n{}\r\n", 65536, "\0".repeat(65536));
        Answer::with("transfer-encoding: chunked\r\n", b"")
            .then(Step::Repeat(zeros.into(), 1 << 20))
    });
    let fault = Reader::new()
        .read(&format!("oci:{}", registry.image("a:v1")))
        .unwrap_err();
    assert!(fault.starts_with("body is larger than "), "{fault}");
    assert_eq!(endless.load(Ordering::SeqCst), 1);
}
