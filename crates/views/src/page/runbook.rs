//! The runbook of each alert in `deploy/monitoring`, in the program: a cluster without a way to the
//! internet has it as well, in the version that runs.

/// What to do about one alert.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Runbook {
    /// The name of the alert, such as `OlmguardCatalogStale`.
    pub alert: &'static str,
    /// The page, in Markdown.
    pub page: &'static str,
}

impl Runbook {
    /// Every one, in the order of the names.
    pub const ALL: &[Self] = RUNBOOKS;
}

macro_rules! runbooks {
    ($($alert:ident),+ $(,)?) => {
        &[$(Runbook {
            alert: stringify!($alert),
            page: include_str!(concat!("../../../../docs/runbooks/", stringify!($alert), ".md")),
        }),+]
    };
}

const RUNBOOKS: &[Runbook] = runbooks![
    OlmguardAbsent,
    OlmguardAllReplicasDegraded,
    OlmguardAuditOverdue,
    OlmguardCatalogEmpty,
    OlmguardCatalogHeldBack,
    OlmguardCatalogLoadFailing,
    OlmguardCatalogShrunk,
    OlmguardCatalogStale,
    OlmguardCertExpiry,
    OlmguardCertReloadFailing,
    OlmguardConfigurationChanged,
    OlmguardDenialSpike,
    OlmguardFailOpen,
    OlmguardHighLatency,
    OlmguardPanic,
    OlmguardPoliciesUnknown,
    OlmguardPolicyNotAccepted,
    OlmguardQueueRejecting,
    OlmguardUndecided,
    OlmguardWatchLost,
    OlmguardWebhookDown,
];

/// The runbook of the first alert that is named in a text.
pub(super) fn named(text: &str) -> Option<Runbook> {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|word| {
        let is_it = |runbook: &&Runbook| runbook.alert.eq_ignore_ascii_case(word);
        Runbook::ALL.iter().find(is_it).copied()
    })
}
