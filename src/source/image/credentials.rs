//! Credentials for registries, as docker, podman and Kubernetes store them: `auth.json`, `config.json`, the
//! `.dockerconfigjson` of a pull secret, and the credential helpers that these files name.
//!
//! An entry for a host or a path takes precedence over one with a pattern.
//!
//! Upstream: containers/image, `docs/containers-auth.json.5.md`; docker/cli and its credential helpers, as released in
//! 2025.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use base64_simd::STANDARD;
use rustix::process::getuid;
use serde::Deserialize;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use super::containers::is_absent;
use super::reference::{ImageReference, is_docker};
use crate::foreign_text::one_line;
use crate::source::glob::{Glob, MatchSteps};

/// A user of a registry, with the password.
#[derive(Clone, Eq, PartialEq)]
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: String,
}

/// Why credentials cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsFault {
    /// The file is missing although the environment names it, or it cannot be read.
    #[error("{}: cannot read the credentials: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file has another form.
    #[error("{}: {why}: expected JSON as docker login or podman login writes it", .file.display())]
    Form {
        /// The file.
        file: PathBuf,
        /// The fault.
        why: Box<str>,
    },
    /// The entry has an identity token, which olmguard cannot use.
    #[error(
        "{}: the entry {entry:?} has an identity token: expected a user and a password, or an \
         access token as the password", .file.display()
    )]
    IdentityToken {
        /// The file.
        file: PathBuf,
        /// The name of the entry.
        entry: Box<str>,
    },
    /// A credential helper fails.
    #[error("docker-credential-{helper}: {why}")]
    Helper {
        /// The name of the helper.
        helper: Box<str>,
        /// The message of the helper, or of the system.
        why: Box<str>,
    },
}

/// A file of credentials.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AuthFile {
    auths: BTreeMap<String, AuthEntry>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuthEntry {
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
}

/// The files that are searched for credentials, and whether each one is required.
#[derive(Clone, Debug, Default)]
pub(super) struct CredentialFiles(Vec<(PathBuf, bool)>);

impl CredentialFiles {
    /// The files of the current user.
    pub(super) fn of_user() -> Self {
        Self(files(env::var_os))
    }

    /// A single file, which is required.
    #[cfg(test)]
    pub(super) fn at(file: PathBuf) -> Self {
        Self(vec![(file, true)])
    }

    /// Returns the credentials for an image, or `None` if no file has any: most registries serve catalogs without a
    /// login.
    pub(super) async fn login(
        &self,
        image: &ImageReference,
    ) -> Result<Option<Login>, CredentialsFault> {
        for (file, is_required) in &self.0 {
            let Some(content) = read(file, *is_required)? else {
                continue;
            };
            if let Some(login) = login_of(file, &content, image).await? {
                return Ok(Some(login));
            }
        }
        Ok(None)
    }
}

