//! `olmguard audit --pull`: the extensions that cannot take their next step, because of the images of bundles.

use super::{audit, list, object, scene};
use crate::folder::Folder;
use crate::images::bundle;
use olmguard_support::oci::TestRegistry;

/// Returns a scene whose bundles 1.0.0 and 1.1.0 are in these registries.
fn with_images(old: &TestRegistry, new: &TestRegistry) -> Folder {
    let scene = scene();
    let hub = std::fs::read_to_string(scene.path().join("hub.yaml")).expect("a catalog");
    let of = |registry: &TestRegistry| registry.image("p:v1");
    let hub = hub.replace("example.com/p:1.0.0", &of(old));
    scene.write("hub.yaml", &hub.replace("example.com/p:1.1.0", &of(new)));
    scene
}

#[test]
fn an_extension_that_cannot_be_upgraded_is_found_before_olm_tries() {
    let registry = |schema: &str| TestRegistry::of(bundle(schema));
    let old = registry("{type: object, properties: {wick: {type: string}}}");
    let empty = TestRegistry::of(crate::images::no_bundle());
    let objects = list(&[
        object("moves", "<1.2.0", "1.0.0"),
        object("stays", "1.2.0", "1.2.0"),
    ]);
    let scene = with_images(&old, &empty);
    let flags = ["-", super::HUB];
    let (code, stdout, stderr) = audit(&scene, &flags, &objects);
    assert_eq!((code, &*stderr), (Some(0), ""), "{stdout}");
    let cache = scene.path().join("cache");
    let pulled = |scene: &Folder| {
        let mut command = scene.olmguard(&[&["audit", "--pull"], &flags[..]].concat());
        crate::folder::run(command.env("XDG_CACHE_HOME", &cache), &objects)
    };
    let (code, stdout, stderr) = pulled(&scene);
    assert_eq!((code, &*stderr), (Some(1), ""), "{stdout}");
    let expected = "moves (p): 1.0.0\n  not installable: OLM will not install this: the image of p.v1.1.0 has no bundle that OLM can read: ";
    assert!(stdout.contains(expected), "{stdout}");
    // CRDs of the installed bundle only cause warnings.
    let new = registry("{type: object}");
    let (code, stdout, stderr) = pulled(&with_images(&old, &new));
    assert_eq!((code, &*stderr), (Some(0), ""), "{stdout}");
    let expected = "moves (p): 1.0.0\n  not installable: OLM might not install this: CRD lanterns.example.com: field wick \
                    of v1 is removed [crd-field-removed]\n";
    assert!(stdout.contains(expected), "{stdout}");
}
