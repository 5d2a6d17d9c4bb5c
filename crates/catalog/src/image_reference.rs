//! Image references: which ones opm rejects, and which further ones operator-controller rejects.
//!
//! Upstream: go.podman.io/image, [`docker/reference/normalize.go`] (`ParseNormalizedNamed`), and
//! `reference` and `regexp` next to it; opencontainers/go-digest, [`digest.go`];
//! operator-controller, [`internal/shared/util/image/pull.go`].
//!
//! [`digest.go`]: https://github.com/opencontainers/go-digest/blob/v1.0.0/digest.go
//! [`docker/reference/normalize.go`]: https://github.com/containers/container-libs/blob/image/v5.40.0/image/docker/reference/normalize.go
//! [`internal/shared/util/image/pull.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/shared/util/image/pull.go

use std::borrow::Cow;

use crate::version::go;

/// The reason why operator-controller rejects a reference, displayed in its words.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReferenceError {
    /// The text is not a reference.
    #[error("error parsing image reference {}: {fault}", go::quote(reference))]
    Invalid {
        /// The reference.
        reference: Box<str>,
        /// The fault of the reference.
        fault: ImageFault,
    },
    /// The registry or the repository is incomplete.
    #[error(
        "error parsing image reference {}: repository name must be canonical",
        go::quote(reference)
    )]
    NotCanonical {
        /// The reference.
        reference: Box<str>,
    },
    /// The reference has both a tag and a digest.
    #[error(
        "error creating reference: Docker references with both a tag and digest are currently not supported"
    )]
    TagAndDigest,
    /// The reference has neither a tag nor a digest.
    #[error(
        "error creating reference: Docker reference {familiar} is not for an unknown digest case; tag or digest is needed"
    )]
    NeitherTagNorDigest {
        /// The reference, shortened as Docker does.
        familiar: Box<str>,
    },
}

/// The reason why a text is not a reference, displayed in upstream's words.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ImageFault {
    /// The text can be mistaken for the identifier of an image.
    #[error("invalid repository name ({0}), cannot specify 64-byte hexadecimal strings")]
    Identifier(Box<str>),
    /// The repository has upper-case letters. This is checked before everything else.
    #[error("invalid reference format: repository name must be lowercase")]
    UpperCaseRepository,
    /// The text would be a reference in lower case.
    #[error("repository name must be lowercase")]
    UpperCase,
    /// The text does not have the form of a reference.
    #[error("invalid reference format")]
    Format,
    /// The name is too long.
    #[error("repository name must not be more than 255 characters")]
    TooLong,
    /// The digest algorithm is not SHA-2.
    #[error("unsupported digest algorithm")]
    DigestAlgorithm,
    /// The digest is too short or too long for its algorithm.
    #[error("invalid checksum digest length")]
    DigestLength,
    /// The digest is not lower-case hexadecimal.
    #[error("invalid checksum digest format")]
    DigestFormat,
}

/// Checks a reference to a bundle image. It must be complete, and have either a tag or a digest.
///
/// # Errors
/// The error of operator-controller, which does not retry until the extension or the catalog
/// changes.
pub fn check(reference: &str) -> Result<(), ReferenceError> {
    let whole = parse(reference).map_err(|fault| ReferenceError::Invalid {
        reference: reference.into(),
        fault,
    })?;
    if whole.text != reference {
        return Err(ReferenceError::NotCanonical {
            reference: reference.into(),
        });
    }
    match (whole.has_tag, whole.has_digest) {
        (true, false) | (false, true) => Ok(()),
        (true, true) => Err(ReferenceError::TagAndDigest),
        (false, false) => Err(ReferenceError::NeitherTagNorDigest {
            familiar: familiar(reference).into(),
        }),
    }
}

/// A reference, completed as Docker does.
struct WholeReference<'a> {
    text: Cow<'a, str>,
    has_tag: bool,
    has_digest: bool,
}

/// Removes the parts that Docker adds to a reference.
fn familiar(reference: &str) -> &str {
    let Some(rest) = reference
        .strip_prefix(DOCKER)
        .and_then(|rest| rest.strip_prefix('/'))
    else {
        return reference;
    };
    match rest.strip_prefix("library/") {
        Some(name) if !name.contains('/') => name,
        _ => rest,
    }
}

impl ImageFault {
    /// Returns the fault of a reference. The empty reference is not checked.
    pub fn of(image: &str) -> Option<Self> {
        if image.is_empty() {
            return None;
        }
        parse(image).err()
    }
}

