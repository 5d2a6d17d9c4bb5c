//! The manifest with which krew installs olmguard as a plugin of kubectl.

use super::parts::Parts;
use crate::digest::sha256;
use crate::output::Files;

/// The manifest for the archives, which users will find below the prefix `url`.
pub(super) fn manifest(parts: &Parts, url: &str, archives: &Files) -> Vec<u8> {
    let package = parts.package();
    let (version, description) = (&package.version, quoted(&package.description));
    let mut text = format!(
        "apiVersion: krew.googlecontainertools.github.com/v1alpha2\n\
         kind: Plugin\n\
         metadata:\n  name: olmguard\n\
         spec:\n  version: v{version}\n  shortDescription: {description}\n  platforms:\n"
    );
    for build in &parts.builds {
        let folder = parts.name_for(build.target);
        let archive = format!("{folder}.tar.gz");
        let digest = archives.get(&archive).map(|content| sha256(content));
        let (digest, uri) = (
            digest.unwrap_or_default(),
            quoted(&format!("{url}/{archive}")),
        );
        let architecture = build.target.architecture().unwrap_or_default();
        let platform = format!(
            "    - selector:\n        matchLabels: {{os: linux, arch: {architecture}}}\n      \
             uri: {uri}\n      sha256: {digest}\n      bin: olmguard\n      files:\n        \
             - {{from: {folder}/olmguard, to: .}}\n        - {{from: {folder}/LICENSE, to: .}}\n"
        );
        text.push_str(&platform);
    }
    text.into_bytes()
}

/// A text as JSON, which is also YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
