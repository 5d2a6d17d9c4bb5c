//! Mirrors of registries: `registries.conf`, version 2, as podman, CRI-O and operator-controller read it.
//!
//! ```text
//! registry.example/a/b:v1 --longest prefix--> [[registry]] --> mirror, mirror, ... --> location
//! ```
//!
//! The location of each place replaces the prefix. A place is blocked if the prefix of its own name is blocked, so a
//! blocked registry can still have mirrors. `insecure` allows a place without TLS. Upstream then also skips the
//! verification of its certificate, which olmguard never does.
//!
//! As upstream does, olmguard matches the name without its tag, accepts `example.com` as a prefix of
//! `example.com:5000`, and uses the first of two prefixes of the same length. Names without a registry are refused, so
//! the settings that complete them are ignored.
//!
//! Upstream: go.podman.io/image v5.40.0, [`pkg/sysregistriesv2/system_registries_v2.go`] and
//! [`docker/docker_client.go`] (`newDockerClient`, for blocked places).
//!
//! [`pkg/sysregistriesv2/system_registries_v2.go`]: https://github.com/containers/container-libs/blob/image/v5.40.0/image/pkg/sysregistriesv2/system_registries_v2.go
//! [`docker/docker_client.go`]: https://github.com/containers/container-libs/blob/image/v5.40.0/image/docker/docker_client.go

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::containers::{ConfigText, ContainersConfig, ContainersFault};
use super::reference::{ImageReference, ImageVersion};
use crate::foreign_text::one_line;
use crate::source::http::{Address, FetchError, TlsFault};

/// The rules of all files, by prefix.
#[derive(Debug, Default)]
pub(super) struct RegistriesConf(BTreeMap<Box<str>, PrefixRule>);

/// The places of an image, in the order in which they are tried.
#[derive(Debug)]
pub(super) struct PullSources {
    pub(super) mirrors: Vec<PullSource>,
    pub(super) registry: PullSource,
}

/// A place of an image.
#[derive(Debug)]
pub(super) struct PullSource {
    /// The image, as the place names it.
    pub(super) image: ImageReference,
    /// Whether the place may be used without TLS.
    pub(super) is_insecure: bool,
    /// The reason why the place must not be used, if any.
    pub(super) blocked: Option<BlockedPlace>,
}

/// Why an image must not be pulled from a place.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{image} is blocked by blocked = true for {prefix:?} in {}: remove it there, or use another registry",
    .file.display()
)]
pub struct BlockedPlace {
    /// The image.
    pub image: Box<str>,
    /// The file that blocks it.
    pub file: PathBuf,
    /// The blocked prefix in the file.
    pub prefix: Box<str>,
}

/// Why `registries.conf` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MirrorsFault {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] ContainersFault),
    /// A file is not valid.
    #[error("{}:{line}:{column}: {why}", .file.display())]
    Form {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
        /// The fault.
        why: TableFault,
    },
}

