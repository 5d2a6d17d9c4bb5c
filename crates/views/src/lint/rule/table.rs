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

            /// How much its findings weigh, unless who runs it says otherwise.
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

            /// How it is mended.
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
        why "No program reads such a catalog: neither OLM serves anything of it."
        fix "Mend the text at the place that is named. In YAML, quote what begins with `>`, `!`, `*`, `&` or `%`.";
    NotAFile "not-a-file" Load Error
        "Something in the folder of a catalog is no file, such as a symbolic link to a folder."
        why "Every OLM reads what it finds in the folder as a file, and refuses the whole catalog."
        fix "Leave it out with an `.indexignore`, or remove it; copy the files of the folder that is linked to."
        opm "read FILE: is a directory";
    NotAnObject "not-an-object" Load Error
        "A document is no object, such as an empty one between two separators."
        why "Every blob of a catalog is an object with a schema; anything else makes the catalog unreadable."
        fix "Remove the `---` before or after an empty document or a comment, or write the blob that was meant."
        opm "object '' is missing root schema field";
    MissingSchema "missing-schema" Load Error
        "A blob does not say what it is."
        why "Without a schema no program knows what to do with the blob, and the whole catalog is refused."
        fix "Give it a `schema`, such as `olm.bundle`."
        opm "object '<json>' is missing root schema field";
    LabelNotAString "label-not-a-string" Load Error
        "The schema, package or name of a blob is no string."
        why "The whole catalog is refused, by opm and by OLM v1. In YAML an unquoted `1.0` or `yes` is no string."
        fix "Put the value in quotes."
        opm "expected value for key \"K\" to be a string, got ...";
    DuplicateKeys "duplicate-keys" Load Error
        "A blob has two keys that differ in case only."
        why "Readers disagree on which one counts, so the whole catalog is refused."
        fix "Keep one of the keys, in the spelling of the documentation."
        opm "duplicate keys for key \"name\": [Name name]";
    WrongType "wrong-type" Load Error
        "A field of a blob holds a value of another type."
        why "The blob cannot be decoded. OLM v1 then resolves nothing of its package."
        fix "Give the field a value of the type that its schema has. In YAML, quote numbers and booleans that are texts."
        opm "parse bundle: ...";
    UnreadableObject "unreadable-object" Load Error
        "The data of an `olm.bundle.object` property cannot be read."
        why "The manifests of the bundle are lost, and the package with them."
        fix "Encode the manifest in standard base64, or render the bundle anew with `opm render`."
        opm "read bundle objects: package \"P\", bundle \"B\": parse property at index N as bundle object: ...";

    PackageWithoutName "package-without-name" Conversion Error
        "An `olm.package` has no name."
        why "Nothing can refer to the package, so nobody can install it."
        fix "Give it a `name`."
        opm "config contains package with no name";
    DuplicatePackage "duplicate-package" Conversion Error
        "A package is defined twice."
        why "opm and OLM v0 refuse the catalog; OLM v1 silently takes the last definition."
        fix "Keep one `olm.package` blob of the name."
        opm "duplicate package \"P\"";
    InvalidPackageName "invalid-package-name" Conversion Error
        "The name of a package is no RFC 1123 label."
        why "Package names become names in Kubernetes; no ClusterExtension or Subscription could name this one."
        fix "Use lower-case letters, digits and inner hyphens, at most 63 of them; no dots."
        opm "invalid package name \"P\": [...]";
    ChannelOfUnknownPackage "channel-of-unknown-package" Conversion Error
        "A channel belongs to a package that is not defined."
        why "opm and OLM v0 refuse the catalog."
        fix "Mend the name in `package`, or add the `olm.package` blob."
        opm "unknown package \"P\" for channel \"C\"";
    ChannelWithoutName "channel-without-name" Conversion Error
        "A channel has no name."
        why "Nobody can subscribe to it, and opm refuses the catalog."
        fix "Give it a `name`. The key is `name`, not `channel`."
        opm "package \"P\" contains channel with no name";
    DuplicateChannel "duplicate-channel" Conversion Error
        "A package defines a channel twice."
        why "opm and OLM v0 refuse the catalog; OLM v1 silently takes the last definition and drops the edges of the first."
        fix "Join the entries in one `olm.channel` blob."
        opm "package \"P\" has duplicate channel \"C\"";
    DuplicateEntry "duplicate-entry" Conversion Error
        "A channel has two entries of one name."
        why "opm and OLM v0 refuse the catalog."
        fix "Join them: one entry has one `replaces`, any number of `skips` and one `skipRange`."
        opm "invalid package \"P\", channel \"C\": duplicate entry \"E\"";
    BundleWithoutPackage "bundle-without-package" Conversion Error
        "A bundle does not say which package it belongs to."
        why "No package offers it, and opm refuses the catalog."
        fix "Give it a `package`."
        opm "package name must be set for bundle \"B\"";
    BundleOfUnknownPackage "bundle-of-unknown-package" Conversion Error
        "A bundle belongs to a package that is not defined."
        why "opm and OLM v0 refuse the catalog."
        fix "Mend the name in `package`, or add the `olm.package` blob."
        opm "unknown package \"P\" for bundle \"B\"";
    DuplicateBundle "duplicate-bundle" Conversion Error
        "A package has two bundles of one name."
        why "opm and OLM v0 refuse the catalog; OLM v1 silently takes the last one, which may be another image."
        fix "Keep one blob, or give the other bundle a name and a version of its own."
        opm "package \"P\" has duplicate bundle \"B\"";
    InvalidProperty "invalid-property" Conversion Error
        "The value of a property is not of its type."
        why "opm and OLM v0 refuse the catalog. Of a bad `olm.package`, OLM v1 cannot tell the version of the bundle."
        fix "Give the property a value of the form that its type has."
        opm "parse properties for bundle \"B\": parse property[N] of type \"T\": ...";
    PackagePropertyCount "package-property-count" Conversion Error
        "A bundle has no `olm.package` property, or several."
        why "The version of the bundle stands there: without it nothing can be compared or upgraded."
        fix "Give the bundle exactly one property of type `olm.package`, with `packageName` and `version`."
        opm "package \"P\" bundle \"B\" must have exactly 1 \"olm.package\" property, found N";
    PackagePropertyMismatch "package-property-mismatch" Conversion Error
        "The `olm.package` property of a bundle names another package."
        why "The bundle says two things of itself; opm and OLM v0 refuse the catalog."
        fix "Make `package` and the property's `packageName` the same."
        opm "package \"P\" does not match \"olm.package\" property \"Q\"";
    InvalidImage "invalid-image" Conversion Error
        "An image of a bundle is no valid reference."
        why "Nothing can be pulled from it; opm and OLM v0 refuse the catalog."
        fix "Write `registry/repository:tag` or `registry/repository@sha256:digest`, the repository in lower case."
        opm "package \"P\" bundle \"B\" image: invalid image pull spec \"I\": ...";
    InvalidVersion "invalid-version" Conversion Error
        "The version of a bundle is no semantic version."
        why "The bundle cannot be ordered. In OLM v1 no version range takes it, and installing it fails."
        fix "Write `MAJOR.MINOR.PATCH`, without `v` and without leading zeros; a prerelease after `-`."
        opm "error parsing bundle \"B\" version \"V\": ...";
    InvalidRelease "invalid-release" Conversion Error
        "The release of a bundle is not valid."
        why "The bundle cannot be ordered; opm and OLM v0 refuse the catalog."
        fix "Use dot-separated letters, digits and hyphens, 20 characters at most, numbers without leading zeros."
        opm "error parsing bundle \"B\" release version \"R\": invalid release \"R\": ...";
    BundleInNoChannel "bundle-in-no-channel" Conversion Error
        "A bundle is in no channel."
        why "OLM v0 never offers it; OLM v1 installs it where no channels are asked for, and then nothing leads away from it but a range."
        fix "Add an entry for it to a channel, or remove the bundle."
        opm "package \"P\", bundle \"B\" not found in any channel entries";
    EntryWithoutBundle "entry-without-bundle" Conversion Error
        "A channel has an entry for which there is no bundle."
        why "opm and OLM v0 refuse the catalog; OLM v1 ignores the entry, and with it the only way on for some."
        fix "Add the bundle, or remove the entry. A version that is only upgraded from needs no entry: `replaces`, `skips` and `skipRange` may name what is not there."
        opm "no olm.bundle blobs found in package \"P\" for olm.channel entries [E1 E2]";
    DeprecationWithoutPackage "deprecation-without-package" Conversion Error
        "An `olm.deprecations` does not say which package it is about."
        why "Nobody is warned, and opm refuses the catalog."
        fix "Give it a `package`."
        opm "package name must be set for deprecation item N";
    DeprecationOfUnknownPackage "deprecation-of-unknown-package" Conversion Error
        "An `olm.deprecations` is about a package that is not defined."
        why "Nobody is warned, and opm refuses the catalog."
        fix "Mend the name in `package`."
        opm "cannot apply deprecations to an unknown package \"P\"";
    DuplicateDeprecations "duplicate-deprecations" Conversion Error
        "A package has two `olm.deprecations`."
        why "opm and OLM v0 refuse the catalog; OLM v1 silently takes one of them."
        fix "Join their entries in one blob."
        opm "expected a maximum of one deprecation per package: \"P\"";
    DeprecationWithoutSchema "deprecation-without-schema" Conversion Error
        "A deprecation does not say what it is about."
        why "Nobody is warned, and opm refuses the catalog."
        fix "Give its `reference` a `schema`: `olm.package`, `olm.channel` or `olm.bundle`."
        opm "schema must be set for deprecation entry [N] for package \"P\"";
    DuplicateDeprecation "duplicate-deprecation" Conversion Error
        "One thing is deprecated twice."
        why "Only one of the two messages could be shown, so opm refuses the catalog."
        fix "Join the two messages in one entry."
        opm "duplicate deprecation entry ... for package \"P\"";
    DeprecatedBundleUnknown "deprecated-bundle-unknown" Conversion Error
        "A deprecation is about a bundle that does not exist."
        why "The bundle that was meant is not deprecated, and opm refuses the catalog."
        fix "Mend the name, or remove the entry together with the bundle."
        opm "cannot deprecate bundle \"B\" for package \"P\": bundle not found";
    DeprecatedChannelUnknown "deprecated-channel-unknown" Conversion Error
        "A deprecation is about a channel that does not exist."
        why "The channel that was meant is not deprecated, and opm refuses the catalog."
        fix "Mend the name, or remove the entry together with the channel."
        opm "cannot deprecate channel \"C\" for package \"P\": channel not found";
    DeprecatedPackageNamed "deprecated-package-named" Conversion Error
        "A deprecation of the package has a name."
        why "The package is that of the blob; with a name opm refuses the catalog."
        fix "Leave `name` out of the reference."
        opm "package name must be empty for deprecated package \"P\" (specified \"N\")";
    DeprecationSchemaUnknown "deprecation-schema-unknown" Conversion Error
        "A deprecation is about something that cannot be deprecated."
        why "Nobody is warned, and opm refuses the catalog."
        fix "Use the schema `olm.package`, `olm.channel` or `olm.bundle`."
        opm "cannot deprecate object ... referenced by entry N for package \"P\": object schema unknown";

    DefaultChannelMissing "default-channel-missing" Model Error
        "A package names no default channel."
        why "In OLM v0 a Subscription without a channel would not know which to follow; opm refuses the catalog."
        fix "Give the `olm.package` a `defaultChannel`."
        opm "default channel must be set";
    DefaultChannelUnknown "default-channel-unknown" Model Error
        "The default channel of a package does not exist."
        why "In OLM v0 a Subscription without a channel would find nothing; opm refuses the catalog."
        fix "Name one of the package's channels."
        opm "channel must contain at least one bundle";
    PackageWithoutChannel "package-without-channel" Model Error
        "A package has no channel."
        why "Nothing of it can be subscribed to, and no upgrade is offered."
        fix "Add an `olm.channel`, or remove the package."
        opm "package must contain at least one channel";
    DuplicateVersion "duplicate-version" Model Error
        "Two bundles of a package have one version."
        why "A version must tell which bundle is meant: OLM v1 takes either of the two for a pin."
        fix "Give each bundle a version, or a release, of its own."
        opm "duplicate versions found in bundles: [{V: [A, B]}]";
    DeprecationWithoutMessage "deprecation-without-message" Model Error
        "A deprecation has no message."
        why "Users see that something is deprecated and not what to do."
        fix "Say in `message` what to move to, and until when."
        opm "invalid deprecation: message must be set";
    ChannelWithoutEntries "channel-without-entries" Model Error
        "A channel has no entries."
        why "Nothing can be installed from it."
        fix "Add entries, or remove the channel."
        opm "channel must contain at least one bundle";
    NoChannelHead "no-channel-head" Model Error
        "Every entry of a channel is replaced or skipped by another: it has no head."
        why "OLM v0 cannot tell where the channel leads and refuses it."
        fix "Remove the edge that points back: the newest entry is replaced and skipped by none."
        opm "no channel head found in graph";
    SeveralChannelHeads "several-channel-heads" Model Error
        "A channel has several heads: entries that no other replaces or skips."
        why "OLM v0 cannot tell which is the newest and refuses the channel; users of the others are left behind."
        fix "Let the newest entry replace or skip the other heads."
        opm "multiple channel heads found in graph: A, B";
    ReplacesCycle "replaces-cycle" Model Error
        "Entries of a channel replace each other in a circle."
        why "OLM v0 refuses the channel; a user would go round."
        fix "Remove one `replaces` of the circle, the one that leads down."
        opm "detected cycle in replaces chain of upgrade graph: X -> Y -> X";
    StrandedBundle "stranded-bundle" Model Error
        "An entry is neither on the way from the head nor skipped."
        why "Who has it installed is never offered an update in OLM v0, and opm refuses the channel."
        fix "Let an entry on the way replace it, or the head skip it."
        opm "channel contains one or more stranded bundles: A, B";
    EmptySkip "empty-skip" Model Error
        "An entry skips the empty name."
        why "opm and OLM v0 refuse the channel."
        fix "Remove the item from `skips`."
        opm "skip[N] is empty";
    InvalidSkipRange "invalid-skip-range" Model Error
        "A `skipRange` cannot be read."
        why "opm refuses the channel; both OLMs ignore the range, so that whoever it should take along stays behind."
        fix "Write comparators of full versions, without `v`; a blank means AND, `||` means OR, as in `>=1.0.0 <1.2.3`."
        opm "invalid skipRange \"R\": ...";
    BundleWithoutImage "bundle-without-image" Model Error
        "A bundle has neither an image nor manifests."
        why "There is nothing to install."
        fix "Give it an `image`."
        opm "bundle image must be set";
    EntryWithoutName "entry-without-name" Model Error
        "An entry of a channel has no name."
        why "It leads nowhere, and opm refuses the channel."
        fix "Give it the `name` of a bundle."
        opm "name must be set";
    BundleNameNotNormalized "bundle-name-not-normalized" Model Error
        "The name of a bundle with a release is not made of package, version and release."
        why "With releases several bundles have one version, and the name must tell them apart; opm refuses another."
        fix "Name the bundle `PACKAGE-vVERSION-RELEASE`."
        opm "name \"X\" does not match normalized name \"P-v<version>-<release>\"";
    BuildMetadataWithRelease "build-metadata-with-release" Model Error
        "A bundle has a release, and build metadata in its version."
        why "Build metadata was the old way to write a release: two of them cannot be ordered."
        fix "Remove what follows `+` in the version."
        opm "cannot use build metadata in version with a release version";

    CutOffVersion "cut-off-version" Users Warning
        "From a version no way leads to the head of its channel."
        why "Who has it installed gets no further, and OLM v0 does not even say so: it reports that the latest version is reached."
        fix "Let an entry on the way to the head replace it, skip it or take it in its `skipRange`; or use `skipRange` instead of `skips` for what users may still have to pass through.";
    SeveralSuccessors "several-successors" Users Note
        "A version is replaced or skipped by several entries that are not skipped themselves."
        why "Which update is offered then depends on the generation of OLM and on the order of the channel; the registry's API answers with any of them."
        fix "Nothing, if each of them is a good next step. Else let exactly one entry replace or skip each version.";
    UpgradeCycle "upgrade-cycle" Users Warning
        "Upgrade edges lead back to where they began."
        why "OLM v0 follows edges without looking at versions and can go round for ever."
        fix "Remove the edge that leads down, or narrow the `skipRange` to end below its own version.";
    SkippedCycle "skipped-cycle" Users Error
        "Skipped entries of a channel replace each other in a circle."
        why "opm stops at a skipped entry and does not see it. OLM v0 walks on, refuses the channel, and updates nothing in the namespace of whoever subscribes to it."
        fix "Remove one `replaces` of the circle, the one that leads down.";
    SkippedYetInstallable "skipped-yet-installable" Users Warning
        "A skipped version that is not deprecated can still be installed with OLM v1."
        why "OLM v0 never installs a skipped entry. OLM v1 does, for a pin, a range that ends at it, or as a step on the way, and warns of it only where it is deprecated."
        fix "If it must not be installed at all, remove its entry and its bundle: `skips` may name what is not there. Else deprecate it in an `olm.deprecations`.";
    EdgeGoesDown "edge-goes-down" Users Warning
        "An edge leads to a lower version."
        why "OLM v0 never compares versions and follows it: an update that takes users back. OLM v1 does so where the installed bundle is deprecated or gone."
        fix "Turn the edge round, or mend the version.";
    HeadNotHighest "head-not-highest" Users Warning
        "The head of a channel is not its highest version."
        why "OLM v0 installs the head, OLM v1 the highest version: the same channel gives two answers."
        fix "Let the highest version be the head, or remove it from the channel.";
    PrereleaseEdge "prerelease-edge" Users Warning
        "An edge leads from a release to a prerelease."
        why "Users of a stable version are moved to one that is not, without asking. Guardrails forbid it only by a rule of kind `Prerelease` that says `Deny`: where the edges are those of the catalog, nothing said means allowed."
        fix "Keep prereleases in a channel of their own that is not the default one: there it is a note, for who follows it wants them. Or end the `skipRange` below them.";
    MajorEdge "major-edge" Users Warning
        "An edge crosses a major version, or in 0.y.z a minor one."
        why "Such a step may break what users rely on, and both OLMs take it by themselves."
        fix "Nothing, if it is meant. Else give each major version a channel of its own.";
    SkipRangeMatchesNothing "skip-range-matches-nothing" Users Warning
        "No version at all is in a `skipRange`."
        why "The edge that was meant is not there. A blank means AND: `1.0.0 1.1.0` takes nothing."
        fix "Join alternatives with `||`.";
    SkipRangeTakesNone "skip-range-takes-none" Users Note
        "No other bundle of the package is in a `skipRange`."
        why "Right where older versions were removed from the catalog; else the edge that was meant is not there."
        fix "Compare the range with the versions that users have.";
    SkipRangeTakesItself "skip-range-takes-itself" Users Note
        "A `skipRange` takes the version of its own entry."
        why "Nothing follows from it, but tools that walk the graph go round."
        fix "End the range below the version: `<1.2.3`, not `<=1.2.3`.";
    SkipRangeOpenAbove "skip-range-open-above" Users Warning
        "A `skipRange` has no upper bound."
        why "It takes every higher version too, so that an update leads down."
        fix "End the range below the version of its entry.";
    SkipRangeOpenBelow "skip-range-open-below" Users Note
        "A `skipRange` has no lower bound."
        why "It takes every older version, also ones from which the step was never tried."
        fix "Begin the range at the oldest version from which the step works.";
    SkipRangeCrashes "skip-range-crashes" Users Error
        "A `skipRange` has nothing between two `||`."
        why "opm takes it, and whoever compares a version with it panics: OLM v1 resolves nothing of the package."
        fix "Remove the empty alternative.";
    UnknownTarget "unknown-target" Users Note
        "Entries replace or skip names that are nowhere in the catalog."
        why "Right for versions that were removed: users who have them can still update. A slip of the hand looks the same."
        fix "Compare the names with those that users have installed.";
    MisspeltTarget "misspelt-target" Users Warning
        "An entry replaces or skips a name that looks like a slip of the hand."
        why "The edge that was meant is not there, and who needs it is stranded."
        fix "Mend the name.";
    OtherPackageTarget "other-package-target" Users Warning
        "An entry replaces or skips a bundle of another package."
        why "Edges never leave a package: this one does nothing."
        fix "Mend the name, or remove it.";
    DeprecatedWithoutReplacement "deprecated-without-replacement" Users Warning
        "From something deprecated no way leads to something that is not."
        why "Users are told to leave and have nowhere to go."
        fix "Publish a successor that is not deprecated, or say in the message what to use instead.";
    ChannelKey "channel-key" Users Warning
        "A channel has a key `channel`, which means nothing."
        why "The name of a channel stands in `name`; `channel` is ignored."
        fix "Rename the key to `name`.";
    YamlTag "yaml-tag" Users Warning
        "A value of YAML begins with `!`, which makes a tag of its first word."
        why "The word is no part of the value: of an unquoted `skipRange: !=1.5.0 <2.0.0` only `<2.0.0` is left, and nobody says so."
        fix "Put the value in quotes.";
    UnfilableName "unfilable-name" Users Error
        "OLM v1 cannot file a blob under its package, schema and name."
        why "operator-controller makes a file name of them; where that fails, it serves nothing of the catalog."
        fix "Shorten the name to at most 250 bytes, without NUL.";
    UnsupportedDependency "unsupported-dependency" Users Warning
        "A bundle declares a dependency, which OLM v1 does not support."
        why "OLM v1 chooses the bundle and then refuses it, without trying the next one."
        fix "Nothing, if the package is for OLM v0 only. Else ship what it needs, or say in the documentation what to install first.";
    UnsupportedInstallMode "unsupported-install-mode" Users Warning
        "A bundle does not support the install mode `AllNamespaces`."
        why "OLM v1 installs for all namespaces unless a feature gate is set, and refuses this bundle."
        fix "Support `AllNamespaces`.";
    MinKubeVersionIgnored "min-kube-version-ignored" Users Note
        "Bundles of a package state a `minKubeVersion`, which OLM v1 does not look at."
        why "OLM v1 installs them on older clusters too, where they may fail."
        fix "Say so in the documentation.";
    AmbiguousPackage "ambiguous-package" Users Note
        "Several of the given catalogs offer a package."
        why "Unless their priorities differ, OLM v1 refuses to choose between them."
        fix "Give the ClusterCatalogs different priorities, or let the ClusterExtension select one by label.";
    GuardrailUnreadable "guardrail-unreadable" Users Error
        "Guardrails cannot be read: one is wrong, or there are several that may differ."
        why "Nobody knows what they mean to forbid, so that olmguard refuses every upgrade of the package."
        fix "Mend what is named, by the table of kinds and keys in the page about guardrails. Of blobs there is one a package, of properties too, and both say the same.";
    GuardrailOfUnknownPackage "guardrail-of-unknown-package" Users Warning
        "Guardrails name no package, or one that is not defined."
        why "They guard nothing: the steps that they mean to forbid are allowed. `opm serve` before 1.69 makes an empty package of the name."
        fix "Mend the name in `package`.";
    GuardrailOtherVersion "guardrail-other-version" Users Warning
        "Guardrails are of a version of the schema that this olmguard does not know."
        why "They are passed over: the steps that they mean to forbid are allowed, with a warning each."
        fix "Write them in the known version, or beside it as well, for whoever has an older olmguard.";
    GuardrailMisnamed "guardrail-misnamed" Users Error
        "The schema, package or name of a blob of guardrails is one that opm or OLM v1 cannot keep in its place."
        why "`opm serve` from 1.69 on takes letters, digits, dots, underscores and hyphens only, and else refuses the whole catalog. OLM v1 makes the name of a file of the name of a blob, so that one with `/` leads elsewhere."
        fix "Leave `name` out, and mend `schema` and `package`.";
    GuardrailStrandsVersion "guardrail-strands-version" Users Error
        "The edges have steps upwards from a version, and guardrails leave none of them."
        why "Who has it installed gets no further: olmguard refuses every step. The edges of all channels are looked at, as OLM v1 does where an extension names none; whoever names one may have fewer. Where graph `Semver` alone leaves none it is a note: that may be what it is there for."
        fix "Add an edge to what the rule wants on the way, and its bundle, or narrow the rule. Nothing, if graph `Semver` is meant to end the line there; else write `graph: Catalog`.";
    GuardrailStepNotAvailable "guardrail-step-not-available" Users Warning
        "A rule wants versions on the way of which the package has none, or deprecated ones only."
        why "The rule forbids the steps all the same, so that nobody gets past. Where all of them are deprecated it is a note: users are sent through what they are told to leave."
        fix "Publish a version that is in the range, or mend the range.";
    GuardrailNeverApplies "guardrail-never-applies" Users Warning
        "A rule forbids nothing, whatever is installed."
        why "The step that it means to forbid is allowed. A `via` without upper end has no version behind it, and without `to` that is where a rule ends. A `Prerelease` that says `Allow` lifts a default of graph `Semver`, and nothing of graph `Catalog` or of a rule that says `Deny`. Where other versions could make a difference it is a note."
        fix "End `via`, as in `>=1.3.0 <1.4.0-0`, or write `from` and `to`, which a rule of kind `PassThrough` alone has. Nothing, if the rule waits for versions to come.";
    GuardrailTakesPrerelease "guardrail-takes-prerelease" Users Warning
        "A rule takes a prerelease of the next version for one of those that it wants on the way."
        why "`1.4.0-rc.1` is lower than `1.4.0`, and so in `<1.4.0`. Who goes through it has passed the rule without what the versions before can do."
        fix "End the range with `<1.4.0-0`, below every prerelease of 1.4.0.";
    GuardrailAgainstEdge "guardrail-against-edge" Users Warning
        "Guardrails forbid the step of an edge that `replaces` or `skips` writes."
        why "The author says two things: OLM takes the step, and olmguard refuses it. For `skips` it is a note, since what is generated skips all that is lower, and so it is where graph `Semver` forbids the step, which may be what it is there for. A `skipRange` by itself speaks of no version in particular."
        fix "Remove the edge, or narrow the rule. Nothing, if graph `Semver` is meant to forbid the step; else write `graph: Catalog`.";
    GuardrailBypassable "guardrail-bypassable" Users Note
        "A rule of an author says `bypassable`."
        why "It has no effect: an extension that sets the bypass is free of whatever an author says. The key is for rules of administrators."
        fix "Remove the key.";
    LintLimit "lint-limit" Users Warning
        "Something is so large that not all of it is looked at or told."
        why "What is not found here may still be there: no real catalog is as large as these limits."
        fix "Mend what is told, then run it again; or look whether the file is what it should be.";
}