/// Returns the files to search, in the order of podman, and whether each one is required.
fn files(variable: impl Fn(&'static str) -> Option<OsString>) -> Vec<(PathBuf, bool)> {
    let path = |name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(file) = path("REGISTRY_AUTH_FILE") {
        return vec![(file, true)];
    }
    let directory = |name, rest: &str| Some(path(name)?.join(rest));
    let runtime = directory("XDG_RUNTIME_DIR", "containers/auth.json").unwrap_or_else(|| {
        // The default of podman.
        let user = getuid().as_raw();
        PathBuf::from(format!("/run/containers/{user}/auth.json"))
    });
    let config = directory("XDG_CONFIG_HOME", "containers/auth.json")
        .or_else(|| directory("HOME", ".config/containers/auth.json"));
    let docker = directory("DOCKER_CONFIG", "config.json")
        .or_else(|| directory("HOME", ".docker/config.json"));
    let found = [Some(runtime), config, docker].into_iter().flatten();
    found.map(|file| (file, false)).collect()
}

fn read(file: &Path, is_required: bool) -> Result<Option<Vec<u8>>, CredentialsFault> {
    let failed = |source| CredentialsFault::Read {
        file: file.to_owned(),
        source,
    };
    let opened = match File::open(file) {
        Err(error) if is_absent(&error) && !is_required => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let mut content = Vec::new();
    opened
        .take(LIMIT)
        .read_to_end(&mut content)
        .map_err(failed)?;
    Ok(Some(content))
}

async fn login_of(
    file: &Path,
    content: &[u8],
    image: &ImageReference,
) -> Result<Option<Login>, CredentialsFault> {
    let parsed: AuthFile = serde_json::from_slice(content).map_err(|error| form(file, &error))?;
    let names = names(image);
    let helper = names
        .iter()
        .find_map(|name| find(&parsed.cred_helpers, name));
    if let Some((host, helper)) = helper {
        return ask(helper, host).await;
    }
    let entry = names.iter().find_map(|name| find(&parsed.auths, name));
    let entry = entry.or_else(|| find_pattern(&parsed.auths, &image.name()));
    match entry {
        Some((name, entry)) if !entry.is_empty() => entry.login(file, name).map(Some),
        _ if !parsed.creds_store.is_empty() => ask(&parsed.creds_store, server(image)).await,
        _ => Ok(None),
    }
}

/// Returns the names under which credentials for an image can be stored, the most specific first.
fn names(image: &ImageReference) -> Vec<String> {
    let whole = image.name();
    let mut names = vec![whole.clone()];
    let parents = whole.rmatch_indices('/');
    names.extend(parents.filter_map(|(at, _)| whole.get(..at).map(str::to_owned)));
    if is_docker(&image.host) {
        names.push("index.docker.io".to_owned());
    }
    names
}

/// Returns the name by which credential helpers know the registry of an image.
fn server(image: &ImageReference) -> &str {
    if is_docker(&image.host) {
        "https://index.docker.io/v1/"
    } else {
        &image.host
    }
}

/// Returns the entry of this name. In old files, names are URLs.
fn find<'f, T>(entries: &'f BTreeMap<String, T>, name: &str) -> Option<(&'f str, &'f T)> {
    let mut entries = entries.iter();
    let found = entries.find(|(key, _)| bare(key) == name)?;
    Some((found.0, found.1))
}

/// Returns the entry whose pattern matches an image. Like the kubelet, it searches in reverse byte order.
fn find_pattern<'f, T>(entries: &'f BTreeMap<String, T>, image: &str) -> Option<(&'f str, &'f T)> {
    let mut entries = entries.iter().rev();
    let found = entries.find(|(key, _)| is_pattern_of(bare(key), image))?;
    Some((found.0, found.1))
}

fn bare(key: &str) -> &str {
    let key = key
        .trim_start_matches("https://")
        .trim_start_matches("http://");
    let key = key.trim_end_matches('/');
    let old = key.strip_suffix("/v1").or_else(|| key.strip_suffix("/v2"));
    old.unwrap_or(key)
}

impl AuthEntry {
    /// Whether the credentials must be in a credential store.
    fn is_empty(&self) -> bool {
        self.auth.is_empty() && self.username.is_empty() && self.identitytoken.is_empty()
    }

    fn login(&self, file: &Path, name: &str) -> Result<Login, CredentialsFault> {
        if !self.identitytoken.is_empty() {
            return Err(CredentialsFault::IdentityToken {
                file: file.to_owned(),
                entry: one_line(name).into(),
            });
        }
        if self.auth.is_empty() {
            return Ok(Login {
                user: self.username.clone(),
                password: self.password.clone(),
            });
        }
        let decoded = STANDARD.decode_to_vec(self.auth.trim()).ok();
        let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let pair = text.as_deref().and_then(|text| text.split_once(':'));
        let (user, password) = pair.ok_or_else(|| CredentialsFault::Form {
            file: file.to_owned(),
            why: format!(
                "auth of {:?} is not USER:PASSWORD in base64",
                one_line(name)
            )
            .into(),
        })?;
        Ok(Login {
            user: user.to_owned(),
            // Docker once padded passwords with zero bytes.
            password: password.trim_end_matches('\0').to_owned(),
        })
    }
}

fn form(file: &Path, error: &serde_json::Error) -> CredentialsFault {
    CredentialsFault::Form {
        file: file.to_owned(),
        why: one_line(&error.to_string()).into(),
    }
}

// === Credential helpers: `docker-credential-NAME get`, which reads the registry and prints JSON ===

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}

async fn ask(helper: &str, server: &str) -> Result<Option<Login>, CredentialsFault> {
    let fault = |why: &str| CredentialsFault::Helper {
        helper: one_line(helper).into(),
        why: one_line(why).into(),
    };
    if helper.contains('/') {
        return Err(fault("expected the name of a program, found a path"));
    }
    let answer = match timeout(PATIENCE, run(helper, server)).await {
        Ok(answer) => answer.map_err(|error| fault(&error.to_string()))?,
        Err(_) => return Err(fault(&format!("no answer within {PATIENCE:?}"))),
    };
    let said = String::from_utf8_lossy(&answer.stdout);
    if !answer.status.success() {
        // The message of all helpers if they have no credentials.
        return if said.contains("credentials not found") {
            Ok(None)
        } else {
            Err(fault(if said.trim().is_empty() {
                "failed, and says nothing"
            } else {
                &said
            }))
        };
    }
    let answer: HelperAnswer = serde_json::from_slice(&answer.stdout)
        .map_err(|_| fault("its answer is not JSON with Username and Secret"))?;
    if answer.username == "<token>" {
        return Err(fault(
            "has an identity token: expected a user and a password",
        ));
    }
    Ok(Some(Login {
        user: answer.username,
        password: answer.secret,
    }))
}