fn parse(image: &str) -> Result<WholeReference<'_>, ImageFault> {
    if image.len() == 64 && image.bytes().all(is_lower_hex) {
        return Err(ImageFault::Identifier(image.into()));
    }
    let whole = completed(image);
    let rest = whole.split_once('/').map_or("", |(_, rest)| rest);
    let repository = rest.split_once(':').map_or(rest, |(name, _)| name);
    if has_upper_case(repository) {
        return Err(ImageFault::UpperCaseRepository);
    }
    let Some(parts) = NamedParts::of(&whole) else {
        let is_case = NamedParts::of(&whole.to_lowercase()).is_some();
        return Err(if is_case {
            ImageFault::UpperCase
        } else {
            ImageFault::Format
        });
    };
    if parts.name.len() > NAME_LIMIT {
        return Err(ImageFault::TooLong);
    }
    parts.digest.map_or(Ok(()), check_digest)?;
    let (has_tag, has_digest) = (parts.has_tag, parts.digest.is_some());
    Ok(WholeReference {
        text: whole,
        has_tag,
        has_digest,
    })
}

/// Whether lower-casing changes the text.
fn has_upper_case(text: &str) -> bool {
    let is_upper = |letter: char| !letter.to_lowercase().eq([letter]);
    text.bytes().any(|byte| byte.is_ascii_uppercase())
        || (!text.is_ascii() && text.chars().any(is_upper))
}

/// Completes a reference as Docker does, with its registry.
fn completed(image: &str) -> Cow<'_, str> {
    let is_domain = |first: &str| first.contains(['.', ':']) || first == "localhost";
    let (domain, rest) = match image.split_once('/') {
        Some((first, rest)) if is_domain(first) => (first, rest),
        _ => (DOCKER, image),
    };
    let domain = match domain {
        "index.docker.io" => DOCKER,
        other => other,
    };
    if domain == DOCKER && !rest.contains('/') {
        return format!("{domain}/library/{rest}").into();
    }
    if domain.len() + 1 + rest.len() == image.len() {
        return image.into();
    }
    format!("{domain}/{rest}").into()
}

/// The parts of a text that has the form of a reference.
struct NamedParts<'a> {
    name: &'a str,
    has_tag: bool,
    digest: Option<&'a str>,
}

impl<'a> NamedParts<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (head, digest) = match text.split_once('@') {
            Some((head, digest)) => (head, Some(digest)),
            None => (text, None),
        };
        let slash = head.rfind('/')?;
        let (name, tag) = match head.get(slash..)?.find(':') {
            Some(colon) => (head.get(..slash + colon)?, head.get(slash + colon + 1..)),
            None => (head, None),
        };
        let (domain, path) = name.split_once('/')?;
        let is_host = is_domain(domain) || is_component(domain);
        let is_name = is_host && path.split('/').all(is_component);
        let is_whole = is_name && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
        is_whole.then_some(Self {
            name,
            has_tag: tag.is_some(),
            digest,
        })
    }
}

fn is_domain(text: &str) -> bool {
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    let is_label = |label: &str| {
        let ends = [label.bytes().next(), label.bytes().next_back()];
        let is_end = |byte: &Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        ends.iter().all(is_end)
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    host.split('.').all(is_label) && port.is_none_or(is_port)
}

/// Whether a text is words of lower-case letters and digits, separated by a dot, one or two
/// underscores, or hyphens.
fn is_component(text: &str) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_separator = |separator: &[u8]| {
        matches!(separator, b"." | b"_" | b"__") || separator.iter().all(|byte| *byte == b'-')
    };
    let mut rest = text.as_bytes();
    loop {
        let word = rest.iter().take_while(|byte| is_inner(byte)).count();
        rest = rest.get(word..).unwrap_or_default();
        if word == 0 || rest.is_empty() {
            return word > 0;
        }
        let separator = rest.iter().take_while(|byte| !is_inner(byte)).count();
        let (separator, after) = rest.split_at(separator);
        if !is_separator(separator) {
            return false;
        }
        rest = after;
    }
}

fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().next().is_some_and(is_word)
        && text.len() <= 128
        && text
            .bytes()
            .all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else {
        return false;
    };
    let mut words = algorithm.split(['-', '_', '+', '.']);
    words.all(|word| {
        word.bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphabetic())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }) && hex.len() >= 32
        && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn check_digest(digest: &str) -> Result<(), ImageFault> {
    let (algorithm, hex) = digest.split_once(':').unwrap_or((digest, ""));
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return Err(ImageFault::DigestAlgorithm),
    };
    if hex.len() != length {
        return Err(ImageFault::DigestLength);
    }
    if !hex.bytes().all(is_lower_hex) {
        return Err(ImageFault::DigestFormat);
    }
    Ok(())
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

const DOCKER: &str = "docker.io";

const NAME_LIMIT: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operator_controller_wants_a_whole_reference_with_one_of_tag_and_digest() {
        let digest = format!("@sha256:{}", "0123456789abcdef".repeat(4));
        let both = format!("registry.example/a:1{digest}");
        let whole = format!("registry.example/a{digest}");
        for (reference, expected) in [
            ("registry.example/a:1", None),
            (whole.as_str(), None),
            ("localhost/a:1", None),
            (
                "Host/a:1",
                Some("invalid reference format: repository name must be lowercase"),
            ),
            (both.as_str(), Some("references with both a tag and digest")),
            (
                "registry.example/a",
                Some("Docker reference registry.example/a is not"),
            ),
            ("docker.io/library/a", Some("Docker reference a is not")),
            ("docker.io/team/a", Some("Docker reference team/a is not")),
            ("docker.io/a:1", Some("repository name must be canonical")),
            (
                "index.docker.io/team/a:1",
                Some("repository name must be canonical"),
            ),
            (
                "team/a:1",
                Some("\"team/a:1\": repository name must be canonical"),
            ),
            ("", Some("image reference \"\": invalid reference format")),
            ("a\n", Some("\"a\\n\": invalid reference format")),
        ] {
            let found = check(reference).err().map(|error| error.to_string());
            match expected {
                None => assert_eq!(found, None, "{reference}"),
                Some(text) => assert!(
                    found.as_deref().is_some_and(|found| found.contains(text)),
                    "{reference}: {found:?}"
                ),
            }
        }
    }

    #[test]
    fn references() {
        let hex = "0123456789abcdef".repeat(4);
        let rows = [
            ("", None),
            ("lantern", None),
            ("lantern:1", None),
            ("a/b/c:v1.0_x-y", None),
            ("quay.example:5000/a/b@sha256:HEX", None),
            ("localhost/a", None),
            ("REGISTRY.example/a", None),
            ("a_b.example/a__b/c--d", None),
            ("HEX", Some("cannot specify 64-byte hexadecimal strings")),
            (
                "registry.example/Upper",
                Some("invalid reference format: repository name must be lowercase"),
            ),
            ("registry.example/a:", Some("invalid reference format")),
            ("registry.example/a b", Some("invalid reference format")),
            ("registry.example/a___b", Some("invalid reference format")),
            ("registry.example/-a", Some("invalid reference format")),
            ("registry.example/a-", Some("invalid reference format")),
            ("registry.example/a._b", Some("invalid reference format")),
            ("index.docker.io/a", None),
            ("index.docker.io/a.b/c_d-1", None),
            ("registry.example//a", Some("invalid reference format")),
            (
                "https://registry.example/a",
                Some("invalid reference format"),
            ),
            (
                "registry.example/a@sha256:abc",
                Some("invalid reference format"),
            ),
            (
                "registry.example/a@md5:HEX",
                Some("unsupported digest algorithm"),
            ),
            (
                "registry.example/a@sha512:HEX",
                Some("invalid checksum digest length"),
            ),
        ];
        for (image, expected) in rows {
            let image = image.replace("HEX", &hex);
            let found = ImageFault::of(&image).map(|fault| fault.to_string());
            match expected {
                None => assert_eq!(found, None, "{image}"),
                Some(text) => assert!(
                    found.as_deref().is_some_and(|f| f.contains(text)),
                    "{image}: {found:?}"
                ),
            }
        }
        let upper = format!("registry.example/a@sha256:{}", hex.to_uppercase());
        assert_eq!(ImageFault::of(&upper), Some(ImageFault::DigestFormat));
        let long = format!("registry.example/{}", "a".repeat(250));
        assert_eq!(ImageFault::of(&long), Some(ImageFault::TooLong));
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_an_answer(text in "\\PC{0,40}|[a-z./:@0-9A-Z_-]{0,60}") {
            proptest::prop_assert_eq!(check(&text), check(&text));
        }
    }
}
