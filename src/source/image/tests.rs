//! Images from layouts and from a registry on loopback, good ones and others.

use std::fs;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use olmguard_support::catalogd::answer::{Answer, Step};
use olmguard_support::oci::{CONFIGS, INDEX, Layer, TestImage, TestRegistry};
use serde_json::json;
use tar::EntryType;
use tempfile::TempDir;

use super::credentials::CredentialFiles;
use super::*;

/// A store of its own, and little patience.
struct Reader {
    folder: TempDir,
    reader: ImageReader,
}

impl Reader {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = ImageStore::at(folder.path().join("images"), 1 << 30, None).unwrap();
        let mut access = RegistryAccess::of_user();
        access.limits.silence = Duration::from_millis(500);
        access.retry.base = Duration::from_millis(1);
        access.credentials = CredentialFiles::default();
        let reader = ImageReader { store, access };
        Self { folder, reader }
    }

    fn read(&self, place: &str) -> Result<UnpackedImage, String> {
        let place: ImagePlace = place
            .parse()
            .map_err(|error: ImagePlaceError| error.to_string())?;
        let read = self
            .reader
            .unpack(&place, ImageKind::Catalog, &Progress::default());
        read.map_err(|fault| fault.to_string())
    }

    /// What is wrong with an image of these layers. Nothing of it may stay.
    #[track_caller]
    fn fault(&self, image: &TestImage) -> String {
        let layout = self.folder.path().join("layout");
        drop(fs::remove_dir_all(&layout));
        image.write(&layout, "v1");
        let fault = self
            .read(&format!("oci-layout:{}", layout.display()))
            .unwrap_err();
        let left = fs::read_dir(self.folder.path().join("images"))
            .unwrap()
            .count();
        assert_eq!(left, 1, "the lock alone: {fault}");
        fault
    }
}

fn catalog() -> TestImage {
    let base = Layer::of(&[
        ("configs/p/old.json", "{}"),
        ("bin/opm", "program"),
        ("configs/x", "x"),
    ]);
    let top = Layer::of(&[
        ("configs/p/.wh.old.json", ""),
        ("configs/p/new.json", "{\"schema\": \"s\"}"),
    ]);
    TestImage::catalog(&[base.gzip(), top.gzip()])
}

#[track_caller]
fn is_catalog(image: &UnpackedImage) {
    let content = |name: &str| fs::read_to_string(image.root().join(name)).ok();
    assert_eq!(
        content("p/new.json").as_deref(),
        Some("{\"schema\": \"s\"}")
    );
    assert_eq!(content("x").as_deref(), Some("x"));
    assert_eq!(content("p/old.json"), None);
    assert!(
        !image.root().join("../bin").exists(),
        "only what is read is kept"
    );
}

#[test]
fn a_layout_is_read_by_name_or_as_the_only_one() {
    let reader = Reader::new();
    let layout = reader.folder.path().join("layout");
    catalog().index().write(&layout, "v1");
    for name in ["", ":v1"] {
        is_catalog(
            &reader
                .read(&format!("oci-layout:{}{name}", layout.display()))
                .unwrap(),
        );
    }
    let other = reader.read(&format!("oci-layout:{}:v2", layout.display()));
    let expected = "index.json lists v1: expected the image \"v2\"";
    assert_eq!(other.unwrap_err(), expected);
}

#[test]
fn an_archive_is_read_like_its_directory() {
    let reader = Reader::new();
    let layout = reader.folder.path().join("layout");
    catalog().write(&layout, "v1");
    let path = reader.folder.path().join("image.tar");
    let mut archive = tar::Builder::new(fs::File::create(&path).unwrap());
    archive.append_dir_all(".", &layout).unwrap();
    archive.finish().unwrap();
    is_catalog(
        &reader
            .read(&format!("oci-archive:{}", path.display()))
            .unwrap(),
    );
    let mut zipped = GzEncoder::new(fs::File::create(&path).unwrap(), Compression::fast());
    zipped.write_all(&vec![b'x'; 5000]).unwrap();
    zipped.finish().unwrap();
    let fault = reader
        .read(&format!("oci-archive:{}", path.display()))
        .unwrap_err();
    assert!(fault.starts_with("not a tar archive: "), "{fault}");
}

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

