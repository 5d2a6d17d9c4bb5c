//! The webhook as this version ships it.

use k8s_openapi::api::admissionregistration::v1::{
    ValidatingWebhook, ValidatingWebhookConfiguration,
};

use crate::manifest::documents;

/// The one webhook of the configuration that is deployed.
pub(super) fn webhook() -> ValidatingWebhook {
    read(SHIPPED).expect("it is built in, and a test reads it")
}

fn read(text: &str) -> Option<ValidatingWebhook> {
    let document = documents(text.as_bytes()).next()?.ok()?;
    let configuration: ValidatingWebhookConfiguration =
        serde_json::from_value(document.value).ok()?;
    let mut webhooks = configuration.webhooks?.into_iter();
    webhooks.next()
}

const SHIPPED: &str = include_str!("../../../deploy/base/validating-webhook-configuration.yaml");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::probe::WEBHOOK;

    #[test]
    fn what_is_shipped_is_one_webhook_that_asks_the_service() {
        let webhook = webhook();
        assert_eq!(webhook.name, WEBHOOK);
        let service = webhook.client_config.service.unwrap();
        let asked = (service.namespace.as_str(), service.name.as_str());
        assert_eq!(asked, ("olmguard-system", "olmguard"));
        assert_eq!(service.path.as_deref(), Some("/validate"));
        assert_eq!(webhook.client_config.ca_bundle, None);
    }

    #[test]
    fn the_file_has_one_configuration_with_one_webhook() {
        let mut documents = documents(SHIPPED.as_bytes());
        let configuration = documents.next().unwrap().unwrap().value;
        assert_eq!(configuration["metadata"]["name"], super::super::NAME);
        assert_eq!(configuration["webhooks"].as_array().unwrap().len(), 1);
        assert!(documents.next().is_none());
    }
}
