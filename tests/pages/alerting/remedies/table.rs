//! The remedies of the runbooks, and how each of them is tested.

use super::verdicts;

/// A remedy of a runbook.
pub(super) struct Remedy {
    pub(super) runbook: &'static str,
    /// A part of its sentence.
    pub(super) words: &'static str,
    pub(super) by: By,
}

/// The way in which a remedy is tested.
pub(super) enum By {
    /// This function, in the state that the runbook describes.
    Here(fn()),
    /// A test, or a trial of the end-to-end tests: its file and its name.
    Test(&'static str, &'static str),
    /// Another page with its own remedies.
    Page(&'static str),
    /// The reader does it outside of olmguard. The text is the reason why no test can.
    Reader(&'static str),
}

const fn of(runbook: &'static str, words: &'static str, by: By) -> Remedy {
    Remedy { runbook, words, by }
}

const BUDGET: &str = "how much processor pods get is the reader's to say";
const AUTHOR: &str = "the content of a catalog is its author's";
const PROXY: &str = "the proxy is the reader's";
const IMPLAUSIBLE: &str = "src/cluster/follow/tests/live/implausible.rs";
const ROLES: &str = "tests/e2e/src/trials/rights/account.rs";
const EMERGENCY: By = By::Test(
    "tests/e2e/src/trials/emergency.rs",
    "commands_do_what_they_say",
);
const PODS_BACK: By = By::Test("tests/e2e/src/trials/away.rs", "a_pod_is_killed");
const SELF_MANAGED: &str = "tests/e2e/src/trials/certificates.rs";
const CHECKED_AGAIN: By = By::Test(
    "tests/cli/from_cluster/check.rs",
    "the_answer_rests_on_the_catalogs_and_the_installed_version_of_the_cluster",
);
const RETRIED: By = By::Test(
    "src/cluster/follow/tests/live.rs",
    "a_catalogd_that_is_down_or_broken_takes_nothing_away",
);

/// All remedies, in the order of the pages and their sentences.
pub(super) const REMEDIES: &[Remedy] = &[
    of(
        "OlmguardAbsent",
        "If pods are missing",
        By::Reader("the cluster's events say why"),
    ),
    of(
        "OlmguardAbsent",
        "If pods restart again and again",
        By::Reader("the last line of the log says why"),
    ),
    of(
        "OlmguardAbsent",
        "If Prometheus does not find the targets",
        By::Test(
            "tests/pages/alerting/deployed.rs",
            "the_service_that_is_scraped_is_there",
        ),
    ),
    of(
        "OlmguardAbsent",
        "If you removed olmguard on purpose",
        By::Reader("the rules are the reader's"),
    ),
    of(
        "OlmguardAllReplicasDegraded",
        "Fix the cause as [OlmguardCatalogLoadFailing]",
        By::Page("docs/runbooks/OlmguardCatalogLoadFailing.md"),
    ),
    of(
        "OlmguardAllReplicasDegraded",
        "The causes are the same",
        By::Page("docs/runbooks/OlmguardCatalogLoadFailing.md"),
    ),
    of(
        "OlmguardAllReplicasDegraded",
        "A restart of olmguard does not help",
        RETRIED,
    ),
    of(
        "OlmguardAllReplicasDegraded",
        "olmguard tries again at least once a minute",
        RETRIED,
    ),
    of(
        "OlmguardAuditOverdue",
        "If a permission is missing",
        By::Test(
            "tests/cli/from_cluster/audit.rs",
            "a_list_that_is_forbidden_names_the_permission",
        ),
    ),
    of(
        "OlmguardAuditOverdue",
        "If audits are less frequent",
        By::Reader("how often there are audits is the reader's to say"),
    ),
    of("OlmguardAuditOverdue", "restart the pods", PODS_BACK),
    of(
        "OlmguardCatalogEmpty",
        "exclude catalogd's Service",
        By::Reader(PROXY),
    ),
    of(
        "OlmguardCatalogEmpty",
        "Then restart olmguard's Deployment",
        By::Test(
            IMPLAUSIBLE,
            "what_is_no_catalog_is_not_found_after_a_restart",
        ),
    ),
    of(
        "OlmguardCatalogEmpty",
        "ask its author to publish the catalog again",
        By::Reader(AUTHOR),
    ),
    of(
        "OlmguardCatalogEmpty",
        "olmguard loads the next digest without a restart",
        By::Test(
            IMPLAUSIBLE,
            "what_is_no_catalog_replaces_none_however_often_it_comes",
        ),
    ),
    of(
        "OlmguardCatalogEmpty",
        "delete the ClusterCatalog or silence the alert",
        By::Reader("whether a catalog is empty on purpose is its author's to say"),
    ),
    of(
        "OlmguardCatalogHeldBack",
        "exclude catalogd's Service",
        By::Reader(PROXY),
    ),
    of(
        "OlmguardCatalogHeldBack",
        "restart catalogd",
        By::Test("tests/e2e/src/trials/away.rs", "catalogd_is_killed"),
    ),
    of(
        "OlmguardCatalogHeldBack",
        "catalogd then unpacks the image again",
        By::Test("tests/e2e/src/trials/away.rs", "catalogd_is_killed"),
    ),
    of(
        "OlmguardCatalogHeldBack",
        "ask its author to publish it again",
        By::Reader(AUTHOR),
    ),
    of(
        "OlmguardCatalogHeldBack",
        "Do not restart olmguard",
        By::Test(
            IMPLAUSIBLE,
            "what_is_no_catalog_is_not_found_after_a_restart",
        ),
    ),
    of(
        "OlmguardCatalogHeldBack",
        "loads the right content without a restart",
        By::Test(
            IMPLAUSIBLE,
            "what_is_no_catalog_replaces_none_however_often_it_comes",
        ),
    ),
    of(
        "OlmguardCatalogHeldBack",
        "If the catalog is empty on purpose, do nothing",
        By::Test(
            "src/cluster/follow/job.rs",
            "the_more_is_lost_the_longer_content_must_repeat_itself",
        ),
    ),
    of(
        "OlmguardCatalogShrunk",
        "changed by mistake, change it back",
        By::Test(
            "tests/e2e/src/trials/catalogs.rs",
            "verdicts_follow_the_content",
        ),
    ),
    of(
        "OlmguardCatalogShrunk",
        "ask the author to publish the catalog again",
        By::Reader(AUTHOR),
    ),
    of(
        "OlmguardCatalogShrunk",
        "do nothing",
        By::Test(IMPLAUSIBLE, "a_fall_that_repeats_itself_is_real"),
    ),
    of(
        "OlmguardCatalogShrunk",
        "The alert ends automatically",
        By::Test(
            "tests/pages/alerting/promtool.rs",
            "promtool_sees_each_alert_fire_and_not_fire",
        ),
    ),
    of(
        "OlmguardCatalogLoadFailing",
        "`connect`, `timeout`",
        By::Test("tests/e2e/src/trials/away.rs", "catalogd_is_killed"),
    ),
    of(
        "OlmguardCatalogLoadFailing",
        "`tls`: mount",
        By::Test(
            "tests/cluster/fetching/trust.rs",
            "a_ca_that_is_replaced_counts_from_the_next_try_on",
        ),
    ),
    of(
        "OlmguardCatalogLoadFailing",
        "olmguard reloads the file when it changes",
        By::Test(
            "tests/cluster/fetching/trust.rs",
            "a_ca_that_is_replaced_counts_from_the_next_try_on",
        ),
    ),
    of(
        "OlmguardCatalogLoadFailing",
        "`status`: catalogd has lost",
        RETRIED,
    ),
    of(
        "OlmguardCatalogLoadFailing",
        "Restart catalogd",
        By::Test("tests/e2e/src/trials/away.rs", "catalogd_is_killed"),
    ),
    of(
        "OlmguardCatalogLoadFailing",
        "`content`: report the error",
        By::Reader(AUTHOR),
    ),
    of(
        "OlmguardCatalogLoadFailing",
        "`too_large`: the message shows the bound",
        By::Test(
            "src/cluster/follow/tests/live.rs",
            "a_catalog_that_is_too_large_keeps_what_was_loaded_and_the_others",
        ),
    ),
    of(
        "OlmguardCatalogLoadFailing",
        "Raise the memory limit of the container",
        By::Test(
            "src/cluster/follow/tests/live.rs",
            "under_a_higher_limit_the_same_catalog_is_loaded",
        ),
    ),
    of(
        "OlmguardCatalogLoadFailing",
        "One catalog can use a quarter of the limit",
        By::Test(
            "src/cli/args/memory.rs",
            "the_sum_under_the_shipped_limit_is_less_than_it",
        ),
    ),
    of(
        "OlmguardCatalogStale",
        "If newer content is known, load it",
        By::Page("docs/runbooks/OlmguardCatalogLoadFailing.md"),
    ),
    of(
        "OlmguardCatalogStale",
        "If the watch is lost, restore it",
        By::Page("docs/runbooks/OlmguardWatchLost.md"),
    ),
    of(
        "OlmguardCatalogStale",
        "set `--on-undecided warn`",
        By::Here(verdicts::warn_lets_through_what_newer_content_may_have),
    ),
    of(
        "OlmguardCatalogStale",
        "switch the webhook [off]",
        EMERGENCY,
    ),
    of(
        "OlmguardCatalogStale",
        "`--on-old-catalog undecided`",
        By::Here(verdicts::an_age_leaves_undecided_what_a_lost_watch_hides),
    ),
    of(
        "OlmguardCatalogStale",
        "`SelfCertified` does not help",
        By::Here(verdicts::the_bypass_adds_no_version),
    ),
    of(
        "OlmguardCertExpiry",
        "self-managed: the log line `Failed to renew",
        By::Test(SELF_MANAGED, "self_managed_leaves_follow_each_other"),
    ),
    of(
        "OlmguardCertExpiry",
        "Apply the manifests of this version again",
        By::Test(SELF_MANAGED, "a_lost_secret_and_an_emptied_bundle_heal"),
    ),
    of(
        "OlmguardCertExpiry",
        "cert-manager: check that its controller runs",
        By::Reader("cert-manager is the reader's"),
    ),
    of(
        "OlmguardCertExpiry",
        "Run `cmctl renew`",
        By::Reader("cert-manager is the reader's"),
    ),
    of(
        "OlmguardCertExpiry",
        "service-ca: delete the Secret",
        By::Reader("OpenShift makes it"),
    ),
    of(
        "OlmguardCertReloadFailing",
        "Provide a certificate and a key that match",
        By::Test(
            "tests/server/rotation.rs",
            "a_pair_that_does_not_fit_is_refused_and_the_next_one_is_taken",
        ),
    ),
    of(
        "OlmguardCertReloadFailing",
        "olmguard loads them within 10 s",
        By::Test(
            "tests/server/rotation.rs",
            "a_pair_that_does_not_fit_is_refused_and_the_next_one_is_taken",
        ),
    ),
    of(
        "OlmguardCertReloadFailing",
        "If the certificate is self-managed",
        By::Test(SELF_MANAGED, "a_lost_secret_and_an_emptied_bundle_heal"),
    ),
    of(
        "OlmguardConfigurationChanged",
        "delete the configuration",
        By::Test(
            "tests/e2e/src/trials/uninstall.rs",
            "leaves_nothing_by_kubectl",
        ),
    ),
    of(
        "OlmguardConfigurationChanged",
        "This stops every call",
        By::Test(
            "tests/e2e/src/trials/uninstall.rs",
            "leaves_nothing_by_kubectl",
        ),
    ),
    of(
        "OlmguardConfigurationChanged",
        "kubectl delete validatingwebhookconfiguration olmguard",
        By::Test(
            "tests/e2e/src/trials/uninstall.rs",
            "leaves_nothing_by_kubectl",
        ),
    ),
    of(
        "OlmguardConfigurationChanged",
        "Find the account that wrote the configuration",
        By::Reader("the audit log is the reader's"),
    ),
    of(
        "OlmguardConfigurationChanged",
        "treat the pods as compromised",
        By::Page("docs/security.md"),
    ),
    of(
        "OlmguardConfigurationChanged",
        "Apply the manifests of your version again",
        By::Test(
            "src/cluster/configuration/tests.rs",
            "what_an_attacker_writes_is_seen_within_a_minute_and_its_end_as_well",
        ),
    ),
    of(
        "OlmguardConfigurationChanged",
        "The alert ends within a minute",
        By::Test(
            "src/cluster/configuration/tests.rs",
            "what_an_attacker_writes_is_seen_within_a_minute_and_its_end_as_well",
        ),
    ),
    of(
        "OlmguardConfigurationChanged",
        "silence the alert for that `field`",
        By::Reader("which change is meant is the reader's to say"),
    ),
    of(
        "OlmguardDenialSpike",
        "change its image back to the previous digest",
        By::Test(
            "tests/e2e/src/trials/catalogs.rs",
            "verdicts_follow_the_content",
        ),
    ),
    of(
        "OlmguardDenialSpike",
        "run `olmguard check` in the pull request",
        By::Test(
            "tests/cli/pipeline_files/both.rs",
            "it_ends_as_the_check_ends",
        ),
    ),
    of(
        "OlmguardDenialSpike",
        "set `--mode observe`",
        By::Here(verdicts::observing_lets_everything_through),
    ),
    of(
        "OlmguardDenialSpike",
        "Please report the answer",
        By::Reader("a report is the reader's"),
    ),
    of("OlmguardFailOpen", "Restore the pods", PODS_BACK),
    of(
        "OlmguardFailOpen",
        "To find the edits that passed in the meantime",
        CHECKED_AGAIN,
    ),
    of(
        "OlmguardFailOpen",
        "olmguard check --from-cluster -f -",
        CHECKED_AGAIN,
    ),
    of(
        "OlmguardHighLatency",
        "Remove the CPU limit",
        By::Reader(BUDGET),
    ),
    of(
        "OlmguardHighLatency",
        "`olmguard_requests_total` shows the edits",
        By::Reader("who sends the edits is the reader's to find"),
    ),
    of(
        "OlmguardPanic",
        "Please report the line and the version",
        By::Reader("a report is the reader's"),
    ),
    of("OlmguardPanic", "switch the webhook off for it", EMERGENCY),
    of(
        "OlmguardPoliciesUnknown",
        "If the API server answers 403",
        By::Test(ROLES, "of_the_service_account"),
    ),
    of(
        "OlmguardPoliciesUnknown",
        "apply `deploy/crds` and your policies again",
        By::Test(
            "src/cluster/policies/tests/status.rs",
            "objects_of_a_kind_that_is_gone_stay_in_force_for_minutes",
        ),
    ),
    of(
        "OlmguardPoliciesUnknown",
        "olmguard tries again automatically",
        By::Test(
            "src/cluster/policies/tests.rs",
            "from_the_start_until_both_kinds_are_listed_not_all_are_known",
        ),
    ),
    of(
        "OlmguardPoliciesUnknown",
        "set `--ignore-policies`",
        By::Test(
            "src/cli/commands/serve/policies.rs",
            "without_policies_to_follow_none_is_unknown",
        ),
    ),
    of(
        "OlmguardPolicyNotAccepted",
        "Correct the field",
        By::Test(
            "src/cluster/policies/tests.rs",
            "an_object_that_cannot_be_read_is_in_force_and_says_so",
        ),
    ),
    of(
        "OlmguardPolicyNotAccepted",
        "If nothing checks the permission `bypass`",
        By::Test(
            "tests/e2e/src/trials/policies.rs",
            "report_whether_they_are_accepted",
        ),
    ),
    of(
        "OlmguardPolicyNotAccepted",
        "delete the object",
        By::Test(
            "src/cluster/policies/tests.rs",
            "an_object_that_cannot_be_read_is_in_force_and_says_so",
        ),
    ),
    of(
        "OlmguardQueueRejecting",
        "Stop the loop",
        By::Reader("the loop is the reader's"),
    ),
    of(
        "OlmguardQueueRejecting",
        "give the pods more CPU",
        By::Reader(BUDGET),
    ),
    of(
        "OlmguardUndecided",
        "Follow the page of that reason code",
        By::Page("docs/tokens/CatalogOutdated.md"),
    ),
    of("OlmguardUndecided", "To check an edit again", CHECKED_AGAIN),
    of(
        "OlmguardUndecided",
        "olmguard check --from-cluster -f -",
        CHECKED_AGAIN,
    ),
    of(
        "OlmguardWatchLost",
        "`unreachable`, `silent`",
        By::Test(
            "tests/e2e/src/trials/away.rs",
            "the_api_server_is_restarted",
        ),
    ),
    of(
        "OlmguardWatchLost",
        "olmguard restores the watch automatically",
        By::Test(
            "tests/e2e/src/trials/away.rs",
            "the_api_server_is_restarted",
        ),
    ),
    of(
        "OlmguardWatchLost",
        "`forbidden`: apply the roles",
        By::Test(ROLES, "of_the_service_account"),
    ),
    of(
        "OlmguardWatchLost",
        "`not_served`: install OLM v1",
        By::Test(
            "src/cli/commands/serve/olm/tests.rs",
            "where_none_was_ever_found_it_is_the_newest_or_what_is_set",
        ),
    ),
    of(
        "OlmguardWebhookDown",
        "let them pass until a pod answers again",
        EMERGENCY,
    ),
    of("OlmguardWebhookDown", "Then restore the pods", PODS_BACK),
];
