//! Images from layouts on disk, valid and invalid.

mod layers;
mod mirrors;
mod registry;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use olmguard_support::oci::{CONFIGS, INDEX, Layer, TestImage};
use serde_json::json;
use tempfile::TempDir;

use super::containers::ContainersConfig;
use super::credentials::CredentialFiles;
use super::*;

/// A reader with its own store and short time limits.
struct Reader {
    folder: TempDir,
    reader: ImageReader,
}

impl Reader {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = ImageStore::at(folder.path().join("images"), 1 << 30, None).unwrap();
        let mut access = RegistryAccess::of_user(ImageKind::Catalog.longest());
        access.limits.silence = Duration::from_millis(500);
        access.retry.base = Duration::from_millis(1);
        access.credentials = CredentialFiles::default();
        access.containers = ContainersConfig::default();
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

    /// Returns the fault of an image with these layers. Nothing of the image may be kept.
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
