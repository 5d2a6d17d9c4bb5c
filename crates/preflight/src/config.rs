//! Checks `spec.config` of an extension against the schema of a bundle.
//!
//! The schema has two fields. `watchNamespace` depends on the install modes of the bundle, `deploymentConfig` on a
//! gate. Errors have the texts of operator-controller's JSON schema library. If the library reports several errors in
//! no fixed order, this module reports several faults.
//!
//! Upstream: operator-controller, [`internal/operator-controller/config/config.go`] and
//! [`internal/operator-controller/rukpak/bundle/registryv1.go`].
//!
//! [`internal/operator-controller/config/config.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/config/config.go
//! [`internal/operator-controller/rukpak/bundle/registryv1.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/bundle/registryv1.go

mod deployment;

use std::fmt;

use serde_json::{Map, Value};

use crate::PreflightCheck;
pub use crate::types::QuantityFault;
pub use deployment::is_deployment_field;
use olmguard_catalog::InstallModes;
use olmguard_catalog::dns1123::is_label;
use olmguard_catalog::json::JsonType;
use olmguard_catalog::olm::InstallSettings;
use olmguard_catalog::version::go;

/// A fault of a configuration. Printed as operator-controller prints it, without the prefix of the whole error.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ConfigFault {
    /// A required field is missing.
    Required {
        /// The path of the field.
        field: String,
    },
    /// Fields that the schema does not have, in byte order. operator-controller reports one of them at random.
    Unknown {
        /// The field that contains them; empty for the configuration itself.
        parent: &'static str,
        /// The names of the fields.
        names: Vec<String>,
    },
    /// A value has the wrong type.
    Type {
        /// The path of the field; empty for the configuration itself.
        field: String,
        /// The type of the value.
        got: JsonType,
        /// The type in the schema.
        want: JsonType,
    },
    /// `watchNamespace` is neither null nor a valid string. The errors of both alternatives follow.
    Value,
    /// Several errors of the string follow, or a value below `deploymentConfig` has the wrong type.
    Failed,
    /// The namespace is not one that the install modes allow.
    Format {
        /// The value of `watchNamespace`.
        value: String,
        /// The namespace of the extension.
        namespace: String,
        /// The rule that the value violates.
        mode: NamespaceRule,
    },
    /// `watchNamespace` is too short or too long for a namespace name.
    Length {
        /// The length of the value in characters.
        characters: usize,
    },
    /// `watchNamespace` does not have the form of a namespace name.
    Pattern,
    /// A quantity in `deploymentConfig` is invalid.
    Quantity(QuantityFault),
}

/// The rule of a bundle's install modes for the watched namespace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NamespaceRule {
    /// The watched namespace must be the namespace of the extension.
    Own,
    /// The watched namespace must be another one.
    Single,
}

/// Checks `spec.config`, the whole object, for a bundle with these install modes. Returns the namespace to watch;
/// `None` for all namespaces.
///
/// # Errors
/// All faults, in the order of operator-controller if it has one.
pub fn check<'a>(
    modes: InstallModes,
    settings: InstallSettings,
    minor: u8,
    namespace: &str,
    config: Option<&'a Value>,
) -> Result<Option<&'a str>, Vec<ConfigFault>> {
    let is_read = settings.single_own_namespace || (minor >= SINCE_ALWAYS && config.is_some());
    if minor < SINCE_CONFIG || !is_read {
        return Ok(None);
    }
    let nothing = Value::Object(Map::new());
    let inline = config.and_then(inline);
    let schema = ConfigSchema {
        modes,
        has_deployment: settings.deployment_config,
        namespace,
    };
    let faults = schema.faults(inline.unwrap_or(&nothing));
    if faults.is_empty() {
        return Ok(inline.and_then(|inline| inline.get(WATCH_NAMESPACE)?.as_str()));
    }
    Err(faults)
}

/// Returns the configuration of an object of type `Inline`. Other types are not read.
fn inline(config: &Value) -> Option<&Value> {
    let kind = config.get("configType").and_then(Value::as_str);
    let inline = config.get("inline").filter(|inline| !inline.is_null());
    inline.filter(|_| kind == Some("Inline"))
}

