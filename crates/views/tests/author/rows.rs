//! A good catalog, and the change that triggers each fault that `opm validate` refuses.

/// The good catalog, without any fault.
pub(crate) const GOOD: &str = include_str!("../../../../tests/lint/good.yaml");

/// A catalog with one fault.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Texts and their replacements. Each text occurs exactly once.
    pub(crate) changes: &'static [(&'static str, &'static str)],
    /// The rule that must find it.
    pub(crate) rule: &'static str,
    /// Text of opm.
    pub(crate) upstream: &'static str,
}

impl Row {
    pub(crate) fn catalog(&self) -> String {
        let mut text = GOOD.to_owned();
        for (from, to) in self.changes {
            let count = text.matches(from).count();
            assert_eq!(count, 1, "{}: {from:?} is there {count} times", self.name);
            text = text.replace(from, to);
        }
        text
    }
}

macro_rules! rows {
    ($($name:literal $rule:literal [$($from:expr => $to:expr),*] $upstream:expr;)*) => {
        &[$(Row {
            name: $name,
            changes: &[$(($from, $to)),*],
            rule: $rule,
            upstream: $upstream,
        },)*]
    };
}

const BUNDLE_1_1: &str = "schema: olm.bundle
package: lantern
name: lantern.v1.1.0
";

const CANDIDATE: &str = "schema: olm.channel
package: lantern
name: candidate
entries:
  - name: lantern.v1.2.0
";

const DEPRECATED_BUNDLE: &str = "      schema: olm.bundle
      name: lantern.v1.0.0
";

const VERSION_1_1: &str = "      version: 1.1.0
";