#[test]
fn no_name_of_a_layer_leads_out() {
    let reader = Reader::new();
    let outside = reader.folder.path().join("outside");
    for (layer, expected) in [
        (
            Layer::of(&[("configs/../../outside", "x")]),
            "\"configs/../../outside\" is a name outside the image",
        ),
        (
            Layer::of(&[]).link("configs/l", EntryType::Symlink, "../../../outside"),
            "\"configs/l\" is a symbolic link to \"../../../outside\", which is not a file in the same directory tree",
        ),
        (
            Layer::of(&[])
                .link("configs/l", EntryType::Symlink, "/")
                .file("configs/l/x", b"x"),
            "\"configs/l/x\" is below \"configs/l\", which is not a directory",
        ),
        (
            Layer::of(&[]).link("configs/l", EntryType::Link, "etc/passwd"),
            "\"configs/l\" is a hard link to \"etc/passwd\", which is not a file in the same directory tree",
        ),
        (
            Layer::of(&[]).link("configs/d", EntryType::Char, ""),
            "\"configs/d\" is a device: expected a file, a directory or a link",
        ),
    ] {
        let fault = reader.fault(&TestImage::catalog(&[layer.gzip()]));
        assert!(fault.ends_with(expected), "{fault}");
        assert!(!outside.exists());
    }
    let deep = Layer::of(&[]).link("configs/l", EntryType::Symlink, &"a/".repeat(40));
    let fault = reader.fault(&TestImage::catalog(&[deep.gzip()]));
    assert!(fault.contains("is a symbolic link to"), "{fault}");
    let absolute = Layer::of(&[("/configs/a", "x")]);
    let layout = reader.folder.path().join("layout");
    TestImage::catalog(&[absolute.gzip()]).write(&layout, "v1");
    let image = reader
        .read(&format!("oci-layout:{}", layout.display()))
        .unwrap();
    assert!(
        image.root().join("a").exists(),
        "a path with a slash before it begins at the root"
    );
}

#[test]
fn a_layout_from_elsewhere_leads_nowhere() {
    let reader = Reader::new();
    let layout = reader.folder.path().join("layout");
    let image = catalog();
    image.write(&layout, "v1");
    let layer = image.manifest()["layers"][0]["digest"]
        .as_str()
        .unwrap()
        .to_owned();
    let blob = layout
        .join("blobs/sha256")
        .join(layer.trim_start_matches("sha256:"));
    fs::remove_file(&blob).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &blob).unwrap();
    let fault = reader
        .read(&format!("oci-layout:{}", layout.display()))
        .unwrap_err();
    let expected = ": expected a file of the layout, found a link out of it, or no file";
    assert!(fault.ends_with(expected), "{fault}");
}

#[test]
fn pax_headers_are_read_by_their_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = tar::Builder::new(Vec::new());
    let records: [(&str, &[u8]); 2] = [
        ("SCHILY.xattr.user.a", b"two\nlines"),
        ("path", b"configs/long"),
    ];
    archive.append_pax_extensions(records).unwrap();
    let mut header = tar::Header::new_ustar();
    header.set_size(1);
    header.set_cksum();
    archive
        .append_data(&mut header, "short", &b"x"[..])
        .unwrap();
    let job = LayerJob {
        kept: KeptFolders(vec!["configs".into()]),
        contents: folder.path().to_owned(),
        number: 0,
        budget: Budget::default(),
        progress: Progress::default(),
        attempts: AtomicUsize::new(0),
    };
    let layer = archive.into_inner().unwrap();
    let read = job.run(&mut layer.as_slice()).unwrap();
    assert!(read.changes.added.get("configs/long").is_some());
}