async fn run(helper: &str, server: &str) -> io::Result<Output> {
    let mut command = Command::new(format!("docker-credential-{helper}"));
    let command = command.arg("get").kill_on_drop(true);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A helper that does not read its input may still have answered.
        drop(input.write_all(server.as_bytes()).await);
    }
    child.wait_with_output().await
}

/// The largest file of credentials. They have some kilobytes.
const LIMIT: u64 = 1 << 20;

/// The time limit of a helper, which may ask its user.
const PATIENCE: Duration = Duration::from_mins(1);

// === Entries of a pull secret with a pattern for the host, such as `*.example.com` ===
//
// Patterns match as in the kubelet.
//
// `*` matches any text within a label, `?` one character, and `[a-c]` one of these. Host and pattern must have the same
// number of labels and the same port. The path of the pattern must be a prefix of the image's path, even if it ends
// within a name.
//
// Upstream: kubernetes v1.35.0, [`pkg/credentialprovider/keyring.go`] (`URLsMatch`).
//
// [`pkg/credentialprovider/keyring.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.0/pkg/credentialprovider/keyring.go

/// Whether a text is a pattern that matches an image, given as `HOST/REPOSITORY`.
fn is_pattern_of(pattern: &str, image: &str) -> bool {
    let (expected, found) = (HostPath::of(pattern), HostPath::of(image));
    let (globs, labels) = (expected.host.split('.'), found.host.split('.'));
    expected.host.contains(['*', '?', '['])
        && expected.port == found.port
        && found.path.starts_with(expected.path)
        && globs.clone().count() == labels.clone().count()
        && globs
            .zip(labels)
            .all(|(glob, label)| Glob::parse(glob).matches(label, &mut MatchSteps::new(STEPS)))
}

/// The parts of `HOST:PORT/PATH`.
struct HostPath<'t> {
    host: &'t str,
    port: &'t str,
    path: &'t str,
}

impl<'t> HostPath<'t> {
    fn of(text: &'t str) -> Self {
        let (host, path) = text.split_once('/').unwrap_or((text, ""));
        let (host, port) = host.rsplit_once(':').unwrap_or((host, ""));
        Self { host, port, path }
    }
}

