//! Checks whether API servers can trust the certificates that olmguard serves, and for how long.

use std::time::Duration;

use crate::doctor::facts::{Bundle, Certificate, DoctorFacts, Trust};
use crate::doctor::{Check, Finding, State, about};

pub(super) fn findings(facts: &DoctorFacts) -> Vec<Finding> {
    let mut findings: Vec<_> = bundle(facts).into_iter().collect();
    let shown = facts.replicas.iter().filter_map(|replica| {
        let told = replica.told.as_ref().ok()?;
        Some((replica.name.as_str(), &told.certificate))
    });
    let shown: Vec<_> = shown.collect();
    if shown.is_empty() {
        let unknown = |check: Check| check.unknown("there is no certificate to check");
        findings.extend([Check::CaBundle, Check::ServerName, Check::Expiry].map(unknown));
        return findings;
    }
    for check in [trust, server_name, expiry] {
        let of = |(name, shown): &(&str, &Result<Certificate, String>)| match shown {
            Ok(certificate) => Some(check(facts, name, certificate)),
            Err(_) => None,
        };
        findings.extend(shown.iter().filter_map(of));
    }
    let untold = shown.iter().filter_map(|(name, shown)| {
        let why = shown.as_ref().err()?;
        let found = format!("{name}: cannot fetch its certificate: {why}");
        Some(Check::CaBundle.unknown(found))
    });
    findings.extend(untold);
    findings
}

/// Returns the findings that make API servers refuse the connection. A near expiry is not one of them.
pub(super) fn refusals(facts: &DoctorFacts) -> Vec<Finding> {
    let told = facts.replicas.iter().filter_map(|replica| {
        let certificate = replica.told.as_ref().ok()?.certificate.as_ref().ok()?;
        Some((replica.name.as_str(), certificate))
    });
    let ended = told
        .filter(|(_, shown)| shown.left.is_zero() || shown.begins_in.is_some())
        .map(|(name, shown)| expiry(facts, name, shown));
    let others = findings(facts).into_iter();
    let others = others.filter(|one| one.check != Check::Expiry && one.state == State::Fail);
    others.chain(ended).collect()
}

/// Reports a missing or unreadable bundle.
fn bundle(facts: &DoctorFacts) -> Option<Finding> {
    let webhook = facts.webhook()?;
    let (found, cause) = match webhook.bundle {
        Bundle::Certificates => return None,
        Bundle::Absent => (
            "the webhook has no caBundle",
            "API servers then use the CA certificates of their system, and the CA of olmguard is \
             not one of them",
        ),
        Bundle::Unreadable => (
            "cannot read a certificate from the caBundle of the webhook",
            "API servers cannot verify the certificate of olmguard with it",
        ),
    };
    let finding = Check::CaBundle.fail(found).since(cause);
    Some(finding.run(see_bundle(facts)))
}

fn trust(facts: &DoctorFacts, name: &str, certificate: &Certificate) -> Finding {
    match &certificate.trust {
        Trust::Trusted => Check::CaBundle.ok(format!("trusts the certificate of {name}")),
        Trust::Unknown => Check::CaBundle.unknown(format!(
            "the certificate of {name} cannot be compared with it"
        )),
        Trust::Distrusted(why) => Check::CaBundle
            .fail(format!("does not trust the certificate of {name}: {why}"))
            .since(
                "caBundle and certificate have different issuers, or the caBundle is not updated \
                 yet; olmguard, cert-manager, OpenShift or a tool that applies manifests writes \
                 the caBundle",
            )
            .run(see_bundle(facts)),
    }
}

fn see_bundle(facts: &DoctorFacts) -> String {
    let see = format!(
        "kubectl get validatingwebhookconfiguration {} -o",
        facts.names.configuration
    );
    match facts.webhook() {
        Some(webhook) if webhook.bundle == Bundle::Certificates => format!(
            "{see} jsonpath='{{.webhooks[?(@.name==\"{}\")].clientConfig.caBundle}}' | base64 -d | \
             openssl storeutl -noout -text -certs /dev/stdin",
            webhook.name
        ),
        _ => format!("{see} yaml"),
    }
}

fn server_name(facts: &DoctorFacts, name: &str, certificate: &Certificate) -> Finding {
    let Certificate {
        names,
        is_for_service,
        ..
    } = certificate;
    let names = match names.as_slice() {
        [] => "no name".to_owned(),
        names => names.join(", "),
    };
    let wanted = facts
        .webhook()
        .and_then(|webhook| webhook.server_name.clone());
    let wanted =
        wanted.unwrap_or_else(|| format!("{}.{}.svc", facts.names.service, facts.names.namespace));
    match is_for_service {
        Some(true) => Check::ServerName.ok(format!("the certificate of {name} is for {names}")),
        None => Check::ServerName.unknown(format!(
            "the certificate of {name} is for {names}; the name that API servers expect is not \
             known"
        )),
        Some(false) => Check::ServerName
            .fail(format!("the certificate of {name} is for {names}, not for {wanted}"))
            .since("API servers accept only a certificate for the name that they call")
            .run(format!(
                "kubectl get deployment {} -n {} -o yaml  # --tls-server-name, or what issues the Secret",
                facts.names.deployment, facts.names.namespace
            )),
    }
}

fn expiry(facts: &DoctorFacts, name: &str, certificate: &Certificate) -> Finding {
    let Certificate {
        until,
        life,
        left,
        begins_in,
        ..
    } = certificate;
    let check = Check::Expiry;
    let logs = format!("kubectl logs {name} -n {}", facts.names.namespace);
    if let Some(begins_in) = begins_in {
        return check
            .fail(format!(
                "the certificate of {name} is not valid yet, for another {}",
                about(*begins_in)
            ))
            .since("the clock of the issuer is ahead, or a clock in this cluster is behind")
            .run(logs);
    }
    if left.is_zero() {
        return check
            .fail(format!("the certificate of {name} expired at {until}"))
            .since(NOT_RENEWED)
            .run(logs);
    }
    let found = format!(
        "the certificate of {name} is valid until {until}, for {}",
        about(*left)
    );
    if *left < SOON.min(*life / 10) {
        check.fail(found).since(NOT_RENEWED).run(logs)
    } else if *left < EARLY.min(*life / 3) {
        check.warn(found).since(NOT_RENEWED).run(logs)
    } else {
        check.ok(found)
    }
}

const NOT_RENEWED: &str = "the certificate should have been renewed at two thirds of its lifetime";
/// Remaining validity below which the check fails, or a tenth of the lifetime if that is shorter.
const SOON: Duration = Duration::from_hours(3 * 24);
/// Remaining validity below which the check warns, or a third of the lifetime if that is shorter.
const EARLY: Duration = Duration::from_hours(14 * 24);