/// The configuration schema of one bundle.
struct ConfigSchema<'a> {
    modes: InstallModes,
    has_deployment: bool,
    namespace: &'a str,
}

impl ConfigSchema<'_> {
    fn faults(&self, config: &Value) -> Vec<ConfigFault> {
        let Some(fields) = config.as_object() else {
            return vec![type_fault("", config, JsonType::Object)];
        };
        let mut faults = Vec::new();
        let watched = fields.get(WATCH_NAMESPACE);
        if self.is_required() && watched.is_none() {
            faults.push(required(WATCH_NAMESPACE));
        }
        if self.has_deployment {
            let deployment = fields.get(DEPLOYMENT_CONFIG);
            faults.extend(deployment.into_iter().flat_map(deployment::faults));
        }
        if self.has_watched() {
            faults.extend(watched.into_iter().flat_map(|it| self.watched(it)));
        }
        let unknown = fields.keys().filter(|name| !self.has(name));
        faults.extend(ConfigFault::unknown("", unknown.cloned().collect()));
        faults
    }

    fn has(&self, field: &str) -> bool {
        match field {
            WATCH_NAMESPACE => self.has_watched(),
            DEPLOYMENT_CONFIG => self.has_deployment,
            _ => false,
        }
    }

    /// A bundle that can only watch all namespaces does not have this field.
    fn has_watched(&self) -> bool {
        self.modes.single_namespace || self.modes.own_namespace
    }

    fn is_required(&self) -> bool {
        self.has_watched() && !self.modes.all_namespaces
    }

    fn watched(&self, value: &Value) -> Vec<ConfigFault> {
        if self.is_required() {
            return self.string(value);
        }
        let of_string = self.string(value);
        if value.is_null() || of_string.is_empty() {
            return Vec::new();
        }
        let several = (of_string.len() > 1).then_some(ConfigFault::Failed);
        let neither = [
            ConfigFault::Value,
            type_fault(WATCH_NAMESPACE, value, JsonType::Null),
        ];
        neither
            .into_iter()
            .chain(several)
            .chain(of_string)
            .collect()
    }

    fn string(&self, value: &Value) -> Vec<ConfigFault> {
        let Some(text) = value.as_str() else {
            return vec![type_fault(WATCH_NAMESPACE, value, JsonType::String)];
        };
        if let Some(mode) = self
            .rule()
            .filter(|mode| !mode.allows(text, self.namespace))
        {
            return vec![ConfigFault::Format {
                value: text.to_owned(),
                namespace: self.namespace.to_owned(),
                mode,
            }];
        }
        let characters = text.chars().count();
        let length =
            (!(1..=LONGEST).contains(&characters)).then_some(ConfigFault::Length { characters });
        let pattern = (!is_label(text)).then_some(ConfigFault::Pattern);
        length.into_iter().chain(pattern).collect()
    }

    fn rule(&self) -> Option<NamespaceRule> {
        match (self.modes.own_namespace, self.modes.single_namespace) {
            (true, false) => Some(NamespaceRule::Own),
            (false, true) => Some(NamespaceRule::Single),
            _ => None,
        }
    }
}

impl NamespaceRule {
    fn allows(self, watched: &str, namespace: &str) -> bool {
        match self {
            Self::Own => watched == namespace,
            Self::Single => watched != namespace,
        }
    }
}

/// Returns the fault of a value with the wrong type. Null counts as missing.
fn type_fault(field: &str, value: &Value, want: JsonType) -> ConfigFault {
    let got = type_of(value);
    if got == JsonType::Null && !field.is_empty() {
        return required(field);
    }
    let field = field.to_owned();
    ConfigFault::Type { field, got, want }
}

fn required(field: &str) -> ConfigFault {
    ConfigFault::Required {
        field: field.to_owned(),
    }
}

impl ConfigFault {
    /// Returns the fault of unknown fields, if there are any.
    fn unknown(parent: &'static str, mut names: Vec<String>) -> Option<Self> {
        names.sort_unstable();
        (!names.is_empty()).then_some(Self::Unknown { parent, names })
    }

