//! The rules, by topic, and the index of them all.
//!
//! A rule is one item: its id, its group, its severity, its page, and the check with its sentence. To add a rule, write
//! the item into the file of its topic, its page into `docs/lint`, and its name into [`INDEX`].

mod bundles;
mod channels;
pub(super) mod deprecations;
pub(super) mod edges;
pub(super) mod entries;
mod guardrail_rules;
mod guardrail_steps;
mod guardrails;
mod keys;
pub(super) mod limits;
mod packages;
mod policies;
pub(super) mod reading;
pub(super) mod targets;
mod upgrade_paths;

use super::rule::RuleItem;

/// Every rule, in the order of the page that lists them; findings at one place have the same order.
pub(super) static INDEX: &[RuleItem] = &[
    reading::INVALID_SYNTAX,
    reading::NOT_A_FILE,
    reading::NOT_AN_OBJECT,
    reading::MISSING_SCHEMA,
    reading::LABEL_NOT_A_STRING,
    reading::DUPLICATE_KEYS,
    reading::WRONG_TYPE,
    reading::UNREADABLE_OBJECT,
    packages::PACKAGE_WITHOUT_NAME,
    packages::DUPLICATE_PACKAGE,
    packages::INVALID_PACKAGE_NAME,
    channels::CHANNEL_OF_UNKNOWN_PACKAGE,
    channels::CHANNEL_WITHOUT_NAME,
    channels::DUPLICATE_CHANNEL,
    channels::DUPLICATE_ENTRY,
    bundles::BUNDLE_WITHOUT_PACKAGE,
    bundles::BUNDLE_OF_UNKNOWN_PACKAGE,
    bundles::DUPLICATE_BUNDLE,
    bundles::INVALID_PROPERTY,
    bundles::PACKAGE_PROPERTY_COUNT,
    bundles::PACKAGE_PROPERTY_MISMATCH,
    bundles::INVALID_IMAGE,
    bundles::INVALID_VERSION,
    bundles::INVALID_RELEASE,
    bundles::BUNDLE_IN_NO_CHANNEL,
    channels::ENTRY_WITHOUT_BUNDLE,
    deprecations::DEPRECATION_WITHOUT_PACKAGE,
    deprecations::DEPRECATION_OF_UNKNOWN_PACKAGE,
    deprecations::DUPLICATE_DEPRECATIONS,
    deprecations::DEPRECATION_WITHOUT_SCHEMA,
    deprecations::DUPLICATE_DEPRECATION,
    deprecations::DEPRECATED_BUNDLE_UNKNOWN,
    deprecations::DEPRECATED_CHANNEL_UNKNOWN,
    deprecations::DEPRECATED_PACKAGE_NAMED,
    deprecations::DEPRECATION_SCHEMA_UNKNOWN,
    packages::DEFAULT_CHANNEL_MISSING,
    packages::DEFAULT_CHANNEL_UNKNOWN,
    packages::PACKAGE_WITHOUT_CHANNEL,
    packages::DUPLICATE_VERSION,
    deprecations::DEPRECATION_WITHOUT_MESSAGE,
    channels::CHANNEL_WITHOUT_ENTRIES,
    channels::NO_CHANNEL_HEAD,
    channels::SEVERAL_CHANNEL_HEADS,
    channels::REPLACES_CYCLE,
    channels::STRANDED_BUNDLE,
    entries::EMPTY_SKIP,
    entries::INVALID_SKIP_RANGE,
    bundles::BUNDLE_WITHOUT_IMAGE,
    entries::ENTRY_WITHOUT_NAME,
    bundles::BUNDLE_NAME_NOT_NORMALIZED,
    bundles::BUILD_METADATA_WITH_RELEASE,
    upgrade_paths::CUT_OFF_VERSION,
    upgrade_paths::SEVERAL_SUCCESSORS,
    upgrade_paths::UPGRADE_CYCLE,
    upgrade_paths::SKIPPED_CYCLE,
    upgrade_paths::SKIPPED_YET_INSTALLABLE,
    edges::EDGE_GOES_DOWN,
    channels::HEAD_NOT_HIGHEST,
    edges::PRERELEASE_EDGE,
    edges::MAJOR_EDGE,
    entries::SKIP_RANGE_MATCHES_NOTHING,
    entries::SKIP_RANGE_TAKES_NONE,
    entries::SKIP_RANGE_TAKES_ITSELF,
    entries::SKIP_RANGE_OPEN_ABOVE,
    entries::SKIP_RANGE_OPEN_BELOW,
    entries::SKIP_RANGE_CRASHES,
    targets::UNKNOWN_TARGET,
    targets::MISSPELT_TARGET,
    targets::OTHER_PACKAGE_TARGET,
    targets::TARGET_IN_OTHER_CHANNEL,
    deprecations::DEPRECATED_WITHOUT_REPLACEMENT,
    channels::CHANNEL_KEY,
    keys::UNKNOWN_KEY,
    keys::MISSPELT_SCHEMA,
    reading::YAML_TAG,
    reading::UNFILABLE_NAME,
    bundles::UNSUPPORTED_DEPENDENCY,
    bundles::UNSUPPORTED_INSTALL_MODE,
    bundles::UNSUPPORTED_IMAGE,
    packages::MIN_KUBE_VERSION_IGNORED,
    packages::AMBIGUOUS_PACKAGE,
    guardrails::GUARDRAIL_UNREADABLE,
    guardrails::GUARDRAIL_OF_UNKNOWN_PACKAGE,
    guardrails::GUARDRAIL_OTHER_VERSION,
    guardrails::GUARDRAIL_MISNAMED,
    guardrail_steps::GUARDRAIL_STRANDS_VERSION,
    guardrail_rules::GUARDRAIL_STEP_NOT_AVAILABLE,
    guardrail_rules::GUARDRAIL_NEVER_APPLIES,
    guardrail_rules::GUARDRAIL_TAKES_PRERELEASE,
    guardrail_steps::GUARDRAIL_AGAINST_EDGE,
    guardrails::GUARDRAIL_BYPASSABLE,
    policies::POLICY_UNREADABLE,
    policies::POLICY_OF_UNKNOWN_PACKAGE,
    limits::LINT_LIMIT,
];