/// The rows of loading, of conversion and of the model.
pub(crate) const ROWS: &[Row] = rows! {
    "document of a comment" "not-an-object" ["schema: olm.package\nname: wick\n" => "# wick\n---\nschema: olm.package\nname: wick\n"]
        "object '' is missing root schema field";
    "document of nothing" "not-an-object" ["schema: olm.package\nname: wick\n" => "\n---\nschema: olm.package\nname: wick\n"]
        "object '' is missing root schema field";
    "blob without schema" "missing-schema" [BUNDLE_1_1 => "package: lantern\nname: lantern.v1.1.0\n"]
        "is missing root schema field";
    "name not a string" "label-not-a-string" [CANDIDATE => "schema: olm.channel\npackage: lantern\nname: 1.5\nentries:\n  - name: lantern.v1.2.0\n"]
        "expected value for key \"name\" to be a string, got ";
    "keys equal but for case" "duplicate-keys" [BUNDLE_1_1 => "schema: olm.bundle\npackage: lantern\nname: lantern.v1.1.0\nName: x\n"]
        "duplicate keys for key \"name\": [Name name]";
    "bad package" "wrong-type" ["name: wick\ndefaultChannel: stable" => "name: wick\ndefaultChannel: [stable]"]
        "parse package: ";
    "bad channel" "wrong-type" ["    skipRange: \">=1.0.0 <1.2.0\"" => "    skips: lantern.v1.0.0"]
        "parse channel: ";
    "bad bundle" "wrong-type" ["image: registry.example/wick/bundle:0.1.0" => "image: 1"]
        "parse bundle: ";
    "bad deprecation" "wrong-type" ["    message: use stable" => "    message: {use: stable}"]
        "parse deprecation: ";
    "bundle object without data" "unreadable-object" ["      data: eyJraW5kIjoiTm90ZSJ9" => "      data: 5"]
        "read bundle objects: package \"lantern\", bundle \"lantern.v1.2.0\": parse property at index 2 as bundle object: ";
    "bundle object that is no object" "unreadable-object" ["      data: eyJraW5kIjoiTm90ZSJ9" => "      data: W2E="]
        "read bundle objects: package \"lantern\", bundle \"lantern.v1.2.0\": convert bundle object property at index 2 to JSON: ";

    "package without name" "package-without-name" ["schema: olm.package\nname: wick\n" => "schema: olm.package\n"]
        "config contains package with no name";
    "same package twice" "duplicate-package" ["schema: olm.package\nname: wick\n" => "schema: olm.package\nname: lantern\n"]
        "duplicate package \"lantern\"";
    "package name with a dot" "invalid-package-name" ["schema: olm.package\nname: wick\n" => "schema: olm.package\nname: wick.er\n"]
        "invalid package name \"wick.er\": [must not contain dots]";
    "package name no label" "invalid-package-name" ["schema: olm.package\nname: wick\n" => "schema: olm.package\nname: Wick\n"]
        "invalid package name \"Wick\": [a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')]";
    "package name too long" "invalid-package-name" ["schema: olm.package\nname: wick\n" => "schema: olm.package\nname: wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwick\n"]
        "invalid package name \"wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwick\": [must be no more than 63 ";
    "channel for unknown package" "channel-of-unknown-package" [CANDIDATE => "schema: olm.channel\npackage: lanterm\nname: candidate\nentries:\n  - name: lantern.v1.2.0\n"]
        "unknown package \"lanterm\" for channel \"candidate\"";
    "channel without name" "channel-without-name" [CANDIDATE => "schema: olm.channel\npackage: lantern\nchannel: candidate\nentries:\n  - name: lantern.v1.2.0\n"]
        "package \"lantern\" contains channel with no name";
    "same channel twice" "duplicate-channel" [CANDIDATE => "schema: olm.channel\npackage: lantern\nname: stable\nentries:\n  - name: lantern.v1.2.0\n"]
        "package \"lantern\" has duplicate channel \"stable\"";
    "same entry twice" "duplicate-entry" ["  - name: lantern.v1.1.0\n" => "  - name: lantern.v1.0.0\n  - name: lantern.v1.1.0\n"]
        "invalid package \"lantern\", channel \"stable\": duplicate entry \"lantern.v1.0.0\"";
    "bundle without package" "bundle-without-package" [BUNDLE_1_1 => "schema: olm.bundle\nname: lantern.v1.1.0\n"]
        "package name must be set for bundle \"lantern.v1.1.0\"";
    "bundle for unknown package" "bundle-of-unknown-package" [BUNDLE_1_1 => "schema: olm.bundle\npackage: lanterm\nname: lantern.v1.1.0\n"]
        "unknown package \"lanterm\" for bundle \"lantern.v1.1.0\"";
    "same bundle twice" "duplicate-bundle" [BUNDLE_1_1 => "schema: olm.bundle\npackage: lantern\nname: lantern.v1.0.0\n"]
        "package \"lantern\" has duplicate bundle \"lantern.v1.0.0\"";
    "property not parsable" "invalid-property" ["      group: lights.example" => "      group: [lights.example]"]
        "parse properties for bundle \"lantern.v1.2.0\": parse property[1] of type \"olm.gvk\": ";
    "csv metadata not parsable" "invalid-property" ["  - type: olm.gvk\n" => "  - type: olm.csv.metadata\n    value:\n      crdDescriptions: {owned: [{specDescriptors: [{path: 1}]}]}\n  - type: olm.gvk\n"]
        "parse properties for bundle \"lantern.v1.2.0\": parse property[1] of type \"olm.csv.metadata\": ";
    "property without value" "invalid-property" ["  - type: olm.gvk\n" => "  - type: some.thing\n  - type: olm.gvk\n"]
        "parse properties for bundle \"lantern.v1.2.0\": parse property[1] of type \"some.thing\": ";
    "no package property" "package-property-count" [VERSION_1_1 => "      version: 1.1.0\n---\nschema: olm.bundle\npackage: lantern\nname: lantern.v1.1.1\nimage: a\n"]
        "package \"lantern\" bundle \"lantern.v1.1.1\" must have exactly 1 \"olm.package\" property, found 0";
    "two package properties" "package-property-count" [VERSION_1_1 => "      version: 1.1.0\n  - type: olm.package\n    value: {packageName: lantern, version: 1.1.0}\n"]
        "package \"lantern\" bundle \"lantern.v1.1.0\" must have exactly 1 \"olm.package\" property, found 2";
    "property of another package" "package-property-mismatch" ["      packageName: wick" => "      packageName: wicker"]
        "package \"wick\" does not match \"olm.package\" property \"wicker\"";
    "image not valid" "invalid-image" ["image: registry.example/wick/bundle:0.1.0" => "image: registry.example/Wick/bundle:0.1.0"]
        "package \"wick\" bundle \"wick.v0.1.0\" image: invalid image pull spec \"registry.example/Wick/bundle:0.1.0\": invalid reference format: repository name must be lowercase";
    "related image not valid" "invalid-image" ["    image: registry.example/lantern/operator:1.0.0" => "    image: registry.example/lantern/operator@sha256:12"]
        "package \"lantern\" bundle \"lantern.v1.0.0\" relatedImages[0].image: invalid image pull spec \"registry.example/lantern/operator@sha256:12\": invalid reference format";
    "version empty" "invalid-version" ["      version: 0.1.0" => "      version: ''"]
        "error parsing bundle \"wick.v0.1.0\" version \"\": Version string empty";
    "version not strict" "invalid-version" ["      version: 0.1.0" => "      version: 0.0.01a"]
        "error parsing bundle \"wick.v0.1.0\" version \"0.0.01a\": Invalid character(s) found in patch number \"01a\"";
    "release not valid" "invalid-release" ["      version: 0.1.0" => "      version: 0.1.0\n      release: 01.a_b"]
        "error parsing bundle \"wick.v0.1.0\" release version \"01.a_b\": invalid release \"01.a_b\": segment 0: ";
    "bundle in no channel" "bundle-in-no-channel" [BUNDLE_1_1 => "schema: olm.bundle\npackage: lantern\nname: lantern.v1.1.1\n"]
        "package \"lantern\", bundle \"lantern.v1.1.1\" not found in any channel entries";
    "entry without bundle in the last channel" "entry-without-bundle" [CANDIDATE => "schema: olm.channel\npackage: lantern\nname: candidate\nentries:\n  - name: lantern.v1.2.0\n    skips: [lantern.v1.2.1, lantern.v1.2.2]\n  - name: lantern.v1.2.2\n  - name: lantern.v1.2.1\n"]
        "no olm.bundle blobs found in package \"lantern\" for olm.channel entries [lantern.v1.2.1 lantern.v1.2.2]";
    "entry without bundle in an earlier channel" "entry-without-bundle" ["    replaces: lantern.v1.1.0\n" => "    replaces: lantern.v1.1.0\n    skips: [lantern.v1.1.9]\n  - name: lantern.v1.1.9\n"]
        "must be exactly one property with type \"olm.package\"";
    "deprecations without package" "deprecation-without-package" ["schema: olm.deprecations\npackage: lantern\n" => "schema: olm.deprecations\n"]
        "package name must be set for deprecation item 0";
    "deprecations of unknown package" "deprecation-of-unknown-package" ["schema: olm.deprecations\npackage: lantern\n" => "schema: olm.deprecations\npackage: lanterm\n"]
        "cannot apply deprecations to an unknown package \"lanterm\"";
    "two deprecations" "duplicate-deprecations" ["schema: olm.package\nname: wick\n" => "schema: olm.deprecations\npackage: lantern\nentries: []\n---\nschema: olm.package\nname: wick\n"]
        "expected a maximum of one deprecation per package: \"lantern\"";
    "deprecation without schema" "deprecation-without-schema" [DEPRECATED_BUNDLE => "      name: lantern.v1.0.0\n"]
        "schema must be set for deprecation entry [0] for package \"lantern\"";
    "deprecated twice" "duplicate-deprecation" ["      schema: olm.channel\n      name: candidate\n" => DEPRECATED_BUNDLE]
        "duplicate deprecation entry declcfg.PackageScopedReference{Schema:\"olm.bundle\", Name:\"lantern.v1.0.0\"} for package \"lantern\"";
    "deprecated bundle missing" "deprecated-bundle-unknown" [DEPRECATED_BUNDLE => "      schema: olm.bundle\n      name: lantern.v1.0.1\n"]
        "cannot deprecate bundle \"lantern.v1.0.1\" for package \"lantern\": bundle not found";
    "deprecated channel missing" "deprecated-channel-unknown" ["      schema: olm.channel\n      name: candidate\n" => "      schema: olm.channel\n      name: candidat\n"]
        "cannot deprecate channel \"candidat\" for package \"lantern\": channel not found";
    "deprecated package with a name" "deprecated-package-named" ["      schema: olm.channel\n      name: candidate\n" => "      schema: olm.package\n      name: lantern\n"]
        "package name must be empty for deprecated package \"lantern\" (specified \"lantern\")";
    "deprecation of something else" "deprecation-schema-unknown" ["      schema: olm.channel\n      name: candidate\n" => "      schema: olm.icon\n      name: candidate\n"]
        "cannot deprecate object declcfg.PackageScopedReference{Schema:\"olm.icon\", Name:\"candidate\"} referenced by entry 1 for package \"lantern\": object schema unknown";

    "no default channel" "default-channel-missing" ["name: wick\ndefaultChannel: stable\n" => "name: wick\n"]
        "default channel must be set";
    "default channel undefined" "default-channel-unknown" ["name: wick\ndefaultChannel: stable\n" => "name: wick\ndefaultChannel: stabel\n"]
        "channel must contain at least one bundle";
    "package without channel" "package-without-channel" ["schema: olm.package\nname: wick\n" => "schema: olm.package\nname: tallow\n---\nschema: olm.package\nname: wick\n"]
        "package must contain at least one channel";
    "one version twice" "duplicate-version" [VERSION_1_1 => "      version: 1.0.0\n"]
        "duplicate versions found in bundles: [{1.0.0: [lantern.v1.0.0, lantern.v1.1.0]}]";
    "deprecation without message" "deprecation-without-message" ["    message: use stable\n" => "    message: ''\n"]
        "invalid deprecation: message must be set";
    "channel without entries" "channel-without-entries" [CANDIDATE => "schema: olm.channel\npackage: lantern\nname: candidate\nentries: []\n"]
        "channel must contain at least one bundle";
    "no head" "no-channel-head" ["  - name: lantern.v1.0.0\n  - name" => "  - name: lantern.v1.0.0\n    replaces: lantern.v1.2.0\n  - name"]
        "no channel head found in graph";
    "several heads" "several-channel-heads" ["    replaces: lantern.v1.1.0\n" => "    replaces: lantern.v1.0.0\n"]
        "multiple channel heads found in graph: lantern.v1.1.0, lantern.v1.2.0";
    "cycle below the head" "replaces-cycle" ["  - name: lantern.v1.0.0\n  - name" => "  - name: lantern.v1.0.0\n    replaces: lantern.v1.1.0\n  - name"]
        "detected cycle in replaces chain of upgrade graph: lantern.v1.1.0 -> lantern.v1.0.0 -> lantern.v1.1.0";
    "stranded" "stranded-bundle" ["    replaces: lantern.v1.1.0\n" => "    skips: [lantern.v1.1.0]\n"]
        "channel contains one or more stranded bundles: lantern.v1.0.0";
    "empty skip" "empty-skip" ["    skipRange: \">=1.0.0 <1.2.0\"\n" => "    skips: [lantern.v1.0.0, '']\n"]
        "skip[1] is empty";
    "bad skipRange" "invalid-skip-range" ["\">=1.0.0 <1.2.0\"" => "\">v1.0.0 <1.2.0\""]
        "invalid skipRange \">v1.0.0 <1.2.0\": Could not parse Range \">v1.0.0\": Could not parse comparator \">v\" in \">v1.0.0\"";
    "no image" "bundle-without-image" ["image: registry.example/wick/bundle:0.1.0\n" => ""]
        "bundle image must be set";
    "entry without name" "entry-without-name" ["  - name: wick.v0.1.0\n" => "  - replaces: ''\n", "name: wick.v0.1.0\nimage" => "image"]
        "name must be set";
    "release, other name" "bundle-name-not-normalized" ["      version: 0.1.0" => "      version: 0.1.0\n      release: '2'"]
        "name \"wick.v0.1.0\" does not match normalized name \"wick-v0.1.0-2\"";
    "release and build metadata" "build-metadata-with-release" ["      version: 0.1.0" => "      version: 0.1.0+1\n      release: '2'"]
        "cannot use build metadata in version with a release version";
};

