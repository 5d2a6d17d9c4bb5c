//! What can be different after a change, as a closed set of words: reports and pipelines label by them.

macro_rules! differences {
    ($($(#[$doc:meta])* $difference:ident => $word:literal,)+) => {
        /// One thing that is different after a change, the worst first.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Difference {
            $($(#[$doc])* $difference,)+
        }

        impl Difference {
            /// Every difference, the worst first.
            pub const ALL: &'static [Self] = &[$(Self::$difference),+];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$difference => $word,)+
                }
            }
        }
    };
}

differences! {
    /// No selected catalog has the package any more.
    PackageGone => "package_gone",
    /// A requested channel no longer exists.
    ChannelGone => "channel_gone",
    /// OLM can no longer choose between several catalogs.
    Ambiguous => "ambiguous",
    /// OLM no longer resolves anything for the spec.
    Unresolvable => "unresolvable",
    /// OLM takes a step automatically that guardrails forbid, and did not before.
    ForbiddenMove => "forbidden_move",
    /// Guardrails or upgrade policies now forbid what the spec resolves to.
    Forbidden => "forbidden",
    /// OLM upgrades automatically from a release to a prerelease, and did not before.
    MovesToPrerelease => "moves_to_prerelease",
    /// A fact is missing, and was not before.
    Undecided => "undecided",
    /// No selected catalog has the installed bundle any more.
    BundleGone => "bundle_gone",
    /// There is no upgrade path to any newer version any more.
    Stranded => "stranded",
    /// Guardrails or upgrade policies now forbid each path to a newer version.
    PathForbidden => "path_forbidden",
    /// Only other channels now have a newer version.
    ChannelEnds => "channel_ends",
    /// The newest version that can be reached is lower than before.
    ReachLost => "reach_lost",
    /// A bundle that OLM installs or keeps has another image.
    OtherImage => "other_image",
    /// The package is deprecated now.
    PackageDeprecated => "package_deprecated",
    /// The installed bundle is deprecated now.
    BundleDeprecated => "bundle_deprecated",
    /// A requested channel is deprecated now.
    ChannelDeprecated => "channel_deprecated",
    /// OLM upgrades automatically, and not as before.
    Moves => "moves",
    /// OLM no longer upgrades automatically.
    Stays => "stays",
    /// The spec has the same verdict for another reason.
    OtherReason => "other_reason",
    /// Without the bypass, the spec has another answer.
    Bypass => "bypass",
    /// The edits to the same version are others.
    OtherPath => "other_path",
    /// The search for a path now ends at its limit.
    PathUnknown => "path_unknown",
    /// The newest version is another one, and the edits do not end at it.
    Newest => "newest",
    /// The newest version that can be reached is higher than before.
    ReachGained => "reach_gained",
    /// The spec was denied and is allowed now.
    Allowed => "allowed",
    /// No fact is missing any more.
    Decided => "decided",
    /// OLM no longer takes a step automatically that guardrails forbid.
    NoForbiddenMove => "no_forbidden_move",
    /// A requested channel exists now.
    ChannelBack => "channel_back",
    /// A selected catalog has the installed bundle now.
    BundleBack => "bundle_back",
    /// Something is no longer deprecated.
    Undeprecated => "undeprecated",
}

impl Difference {
    /// Whether it is about the verdict alone.
    pub(super) fn is_of_verdict(self) -> bool {
        matches!(self, Self::Undecided | Self::OtherReason)
    }
}
