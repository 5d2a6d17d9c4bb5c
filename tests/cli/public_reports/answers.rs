//! Reports about edits that OLM does not apply: the denial gives the reason and the fix.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// Returns a catalog of a package whose versions replace each other.
fn catalog(package: &str, versions: &[&str]) -> String {
    let entry = |(at, version): (usize, &&str)| {
        let before = at.checked_sub(1).and_then(|before| versions.get(before));
        let replaces = before.map(|before| format!("\n  replaces: {package}.v{before}"));
        let replaces = replaces.unwrap_or_default();
        format!("- name: {package}.v{version}{replaces}\n")
    };
    let entries: String = versions.iter().enumerate().map(entry).collect();
    let bundles = versions.iter().map(|version| bundle_of(package, version));
    let bundles: String = bundles.collect();
    format!(
        "schema: olm.package\nname: {package}\ndefaultChannel: stable\n---\nschema: olm.channel\n\
         package: {package}\nname: stable\nentries:\n{entries}{bundles}"
    )
}

fn bundle_of(package: &str, version: &str) -> String {
    format!(
        "---\nschema: olm.bundle\npackage: {package}\nname: {package}.v{version}\nproperties:\n\
         - type: olm.package\n  value: {{packageName: {package}, version: {version}}}\n"
    )
}

fn extension(package: &str, more: &str) -> String {
    format!(
        "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata:\n  name: {package}\n\
         spec:\n  namespace: {package}\n  serviceAccount:\n    name: {package}-installer\n  source:\n    \
         sourceType: Catalog\n    catalog:\n      packageName: {package}\n{more}"
    )
}

/// Returns the exit code and the output of `path` for package `own`.
fn path(folder: &Path, flags: &[&str]) -> (Option<i32>, String) {
    shown(folder, &[&["path", "own"], flags].concat())
}

/// Returns the exit code and the whole output of a command.
fn shown(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(words)
        .current_dir(folder)
        .env_clear()
        .output()
        .expect("the program starts");
    let words = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    (output.status.code(), words)
}

#[track_caller]
fn denies(folder: &Path, flags: &[&str], sentences: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args([&["check", "ext.yaml"], flags].concat())
        .current_dir(folder)
        .env_clear()
        .output()
        .expect("the program starts");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    for sentence in sentences {
        assert!(stdout.contains(sentence), "{sentence}\n{stdout}");
    }
}

/// <https://github.com/operator-framework/operator-controller/issues/1023>
#[test]
fn a_package_in_two_catalogs_of_one_priority() {
    let folder = TempDir::new().expect("a folder");
    let write = |name, text: String| fs::write(folder.path().join(name), text).expect("a file");
    write("ext.yaml", extension("mc", ""));
    for name in ["a.yaml", "b.yaml"] {
        write(name, catalog("mc", &["1.0.0"]));
    }
    denies(
        folder.path(),
        &["--catalog=a=a.yaml", "--catalog=b=b.yaml"],
        &[
            "[AmbiguousCatalogs]",
            "Catalogs: a (priority 0), b (priority 0)",
            "Fix: set spec.source.catalog.selector.matchLabels[\"olm.operatorframework.io/metadata.name\"] \
             to \"a\"",
        ],
    );
}

/// <https://github.com/operator-framework/operator-controller/pull/1277>
#[test]
fn a_downgrade_needs_the_override() {
    let folder = TempDir::new().expect("a folder");
    let write = |name, text: String| fs::write(folder.path().join(name), text).expect("a file");
    write("ext.yaml", extension("dg", "      version: 1.0.0\n"));
    write("hub.yaml", catalog("dg", &["1.0.0", "1.1.0"]));
    denies(
        folder.path(),
        &["--catalog=hub=hub.yaml", "--installed=dg=1.1.0"],
        &[
            "dg: 1.1.0 -> 1.0.0 refused: 1.0.0 is older than 1.1.0 and not a successor of it in catalog hub \
             [Downgrade]",
            "No upgrade path from 1.1.0 to 1.0.0. Only the catalog author can add one.",
            "Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible",
        ],
    );
}

