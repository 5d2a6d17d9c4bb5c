//! The webhook as this version ships it: in its usual form, and for an OLM older than 1.0.

use json_patch::Patch;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingWebhook, ValidatingWebhookConfiguration,
};
use serde_json::Value;

use crate::cluster::configuration::ExpectedConfiguration;
use crate::manifest::documents;

/// The configuration of this name as it is deployed.
pub(super) fn expected(name: &str) -> ExpectedConfiguration {
    let read = "it is built in, and a test reads it";
    let usual = webhook(USUAL, None).expect(read);
    let older = webhook(USUAL, Some(OLDER)).expect(read);
    ExpectedConfiguration::new(name.to_owned(), usual, vec![older])
}

/// The one webhook of a configuration, after a patch.
fn webhook(text: &str, patch: Option<&str>) -> Option<ValidatingWebhook> {
    let mut configuration = only(text)?;
    if let Some(patch) = patch {
        let patch: Patch = serde_json::from_value(only(patch)?).ok()?;
        json_patch::patch(&mut configuration, &patch).ok()?;
    }
    let configuration: ValidatingWebhookConfiguration =
        serde_json::from_value(configuration).ok()?;
    let mut webhooks = configuration.webhooks?.into_iter();
    webhooks.next()
}

fn only(text: &str) -> Option<Value> {
    Some(documents(text.as_bytes()).next()?.ok()?.value)
}

/// What everything of olmguard is called in the manifests.
pub(super) const NAME: &str = "olmguard";

const USUAL: &str = include_str!("../../deploy/base/validating-webhook-configuration.yaml");
const OLDER: &str =
    include_str!("../../deploy/components/v1alpha1/validating-webhook-configuration.yaml");

#[cfg(test)]
mod tests {
    use super::*;
    use olmguard_views::doctor::probe::WEBHOOK;

    #[test]
    fn what_is_shipped_is_one_webhook_that_asks_the_service() {
        for patch in [None, Some(OLDER)] {
            let webhook = webhook(USUAL, patch).unwrap();
            assert_eq!(webhook.name, WEBHOOK);
            let service = webhook.client_config.service.unwrap();
            let asked = (service.namespace.as_str(), service.name.as_str());
            assert_eq!(asked, ("olmguard-system", "olmguard"));
            assert_eq!(service.path.as_deref(), Some("/validate"));
            assert_eq!(webhook.client_config.ca_bundle, None);
        }
    }

    #[test]
    fn the_form_for_an_older_olm_has_its_kinds() {
        let rules = |patch| webhook(USUAL, patch).unwrap().rules.unwrap().len();
        assert_eq!((rules(None), rules(Some(OLDER))), (1, 2));
        expected(NAME);
    }

    #[test]
    fn the_file_has_one_configuration_with_one_webhook() {
        let mut documents = documents(USUAL.as_bytes());
        let configuration = documents.next().unwrap().unwrap().value;
        assert_eq!(configuration["metadata"]["name"], NAME);
        assert_eq!(configuration["webhooks"].as_array().unwrap().len(), 1);
        assert!(documents.next().is_none());
    }
}
