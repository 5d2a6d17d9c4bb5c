//! The webhook as this version ships it: the default form, and the form for OLM before 1.0.

use json_patch::Patch;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingWebhook, ValidatingWebhookConfiguration,
};
use serde_json::Value;

use crate::cluster::configuration::ExpectedConfiguration;
use crate::cluster::policies::ExpectedPermission;
use crate::manifest::documents;

/// The configuration of this name, as deployed.
pub(super) fn expected(name: &str) -> ExpectedConfiguration {
    let read = "it is built in, and a test reads it";
    let (usual, _) = webhooks(USUAL, None).expect(read);
    let (older, _) = webhooks(USUAL, Some(OLDER)).expect(read);
    // The component adds its webhook to the default ones.
    let (_, further) = webhooks(USUAL, Some(PREVIEW)).expect(read);
    ExpectedConfiguration {
        name: name.to_owned(),
        usual,
        others: vec![older],
        further,
    }
}

/// The admission policy that checks the permission `bypass`, as deployed.
pub(super) fn permission() -> ExpectedPermission {
    let mut specs = documents(BYPASS.as_bytes()).map(|document| {
        let document = document.expect("it is built in, and a test reads it");
        document.value.get("spec").cloned().unwrap_or_default()
    });
    ExpectedPermission {
        policies: specs.next().into_iter().collect(),
        binding: specs.next().unwrap_or_default(),
    }
}

/// The first webhook of a configuration, and the others, after a patch.
fn webhooks(
    text: &str,
    patch: Option<&str>,
) -> Option<(ValidatingWebhook, Vec<ValidatingWebhook>)> {
    let mut configuration = only(text)?;
    if let Some(patch) = patch {
        let patch: Patch = serde_json::from_value(only(patch)?).ok()?;
        json_patch::patch(&mut configuration, &patch).ok()?;
    }
    let configuration: ValidatingWebhookConfiguration =
        serde_json::from_value(configuration).ok()?;
    let mut webhooks = configuration.webhooks?.into_iter();
    Some((webhooks.next()?, webhooks.collect()))
}

fn only(text: &str) -> Option<Value> {
    Some(documents(text.as_bytes()).next()?.ok()?.value)
}

/// The name of all objects of olmguard in the manifests.
pub(super) const NAME: &str = "olmguard";

const USUAL: &str = include_str!("../../deploy/base/validating-webhook-configuration.yaml");
const BYPASS: &str = include_str!("../../deploy/components/bypass-policy/policy.yaml");
const OLDER: &str =
    include_str!("../../deploy/components/v1alpha1/validating-webhook-configuration.yaml");
const PREVIEW: &str =
    include_str!("../../deploy/components/catalog-preview/validating-webhook-configuration.yaml");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::policies::BYPASS as BYPASS_NAME;
    use olmguard_views::doctor::probe::WEBHOOK;

    #[test]
    fn what_is_shipped_are_two_webhooks_that_ask_the_service() {
        for patch in [None, Some(OLDER)] {
            let (webhook, further) = webhooks(USUAL, patch).unwrap();
            let both: Vec<_> = [webhook].into_iter().chain(further).collect();
            let names: Vec<_> = both.iter().map(|webhook| webhook.name.as_str()).collect();
            assert_eq!(names, [WEBHOOK, "validate-policy.olmguard.dev"]);
            for (webhook, path) in both.iter().zip(["/validate", "/validate-policy"]) {
                let service = webhook.client_config.service.as_ref().unwrap();
                let asked = (service.namespace.as_str(), service.name.as_str());
                assert_eq!(asked, ("olmguard-system", "olmguard"));
                assert_eq!(service.path.as_deref(), Some(path));
                assert_eq!(webhook.client_config.ca_bundle, None);
            }
        }
    }

    /// A catalog can always be changed and deleted, even if no pod answers.
    #[test]
    fn the_webhook_of_catalogs_is_added_and_blocks_nothing() {
        let (usual, further) = webhooks(USUAL, Some(PREVIEW)).unwrap();
        assert_eq!(usual, webhooks(USUAL, None).unwrap().0);
        let [_, preview] = &further[..] else {
            panic!("{further:?}")
        };
        assert_eq!(preview.name, "validate-catalog.olmguard.dev");
        assert_eq!(preview.failure_policy.as_deref(), Some("Ignore"));
        assert_eq!(preview.timeout_seconds, usual.timeout_seconds);
        let (ours, theirs) = (&preview.client_config, &usual.client_config);
        let (ours, theirs) = (
            ours.service.as_ref().unwrap(),
            theirs.service.as_ref().unwrap(),
        );
        assert_eq!(
            (&ours.name, &ours.namespace),
            (&theirs.name, &theirs.namespace)
        );
        assert_eq!(ours.path.as_deref(), Some("/validate-catalog"));
        let rule = &preview.rules.as_ref().unwrap()[0];
        assert_eq!(
            rule.resources.as_deref(),
            Some(&["clustercatalogs".to_owned()][..])
        );
        let conditions = preview.match_conditions.as_ref().unwrap();
        let names: Vec<_> = conditions.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["changes-what-olm-resolves-by", "not-being-deleted"]);
    }

    /// A policy can always be deleted and written, even if no pod answers.
    #[test]
    fn the_webhook_of_policies_blocks_nothing() {
        let (_, further) = webhooks(USUAL, None).unwrap();
        assert_eq!(further[0].failure_policy.as_deref(), Some("Ignore"));
        let rules = further[0].rules.as_ref().unwrap();
        let operations = rules[0].operations.as_ref().unwrap();
        assert_eq!(*operations, ["CREATE", "UPDATE"]);
    }

    #[test]
    fn the_permission_is_one_policy_and_its_binding() {
        let ExpectedPermission { policies, binding } = permission();
        assert_eq!(policies.len(), 1);
        // Without the UpgradePolicy CRD an API server cannot evaluate this policy, but then no upgrade policy exists
        // either.
        assert_eq!(policies[0]["failurePolicy"], "Ignore");
        assert_eq!(binding["policyName"], BYPASS_NAME);
        assert_eq!(binding["validationActions"], serde_json::json!(["Deny"]));
    }

    #[test]
    fn the_form_for_an_older_olm_has_its_kinds() {
        let rules = |patch| webhooks(USUAL, patch).unwrap().0.rules.unwrap().len();
        assert_eq!((rules(None), rules(Some(OLDER))), (1, 2));
        expected(NAME);
    }

    #[test]
    fn the_file_has_one_configuration_with_two_webhooks() {
        let mut documents = documents(USUAL.as_bytes());
        let configuration = documents.next().unwrap().unwrap().value;
        assert_eq!(configuration["metadata"]["name"], NAME);
        assert_eq!(configuration["webhooks"].as_array().unwrap().len(), 2);
        assert!(documents.next().is_none());
    }
}