/// Without a target, a path ends below the denied version. A policy denies with a reason, whatever the override allows.
#[test]
fn a_version_that_is_not_installed_ends_a_path_upwards() {
    let folder = TempDir::new().expect("a folder");
    let write = |name, text: String| fs::write(folder.path().join(name), text).expect("a file");
    let version = "version: 1.2.0}\n";
    let own = "- type: olm.csv.metadata\n  value: {installModes: [{type: OwnNamespace, supported: true}]}\n";
    let catalog = catalog("own", &["1.0.0", "1.1.0", "1.2.0"]);
    write(
        "c.yaml",
        catalog.replace(version, &format!("{version}{own}")),
    );
    write(
        "deny.yaml",
        "apiVersion: olmguard.dev/v1alpha1\nkind: UpgradePolicy\nmetadata: {name: nights}\n\
         spec: {rules: {versions: {deny: '>1.0.0'}}}\n"
            .to_owned(),
    );
    let path = |more: &[&str]| {
        let flags = ["--catalog=c=c.yaml", "-f", "ext.yaml"];
        path(folder.path(), &[more, &flags].concat())
    };
    write("ext.yaml", extension("own", ""));
    let (code, text) = path(&["1.0.0"]);
    let note =
        "OLM does not install this: own.v1.2.0 does not support the install mode AllNamespaces";
    assert!(
        code == Some(0) && text.starts_with("own: 1.0.0 -> 1.1.0: 1 step ") && text.contains(note),
        "{text}"
    );
    let (code, text) = path(&["1.1.0"]);
    let reason = "Reason own: 1.1.0 -> 1.2.0 refused: own.v1.2.0 does not support the install mode AllNamespaces";
    assert!(
        code == Some(1) && text.starts_with("own: 1.1.0: no newer version is reachable "),
        "{text}"
    );
    assert!(text.contains(reason), "{text}");
    let free = "      upgradeConstraintPolicy: SelfCertified\n";
    write("ext.yaml", extension("own", free));
    for (target, why) in [
        (&["1.0.0"][..], "refused: own.v1.2.0 does not support"),
        (
            &["1.0.0", "1.1.0"],
            "refused: policy nights denies 1.1.0 (versions.deny: >1.0.0)",
        ),
    ] {
        let (code, text) = path(&[target, &["--policy=deny.yaml"]].concat());
        assert!(code == Some(1) && text.contains(why), "{code:?} {text}");
    }
}

/// No configuration makes OLM install a bundle that owns an `APIService`, so no path includes one.
#[test]
fn what_olm_never_installs_is_on_no_path() {
    let folder = TempDir::new().expect("a folder");
    let owns = "- type: olm.csv.metadata\n  value: {installModes: [{type: AllNamespaces, supported: true}], \
                apiServiceDefinitions: {owned: [{name: v1.lamps, group: lamps, version: v1, kind: Lamp}]}}\n";
    let version = "version: 1.1.0}\n";
    let catalog = catalog("own", &["1.0.0", "1.1.0", "1.2.0"]);
    let catalog = catalog.replace(version, &format!("{version}{owns}"));
    fs::write(folder.path().join("c.yaml"), catalog).expect("a file");
    let run = |words: &[&str]| shown(folder.path(), &[words, &["--catalog=c=c.yaml"]].concat());
    let why = "own.v1.1.0 owns an APIService, which OLM v1 does not install";
    let (code, path) = run(&["path", "own", "1.0.0", "1.2.0"]);
    assert!(
        code == Some(1) && path.contains(&format!("Blocked by: {why}")),
        "{path}"
    );
    let (code, path) = run(&["path", "own", "1.0.0"]);
    assert!(
        code == Some(1) && path.contains("Highest reachable: none"),
        "{path}"
    );
    let (_, versions) = run(&["versions", "own", "--installed=1.0.0"]);
    assert!(
        versions.contains("Highest reachable: none") && !versions.contains("Allowed next"),
        "{versions}"
    );
    let note = "successor stable 1.2.0 OLM does not install it: olmguard explain shows why";
    assert!(versions.contains(note), "{versions}");
    let (_, step) = run(&["explain", "own", "1.0.0", "1.1.0"]);
    assert!(
        step.contains(why) && step.contains("OLM installs nothing next"),
        "{step}"
    );
}