/// The most comparisons of a pattern with one label, which has at most 63 characters.
const STEPS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn image(text: &str) -> ImageReference {
        text.parse().unwrap()
    }

    async fn found(content: &Value, name: &str) -> Result<Option<String>, String> {
        let content = content.to_string();
        let file = PathBuf::from("auth.json");
        let login = login_of(&file, content.as_bytes(), &image(name)).await;
        let shown = |login: Login| format!("{}:{}", login.user, login.password);
        login
            .map(|login| login.map(shown))
            .map_err(|error| error.to_string())
    }

    fn auth(pair: &str) -> Value {
        json!({"auth": STANDARD.encode_to_string(pair)})
    }

    #[tokio::test]
    async fn the_most_exact_entry_counts() {
        let file = json!({"auths": {
            "quay.example": auth("host:1"),
            "quay.example/a": auth("org:2"),
            "quay.example/a/b": auth("repository:3"),
            "https://index.docker.io/v1/": auth("docker:4"),
            "other.example:5000": {"username": "plain", "password": "5"},
            "*.example/a": auth("paths:6"),
            "*.example": auth("hosts:7"),
            "https://*.cloud.example:5000/v2/": auth("port:8"),
        }});
        for (name, login) in [
            ("quay.example/a/b:1", Some("repository:3")),
            ("quay.example/a/bc:1", Some("org:2")),
            ("quay.example/x:1", Some("host:1")),
            ("docker.io/busybox:1", Some("docker:4")),
            ("other.example:5000/x:1", Some("plain:5")),
            ("third.example/a/x:1", Some("paths:6")),
            ("third.example/x:1", Some("hosts:7")),
            ("eu.cloud.example:5000/x:1", Some("port:8")),
            ("eu.cloud.example/x:1", None),
            ("unknown.test/x:1", None),
        ] {
            assert_eq!(
                found(&file, name).await,
                Ok(login.map(str::to_owned)),
                "{name}"
            );
        }
    }

    #[tokio::test]
    async fn an_entry_that_cannot_be_used_names_the_file() {
        let name = "quay.example/x:1";
        for (file, why) in [
            (
                json!({"auths": {"quay.example": {"auth": "%"}}}),
                "auth.json: auth of \"quay.example\" is not USER:PASSWORD in base64: expected JSON as \
                 docker login or podman login writes it",
            ),
            (
                json!({"auths": {"quay.example": {"identitytoken": "x"}}}),
                "auth.json: the entry \"quay.example\" has an identity token: expected a user and a \
                 password, or an access token as the password",
            ),
            (
                json!({"credsStore": "../x"}),
                "docker-credential-../x: expected the name of a program, found a path",
            ),
        ] {
            assert_eq!(found(&file, name).await, Err(why.to_owned()));
        }
        let error = found(&json!(1), name).await.unwrap_err();
        assert!(
            error.starts_with("auth.json: invalid type: integer"),
            "{error}"
        );
        let missing = found(&json!({"credHelpers": {"quay.example": "no-such"}}), name).await;
        let error = missing.unwrap_err();
        assert!(
            error.starts_with("docker-credential-no-such: No such file"),
            "{error}"
        );
    }

    #[test]
    fn files_are_looked_for_as_podman_does() {
        let of = |set: &[(&str, &str)]| {
            let set: Vec<_> = set
                .iter()
                .map(|(name, value)| (name.to_string(), OsString::from(value)))
                .collect();
            files(move |name| {
                set.iter()
                    .find(|(of, _)| of == name)
                    .map(|(_, value)| value.clone())
            })
        };
        let named = of(&[("REGISTRY_AUTH_FILE", "/a"), ("HOME", "/h")]);
        assert_eq!(named, [(PathBuf::from("/a"), true)]);
        let found = of(&[
            ("HOME", "/h"),
            ("XDG_RUNTIME_DIR", "/run"),
            ("DOCKER_CONFIG", "/d"),
        ]);
        let paths: Vec<_> = found.iter().map(|(path, _)| path.as_path()).collect();
        let expected = [
            "/run/containers/auth.json",
            "/h/.config/containers/auth.json",
            "/d/config.json",
        ];
        assert_eq!(paths, expected.map(Path::new));
        let [alone] = <[_; 1]>::try_from(of(&[])).unwrap();
        assert!(alone.0.starts_with("/run/containers"), "{alone:?}");
    }

    #[test]
    fn a_pattern_matches_as_for_the_kubelet() {
        for (pattern, image, expected) in [
            ("*.example.com", "a.example.com/b/c", true),
            ("*.example.com", "example.com/b", false),
            ("*.example.com", "x.a.example.com/b", false),
            ("*.*.example.com", "x.a.example.com/b", true),
            ("a.*.com", "a.example.com/b", true),
            ("*.example.com", "a.example.com:5000/b", false),
            ("*.example.com:5000", "a.example.com:5000/b", true),
            ("*.example.com:5000", "a.example.com/b", false),
            ("*.example.com/team", "a.example.com/team/b", true),
            ("*.example.com/team", "a.example.com/teams/b", true),
            ("*.example.com/team", "a.example.com/b", false),
            ("prod-*.example.com", "prod-eu.example.com/b", true),
            ("prod-*.example.com", "prod.example.com/b", false),
            ("*-prod.example.com", "eu-prod.example.com/b", true),
            ("a*b*c.example.com", "a-b-b-c.example.com/b", true),
            ("a*b*c.example.com", "ac-b.example.com/b", false),
            ("a*a.example.com", "a.example.com/b", false),
            ("**.example.com", "a.example.com/b", true),
            ("r?.example.com", "r1.example.com/b", true),
            ("r?.example.com", "r.example.com/b", false),
            ("r[1-3].example.com", "r2.example.com/b", true),
            ("r[1-3].example.com", "r4.example.com/b", false),
            ("r[^1-3].example.com", "r4.example.com/b", true),
            ("r[1-3.example.com", "r2.example.com/b", false),
            ("[::1]:5000", "[::1]:5000/b", false),
            ("a.example.com", "a.example.com/b", false),
            ("*", "localhost:5000/b", false),
            ("*:5000", "localhost:5000/b", true),
        ] {
            let found = is_pattern_of(pattern, image);
            assert_eq!(found, expected, "{pattern} {image}");
        }
    }

    #[test]
    fn many_wildcards_take_no_time() {
        let (pattern, host) = ("*a".repeat(2000), "a".repeat(1999));
        assert!(!is_pattern_of(&pattern, &host));
    }
}