/// A channel in the table of six graphs: versions with the names that they replace and skip.
pub(crate) struct SixRow {
    pub(crate) name: &'static str,
    pub(crate) entries: &'static str,
    /// Text of opm, empty for a valid channel.
    pub(crate) upstream: &'static str,
}

pub(crate) const SIX: &[SixRow] = &[
    SixRow {
        name: "1; 2 skips 1; 3 skips 2; 4 replaces 3",
        entries: "1; 2 skips 1; 3 skips 2; 4 replaces 3",
        upstream: "",
    },
    SixRow {
        name: "1; 2 replaces 1; 3 skips 2",
        entries: "1; 2 replaces 1; 3 skips 2",
        upstream: "channel contains one or more stranded bundles: p.v1.0.0",
    },
    SixRow {
        name: "1; 2 replaces 1; 3 replaces 2 skips 2",
        entries: "1; 2 replaces 1; 3 replaces 2 skips 2",
        upstream: "channel contains one or more stranded bundles: p.v1.0.0",
    },
    SixRow {
        name: "1 replaces 3; 3 replaces 1 skips 2",
        entries: "1 replaces 3; 3 replaces 1 skips 2",
        upstream: "no channel head found in graph",
    },
    SixRow {
        name: "4 replaces 4; 5 replaces 4",
        entries: "4 replaces 4; 5 replaces 4",
        upstream: "detected cycle in replaces chain of upgrade graph: p.v4.0.0 -> p.v4.0.0",
    },
    SixRow {
        name: "1; 3 replaces 1 skips 2; 4 replaces 1",
        entries: "1; 3 replaces 1 skips 2; 4 replaces 1",
        upstream: "multiple channel heads found in graph: p.v3.0.0, p.v4.0.0",
    },
];