/// A fault in `registries.conf`.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TableFault {
    /// The file is not valid TOML, or has values of other types.
    #[error("{0}: expected registries.conf in version 2")]
    Toml(Box<str>),
    /// The file has the form of version 1, which podman no longer reads.
    #[error(
        "[registries] is of version 1: expected version 2; write [[registry]] with a location, and \
         insecure or blocked"
    )]
    Version1,
    /// The table applies to nothing.
    #[error("[[registry]] has neither prefix nor location: expected a location")]
    NoPrefix,
    /// A prefix without a wildcard needs a location.
    #[error("prefix {0:?} has no location: expected one, or a prefix such as *.example.com")]
    NoLocation(Box<str>),
    /// The mirror has no location.
    #[error("[[registry.mirror]] of {0:?} has no location: expected one")]
    NoMirror(Box<str>),
    /// A prefix or location is a URL.
    #[error("{0:?} has a scheme: expected HOST or HOST/PATH")]
    Scheme(Box<str>),
    /// A prefix with a wildcard has more than a host.
    #[error("prefix {0:?} has a wildcard: expected a host alone, such as *.example.com")]
    Wildcard(Box<str>),
    /// A registry has a setting that only mirrors can have.
    #[error("registry {0:?} has pull-from-mirror: expected it in a [[registry.mirror]]")]
    NotOfMirror(Box<str>),
    /// Two settings limit the same mirror.
    #[error(
        "registry {0:?} has mirror-by-digest-only, and its mirror pull-from-mirror: expected one of them"
    )]
    TwoLimits(Box<str>),
    /// A location turns the reference into a text that is not the name of an image.
    #[error(
        "location {location:?} makes {found:?} of {image}: expected the full name of an image, such as \
         docker.io/library/NAME:TAG"
    )]
    Rewrite {
        /// The location in the file.
        location: Box<str>,
        /// The resulting text.
        found: Box<str>,
        /// The reference of the image.
        image: Box<str>,
    },
    /// Two tables contradict each other.
    #[error("location {location:?} has two values of {setting}: expected one")]
    Conflict {
        /// The location of both.
        location: Box<str>,
        /// The setting.
        setting: &'static str,
    },
}

/// The rule of a file for one prefix.
#[derive(Debug)]
struct PrefixRule {
    file: PathBuf,
    /// The line and the column of its table.
    at: (usize, usize),
    /// The location, which only a prefix with a wildcard can omit.
    location: Option<Box<str>>,
    is_insecure: bool,
    is_blocked: bool,
    mirrors: Vec<Mirror>,
}

#[derive(Debug)]
struct Mirror {
    location: Box<str>,
    is_insecure: bool,
    serves: PullFromMirror,
}

/// The images for which a mirror is used.
#[derive(Clone, Copy, Debug, Default)]
enum PullFromMirror {
    #[default]
    All,
    DigestOnly,
    TagOnly,
}

impl PullSource {
    /// Whether to retry without TLS after this error. This is allowed for an insecure place, and for a registry on this
    /// machine, as Docker does. Without TLS the place can be at another port, and no proxy is used.
    pub(super) fn is_plain(&self, place: &Address, error: &FetchError) -> bool {
        match error {
            FetchError::Tls {
                fault: TlsFault::None | TlsFault::Closed,
                ..
            } => self.is_insecure || place.is_loopback(),
            error => self.is_insecure && error.is_unconnected(),
        }
    }
}

impl RegistriesConf {
    pub(super) fn read(config: &ContainersConfig) -> Result<Self, MirrorsFault> {
        let mut rules = BTreeMap::new();
        for text in config.registries()? {
            rules.extend(parse(&text)?);
        }
        Ok(Self(rules))
    }

    /// Returns the places of an image.
    pub(super) fn sources(&self, image: &ImageReference) -> Result<PullSources, MirrorsFault> {
        let Some((prefix, rule)) = self.find(image) else {
            return Ok(PullSources {
                mirrors: Vec::new(),
                registry: self.source(image.clone(), false),
            });
        };
        let mirrors = rule
            .mirrors
            .iter()
            .filter(|it| it.serves.has(&image.version));
        let mirrors = mirrors.map(|mirror| {
            let image = rule.rewritten(image, prefix, &mirror.location)?;
            Ok(self.source(image, mirror.is_insecure))
        });
        let own = match &rule.location {
            Some(location) => rule.rewritten(image, prefix, location)?,
            None => image.clone(),
        };
        Ok(PullSources {
            mirrors: mirrors.collect::<Result<_, MirrorsFault>>()?,
            registry: self.source(own, rule.is_insecure),
        })
    }

    fn source(&self, image: ImageReference, is_insecure: bool) -> PullSource {
        let rule = self.find(&image).filter(|(_, rule)| rule.is_blocked);
        let blocked = rule.map(|(prefix, rule)| BlockedPlace {
            image: image.to_string().into(),
            file: rule.file.clone(),
            prefix: prefix.into(),
        });
        PullSource {
            image,
            is_insecure,
            blocked,
        }
    }

