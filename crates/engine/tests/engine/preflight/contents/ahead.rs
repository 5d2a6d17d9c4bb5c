//! The images that are read ahead, and the answers about images that are not.

use olmguard_catalog::olm::PreflightMode;
use olmguard_engine::audit::images_ahead;

use super::super::bundle_of;
use super::*;

/// The images of the extension with 1.0.0 installed, up to a limit.
fn ahead(range: &str, most: usize) -> Vec<String> {
    let cluster = cluster(BundleContents::default());
    let mut extension = extension("ext", range, &Value::Null);
    extension.installed = bundle_of("1.0.0");
    images_ahead(&cluster.snapshot(), &extension, most)
}

#[test]
fn the_images_that_are_read_ahead_are_of_the_next_bundles() {
    assert_eq!(ahead("1.0.0", 9), [OLD, NEW]);
    assert_eq!(ahead("1.x", 9), [NEW, OLD]);
    assert_eq!(ahead("1.x", 1), [NEW]);
    assert_eq!(ahead("9.x", 9), [NEW, OLD]);
    assert_eq!(ahead("x.y", 9), [""; 0]);
    let cluster = cluster(BundleContents::default());
    let new = extension("ext", "1.x", &Value::Null);
    assert_eq!(images_ahead(&cluster.snapshot(), &new, 9), [""; 0]);
}

/// An image that was read ahead gives the same answer as an image that a command pulls. An unread
/// image is reported.
#[test]
fn an_image_that_is_not_read_yet_is_named() {
    let unread = "P.v1.1.0: its image is not read yet, so its manifests and CRDs are not checked";
    let nothing = BundleContents::ahead(MINOR, [], None);
    assert!(nothing.is_ahead() && nothing.is_empty());
    assert!(nothing.are_of_other(MINOR - 1) && !nothing.are_of_other(MINOR));
    let answer = upgraded(&cluster(nothing.clone()));
    assert_eq!(answer.warnings, [unread]);
    let off = cluster(nothing).with(PreflightMode::Off);
    assert_eq!(upgraded(&off).warnings, [""; 0]);
    let read = there(
        newer(&json!({}), &[crd("Cluster", &["a"])]),
        Some(crd("Namespaced", &["a"])),
    );
    let ahead = BundleContents::ahead(MINOR, [&read], None);
    let answer = upgraded(&cluster(ahead));
    assert_eq!(answer.warnings, upgraded(&cluster(read)).warnings);
    assert_eq!(checks(&answer), ["crd-scope"]);
}