    /// The check that fails.
    pub fn check(&self) -> PreflightCheck {
        match self {
            Self::Required { field } if field == WATCH_NAMESPACE => PreflightCheck::ConfigRequired,
            Self::Unknown { parent: "", names } if *names == [DEPLOYMENT_CONFIG] => {
                PreflightCheck::DeploymentConfigOff
            }
            _ => PreflightCheck::ConfigInvalid,
        }
    }

    /// Whether the fault concerns the namespace to watch.
    pub fn is_of_namespace(&self) -> bool {
        match self {
            Self::Value | Self::Format { .. } | Self::Length { .. } | Self::Pattern => true,
            Self::Required { field } | Self::Type { field, .. } => field == WATCH_NAMESPACE,
            Self::Unknown { .. } | Self::Failed | Self::Quantity(_) => false,
        }
    }
}

/// Returns all faults as operator-controller joins them; `None` if it reports one of several fields at random.
pub fn upstream(faults: &[ConfigFault]) -> Option<String> {
    let is_random = |fault: &ConfigFault| matches!(fault, ConfigFault::Unknown { names, .. } if names.len() > 1);
    if faults.iter().any(is_random) {
        return None;
    }
    let is_quantity = |fault: &&ConfigFault| matches!(fault, ConfigFault::Quantity(_));
    let (quantities, faults): (Vec<_>, Vec<_>) = faults.iter().partition(is_quantity);
    // Upstream reads quantities after the schema check.
    if let ([fault], []) = (quantities.as_slice(), faults.as_slice()) {
        return Some(format!(
            "invalid deploymentConfig: failed to unmarshal deploymentConfig: {fault}"
        ));
    }
    let texts: Vec<_> = faults.into_iter().map(ToString::to_string).collect();
    let head = "invalid ClusterExtension configuration: invalid configuration: ";
    Some(match texts.as_slice() {
        [only] => format!("{head}{only}"),
        _ => format!("{head}multiple errors found:\n  - {}", texts.join("\n  - ")),
    })
}

fn unknown(name: &str) -> String {
    if name.is_empty() {
        return "unknown field".to_owned();
    }
    let quoted = in_single_quotes(name);
    // operator-controller cuts the name at the next quote.
    let (name, _) = quoted.split_once('\'').unwrap_or((&quoted, ""));
    format!("unknown field {}", go::quote(name))
}

/// Escapes a text as the schema library does between single quotes.
fn in_single_quotes(text: &str) -> String {
    let escaped = go::escape(text);
    escaped.replace("\\\"", "\"").replace('\'', "\\'")
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required { field } => write!(f, "required field {} is missing", go::quote(field)),
            Self::Unknown { names, .. } => {
                f.write_str(&names.first().map(|name| unknown(name)).unwrap_or_default())
            }
            Self::Type { field, got, want } => match field.as_str() {
                "" => write!(f, "invalid type: got {got}, want {want}"),
                field => {
                    let field = go::quote(field);
                    write!(f, "invalid type for field {field}: got {got}, want {want}")
                }
            },
            Self::Value => write!(f, "invalid value for field \"{WATCH_NAMESPACE}\""),
            Self::Failed => f.write_str("validation failed"),
            Self::Format {
                value,
                namespace,
                mode,
            } => format_fault(f, value, namespace, *mode),
            Self::Length { characters: 0 } => write!(
                f,
                "field \"{WATCH_NAMESPACE}\" must have minimum length of 1 (len=0)"
            ),
            Self::Length { characters } => write!(
                f,
                "field \"{WATCH_NAMESPACE}\" must have maximum length of {LONGEST} (len={characters})"
            ),
            Self::Pattern => write!(
                f,
                "field \"{WATCH_NAMESPACE}\" must match pattern \"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$\""
            ),
            Self::Quantity(fault) => fault.fmt(f),
        }
    }
}