#[test]
fn names_that_no_file_has_are_refused() {
    let mut latin = Layer::of(&[]).file("configs/a", b"").tar();
    latin[8] = 0xe9;
    // The sum of the header, which the byte changes.
    let sum: u32 = latin[..512]
        .iter()
        .enumerate()
        .map(|(at, byte)| {
            if (148..156).contains(&at) {
                32
            } else {
                u32::from(*byte)
            }
        })
        .sum();
    latin[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let fault = Reader::new().fault(&TestImage::catalog(&[latin]));
    let expected =
        "is not a usable name: expected UTF-8, at most 4096 bytes in all, 255 for each part";
    assert!(fault.ends_with(expected), "{fault}");
}

#[test]
fn layers_that_are_no_archives_are_refused() {
    let zeros = |bytes: usize| {
        let mut zipped = GzEncoder::new(Vec::new(), Compression::best());
        zipped.write_all(&vec![0; bytes]).unwrap();
        zipped.finish().unwrap()
    };
    let whole = Layer::of(&[("configs/a", "x")]).gzip();
    for (layer, expected) in [
        (
            b"<html>not found</html>".repeat(40),
            "not a valid tar archive: ",
        ),
        (
            whole[..whole.len() - 9].to_vec(),
            "cut off: it ends in the middle",
        ),
        (vec![0x1f, 0x8b, 0, 0], "cut off: it ends in the middle"),
    ] {
        let fault = Reader::new().fault(&TestImage::catalog(&[layer]));
        assert!(fault.contains(expected), "{fault}");
    }
    // An archive of zeros is an empty one.
    let fault = Reader::new().fault(&TestImage::catalog(&[zeros(64 << 20)]));
    assert_eq!(
        fault,
        "has no directory /configs: expected one with the files of the catalog, as its label says"
    );
}

#[test]
fn budgets_end_what_is_too_large() {
    let layer = Layer::of(&[
        ("configs/a", "12345"),
        ("configs/b", "12345"),
        ("c", "12345"),
    ])
    .tar();
    let kept = KeptFolders(vec!["configs".into()]);
    let full = Budget {
        members: 3,
        unpacked: 8192,
        kept: 10,
        names: 600,
    };
    for (budget, expected) in [
        (full, None),
        (Budget { members: 2, ..full }, Some("files and directories")),
        (
            Budget {
                unpacked: 2048,
                ..full
            },
            Some("bytes, decompressed"),
        ),
        (Budget { kept: 9, ..full }, Some("bytes in its files")),
        (Budget { names: 500, ..full }, Some("bytes of names")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let job = LayerJob {
            kept: kept.clone(),
            contents: folder.path().to_owned(),
            number: 0,
            budget,
            progress: Progress::default(),
            attempts: AtomicUsize::new(0),
        };
        let read = job.run(&mut layer.as_slice());
        let fault = read.err().map(|fault| fault.to_string());
        assert_eq!(fault.is_some(), expected.is_some(), "{fault:?}");
        assert!(
            fault
                .unwrap_or_default()
                .contains(expected.unwrap_or_default())
        );
    }
}

#[test]
fn images_of_something_else_are_named() {
    let layer = || [Layer::of(&[("configs/a", "x")]).gzip()];
    let no_label = TestImage::new(&json!({}), &layer());
    let fault = Reader::new().fault(&no_label);
    assert_eq!(
        fault,
        format!("has no label {CONFIGS}: expected the image of a file-based catalog")
    );
    let outside = TestImage::new(&json!({CONFIGS: "/a/../../b"}), &layer());
    let fault = Reader::new().fault(&outside);
    assert_eq!(
        fault,
        format!("label {CONFIGS} is \"/a/../../b\": expected a directory of the image")
    );
    let elsewhere = TestImage::new(&json!({CONFIGS: "/etc/configs"}), &layer());
    let fault = Reader::new().fault(&elsewhere);
    assert!(
        fault.starts_with("has no directory /etc/configs: "),
        "{fault}"
    );
    let nested = catalog().index().index();
    let mut manifest = nested.manifest();
    manifest["manifests"][0]["mediaType"] = INDEX.into();
    let fault = Reader::new().fault(&nested);
    assert_eq!(fault, "index refers to another index: expected images");
    let mut huge = catalog();
    let mut manifest = huge.manifest();
    manifest["layers"][0]["size"] = (PULLED + 1).into();
    huge.set(&manifest);
    let fault = Reader::new().fault(&huge);
    assert!(fault.starts_with("layers have 8589"), "{fault}");
    manifest["layers"][0]["size"] = 1.into();
    manifest["config"]["size"] = (MANIFEST_BYTES + 1).into();
    huge.set(&manifest);
    let fault = Reader::new().fault(&huge);
    assert_eq!(
        fault,
        "configuration has 4194305 bytes: expected at most 4194304"
    );
}

#[test]
fn a_damaged_layout_is_found_out() {
    let mut image = catalog();
    let layer = image.manifest()["layers"][0]["digest"]
        .as_str()
        .unwrap()
        .to_owned();
    image.blobs.get_mut(&layer).unwrap().push(0);
    let fault = Reader::new().fault(&image);
    let expected = format!("blob {layer} has the digest sha256:");
    assert!(
        fault.starts_with(&expected) && fault.ends_with(": the layout is damaged"),
        "{fault}"
    );
    image.blobs.remove(&layer);
    let fault = Reader::new().fault(&image);
    let expected = format!(
        "blobs/sha256/{}: No such file or directory (os error 2)",
        layer.trim_start_matches("sha256:")
    );
    assert_eq!(fault, expected);
}

#[test]
fn places_are_printed_as_they_are_read() {
    for text in [
        "oci:quay.example/a/b:v1",
        "oci-layout:../layout",
        "oci-layout:/a/layout:v1",
        "oci-archive:catalog.tar:v1",
    ] {
        let place: ImagePlace = text.parse().unwrap();
        assert_eq!(place.to_string(), text);
        assert!(ImagePlace::is_meant_by(text));
    }
    let as_of_helm: ImagePlace = "oci://quay.example/a:1".parse().unwrap();
    assert_eq!(as_of_helm.to_string(), "oci:quay.example/a:1");
    let fault = "oci-layout:".parse::<ImagePlace>().unwrap_err().to_string();
    assert_eq!(
        fault,
        "\"oci-layout:\" names no path: expected oci-layout:DIRECTORY or oci-archive:FILE"
    );
    let fault = "oci:quay.example/a"
        .parse::<ImagePlace>()
        .unwrap_err()
        .to_string();
    assert_eq!(
        fault,
        "image \"quay.example/a\" has neither a tag nor a digest: add one, for example :latest"
    );
    let moved = "oci-layout:layout"
        .parse::<ImagePlace>()
        .unwrap()
        .within(Path::new("/p"));
    assert_eq!(moved.to_string(), "oci-layout:/p/layout");
}