    /// Returns the rule with the longest prefix of a name. Among prefixes of equal length, the first in order counts.
    fn find(&self, image: &ImageReference) -> Option<(&str, &PrefixRule)> {
        let name = image.name();
        let rules = self.0.iter().map(|(prefix, rule)| (&**prefix, rule));
        let matching = rules.filter(|(prefix, _)| matched(&name, prefix).is_some());
        matching.rev().max_by_key(|(prefix, _)| prefix.len())
    }
}

impl PrefixRule {
    /// Returns the image with the matched prefix replaced by `location`.
    fn rewritten(
        &self,
        image: &ImageReference,
        prefix: &str,
        location: &str,
    ) -> Result<ImageReference, MirrorsFault> {
        let name = image.to_string();
        let rest = matched(&name, prefix).and_then(|end| name.get(end..));
        let text = format!("{location}{}", rest.unwrap_or_default());
        let parsed = text.parse::<ImageReference>().ok();
        let same = parsed.filter(|parsed| parsed.to_string() == text);
        let why = || TableFault::Rewrite {
            location: location.into(),
            found: one_line(&text).into(),
            image: name.into(),
        };
        same.ok_or_else(|| form(&self.file, self.at, why()))
    }
}

impl PullFromMirror {
    fn has(self, version: &ImageVersion) -> bool {
        match self {
            Self::All => true,
            Self::DigestOnly => version.digest().is_some(),
            Self::TagOnly => version.digest().is_none(),
        }
    }
}

/// Returns how many bytes of a name a prefix matches.
fn matched(name: &str, prefix: &str) -> Option<usize> {
    let end = match prefix.strip_prefix('*') {
        Some(domain) if domain.starts_with('.') => {
            let at = name.find(domain)?;
            let is_of_host = !name.get(..at)?.contains('/');
            is_of_host.then_some(at + domain.len())?
        }
        _ => name.starts_with(prefix).then_some(prefix.len())?,
    };
    let next = name.get(end..)?.chars().next();
    let is_end = next.is_none_or(|next| matches!(next, ':' | '/' | '@'));
    is_end.then_some(end)
}

// === One file ===