fn format_fault(
    f: &mut fmt::Formatter<'_>,
    value: &str,
    namespace: &str,
    mode: NamespaceRule,
) -> fmt::Result {
    let (quoted, namespace) = (go::quote(value), go::quote(namespace));
    let escaped = in_single_quotes(value);
    write!(
        f,
        "invalid format for field \"{WATCH_NAMESPACE}\": '{escaped}' is not valid "
    )?;
    match mode {
        NamespaceRule::Own => write!(
            f,
            "ownNamespaceInstallMode: invalid value {quoted}: must be {namespace} (the namespace where the operator \
             is installed) because this operator only supports OwnNamespace install mode"
        ),
        NamespaceRule::Single => write!(
            f,
            "singleNamespaceInstallMode: invalid value {quoted}: must be different from {namespace} (the install \
             namespace) because this operator uses SingleNamespace install mode to watch a different namespace"
        ),
    }
}

/// Returns the type of a value, as the schema library names it.
fn type_of(value: &Value) -> JsonType {
    match JsonType::of(value) {
        JsonType::Integer => JsonType::Number,
        other => other,
    }
}

const WATCH_NAMESPACE: &str = "watchNamespace";

const DEPLOYMENT_CONFIG: &str = "deploymentConfig";

/// The maximum length of a namespace name in characters.
const LONGEST: usize = 63;

/// The first release 1.x whose extensions have `spec.config`. Earlier releases use an annotation.
pub const SINCE_CONFIG: u8 = 5;