/// A path by edges includes a bundle that `check` denies. A manifest with the settings that the bundle needs has no
/// note.
#[test]
fn a_step_of_a_path_that_is_not_installed_is_noted() {
    let folder = TempDir::new().expect("a folder");
    let write = |name, text: String| fs::write(folder.path().join(name), text).expect("a file");
    let own = "- type: olm.csv.metadata\n  value: {installModes: [{type: OwnNamespace, supported: true}]}\n";
    let version = "version: 1.1.0}\n";
    let catalog = catalog("own", &["1.0.0", "1.1.0", "1.2.0"]);
    write(
        "c.yaml",
        catalog.replace(version, &format!("{version}{own}")),
    );
    let config = "  config: {configType: Inline, inline: {watchNamespace: own}}\n";
    write("ext.yaml", extension("own", config));
    let path = |more: &[&str]| {
        let both = ["1.0.0", "1.2.0", "--catalog=c=c.yaml"];
        let (code, words) = path(folder.path(), &[&both, more].concat());
        assert_eq!(code, Some(0), "{words}");
        words
    };
    let note = "without spec.config, OLM does not install this: own.v1.1.0 does not support the install mode AllNamespaces; \
                -f checks a manifest";
    for form in ["text", "json", "yaml"] {
        let alone = path(&["-o", form]);
        assert!(alone.contains(note), "{alone}");
    }
    let set = path(&["-f", "ext.yaml"]);
    assert!(
        set.contains("2 steps") && !set.contains("does not install"),
        "{set}"
    );
    // Without it, there is no path, as in check.
    write("ext.yaml", extension("own", ""));
    let closed = ["1.0.0", "1.2.0", "--catalog=c=c.yaml", "-f", "ext.yaml"];
    let (code, closed) = self::path(folder.path(), &closed);
    let why =
        "Blocked by: own.v1.1.0 does not support the install mode AllNamespaces. Set spec.config";
    assert!(
        code == Some(1)
            && closed.contains(why)
            && closed.contains("OLM does not install the next version"),
        "{closed}"
    );
    let own_catalog = fs::read_to_string(folder.path().join("c.yaml")).expect("the catalog");
    let skips =
        "replaces: own.v1.1.0\n  skips: [own.v1.0.1]\n- name: own.v1.0.1\n  replaces: own.v1.0.0\n";
    // OLM prefers the bundle that it does not install to the alternative, so one edit is not sufficient.
    let around = own_catalog.replace("replaces: own.v1.1.0\n", skips);
    write("c.yaml", around + &bundle_of("own", "1.0.1"));
    let around = path(&["-f", "ext.yaml"]);
    assert!(
        around.contains("1 \"1.0.1\"") && !around.contains("One edit"),
        "{around}"
    );
    write("c.yaml", own_catalog);
    // The override uses the decision table, which knows the configuration.
    let free = "      upgradeConstraintPolicy: SelfCertified\n";
    write("ext.yaml", extension("own", &format!("{free}{config}")));
    let free = path(&["-f", "ext.yaml"]);
    assert!(free.contains("1 step"), "{free}");
    // The installed bundle needs the same configuration, so the extension has it.
    let older = "version: 1.0.0}\n";
    let catalog = catalog.replace(version, &format!("{version}{own}"));
    write("c.yaml", catalog.replace(older, &format!("{older}{own}")));
    let alone = path(&[]);
    assert!(!alone.contains("does not install"), "{alone}");
}
