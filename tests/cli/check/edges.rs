//! The edges that count with `--graph`.

use super::scene::{CATALOG, extension, scene};

#[test]
fn steps_are_those_of_the_catalog_of_versions_or_of_both() {
    let scene = scene(&[
        ("near.yaml", &extension("a", "1.1.0")),
        ("far.yaml", &extension("a", "1.3.0")),
        ("prerelease.yaml", &extension("a", "2.0.0-rc.1")),
    ]);
    for (file, installed, steps, token) in [
        ("near.yaml", "1.0.0", "catalog", "Resolved"),
        ("near.yaml", "1.0.0", "semver", "Resolved"),
        ("near.yaml", "1.0.0", "both", "Resolved"),
        ("far.yaml", "1.0.0", "catalog", "NotASuccessor"),
        ("far.yaml", "1.0.0", "semver", "Resolved"),
        ("far.yaml", "1.0.0", "both", "NotASuccessor"),
        ("prerelease.yaml", "1.3.0", "catalog", "Resolved"),
        ("prerelease.yaml", "1.3.0", "semver", "NotASuccessor"),
        ("prerelease.yaml", "1.3.0", "both", "NotASuccessor"),
    ] {
        let installed = format!("--installed=a={installed}");
        let arguments = ["-f", file, CATALOG, &installed, "--graph", steps];
        let (_, tokens) = scene.tokens(&arguments);
        assert_eq!(tokens, [token], "{file} {steps}");
    }
}

#[test]
fn steps_that_no_olm_goes_by_are_said() {
    let scene = scene(&[("a.yaml", &extension("a", "1.3.0"))]);
    let said = |more: &[&str]| {
        let arguments = [&["-f", "a.yaml", CATALOG, "--installed=a=1.0.0"], more].concat();
        scene.run(&arguments).stderr
    };
    assert_eq!(
        said(&["--graph", "semver"]),
        "warning: --graph semver: OLM 1.11 uses only the edges of the catalog; omit the flag to \
         get the answer of OLM\n"
    );
    assert_eq!(
        said(&["--graph", "both"]),
        "warning: --graph both: OLM 1.11 uses only the edges of the catalog; omit the flag to get \
         the answer of OLM\n"
    );
    assert_eq!(said(&["--graph", "catalog"]), "");
    let gated = [
        "--olm-release=1.1",
        "--olm-feature-gates=ForceSemverUpgradeConstraints=true",
    ];
    assert_eq!(said(&[&gated[..], &["--graph", "semver"]].concat()), "");
    assert_eq!(
        said(&[&gated[..], &["--graph", "catalog"]].concat()),
        "warning: --graph catalog: OLM 1.1 uses the semver rules, because of its feature gate; \
         omit the flag to get the answer of OLM\n"
    );
}
