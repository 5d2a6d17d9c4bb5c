//! The CRD of `olm.operatorframework.io/v1` `ClusterExtension`, v1.0 and later.
//!
//! Source: operator-controller, [`api/v1/clusterextension_types.go`]. `serviceAccount` was required up to v1.10;
//! `config` was in the standard CRD of v1.8 only. Fields that only the experimental CRD has are in the table so that
//! they are known; their rules do not apply.
//!
//! [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

use serde_json::{Map, Value};

use crate::extension::schema::rule::{
    ANY_TEXT, Field, ObjectRule, ObjectRules, Schema, Text, TextRefusal, TextRule, has,
};
use olmguard_catalog::dns1123;
use olmguard_catalog::version::crd;

pub(super) static CLUSTER_EXTENSION: Schema = ObjectRules::of(&[Field::optional("spec", &SPEC)]);

static SPEC: Schema = ObjectRules::of(&[
    Field::required("namespace", &NAMESPACE),
    Field::required("serviceAccount", &REQUIRED_SERVICE_ACCOUNT).within(0..=10),
    Field::optional("serviceAccount", &SERVICE_ACCOUNT).within(11..=u8::MAX),
    Field::required("source", &SOURCE),
    Field::optional("install", &INSTALL),
    Field::optional("config", &CONFIG).within(8..=8),
    Field::optional("config", &CONFIG)
        .within(5..=7)
        .experimental(),
    Field::optional("config", &CONFIG)
        .within(9..=u8::MAX)
        .experimental(),
    Field::optional("progressDeadlineMinutes", &Schema::Anything)
        .within(8..=u8::MAX)
        .experimental(),
]);

static NAMESPACE: Schema = Text::ruled(
    0..=63,
    &[TextRule {
        accepts: dns1123::is_label,
        refusal: TextRefusal::Message("namespace must be a valid DNS1123 label"),
    }],
);

static REQUIRED_SERVICE_ACCOUNT: Schema =
    ObjectRules::of(&[Field::required("name", &REQUIRED_SERVICE_ACCOUNT_NAME)]);
static REQUIRED_SERVICE_ACCOUNT_NAME: Schema = Text::ruled(0..=253, &[SERVICE_ACCOUNT_NAME_RULE]);

static SERVICE_ACCOUNT: Schema = Schema::Object(ObjectRules {
    min_properties: 1,
    fields: &[Field::optional("name", &SERVICE_ACCOUNT_NAME)],
    rule: None,
});
static SERVICE_ACCOUNT_NAME: Schema = Text::ruled(1..=253, &[SERVICE_ACCOUNT_NAME_RULE]);

const SERVICE_ACCOUNT_NAME_RULE: TextRule = TextRule {
    accepts: dns1123::is_subdomain,
    refusal: TextRefusal::Message(
        "name must be a valid DNS1123 subdomain. It must contain only lowercase alphanumeric \
         characters, hyphens (-) or periods (.), start and end with an alphanumeric character, \
         and be no longer than 253 characters",
    ),
};

static SOURCE: Schema = ObjectRules::ruled(
    &[
        Field::required("sourceType", &SOURCE_TYPE),
        Field::optional("catalog", &CATALOG),
    ],
    ObjectRule {
        accepts: catalog_as_source_type_says,
        message: "catalog is required when sourceType is Catalog, and forbidden otherwise",
    },
);
static SOURCE_TYPE: Schema = Schema::Text(Text::Enum {
    words: &["Catalog"],
    foreign: &[],
});

pub(super) static CATALOG: Schema = ObjectRules::of(&[
    Field::required("packageName", &PACKAGE_NAME),
    Field::optional("version", &VERSION),
    Field::optional("channels", &CHANNELS),
    Field::optional("selector", &LABEL_SELECTOR),
    Field::optional("upgradeConstraintPolicy", &UPGRADE_CONSTRAINT_POLICY),
]);