impl SixRow {
    pub(crate) fn catalog(&self) -> String {
        channel(self.entries)
    }
}

/// Returns the catalog of one channel, from a line such as `1; 2 replaces 1 skips 0`. Each number or version is a
/// bundle.
pub(crate) fn channel(line: &str) -> String {
    let version = |short: &str| match short.matches('.').count() {
        0 => format!("{short}.0.0"),
        1 => format!("{short}.0"),
        _ => short.to_owned(),
    };
    let (mut entries, mut bundles) = (Vec::new(), Vec::new());
    for entry in line.split("; ") {
        let mut words = entry.split(' ');
        let own = version(words.next().expect("a version"));
        entries.push(format!("  - name: p.v{own}\n"));
        while let (Some(field), Some(value)) = (words.next(), words.next()) {
            let names = value
                .split(',')
                .map(|short| format!("p.v{}", version(short)));
            let names: Vec<_> = names.collect();
            entries.push(match field {
                "replaces" => format!("    replaces: {}\n", names.join(",")),
                "skips" => format!("    skips: [{}]\n", names.join(", ")),
                _ => format!("    skipRange: '{}'\n", value.replace('_', " ")),
            });
        }
        bundles.push(format!(
            "---\nschema: olm.bundle\npackage: p\nname: p.v{own}\nimage: registry.example/p:{own}\n\
             properties:\n  - type: olm.package\n    value: {{packageName: p, version: {own}}}\n"
        ));
    }
    let (entries, bundles) = (entries.concat(), bundles.concat());
    format!(
        "schema: olm.package\nname: p\ndefaultChannel: c\n---\nschema: olm.channel\npackage: p\nname: c\n\
         entries:\n{entries}{bundles}"
    )
}
