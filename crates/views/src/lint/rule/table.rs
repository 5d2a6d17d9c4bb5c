//! The table of rules: one row each.

use super::{Family, Severity};

/// Writes the enum and what is known of each rule from one table.
macro_rules! rules {
    ($($rule:ident $id:literal $family:ident $severity:ident $title:literal
        why $why:literal fix $fix:literal $(opm $opm:literal)?;)*) => {
        /// What is looked for, and found.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $title] $rule,)*
        }

        impl Rule {
            /// Every rule, in the order of the index.
            pub const ALL: &'static [Self] = &[$(Self::$rule,)*];

            /// Its id, which stays.
            pub fn id(self) -> &'static str {
                match self { $(Self::$rule => $id,)* }
            }

            /// What it is about.
            pub fn family(self) -> Family {
                match self { $(Self::$rule => Family::$family,)* }
            }

            /// The severity of its findings, unless a flag changes it.
            pub fn severity(self) -> Severity {
                match self { $(Self::$rule => Severity::$severity,)* }
            }

            /// What it finds, in one sentence.
            pub fn title(self) -> &'static str {
                match self { $(Self::$rule => $title,)* }
            }

            /// Why that matters to a user.
            pub fn why(self) -> &'static str {
                match self { $(Self::$rule => $why,)* }
            }

            /// How to fix it.
            pub fn fix(self) -> &'static str {
                match self { $(Self::$rule => $fix,)* }
            }

            /// What `opm validate` says of it, with letters for names; none if it says nothing, or
            /// quotes a parser.
            pub fn opm(self) -> Option<&'static str> {
                match self { $(Self::$rule => rules!(@opm $($opm)?),)* }
            }
        }
    };
    (@opm) => { None };
    (@opm $opm:literal) => { Some($opm) };
}

