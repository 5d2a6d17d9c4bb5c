//! `--catalog NAME=URL#sha256=HEX`: a catalog that is fetched, but only if it is needed.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::{fs, thread};

use ring::digest::{SHA256, digest};

use super::scene::{Scene, extension, scene};

/// Serves the scene's catalog as long as the test runs.
fn serve(scene: &Scene) -> (SocketAddr, String) {
    let content = fs::read(scene.path().join("hub.yaml")).expect("the catalog");
    let sha256 = digest(&SHA256, &content);
    let bytes = sha256.as_ref().iter();
    let hex = bytes.fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let lines = BufReader::new(&stream).lines();
            let mut blank =
                lines.skip_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty()));
            blank.next().expect("a whole head").expect("a whole head");
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
                content.len()
            );
            stream.write_all(head.as_bytes()).expect("it is read");
            stream.write_all(&content).expect("it is read");
        }
    });
    (address, hex)
}

#[test]
fn the_answer_is_that_of_the_file() {
    let scene = scene(&[("a.yaml", &extension("a", "7.0.0"))]);
    let (address, sha256) = serve(&scene);
    let url = format!("--catalog=hub=http://{address}/hub.yaml#sha256={sha256}");
    let by_file = scene.run(&["-f", "a.yaml", "--catalog=hub=hub.yaml"]);
    assert_eq!(scene.run(&["-f", "a.yaml", &url]), by_file);
    assert_eq!(by_file.code, 1);
}

#[test]
fn other_content_is_bad_input() {
    let scene = scene(&[("a.yaml", &extension("a", "1.1.0"))]);
    let (address, sha256) = serve(&scene);
    let pinned = "0".repeat(64);
    let url = format!("--catalog=hub=http://{address}/hub.yaml#sha256={pinned}");
    let ran = scene.run(&["-f", "a.yaml", &url, "-o=json"]);
    assert_eq!(ran.code, 3);
    assert_eq!(
        ran.stderr,
        format!(
            "error: catalog \"hub\": http://{address}/hub.yaml: content has the digest \
             sha256={sha256}, expected sha256={pinned}\n"
        )
    );
    assert_eq!(ran.json()["results"][0]["token"], "CatalogNotLoaded");
}

#[test]
fn without_a_digest_nothing_is_asked() {
    let scene = scene(&[("a.yaml", &extension("a", "1.1.0"))]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it can be asked");
    let url = format!(
        "--catalog=hub=http://{}/hub.yaml",
        listener.local_addr().expect("it")
    );
    scene.misused(
        &["-f", "a.yaml", &url],
        "has no digest: add #sha256=HEX to the URL, as sha256sum prints it",
    );
    let asked = listener.accept().map(drop).map_err(|error| error.kind());
    assert_eq!(asked, Err(std::io::ErrorKind::WouldBlock));
}
