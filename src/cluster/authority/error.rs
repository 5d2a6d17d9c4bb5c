//! Reasons why the cluster does not keep or publish an authority. No text holds anything of a Secret.

use crate::cluster::fault_words;
use olmguard_server::tls::self_managed::StoreError;

/// What was asked for, and did not come about.
#[derive(Debug, thiserror::Error)]
pub(super) enum AuthorityFailure {
    /// Another replica, or somebody else, was faster.
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

/// The object that was asked for.
#[derive(Clone, Debug, derive_more::Display)]
pub(super) enum AskedObject {
    #[display("Secret {name:?} in namespace {namespace:?}")]
    Secret { namespace: String, name: String },
    #[display("ValidatingWebhookConfiguration {name:?}")]
    Configuration { name: String },
}

impl AuthorityFailure {
    /// What the client says of a request.
    pub(super) fn of(verb: &'static str, asked: AskedObject, error: &kube::Error) -> Self {
        let words = told(error);
        let failed = |asked, words| Self::Failed { verb, asked, words };
        match code(error) {
            // What is to be changed was there when it was read.
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

/// An answer that cannot be read is not quoted: it may be a Secret.
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

    /// The resource, as a role names it.
    fn resource(&self) -> &'static str {
        match self {
            Self::Secret { .. } => "secrets",
            Self::Configuration { .. } => "validatingwebhookconfigurations",
        }
    }
}
