//! The CRD of `olm.operatorframework.io/v1` `ClusterCatalog`.
//!
//! Source: operator-controller, [`api/v1/clustercatalog_types.go`]. An object in the input only describes a catalog, so
//! fields that are missing from its `spec` are not reported. The functions below implement the regular expressions in
//! the CEL rules of `ref`: `find` returns the leftmost match, and `matches` accepts a match in any part of the text.
//!
//! [`api/v1/clustercatalog_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clustercatalog_types.go

use crate::extension::schema::rule::{
    Field, ObjectRule, ObjectRules, Schema, Text, TextRefusal, TextRule, has,
};

pub(super) static CLUSTER_CATALOG: Schema = ObjectRules::of(&[Field::optional("spec", &SPEC)]);

static SPEC: Schema = ObjectRules::of(&[
    Field::optional("source", &SOURCE),
    Field::optional("priority", &PRIORITY),
    Field::optional("availabilityMode", &AVAILABILITY_MODE),
]);

static PRIORITY: Schema = Schema::Integer {
    least: i32::MIN as i64,
    most: i32::MAX as i64,
};

static AVAILABILITY_MODE: Schema = Schema::Text(Text::Enum {
    words: &["Unavailable", "Available"],
    foreign: &[("Disabled", "Unavailable"), ("Enabled", "Available")],
});

static SOURCE: Schema = ObjectRules::ruled(
    &[
        Field::required("type", &TYPE),
        Field::optional("image", &IMAGE),
    ],
    ObjectRule {
        accepts: |source| {
            source.get("type").is_none_or(|kind| kind != "Image") || has(source, "image")
        },
        message: "image is required when source type is Image, and forbidden otherwise",
    },
);
static TYPE: Schema = Schema::Text(Text::Enum {
    words: &["Image"],
    foreign: &[("image", "Image"), ("grpc", "Image")],
});

static IMAGE: Schema = ObjectRules::ruled(
    &[
        Field::required("ref", &REF),
        Field::optional("pollIntervalMinutes", &POLL_INTERVAL_MINUTES),
    ],
    ObjectRule {
        accepts: |image| {
            let reference = image.get("ref").and_then(|reference| reference.as_str());
            let is_pinned = reference.is_some_and(|reference| digest(reference).is_some());
            !(is_pinned && has(image, "pollIntervalMinutes"))
        },
        message: "cannot specify pollIntervalMinutes while using digest-based image",
    },
);
static POLL_INTERVAL_MINUTES: Schema = Schema::Integer {
    least: 1,
    most: i64::MAX,
};

static REF: Schema = Text::ruled(0..=1000, &REF_RULES);
static REF_RULES: [TextRule; 8] = [
    rule(
        starts_with_domain,
        "must start with a valid domain. valid domains must be alphanumeric characters (lowercase and \
             uppercase) separated by the \".\" character.",
    ),
    rule(
        has_name,
        "a valid name is required. valid names must contain lowercase alphanumeric characters separated \
             only by the \".\", \"_\", \"__\", \"-\" characters.",
    ),
    rule(|text| text.contains(':'), "must end with a digest or a tag"),
    rule(
        |text| tag(text).is_none_or(|tag| tag.chars().count() <= 127),
        "tag is invalid. the tag must not be more than 127 characters",
    ),
    rule(
        |text| tag(text).is_none_or(is_tag),
        "tag is invalid. valid tags must begin with a word character (alphanumeric + \"_\") followed by \
             word characters or \".\", and \"-\" characters",
    ),
    rule(
        |text| digest(text).is_none_or(has_algorithm),
        "digest algorithm is not valid. valid algorithms must start with an uppercase or lowercase alpha \
             character followed by alphanumeric characters and may contain the \"-\", \"_\", \"+\", and \".\" \
             characters.",
    ),
    rule(
        |text| encoded(text).is_none_or(|encoded| encoded.chars().count() >= 32),
        "digest is not valid. the encoded string must be at least 32 characters",
    ),
    rule(
        |text| encoded(text).is_none_or(is_hexadecimal),
        "digest is not valid. the encoded string must only contain hex characters (A-F, a-f, 0-9)",
    ),
];

const fn rule(accepts: fn(&str) -> bool, message: &'static str) -> TextRule {
    TextRule {
        accepts,
        refusal: TextRefusal::Message(message),
    }
}

/// Whether the text starts with a label whose first alphanumeric characters are not followed by `_`.
fn starts_with_domain(text: &str) -> bool {
    let letters = text.find(|c: char| !c.is_ascii_alphanumeric());
    let (label, behind) = text.split_at(letters.unwrap_or(text.len()));
    !label.is_empty() && !behind.starts_with('_')
}

fn has_name(text: &str) -> bool {
    let mut names = text.split('/').skip(1);
    names.any(|name| name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()))
}

/// The part `@sha256:` of a reference: from the first `@` to the last `:`.
fn digest(text: &str) -> Option<&str> {
    let digest = text.get(text.find('@')?..)?;
    digest.get(..=digest.rfind(':')?)
}

/// The text after the first `:`, even that of a port, in a reference without a digest.
fn tag(text: &str) -> Option<&str> {
    let (_, tag) = text.split_once(':')?;
    digest(text).is_none().then_some(tag)
}

/// The text after the first `:` in a reference with a digest.
fn encoded(text: &str) -> Option<&str> {
    let (_, encoded) = text.split_once(':')?;
    digest(text).map(|_| encoded)
}

fn is_tag(text: &str) -> bool {
    let tag = text.rsplit(':').next().unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.starts_with(is_word) && tag.chars().all(|c| is_word(c) || matches!(c, '.' | '-'))
}

fn has_algorithm(digest: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let mut behind = digest.split('@').skip(1);
    behind.any(|behind| {
        let algorithm = behind.split_once(':').map(|(algorithm, _)| algorithm);
        algorithm.is_some_and(|algorithm| algorithm.split(['-', '_', '+', '.']).all(is_part))
    })
}

fn is_hexadecimal(encoded: &str) -> bool {
    let last = encoded.rsplit(':').next().unwrap_or_default();
    last.chars().all(|c| c.is_ascii_hexdigit())
}