rules! {
    InvalidSyntax "invalid-syntax" Load Error
        "A file, or a part of it, is neither JSON nor YAML."
        why "No program can read the catalog. Neither OLM v0 nor OLM v1 serves any part of it."
        fix "Fix the text at the reported place. In YAML, put values in quotes if they start with `>`, `!`, `*`, `&` or `%`.";
    NotAFile "not-a-file" Load Error
        "The directory of a catalog contains something that is not a file, such as a symbolic link to a directory."
        why "OLM v0 and OLM v1 read everything in the directory as a file, and reject the whole catalog."
        fix "Exclude it with an `.indexignore` file, or remove it. Instead of a link to a directory, use copies of its files."
        opm "read FILE: is a directory";
    NotAnObject "not-an-object" Load Error
        "A document is not an object, for example an empty document between two separators."
        why "Every blob of a catalog is an object with a schema. Any other document makes the catalog unreadable."
        fix "Remove the `---` before or after an empty document or a comment, or write the missing blob. If the file is not part of the catalog, list it in `.indexignore`."
        opm "object '' is missing root schema field";
    MissingSchema "missing-schema" Load Error
        "A blob has no schema."
        why "Tools identify a blob by its schema. Without one, they reject the catalog."
        fix "Add a `schema`, such as `olm.bundle`. If the file is not part of the catalog, list it in `.indexignore`."
        opm "object '<json>' is missing root schema field";
    LabelNotAString "label-not-a-string" Load Error
        "The schema, package or name of a blob is not a string."
        why "opm and OLM v1 reject the whole catalog. In YAML, an unquoted `1.0` or `yes` is not a string."
        fix "Put the value in quotes."
        opm "expected value for key \"K\" to be a string, got ...";
    DuplicateKeys "duplicate-keys" Load Error
        "A blob has two keys that differ only in case."
        why "Programs disagree on which of the two keys to use. The whole catalog is rejected."
        fix "Keep one of the keys, spelled as in the documentation."
        opm "duplicate keys for key \"name\": [Name name]";
    WrongType "wrong-type" Load Error
        "A field of a blob has a value of the wrong type."
        why "The blob cannot be decoded, so OLM v1 resolves nothing from its package."
        fix "Write a value of the type that the schema requires. In YAML, put numbers and booleans in quotes if they must be strings."
        opm "parse bundle: ...";
    UnreadableObject "unreadable-object" Load Error
        "The data of an `olm.bundle.object` property cannot be read."
        why "The manifests of the bundle are lost, and the whole package is lost with them."
        fix "Encode the manifest in standard base64, or render the bundle again with `opm render`."
        opm "read bundle objects: package \"P\", bundle \"B\": parse property at index N as bundle object: ...";

    PackageWithoutName "package-without-name" Conversion Error
        "An `olm.package` blob has no name."
        why "Nothing can refer to the package, so no one can install it."
        fix "Add a `name`."
        opm "config contains package with no name";
    DuplicatePackage "duplicate-package" Conversion Error
        "A package is defined twice."
        why "opm and OLM v0 reject the catalog. OLM v1 uses the last definition without a warning."
        fix "Keep one `olm.package` blob with this name."
        opm "duplicate package \"P\"";
    InvalidPackageName "invalid-package-name" Conversion Error
        "The name of a package is not a valid RFC 1123 label."
        why "Package names become Kubernetes names. No ClusterExtension or Subscription can refer to this package."
        fix "Use lower-case letters, digits and hyphens, at most 63 characters, and no dots. Start and end with a letter or a digit."
        opm "invalid package name \"P\": [...]";
    ChannelOfUnknownPackage "channel-of-unknown-package" Conversion Error
        "A channel belongs to a package that is not defined."
        why "opm and OLM v0 reject the catalog."
        fix "Fix the name in `package`, or add the `olm.package` blob."
        opm "unknown package \"P\" for channel \"C\"";
    ChannelWithoutName "channel-without-name" Conversion Error
        "A channel has no name."
        why "No one can subscribe to the channel, and opm rejects the catalog."
        fix "Add a `name`. The key is `name`, not `channel`."
        opm "package \"P\" contains channel with no name";
    DuplicateChannel "duplicate-channel" Conversion Error
        "A package defines a channel twice."
        why "opm and OLM v0 reject the catalog. OLM v1 uses the last definition without a warning, and drops the edges of the first."
        fix "Merge the entries into one `olm.channel` blob."
        opm "package \"P\" has duplicate channel \"C\"";
    DuplicateEntry "duplicate-entry" Conversion Error
        "A channel has two entries with the same name."
        why "opm and OLM v0 reject the catalog."
        fix "Merge the entries. One entry has one `replaces`, any number of `skips` and one `skipRange`."
        opm "invalid package \"P\", channel \"C\": duplicate entry \"E\"";
    BundleWithoutPackage "bundle-without-package" Conversion Error
        "A bundle has no package."
        why "No package offers the bundle, and opm rejects the catalog."
        fix "Add a `package`."
        opm "package name must be set for bundle \"B\"";
    BundleOfUnknownPackage "bundle-of-unknown-package" Conversion Error
        "A bundle belongs to a package that is not defined."
        why "opm and OLM v0 reject the catalog."
        fix "Fix the name in `package`, or add the `olm.package` blob."
        opm "unknown package \"P\" for bundle \"B\"";
    DuplicateBundle "duplicate-bundle" Conversion Error
        "A package has two bundles with the same name."
        why "opm and OLM v0 reject the catalog. OLM v1 uses the last bundle without a warning, and its image can be a different one."
        fix "Keep one blob, or give the other bundle its own name and version."
        opm "package \"P\" has duplicate bundle \"B\"";
    InvalidProperty "invalid-property" Conversion Error
        "The value of a property does not fit its type."
        why "opm and OLM v0 reject the catalog. If an `olm.package` property is invalid, OLM v1 does not know the version of the bundle."
        fix "Write the value in the form that the type requires."
        opm "parse properties for bundle \"B\": parse property[N] of type \"T\": ...";
    PackagePropertyCount "package-property-count" Conversion Error
        "A bundle has no `olm.package` property, or more than one."
        why "This property contains the version of the bundle. Without a version, OLM can neither compare nor upgrade the bundle."
        fix "Give the bundle exactly one property of type `olm.package`, with `packageName` and `version`."
        opm "package \"P\" bundle \"B\" must have exactly 1 \"olm.package\" property, found N";
    PackagePropertyMismatch "package-property-mismatch" Conversion Error
        "The `olm.package` property of a bundle names another package."
        why "The bundle names two different packages, so opm and OLM v0 reject the catalog."
        fix "Use the same name in `package` and in the `packageName` of the property."
        opm "package \"P\" does not match \"olm.package\" property \"Q\"";
    InvalidImage "invalid-image" Conversion Error
        "An image of a bundle is not a valid reference."
        why "The image cannot be pulled. opm and OLM v0 reject the catalog."
        fix "Write `registry/repository:tag` or `registry/repository@sha256:digest`, with the repository in lower case."
        opm "package \"P\" bundle \"B\" image: invalid image pull spec \"I\": ...";
    InvalidVersion "invalid-version" Conversion Error
        "The version of a bundle is not a semantic version."
        why "OLM cannot order the bundle. In OLM v1, no version range matches the bundle, and its installation fails."
        fix "Write `MAJOR.MINOR.PATCH`, without `v` and without leading zeros. Write a prerelease after a `-`."
        opm "error parsing bundle \"B\" version \"V\": ...";
    InvalidRelease "invalid-release" Conversion Error
        "The release of a bundle is not valid."
        why "The bundle cannot be ordered. opm and OLM v0 reject the catalog."
        fix "Use dot-separated letters, digits and hyphens, at most 20 characters, and numbers without leading zeros."
        opm "error parsing bundle \"B\" release version \"R\": invalid release \"R\": ...";
    BundleInNoChannel "bundle-in-no-channel" Conversion Error
        "A bundle is in no channel."
        why "OLM v0 never offers the bundle. OLM v1 installs it for extensions without channels. After that, it can be upgraded only if an entry names it or includes it in a `skipRange`."
        fix "Add an entry for the bundle to a channel, or remove the bundle."
        opm "package \"P\", bundle \"B\" not found in any channel entries";
    EntryWithoutBundle "entry-without-bundle" Conversion Error
        "A channel has an entry without a bundle."
        why "opm and OLM v0 reject the catalog. OLM v1 ignores the entry, which can be the only upgrade for some users."
        fix "Add the bundle, or remove the entry. A version that users only upgrade from needs no entry: `replaces`, `skips` and `skipRange` can name versions that are not in the catalog."
        opm "no olm.bundle blobs found in package \"P\" for olm.channel entries [E1 E2]";
    DeprecationWithoutPackage "deprecation-without-package" Conversion Error
        "An `olm.deprecations` blob has no package."
        why "Users see no deprecation warning, and opm rejects the catalog."
        fix "Add a `package`."
        opm "package name must be set for deprecation item N";
    DeprecationOfUnknownPackage "deprecation-of-unknown-package" Conversion Error
        "An `olm.deprecations` blob names a package that is not defined."
        why "Users see no deprecation warning, and opm rejects the catalog."
        fix "Fix the name in `package`."
        opm "cannot apply deprecations to an unknown package \"P\"";
    DuplicateDeprecations "duplicate-deprecations" Conversion Error
        "A package has two `olm.deprecations` blobs."
        why "opm and OLM v0 reject the catalog. OLM v1 uses one of the blobs without a warning."
        fix "Merge the entries into one blob."
        opm "expected a maximum of one deprecation per package: \"P\"";
    DeprecationWithoutSchema "deprecation-without-schema" Conversion Error
        "A deprecation has no schema in its `reference`."
        why "Users see no deprecation warning, and opm rejects the catalog."
        fix "Add a `schema` to the `reference`: `olm.package`, `olm.channel` or `olm.bundle`."
        opm "schema must be set for deprecation entry [N] for package \"P\"";
    DuplicateDeprecation "duplicate-deprecation" Conversion Error
        "A package, channel or bundle is deprecated twice."
        why "Only one of the two messages can be shown, so opm rejects the catalog."
        fix "Merge the two messages into one entry."
        opm "duplicate deprecation entry ... for package \"P\"";
    DeprecatedBundleUnknown "deprecated-bundle-unknown" Conversion Error
        "A deprecation names a bundle that does not exist."
        why "The intended bundle is not deprecated, and opm rejects the catalog."
        fix "Fix the name. If you removed the bundle, remove the entry, too."
        opm "cannot deprecate bundle \"B\" for package \"P\": bundle not found";
    DeprecatedChannelUnknown "deprecated-channel-unknown" Conversion Error
        "A deprecation names a channel that does not exist."
        why "The intended channel is not deprecated, and opm rejects the catalog."
        fix "Fix the name. If you removed the channel, remove the entry, too."
        opm "cannot deprecate channel \"C\" for package \"P\": channel not found";
    DeprecatedPackageNamed "deprecated-package-named" Conversion Error
        "A deprecation of a package has a name."
        why "The `package` of the blob already names the package. If the reference has a name, too, opm rejects the catalog."
        fix "Remove `name` from the reference."
        opm "package name must be empty for deprecated package \"P\" (specified \"N\")";
    DeprecationSchemaUnknown "deprecation-schema-unknown" Conversion Error
        "A deprecation names something that cannot be deprecated."
        why "Users see no deprecation warning, and opm rejects the catalog."
        fix "Use the schema `olm.package`, `olm.channel` or `olm.bundle`."
        opm "cannot deprecate object ... referenced by entry N for package \"P\": object schema unknown";

    DefaultChannelMissing "default-channel-missing" Model Error
        "A package has no default channel."
        why "In OLM v0, a Subscription without a channel follows the default channel. opm rejects the catalog."
        fix "Add a `defaultChannel` to the `olm.package`."
        opm "default channel must be set";
    DefaultChannelUnknown "default-channel-unknown" Model Error
        "The default channel of a package does not exist."
        why "In OLM v0, a Subscription without a channel finds nothing. opm rejects the catalog."
        fix "Name one of the channels of the package."
        opm "channel must contain at least one bundle";
    PackageWithoutChannel "package-without-channel" Model Error
        "A package has no channel."
        why "No one can subscribe to the package, and it offers no upgrades."
        fix "Add an `olm.channel`, or remove the package."
        opm "package must contain at least one channel";
    DuplicateVersion "duplicate-version" Model Error
        "Two bundles of a package have the same version."
        why "A version must identify one bundle. If a user pins this version, OLM v1 installs either of the two bundles."
        fix "Give each bundle its own version or release."
        opm "duplicate versions found in bundles: [{V: [A, B]}]";
    DeprecationWithoutMessage "deprecation-without-message" Model Error
        "A deprecation has no message."
        why "Users see that something is deprecated, but not what to do."
        fix "Describe in `message` what to use instead, and until when."
        opm "invalid deprecation: message must be set";
    ChannelWithoutEntries "channel-without-entries" Model Error
        "A channel has no entries."
        why "Nothing can be installed from the channel."
        fix "Add entries, or remove the channel."
        opm "channel must contain at least one bundle";
    NoChannelHead "no-channel-head" Model Error
        "A channel has no head, because every entry is replaced or skipped."
        why "OLM v0 cannot find the newest entry, and rejects the channel."
        fix "Remove the edge that points back: no entry must replace or skip the newest one."
        opm "no channel head found in graph";
    SeveralChannelHeads "several-channel-heads" Model Error
        "A channel has several heads: entries that no other entry replaces or skips."
        why "OLM v0 cannot find the newest entry, and rejects the channel. Users of the older heads get no upgrades."
        fix "Let the newest entry replace or skip the other heads."
        opm "multiple channel heads found in graph: A, B";
    ReplacesCycle "replaces-cycle" Model Error
        "Entries of a channel replace each other in a cycle."
        why "OLM v0 rejects the channel, because its upgrades would never end."
        fix "Remove the `replaces` that names the same version or a higher one."
        opm "detected cycle in replaces chain of upgrade graph: X -> Y -> X";
    StrandedBundle "stranded-bundle" Model Error
        "An entry is neither in the `replaces` chain of the channel head nor skipped."
        why "OLM v0 never offers an upgrade to users who have it installed, and opm rejects the channel."
        fix "Let an entry of the chain replace it, or let the head skip it."
        opm "channel contains one or more stranded bundles: A, B";
    EmptySkip "empty-skip" Model Error
        "An entry skips an empty name."
        why "opm and OLM v0 reject the channel."
        fix "Remove the item from `skips`."
        opm "skip[N] is empty";
    InvalidSkipRange "invalid-skip-range" Model Error
        "A `skipRange` is not valid."
        why "opm rejects the channel. OLM v0 and OLM v1 ignore the range, so users of the versions in it get no upgrade."
        fix "Write comparators with full versions and without `v`, as in `>=1.0.0 <1.2.3`. A space means AND, and `||` means OR."
        opm "invalid skipRange \"R\": ...";
    BundleWithoutImage "bundle-without-image" Model Error
        "A bundle has neither an image nor manifests."
        why "There is nothing to install."
        fix "Add an `image`."
        opm "bundle image must be set";
    EntryWithoutName "entry-without-name" Model Error
        "An entry of a channel has no name."
        why "The entry belongs to no bundle, and opm rejects the channel."
        fix "Add a `name`: the name of a bundle."
        opm "name must be set";
    BundleNameNotNormalized "bundle-name-not-normalized" Model Error
        "The name of a bundle with a release does not consist of package, version and release."
        why "With releases, several bundles have the same version, so their names must differ. opm rejects any other name."
        fix "Rename the bundle to `PACKAGE-vVERSION-RELEASE`."
        opm "name \"X\" does not match normalized name \"P-v<version>-<release>\"";
    BuildMetadataWithRelease "build-metadata-with-release" Model Error
        "A bundle has a release, and build metadata in its version."
        why "Build metadata was the old way to write a release. Bundles that have both cannot be ordered."
        fix "Remove the `+` and everything after it from the version."
        opm "cannot use build metadata in version with a release version";

    CutOffVersion "cut-off-version" Users Warning
        "A version has no upgrade path to the head of its channel."
        why "Users on this version never get to the channel head. OLM v0 hides this: it reports that the latest version is installed."
        fix "Let an entry on the upgrade path to the head replace the version, skip it, or include it in its `skipRange`. For versions that users must still upgrade through, use `skipRange` instead of `skips`.";
    SeveralSuccessors "several-successors" Users Note
        "A version is replaced or skipped by several entries that are not skipped themselves."
        why "The offered upgrade then depends on the OLM generation and on the order of the channel. The registry API returns any of the entries."
        fix "No change is needed if every one of them is a good next step. Otherwise let exactly one entry replace or skip each version.";
    UpgradeCycle "upgrade-cycle" Users Warning
        "Upgrade edges form a cycle."
        why "OLM v0 follows edges without comparing versions, so its upgrades can go on forever."
        fix "Remove the edge to a lower version, or end the `skipRange` below the version of its entry.";
    SkippedCycle "skipped-cycle" Users Error
        "Skipped entries of a channel replace each other in a cycle."
        why "opm stops at a skipped entry and does not find the cycle. OLM v0 finds it and rejects the channel. It then upgrades nothing in a namespace with a Subscription to the channel."
        fix "Remove the `replaces` that names the same version or a higher one.";
    SkippedYetInstallable "skipped-yet-installable" Users Warning
        "A skipped version that is not deprecated can still be installed with OLM v1."
        why "OLM v0 never installs a skipped entry. OLM v1 does, for a pin, for a range that ends at the version, or as a step on an upgrade path. OLM v1 warns users only if the version is deprecated."
        fix "If no one must install the version, remove its entry and its bundle: `skips` can name versions that are not in the catalog. Otherwise deprecate the version in an `olm.deprecations` blob.";
    EdgeGoesDown "edge-goes-down" Users Warning
        "An upgrade edge goes to a lower version."
        why "OLM v0 never compares versions. It follows the edge and downgrades users. OLM v1 does the same if the installed bundle is deprecated or no longer exists."
        fix "Reverse the edge, or fix the version.";
    HeadNotHighest "head-not-highest" Users Warning
        "The head of a channel is not its highest version."
        why "OLM v0 installs the head, and OLM v1 installs the highest version. The same channel gives two results."
        fix "Make the highest version the head, or remove it from the channel.";
    PrereleaseEdge "prerelease-edge" Users Warning
        "An upgrade edge goes from a release to a prerelease."
        why "Users of a stable version are upgraded to a prerelease that they did not request. With graph `Catalog`, guardrails allow the step unless a rule of kind `Prerelease` has `action: Deny`."
        fix "Keep prereleases in a separate channel that is not the default channel. There, the finding is a note, because users of such a channel want prereleases. Or exclude releases from the `skipRange`.";
    MajorEdge "major-edge" Users Warning
        "An upgrade edge crosses a major version, or below 1.0.0 a minor version."
        why "Such an upgrade can break what users rely on. OLM v0 and OLM v1 do it automatically."
        fix "No change is needed if this is intended. Otherwise give each major version its own channel.";
    SkipRangeMatchesNothing "skip-range-matches-nothing" Users Warning
        "A `skipRange` matches no version at all."
        why "The intended edge does not exist. A space means AND, so `1.0.0 1.1.0` matches nothing."
        fix "Join alternatives with `||`.";
    SkipRangeTakesNone "skip-range-takes-none" Users Note
        "A `skipRange` matches no other bundle of the package."
        why "This is correct if older versions were removed from the catalog. Otherwise the intended edge does not exist."
        fix "Compare the range with the versions that users have installed.";
    SkipRangeTakesItself "skip-range-takes-itself" Users Note
        "A `skipRange` matches the version of its own entry."
        why "OLM is not affected, but tools that walk the graph can loop."
        fix "End the range below the version: `<1.2.3`, not `<=1.2.3`.";
    SkipRangeOpenAbove "skip-range-open-above" Users Warning
        "A `skipRange` has no upper bound."
        why "The range also matches every higher version, so an edge goes to a lower version."
        fix "End the range below the version of its entry.";
    SkipRangeOpenBelow "skip-range-open-below" Users Note
        "A `skipRange` has no lower bound."
        why "The range matches every older version, even if the upgrade from that version was never tested."
        fix "Start the range at the oldest version from which the upgrade works.";
    SkipRangeCrashes "skip-range-crashes" Users Error
        "A `skipRange` has nothing between two `||`."
        why "opm accepts the range, but OLM panics when it compares a version with the range. OLM v1 resolves nothing from the package."
        fix "Remove the empty alternative.";
    UnknownTarget "unknown-target" Users Note
        "Entries replace or skip names that are not in the catalog."
        why "This is correct for removed versions: users who have them installed can still upgrade. A typo looks the same."
        fix "Compare the names with the versions that users have installed.";
    MisspeltTarget "misspelt-target" Users Warning
        "An entry replaces or skips a name that looks like a typo."
        why "The intended edge does not exist, so users who need it are stranded."
        fix "Fix the name.";
    OtherPackageTarget "other-package-target" Users Warning
        "An entry replaces or skips a bundle of another package."
        why "Edges never cross packages, so this one has no effect."
        fix "Fix the name, or remove it.";
    TargetInOtherChannel "target-in-other-channel" Users Warning
        "In a channel with several heads or stranded entries, an entry replaces or skips a bundle that is only in another channel."
        why "A channel has only the edges of its own entries. The bundle is not an entry of this channel, so the versions that it replaces have no path to the head here. In a channel without such a fault, lint does not report the target, because the edge is then useful to users of the other channel."
        fix "Add an entry for the bundle to the channel, with its `replaces`, or let the entry also skip the versions below it.";
    DeprecatedWithoutReplacement "deprecated-without-replacement" Users Warning
        "A deprecated bundle or channel has no replacement that is not deprecated."
        why "Users are asked to leave, but there is nothing to upgrade to."
        fix "Publish a successor that is not deprecated, or describe in the message what to use instead.";
    ChannelKey "channel-key" Users Warning
        "A channel has a key `channel`, which has no effect."
        why "The key for the name of a channel is `name`. Programs ignore `channel`."
        fix "Rename the key to `name`.";
    UnknownKey "unknown-key" Users Warning
        "A blob has a key that OLM does not know."
        why "OLM ignores the key without a message. An ignored `replace` or `olm.skipRange` is a missing upgrade edge, so users are stranded. opm accepts the key, so the finding is not an error. It is a note if the key is like no key of OLM's and is not in an entry of a channel, because other tools can use it. It is also a note if the key differs only in case, because OLM then reads it."
        fix "Write the key as in the documentation, or remove it. Put data for other tools into `properties`, or into a blob of your own schema.";
    MisspeltSchema "misspelt-schema" Users Warning
        "The schema of a blob looks like a typo of one that OLM knows."
        why "A catalog can have blobs of any schema, so opm and OLM ignore the blob without a message. Its channel, bundle or deprecation does not exist. lint does not report schemas that are not like one of OLM's."
        fix "Fix the schema: `olm.package`, `olm.channel`, `olm.bundle` or `olm.deprecations`.";
    YamlTag "yaml-tag" Users Warning
        "A YAML value starts with `!`, so its first word is a tag."
        why "The tag is not part of the value. An unquoted `skipRange: !=1.5.0 <2.0.0` becomes `<2.0.0`, and no program reports it."
        fix "Put the value in quotes.";
    UnfilableName "unfilable-name" Users Error
        "OLM v1 cannot store a blob under its package, schema and name."
        why "operator-controller makes a file name from them. If that fails, it serves nothing from the catalog."
        fix "Shorten the name to at most 250 bytes, and remove NUL characters.";
    UnsupportedDependency "unsupported-dependency" Users Warning
        "A bundle declares a dependency, which OLM v1 does not support."
        why "OLM v1 selects the bundle and then rejects it. It does not try another bundle."
        fix "No change is needed if the package is for OLM v0 only. Otherwise include the dependency in the bundle, or document what to install first.";
    UnsupportedInstallMode "unsupported-install-mode" Users Warning
        "A bundle does not support the install mode `AllNamespaces`."
        why "OLM v1 installs for all namespaces unless a feature gate is set. It therefore rejects this bundle."
        fix "Add support for `AllNamespaces`.";
    MinKubeVersionIgnored "min-kube-version-ignored" Users Note
        "Bundles of a package set a `minKubeVersion`, which OLM v1 ignores."
        why "OLM v1 also installs the bundles on older clusters, where they can fail."
        fix "Document which Kubernetes version the package needs.";
    AmbiguousPackage "ambiguous-package" Users Note
        "Several of the given catalogs offer the same package."
        why "OLM v1 does not choose between the catalogs unless their priorities differ."
        fix "Give the ClusterCatalogs different priorities, or select one of them by label in the ClusterExtension.";
    GuardrailUnreadable "guardrail-unreadable" Users Error
        "The guardrails of a package are invalid, or there are several that can differ."
        why "olmguard cannot know what they forbid, so it denies every upgrade of the package."
        fix "Fix what is reported; the guardrails page lists all kinds and keys. A package can have one blob and one property, with the same content.";
    GuardrailOfUnknownPackage "guardrail-of-unknown-package" Users Warning
        "Guardrails name no package, or a package that is not defined."
        why "The guardrails have no effect, so the steps that they should forbid are allowed. `opm serve` before 1.69 creates an empty package with this name."
        fix "Fix the name in `package`.";
    GuardrailOtherVersion "guardrail-other-version" Users Warning
        "Guardrails have a schema version that this olmguard does not know."
        why "olmguard ignores them. The steps that they should forbid are allowed, each with a warning."
        fix "Write the guardrails in the known version. If some users have an older olmguard, write them in both versions.";
    GuardrailMisnamed "guardrail-misnamed" Users Error
        "The schema, package or name of a guardrails blob is not valid for opm or OLM v1."
        why "From 1.69 on, `opm serve` accepts only letters, digits, dots, underscores and hyphens in schema and package. Otherwise it rejects the whole catalog. OLM v1 uses the name of a blob as a file name. It stores a blob with `/` in its name in the wrong place."
        fix "Remove `name`, and fix `schema` and `package`.";
    GuardrailStrandsVersion "guardrail-strands-version" Users Error
        "A version has edges to higher versions, and guardrails forbid all of them."
        why "Users on this version cannot upgrade any more, because olmguard denies every step. lint uses the edges of all channels, as OLM v1 does for an extension without channels. An extension with channels can have fewer edges. If graph `Semver` alone forbids all steps, the finding is a note, because this can be intended."
        fix "Add a bundle that the rule requires and an edge to it, or narrow the rule. No change is needed if graph `Semver` should end the upgrades here. Otherwise write `graph: Catalog`.";
    GuardrailStepNotAvailable "guardrail-step-not-available" Users Warning
        "A rule requires a version that the package does not have, or that is deprecated."
        why "The rule still forbids the steps, so users cannot upgrade past it. If all versions in the range are deprecated, the finding is a note: users must upgrade through a version that they are asked to leave."
        fix "Publish a version that is in the range, or fix the range.";
    GuardrailNeverApplies "guardrail-never-applies" Users Warning
        "A rule forbids nothing, whatever version is installed."
        why "The steps that the rule should forbid are allowed. Without `to`, a rule forbids steps to versions higher than `via`, and no version is higher than a `via` without an upper bound. A `Prerelease` rule with `action: Allow` lifts the default of graph `Semver`, but has no effect on graph `Catalog` or on a rule with `action: Deny`. If the rule would apply to other versions, the finding is a note."
        fix "Add an upper bound to `via`, as in `>=1.3.0 <1.4.0-0`, or write `from` and `to`, which only a rule of kind `PassThrough` can have. No change is needed if the rule is for future versions.";
    GuardrailTakesPrerelease "guardrail-takes-prerelease" Users Warning
        "A rule accepts a prerelease of the next version as a version that it requires."
        why "`1.4.0-rc.1` is lower than `1.4.0`, so `>=1.3.0 <1.4.0` includes it. Users who upgrade through this prerelease satisfy the rule, but never run 1.3."
        fix "End the range with `<1.4.0-0`, which is below every prerelease of 1.4.0.";
    GuardrailAgainstEdge "guardrail-against-edge" Users Warning
        "Guardrails forbid the step of a `replaces` or `skips` edge."
        why "The catalog contradicts itself: OLM makes the step, and olmguard denies it. For `skips`, the finding is a note, because generated catalogs skip every lower version. It is also a note if graph `Semver` forbids the step, because this can be intended. lint does not report a `skipRange` alone, because it names no version."
        fix "Remove the edge, or narrow the rule. No change is needed if graph `Semver` should forbid the step. Otherwise write `graph: Catalog`.";
    GuardrailBypassable "guardrail-bypassable" Users Note
        "A rule of an author has the key `bypassable`."
        why "The key has no effect in a catalog: `upgradeConstraintPolicy: SelfCertified` always overrides the rules of authors. The key is for rules of administrators."
        fix "Remove the key.";
    PolicyUnreadable "policy-unreadable" Users Error
        "An UpgradePolicy or UpgradeGuardrails object is invalid."
        why "olmguard cannot know what the object allows, so it denies every upgrade that the object matches."
        fix "Fix the field that is reported. The pages about upgrade policies and guardrails list all fields.";
    PolicyOfUnknownPackage "policy-of-unknown-package" Users Warning
        "An UpgradePolicy or UpgradeGuardrails object names a package that no catalog has."
        why "The object has no effect on the package that was meant, so the upgrades that it should deny are allowed."
        fix "Fix the name, or lint the object together with the catalog that has the package.";
    LintLimit "lint-limit" Users Warning
        "Something is too large, so lint does not check or report all of it."
        why "There can be problems that lint does not report. No real catalog is as large as these limits."
        fix "Fix the reported findings and run lint again, or check whether the file is the right one.";
}
