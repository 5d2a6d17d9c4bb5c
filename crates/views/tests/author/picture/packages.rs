//! Packages to draw: fixtures and recorded packages.

use std::fs;

use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder, fbc};

use olmguard_fixtures::shared::shared;
use olmguard_fixtures::written::written;

/// A catalog of one package.
pub(crate) struct Drawn {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) catalog: Catalog,
}

impl Drawn {
    pub(crate) fn new(name: &str, text: String) -> Self {
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        fbc::read(name, text.as_bytes(), &mut builder).expect("a catalog");
        Self {
            name: name.to_owned(),
            text,
            catalog: builder.finish().expect("no bound"),
        }
    }

    /// Returns the name of the package.
    pub(crate) fn package(&self) -> &str {
        let mut names = self.catalog.package_names();
        names.next().expect("a package")
    }
}

/// Returns the fixtures.
pub(crate) fn fixtures() -> Vec<Drawn> {
    let shorthand = FIXTURES
        .iter()
        .map(|(name, lines)| (*name, written(lines).fbc()));
    let hostile = [("hostile", hostile())];
    let all = shorthand.chain(hostile);
    all.map(|(name, text)| Drawn::new(name, text)).collect()
}

/// Returns the recorded packages, if this machine has them.
pub(crate) fn recorded() -> Option<Vec<Drawn>> {
    let folder = shared()?.join("vectors/decisions/catalogs");
    let files = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let drawn = files.iter().map(|file| {
        let name = file.file_stem().expect("a name").to_string_lossy();
        Drawn::new(&name, fs::read_to_string(file).expect("a text"))
    });
    Some(drawn.collect())
}

/// A catalog in which every name is an injection attempt.
fn hostile() -> String {
    let names = [
        "</script><script>alert(1)</script>",
        "\"'><img src=x onerror=alert(1)>",
        "a\u{202e}b\u{1b}[31m",
        "]]>--&lt;%%{init}",
        "`~\\\"];x[\"",
    ];
    let bundles = names.iter().enumerate().map(|(at, name)| {
        serde_json::json!({"schema": "olm.bundle", "package": HOSTILE, "name": name, "properties": [
            {"type": "olm.package", "value": {"packageName": HOSTILE, "version": format!("1.{at}.0")}}]})
    });
    let entries = names.windows(2).map(|pair| {
        serde_json::json!({"name": pair[1], "replaces": pair[0], "skips": ["<b>\u{2028}"], "skipRange": "<2.0.0 >=0.0.0"})
    });
    let mut entries: Vec<_> = entries.collect();
    entries.push(serde_json::json!({"name": names[0]}));
    let rest = [
        serde_json::json!({"schema": "olm.package", "name": HOSTILE, "defaultChannel": "</svg><script>"}),
        serde_json::json!({"schema": "olm.channel", "package": HOSTILE, "name": "</svg><script>", "entries": entries}),
        serde_json::json!({"schema": "olm.deprecations", "package": HOSTILE, "entries": [
            {"reference": {"schema": "olm.bundle", "name": names[1]}, "message": "</script><!-- \u{202e}\u{0}"}]}),
    ];
    let lines: Vec<_> = rest
        .into_iter()
        .chain(bundles)
        .map(|blob| blob.to_string())
        .collect();
    lines.join("\n")
}

const HOSTILE: &str = "<script>alert('package')</script>";

const FIXTURES: [(&str, &str); 7] = [
    ("single", "stable: 1.0.0"),
    ("empty", "stable:\n(none): 1.0.0"),
    (
        "cut off",
        "stable: 2.2.0 replaces 2.1.0 skips 2.0.0; 2.1.0 replaces 2.0.0 skips 1.2.0; 2.0.0 replaces 1.2.0 \
         skips 1.0.0,1.1.0; 1.2.0 replaces 1.1.0 skips 1.0.0; 1.1.0 replaces 1.0.0; 1.0.0",
    ),
    (
        "promoted",
        "alpha: 0.6.0 replaces 0.5.0; 0.5.0 replaces 0.4.0; 0.4.0 replaces 0.3.0; 0.3.0 replaces 0.2.0; \
         0.2.0 replaces 0.1.0; 0.1.0\n\
         beta: 0.6.0 replaces 0.4.0; 0.4.0 replaces 0.2.0; 0.2.0 replaces 0.1.0; 0.1.0\n\
         stable: 0.4.0 replaces 0.1.0 skips 0.2.0,0.3.0; 0.1.0\n\
         (deprecated): 0.1.0; channel alpha; package",
    ),
    (
        "ranges",
        "stable: 1.4.0 skipRange >=1.0.0 <1.4.0; 1.3.0 replaces 1.1.0 skipRange >=1.0.0 <1.3.0; 1.2.0 \
         skipRange >=1.1.0 <1.2.0; 1.1.0 replaces 0.9.0; 1.0.0 skipRange <1.0.0 || >=1.3.0\n\
         odd: 1.4.0 skipRange >=9.0.0; 1.0.0 replaces 1.4.0\n(none): 0.1.0; 0.2.0; 2.0.0",
    ),
    (
        "downwards",
        "stable: 1.0.0 replaces 3.0.0 skips 2.0.0; 2.0.0; 3.0.0 replaces 2.0.0",
    ),
    (
        "long names",
        "a-channel-with-a-name-that-is-longer-than-any-other-of-this-package: \
         1.0.0-a.very.long.prerelease.that.no.lane.has.room.for+with.build.metadata; \
         1.0.0 replaces 1.0.0-a.very.long.prerelease.that.no.lane.has.room.for+with.build.metadata\n\
         x: 1.0.0",
    ),
];