#[derive(Default, Deserialize)]
#[serde(default)]
struct RegistriesFile {
    registry: Vec<Spanned<RegistryTable>>,
    registries: Option<Spanned<Version1>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct RegistryTable {
    prefix: String,
    location: String,
    insecure: bool,
    blocked: bool,
    mirror: Vec<MirrorTable>,
    mirror_by_digest_only: bool,
    pull_from_mirror: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct MirrorTable {
    location: String,
    insecure: bool,
    #[serde(deserialize_with = "limit")]
    pull_from_mirror: Option<PullFromMirror>,
}

fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PullFromMirror>, D::Error> {
    match String::deserialize(from)?.as_str() {
        "" => Ok(None),
        "all" => Ok(Some(PullFromMirror::All)),
        "digest-only" => Ok(Some(PullFromMirror::DigestOnly)),
        "tag-only" => Ok(Some(PullFromMirror::TagOnly)),
        other => Err(D::Error::custom(format_args!(
            "{other:?} is not all, digest-only or tag-only"
        ))),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Version1 {
    search: Version1List,
    insecure: Version1List,
    block: Version1List,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Version1List {
    registries: Option<Vec<String>>,
}

impl Version1 {
    fn is_set(&self) -> bool {
        let lists = [&self.search, &self.insecure, &self.block];
        lists.iter().any(|list| list.registries.is_some())
    }
}

impl RegistryTable {
    fn rule(&self, file: &Path, at: (usize, usize)) -> Result<(Box<str>, PrefixRule), TableFault> {
        let (prefix, location) = (self.prefix()?, bare(&self.location)?);
        if !self.pull_from_mirror.is_empty() {
            return Err(TableFault::NotOfMirror(prefix));
        }
        let mirrors = self
            .mirror
            .iter()
            .map(|mirror| self.mirror(&prefix, mirror));
        let rule = PrefixRule {
            file: file.to_owned(),
            at,
            location: (!location.is_empty()).then_some(location),
            is_insecure: self.insecure,
            is_blocked: self.blocked,
            mirrors: mirrors.collect::<Result<_, _>>()?,
        };
        Ok((prefix, rule))
    }

    fn prefix(&self) -> Result<Box<str>, TableFault> {
        if self.prefix.is_empty() && self.location.is_empty() {
            return Err(TableFault::NoPrefix);
        }
        if self.prefix.is_empty() {
            return bare(&self.location);
        }
        let prefix = bare(&self.prefix)?;
        match prefix.strip_prefix("*.") {
            Some(host) if host.contains(['/', ':', '@']) => Err(TableFault::Wildcard(prefix)),
            None if self.location.is_empty() => Err(TableFault::NoLocation(prefix)),
            _ => Ok(prefix),
        }
    }

    fn mirror(&self, prefix: &str, mirror: &MirrorTable) -> Result<Mirror, TableFault> {
        let location = bare(&mirror.location)?;
        if location.is_empty() {
            return Err(TableFault::NoMirror(prefix.into()));
        }
        let serves = match (self.mirror_by_digest_only, mirror.pull_from_mirror) {
            (true, Some(_)) => return Err(TableFault::TwoLimits(prefix.into())),
            (true, None) => PullFromMirror::DigestOnly,
            (false, limit) => limit.unwrap_or_default(),
        };
        Ok(Mirror {
            location,
            is_insecure: mirror.insecure,
            serves,
        })
    }
}

/// Parses the rules of a file, by prefix. If several tables have the same prefix, the first one counts.
fn parse(text: &ConfigText) -> Result<BTreeMap<Box<str>, PrefixRule>, MirrorsFault> {
    let fault = |at, why| form(&text.file, text.position(at), why);
    let parsed: RegistriesFile = toml::from_str(&text.text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        fault(at, TableFault::Toml(one_line(error.message()).into()))
    })?;
    if let Some(old) = parsed.registries.filter(|old| old.get_ref().is_set()) {
        return Err(fault(old.span().start, TableFault::Version1));
    }
    let (mut rules, mut settings) = (BTreeMap::new(), BTreeMap::new());
    for table in &parsed.registry {
        let at = text.position(table.span().start);
        let failed = |why| form(&text.file, at, why);
        let rule = table.get_ref().rule(&text.file, at);
        let (prefix, rule) = rule.map_err(failed)?;
        agree(&mut settings, &prefix, &rule).map_err(failed)?;
        rules.entry(prefix).or_insert(rule);
    }
    Ok(rules)
}

/// Refuses two tables that contradict each other about one location.
fn agree(
    settings: &mut BTreeMap<Box<str>, (bool, bool)>,
    prefix: &str,
    rule: &PrefixRule,
) -> Result<(), TableFault> {
    let location: Box<str> = rule.location.as_deref().unwrap_or(prefix).into();
    let found = (rule.is_insecure, rule.is_blocked);
    let first = *settings.entry(location.clone()).or_insert(found);
    let setting = match (first.0 == found.0, first.1 == found.1) {
        (true, true) => return Ok(()),
        (false, _) => "insecure",
        (true, false) => "blocked",
    };
    Err(TableFault::Conflict { location, setting })
}

/// Returns a prefix or location in the form in which it is compared.
fn bare(text: &str) -> Result<Box<str>, TableFault> {
    let bare = text.trim_end_matches('/');
    let is_url = bare.starts_with("http://") || bare.starts_with("https://");
    (!is_url)
        .then(|| bare.into())
        .ok_or_else(|| TableFault::Scheme(one_line(text).into()))
}

fn form(file: &Path, (line, column): (usize, usize), why: TableFault) -> MirrorsFault {
    MirrorsFault::Form {
        file: file.to_owned(),
        line,
        column,
        why,
    }
}

#[cfg(test)]
mod tests;
