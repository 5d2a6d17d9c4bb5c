//! Reading one object of OLM v0. What is missing or has another form is named by its field.

use serde_json::{Map, Value};

use crate::migrate::objects::{
    Approval, ClassicCsv, ClassicError, ClassicKind, ObjectKey, OperatorGroup, Subscription,
    SubscriptionStatus,
};
use olmguard_catalog::dns1123;
use olmguard_catalog::version::go;
use olmguard_preflight::bundle::{NoBundle, RegistryBundle};

/// One object that is being read.
pub(super) struct ObjectReader<'a> {
    pub(super) kind: ClassicKind,
    pub(super) object: &'a Value,
}

impl ObjectReader<'_> {
    pub(super) fn key(&self) -> Result<ObjectKey, ClassicError> {
        let name = self.subdomain(NAME)?;
        let name = name.ok_or_else(|| self.fault(NAME, SUBDOMAIN))?;
        let namespace = self.required(NAMESPACE)?;
        if namespace.len() > LONGEST_LABEL || !dns1123::is_label(&namespace) {
            return Err(self.fault(NAMESPACE, "a DNS label"));
        }
        Ok(ObjectKey { namespace, name })
    }

    pub(super) fn subscription(&self, key: &ObjectKey) -> Result<Subscription, ClassicError> {
        let approval = self.text("/spec/installPlanApproval")?;
        Ok(Subscription {
            key: key.clone(),
            package: self.required("/spec/name")?,
            source: ObjectKey {
                namespace: self.required("/spec/sourceNamespace")?,
                name: self.required("/spec/source")?,
            },
            channel: self.text("/spec/channel")?,
            starting_csv: self.text("/spec/startingCSV")?,
            approval: match approval.as_deref() {
                Some("Manual") => Approval::Manual,
                _ => Approval::Automatic,
            },
            config: self.config()?,
            is_dependency: self.at("/metadata/annotations/olm.generated-by").is_some(),
            status: self.status()?,
        })
    }

    /// The configuration, without what says nothing.
    fn config(&self) -> Result<Map<String, Value>, ClassicError> {
        let mut config = match self.at("/spec/config") {
            None => Map::new(),
            Some(Value::Object(config)) => config.clone(),
            Some(_) => return Err(self.fault("/spec/config", "an object")),
        };
        config.retain(|_, value| match value {
            Value::Null => false,
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => true,
        });
        Ok(config)
    }

    fn status(&self) -> Result<Option<SubscriptionStatus>, ClassicError> {
        if self.at("/status").is_none() {
            return Ok(None);
        }
        let state = self.text("/status/state")?;
        Ok(Some(SubscriptionStatus {
            installed_csv: self.subdomain("/status/installedCSV")?,
            is_pending: state.as_deref() == Some("UpgradePending"),
        }))
    }

    pub(super) fn csv(&self) -> Result<ClassicCsv, ClassicError> {
        let crds = self.at("/spec/customresourcedefinitions/owned");
        let crds = crds.and_then(Value::as_array).into_iter().flatten();
        let names = crds.filter_map(|crd| crd.get("name")?.as_str());
        let names = names.filter(|name| is_subdomain(name));
        let mut crds: Vec<_> = names.map(str::to_owned).collect();
        crds.sort_unstable();
        crds.dedup();
        let bundle = RegistryBundle::of("", [self.object.clone()]);
        let bundle = bundle.map_err(|why| match why {
            NoBundle::NoCsv => self.fault("/kind", "ClusterServiceVersion"),
            NoBundle::Properties => self.fault(
                "/metadata/annotations/olm.properties",
                "a list of properties as JSON",
            ),
        })?;
        Ok(ClassicCsv {
            supported: bundle.supported(),
            crds,
            phase: self.text("/status/phase")?.unwrap_or_default(),
        })
    }

    /// The namespaces in force, otherwise those that are requested.
    pub(super) fn group(&self) -> Result<OperatorGroup, ClassicError> {
        if let Some(targets) = self.texts("/status/namespaces")? {
            let targets = Some(targets);
            return Ok(OperatorGroup { targets });
        }
        let targets = self.texts("/spec/targetNamespaces")?.unwrap_or_default();
        let selects = self.at("/spec/selector").and_then(Value::as_object);
        let selects = selects.is_some_and(|selector| !selector.is_empty());
        let is_known = !targets.is_empty() || !selects;
        Ok(OperatorGroup {
            targets: is_known.then_some(targets),
        })
    }

    pub(super) fn image(&self) -> Result<Option<String>, ClassicError> {
        self.text("/spec/image")
    }

    /// The texts of a list, each once, in byte order.
    fn texts(&self, path: &str) -> Result<Option<Vec<String>>, ClassicError> {
        let Some(items) = self.at(path) else {
            return Ok(None);
        };
        let fault = || self.fault(path, "a list of strings");
        let items = items.as_array().ok_or_else(fault)?.iter();
        let texts = items.map(|item| item.as_str().map(str::to_owned));
        let mut texts: Vec<_> = texts.collect::<Option<_>>().ok_or_else(fault)?;
        texts.sort_unstable();
        texts.dedup();
        Ok(Some(texts))
    }

    fn subdomain(&self, path: &str) -> Result<Option<String>, ClassicError> {
        let text = self.text(path)?;
        let is_wrong = text.as_deref().is_some_and(|text| !is_subdomain(text));
        if is_wrong {
            return Err(self.fault(path, SUBDOMAIN));
        }
        Ok(text)
    }

    fn required(&self, path: &str) -> Result<String, ClassicError> {
        let text = self.text(path)?;
        text.ok_or_else(|| self.fault(path, "a string that is not empty"))
    }

    /// A text that is not empty, if there is one.
    fn text(&self, path: &str) -> Result<Option<String>, ClassicError> {
        match self.at(path) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.fault(path, "a string")),
        }
    }

    /// The value there; null is none.
    fn at(&self, path: &str) -> Option<&Value> {
        self.object.pointer(path).filter(|value| !value.is_null())
    }

    fn fault(&self, path: &str, expected: &'static str) -> ClassicError {
        // What is in a list or an object can be a secret.
        let shown = |value: &Value| match value {
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            other => other.to_string(),
        };
        let found = self.object.pointer(path).map(shown);
        let name = self.object.pointer(NAME).and_then(Value::as_str);
        ClassicError::Field {
            kind: self.kind.as_str(),
            name: shortened(name.filter(|_| path != NAME).unwrap_or_default()),
            field: path.trim_start_matches('/').replace('/', "."),
            found: found.map_or_else(
                || "missing".to_owned(),
                |found| shortened(&go::one_line(&found)),
            ),
            expected,
        }
    }
}

/// A value as an error shows it.
fn shortened(found: &str) -> String {
    match found.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}...", found.get(..end).unwrap_or_default()),
        None => found.to_owned(),
    }
}

fn is_subdomain(name: &str) -> bool {
    name.len() <= LONGEST_NAME && dns1123::is_subdomain(name)
}

const NAME: &str = "/metadata/name";

const NAMESPACE: &str = "/metadata/namespace";

const SUBDOMAIN: &str = "a DNS subdomain";

/// The most bytes of a namespace.
const LONGEST_LABEL: usize = 63;

/// The most bytes of a name of an object.
const LONGEST_NAME: usize = 253;

/// The most characters of a wrong value in an error.
const MOST_SHOWN: usize = 60;
