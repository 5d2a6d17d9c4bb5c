//! Reasons why the cluster does not store or publish an authority. No text contains any part of a Secret.

use crate::cluster::fault_words;
use olmguard_server::tls::self_managed::StoreError;

/// A request that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum AuthorityFailure {
    /// Another client wrote first.
    #[error("changed by another client in the meantime")]
    Conflict,
    /// Two writers would fight over it.
    #[error(
        "ValidatingWebhookConfiguration {configuration:?} has the annotation {annotation}, so \
         another program writes its caBundle: expected no such annotation with --certs \
         self-managed; remove it, or serve the certificate of that program with --tls-cert and \
         --tls-key"
    )]
    Injected {
        configuration: String,
        annotation: &'static str,
    },
    #[error(
        "ValidatingWebhookConfiguration {configuration:?} has no webhook that calls {names}: \
         expected clientConfig.service or clientConfig.url with a name of --tls-server-name"
    )]
    NoWebhook {
        configuration: String,
        names: String,
    },
    #[error(
        "no right to {verb} {asked}: expected a role that allows the verb {verb} on {resource}; \
         {words}",
        resource = .asked.resource()
    )]
    Denied {
        verb: &'static str,
        asked: AskedObject,
        words: String,
    },
    #[error("cannot {verb} {asked}: {words}")]
    Failed {
        verb: &'static str,
        asked: AskedObject,
        words: String,
    },
    #[error("{0}")]
    Unprocessable(Box<Self>),
    #[error("the API server returned Secret {0:?} without metadata.resourceVersion")]
    NoVersion(String),
}

/// The requested object.
#[derive(Clone, Debug, derive_more::Display)]
pub(super) enum AskedObject {
    #[display("Secret {name:?} in namespace {namespace:?}")]
    Secret { namespace: String, name: String },
    #[display("ValidatingWebhookConfiguration {name:?}")]
    Configuration { name: String },
}

impl AuthorityFailure {
    /// Converts an error of a request.
    pub(super) fn of(verb: &'static str, asked: AskedObject, error: &kube::Error) -> Self {
        let words = told(error);
        let failed = |asked, words| Self::Failed { verb, asked, words };
        match code(error) {
            // The object existed when it was read.
            Some(404) if verb == "patch" => Self::Conflict,
            Some(409) => Self::Conflict,
            Some(403) => Self::Denied { verb, asked, words },
            Some(422) => Self::Unprocessable(Box::new(failed(asked, words))),
            _ => failed(asked, words),
        }
    }
}

fn code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

/// Describes an error. An answer that cannot be parsed is not quoted, because it may be a Secret.
fn told(error: &kube::Error) -> String {
    match error {
        kube::Error::SerdeError(_) => "the answer of the API server cannot be read".to_owned(),
        other => fault_words(other),
    }
}

impl From<AuthorityFailure> for StoreError {
    fn from(failure: AuthorityFailure) -> Self {
        match failure {
            AuthorityFailure::Conflict => Self::Conflict,
            other => Self::Unavailable(Box::new(other)),
        }
    }
}

impl AskedObject {
    pub(super) fn secret(namespace: &str, name: &str) -> Self {
        Self::Secret {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    pub(super) fn configuration(name: &str) -> Self {
        Self::Configuration {
            name: name.to_owned(),
        }
    }

    /// Returns the name of the resource in a role.
    fn resource(&self) -> &'static str {
        match self {
            Self::Secret { .. } => "secrets",
            Self::Configuration { .. } => "validatingwebhookconfigurations",
        }
    }
}