static PACKAGE_NAME: Schema = Text::ruled(
    0..=253,
    &[TextRule {
        accepts: dns1123::is_subdomain,
        refusal: TextRefusal::Message(
            "packageName must be a valid DNS1123 subdomain. It must contain only lowercase \
             alphanumeric characters, hyphens (-) or periods (.), start and end with an \
             alphanumeric character, and be no longer than 253 characters",
        ),
    }],
);

/// A version range. The shapes before v1 with a range have the same rule.
pub(super) static VERSION: Schema = Text::ruled(
    0..=crd::MAX_CHARACTERS,
    &[TextRule {
        accepts: crd::fits_pattern,
        refusal: TextRefusal::Range("invalid version expression"),
    }],
);

static CHANNELS: Schema = Schema::List {
    max_items: 256,
    items: &CHANNEL,
};
static CHANNEL: Schema = Text::ruled(
    0..=253,
    &[TextRule {
        accepts: dns1123::is_subdomain,
        refusal: TextRefusal::Message("channels entries must be valid DNS1123 subdomains"),
    }],
);

/// The policy in the words used since v0.16.
pub(super) static UPGRADE_CONSTRAINT_POLICY: Schema = Schema::Text(Text::Enum {
    words: &["CatalogProvided", "SelfCertified"],
    foreign: &[("Enforce", "CatalogProvided"), ("Ignore", "SelfCertified")],
});

/// Preflight settings as in v0.18 and later.
pub(super) static INSTALL: Schema = ObjectRules::ruled(
    &[Field::optional("preflight", &PREFLIGHT)],
    ObjectRule {
        accepts: |install| has(install, "preflight"),
        message: "at least one of [preflight] are required when install is specified",
    },
);
static PREFLIGHT: Schema = ObjectRules::ruled(
    &[Field::optional("crdUpgradeSafety", &CRD_UPGRADE_SAFETY)],
    ObjectRule {
        accepts: |preflight| has(preflight, "crdUpgradeSafety"),
        message: "at least one of [crdUpgradeSafety] are required when preflight is specified",
    },
);
static CRD_UPGRADE_SAFETY: Schema =
    ObjectRules::of(&[Field::required("enforcement", &ENFORCEMENT)]);
pub(super) static ENFORCEMENT: Schema = Schema::Text(Text::Enum {
    words: &["None", "Strict"],
    foreign: &[],
});

static CONFIG: Schema = ObjectRules::ruled(
    &[
        Field::required("configType", &CONFIG_TYPE),
        Field::optional("inline", &Schema::FreeObject { min_properties: 1 }),
    ],
    ObjectRule {
        accepts: inline_as_config_type_says,
        message: "inline is required when configType is Inline, and forbidden otherwise",
    },
);
static CONFIG_TYPE: Schema = Schema::Text(Text::Enum {
    words: &["Inline"],
    foreign: &[],
});

/// Whether `catalog` is set if it must be. Another source type is a finding on its own, and CEL rules are then not
/// evaluated.
fn catalog_as_source_type_says(source: &Map<String, Value>) -> bool {
    source
        .get("sourceType")
        .is_none_or(|kind| kind != "Catalog")
        || has(source, "catalog")
}

/// Whether `inline` is set if it must be. Another config type is a finding on its own, and CEL rules are then not
/// evaluated.
fn inline_as_config_type_says(config: &Map<String, Value>) -> bool {
    config.get("configType").is_none_or(|kind| kind != "Inline") || has(config, "inline")
}

pub(super) static LABEL_SELECTOR: Schema = ObjectRules::of(&[
    Field::optional("matchLabels", &Schema::Map(&ANY_TEXT)),
    Field::optional("matchExpressions", &MATCH_EXPRESSIONS),
]);

static MATCH_EXPRESSIONS: Schema = Schema::List {
    max_items: usize::MAX,
    items: &REQUIREMENT,
};

static REQUIREMENT: Schema = ObjectRules::of(&[
    Field::required("key", &ANY_TEXT),
    Field::required("operator", &ANY_TEXT),
    Field::optional(
        "values",
        &Schema::List {
            max_items: usize::MAX,
            items: &ANY_TEXT,
        },
    ),
]);