/// The first release 1.x that reads `spec.config` also if the gate is off.
const SINCE_ALWAYS: u8 = 9;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use olmguard_catalog::olm::CertificateProvider;

    fn found(modes: &[&str], gate: bool, inline: &Value) -> Vec<String> {
        let mut supported = InstallModes::default();
        for mode in modes {
            supported.add(mode);
        }
        let settings = InstallSettings {
            single_own_namespace: gate,
            deployment_config: false,
            boxcutter: false,
            helm_charts: false,
            certificates: CertificateProvider::None,
        };
        let config = json!({"configType": "Inline", "inline": inline});
        let faults = check(supported, settings, 11, "own", Some(&config)).err();
        let faults = faults.unwrap_or_default();
        faults.iter().map(ToString::to_string).collect()
    }

    const ALL: &str = "AllNamespaces";
    const SINGLE: &str = "SingleNamespace";
    const OWN: &str = "OwnNamespace";

    #[test]
    fn watch_namespace_depends_on_the_modes() {
        let none = json!({});
        let own = json!({"watchNamespace": "own"});
        let other = json!({"watchNamespace": "other"});
        let null = json!({"watchNamespace": null});
        let missing = "required field \"watchNamespace\" is missing";
        let unknown = "unknown field \"watchNamespace\"";
        let rows: [(&[&str], &Value, &str); 16] = [
            (&[ALL], &none, ""),
            (&[ALL], &own, unknown),
            (&[ALL], &null, unknown),
            (&[OWN], &none, missing),
            (&[OWN], &null, missing),
            (&[OWN], &own, ""),
            (&[OWN], &other, "must be \"own\""),
            (&[SINGLE], &none, missing),
            (&[SINGLE], &other, ""),
            (&[SINGLE], &own, "must be different from \"own\""),
            (&[OWN, SINGLE], &none, missing),
            (&[OWN, SINGLE], &own, ""),
            (&[ALL, OWN], &null, ""),
            (&[ALL, OWN], &other, "must be \"own\""),
            (&[ALL, SINGLE], &own, "must be different from \"own\""),
            (&[ALL, OWN, SINGLE], &other, ""),
        ];
        for (modes, inline, expected) in rows {
            let found = found(modes, true, inline).join("\n");
            assert_eq!(found.is_empty(), expected.is_empty(), "{modes:?} {inline}");
            assert!(found.contains(expected), "{modes:?} {inline}: {found}");
        }
    }

    #[test]
    fn the_string_has_a_length_and_a_pattern() {
        let text = |text: &str| found(&[OWN, SINGLE], true, &json!({"watchNamespace": text}));
        let pattern =
            "field \"watchNamespace\" must match pattern \"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$\"";
        let short = "field \"watchNamespace\" must have minimum length of 1 (len=0)";
        let long = "field \"watchNamespace\" must have maximum length of 63 (len=64)";
        assert_eq!(text(""), [short, pattern]);
        assert_eq!(text("a-"), [pattern]);
        assert_eq!(text("a\n"), [pattern]);
        assert_eq!(text(&"a".repeat(64)), [long]);
        assert_eq!(text(&"a".repeat(63)), [""; 0]);
        let optional = found(&[ALL, OWN, SINGLE], true, &json!({"watchNamespace": ""}));
        assert_eq!(
            optional,
            [
                "invalid value for field \"watchNamespace\"",
                "invalid type for field \"watchNamespace\": got string, want null",
                "validation failed",
                short,
                pattern
            ]
        );
    }

    #[test]
    fn what_the_schema_does_not_have_is_unknown() {
        let names = json!({"b": 1, "a": 1, "deploymentConfig": {}});
        let config = json!({"configType": "Inline", "inline": names});
        let modes = InstallModes {
            all_namespaces: true,
            ..InstallModes::default()
        };
        let off = InstallSettings {
            single_own_namespace: false,
            deployment_config: false,
            boxcutter: false,
            helm_charts: false,
            certificates: CertificateProvider::None,
        };
        let faults = check(modes, off, 11, "own", Some(&config)).unwrap_err();
        assert_eq!(upstream(&faults), None);
        let alone = ["a", "b", "deploymentConfig"].map(|name| {
            let unknown = ConfigFault::unknown("", vec![name.to_owned()]);
            unknown.map(|fault| fault.check())
        });
        let (invalid, off_by_gate) = (
            PreflightCheck::ConfigInvalid,
            PreflightCheck::DeploymentConfigOff,
        );
        assert_eq!(alone, [invalid, invalid, off_by_gate].map(Some));
        assert_eq!(faults.first().unwrap().check(), invalid);
        assert_eq!(check(modes, off, 8, "own", Some(&config)), Ok(None));
        assert_eq!(
            found(&[ALL], true, &json!("x")),
            ["invalid type: got string, want object"]
        );
        for (name, expected) in [
            ("", "unknown field"),
            ("a'b", r#"unknown field "a\\""#),
            ("a\"b", r#"unknown field "a\"b""#),
            ("a\\b", r#"unknown field "a\\\\b""#),
            ("a\nb", r#"unknown field "a\\nb""#),
        ] {
            assert_eq!(found(&[ALL], true, &json!({name: 1})), [expected]);
        }
        let wrong = found(&[OWN], true, &json!({"watchNamespace": "a'\""})).concat();
        assert!(
            wrong.contains(r#"'a\'"' is not valid ownNamespaceInstallMode: invalid value "a'\"""#),
            "{wrong}"
        );
    }

    #[test]
    fn quantities_are_read_after_the_schema() {
        let quantity = ConfigFault::Quantity(QuantityFault::Suffix);
        assert_eq!(
            upstream(std::slice::from_ref(&quantity)).unwrap(),
            "invalid deploymentConfig: failed to unmarshal deploymentConfig: unable to parse quantity's suffix"
        );
        assert_eq!(
            upstream(&[quantity, ConfigFault::Failed]).unwrap(),
            "invalid ClusterExtension configuration: invalid configuration: validation failed"
        );
    }

    #[test]
    fn another_type_and_no_inline_are_no_configuration() {
        let modes = InstallModes {
            own_namespace: true,
            ..InstallModes::default()
        };
        let on = InstallSettings {
            single_own_namespace: true,
            deployment_config: false,
            boxcutter: false,
            helm_charts: false,
            certificates: CertificateProvider::None,
        };
        for config in [
            json!({"configType": "Other", "inline": {"x": 1}}),
            json!({"configType": "Inline"}),
        ] {
            let faults = check(modes, on, 11, "own", Some(&config)).unwrap_err();
            assert_eq!(
                faults.first().unwrap().check(),
                PreflightCheck::ConfigRequired
            );
        }
    }
}
