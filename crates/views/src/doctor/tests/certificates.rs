//! The certificates that olmguard serves to API servers.

use std::time::Duration;

use super::scene::{Scene, certificate, days, says, told, webhook, with_told, with_webhook};
use crate::doctor::{Bundle, Certificate, Check, DoctorFacts, ReplicaStatus, Trust, Webhook};

const SEE: &str = "kubectl get validatingwebhookconfiguration olmguard -o \
    jsonpath='{.webhooks[?(@.name==\"validate.olmguard.dev\")].clientConfig.caBundle}' | base64 -d | \
    openssl storeutl -noout -text -certs /dev/stdin";
const YAML: &str = "kubectl get validatingwebhookconfiguration olmguard -o yaml";

fn showing(certificate: Certificate) -> DoctorFacts {
    with_told(ReplicaStatus {
        certificate: Ok(certificate),
        ..told()
    })
}

#[test]
fn a_bundle_without_a_certificate_is_told_by_itself() {
    for (bundle, found, cause) in [
        (
            Bundle::Absent,
            "the webhook has no caBundle",
            "API servers then use the CA certificates of their system, and the CA of olmguard is \
             not one of them",
        ),
        (
            Bundle::Unreadable,
            "cannot read a certificate from the caBundle of the webhook",
            "API servers cannot verify the certificate of olmguard with it",
        ),
    ] {
        let mut facts = with_webhook(Webhook {
            bundle,
            ..webhook()
        });
        facts.replicas.clear();
        let unknown = ["unknown", "there is no certificate to check", "", ""];
        says(
            &facts,
            Check::CaBundle,
            &[["fail", found, cause, YAML], unknown],
        );
        for check in [Check::ServerName, Check::Expiry] {
            says(&facts, check, &[unknown]);
        }
    }
}

#[test]
fn a_bundle_that_does_not_vouch_says_why() {
    let trust = Trust::Distrusted("it is issued by CN=b, but the trusted CAs are CN=a".to_owned());
    says(
        &showing(Certificate {
            trust,
            ..certificate()
        }),
        Check::CaBundle,
        &[[
            "fail",
            "does not trust the certificate of olmguard-1: it is issued by CN=b, but the \
             trusted CAs are CN=a",
            "caBundle and certificate have different issuers, or the caBundle is not updated yet; \
             olmguard, cert-manager, OpenShift or a tool that applies manifests writes the \
             caBundle",
            SEE,
        ]],
    );
    let facts = showing(Certificate {
        trust: Trust::Unknown,
        ..certificate()
    });
    let found = "the certificate of olmguard-1 cannot be compared with it";
    says(&facts, Check::CaBundle, &[["unknown", found, "", ""]]);
}

#[test]
fn a_certificate_that_cannot_be_had_is_unknown() {
    let facts = with_told(ReplicaStatus {
        certificate: Err("404: not found".to_owned()),
        ..told()
    });
    let found = "olmguard-1: cannot fetch its certificate: 404: not found";
    says(&facts, Check::CaBundle, &[["unknown", found, "", ""]]);
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let other = |names: &[&str], is_for_service| {
        showing(Certificate {
            names: names.iter().map(|one| (*one).to_owned()).collect(),
            is_for_service,
            ..certificate()
        })
    };
    let cause = "API servers accept only a certificate for the name that they call";
    let command = "kubectl get deployment olmguard -n olmguard-system -o yaml  \
                   # --tls-server-name, or what issues the Secret";
    let found = "the certificate of olmguard-1 is for a, b, not for olmguard.olmguard-system.svc";
    says(
        &other(&["a", "b"], Some(false)),
        Check::ServerName,
        &[["fail", found, cause, command]],
    );
    let found =
        "the certificate of olmguard-1 is for no name, not for olmguard.olmguard-system.svc";
    says(
        &other(&[], Some(false)),
        Check::ServerName,
        &[["fail", found, cause, command]],
    );
    let found =
        "the certificate of olmguard-1 is for a; the name that API servers expect is not known";
    says(
        &other(&["a"], None),
        Check::ServerName,
        &[["unknown", found, "", ""]],
    );
}

#[test]
fn the_end_of_a_certificate_is_told_in_time() {
    let hours = Duration::from_hours;
    for (life, left, state, for_) in [
        (days(90), days(15), "ok", "15 d"),
        (days(90), days(14), "ok", "14 d"),
        (days(90), hours(335), "warn", "13 d"),
        (days(90), days(3), "warn", "3 d"),
        (days(90), hours(71), "fail", "2 d"),
        (days(7), days(3), "ok", "3 d"),
        (days(7), hours(55), "warn", "2 d"),
        (days(7), hours(16), "fail", "16 h"),
        (hours(1), Duration::from_mins(5), "fail", "5 min"),
        (hours(1), Duration::from_secs(90), "fail", "90 s"),
    ] {
        let facts = showing(Certificate {
            life,
            left,
            ..certificate()
        });
        let found = format!(
            "the certificate of olmguard-1 is valid until 2026-11-27T00:00:00Z, for {for_}"
        );
        let (cause, command) = match state {
            "ok" => ("", ""),
            _ => (
                "the certificate should have been renewed at two thirds of its lifetime",
                "kubectl logs olmguard-1 -n olmguard-system",
            ),
        };
        says(&facts, Check::Expiry, &[[state, &found, cause, command]]);
    }
}

#[test]
fn a_certificate_out_of_its_time_is_refused() {
    let facts = showing(Certificate {
        left: Duration::ZERO,
        ..certificate()
    });
    let logs = "kubectl logs olmguard-1 -n olmguard-system";
    says(
        &facts,
        Check::Expiry,
        &[[
            "fail",
            "the certificate of olmguard-1 expired at 2026-11-27T00:00:00Z",
            "the certificate should have been renewed at two thirds of its lifetime",
            logs,
        ]],
    );
    let facts = showing(Certificate {
        begins_in: Some(Duration::from_hours(5)),
        ..certificate()
    });
    says(
        &facts,
        Check::Expiry,
        &[[
            "fail",
            "the certificate of olmguard-1 is not valid yet, for another 5 h",
            "the clock of the issuer is ahead, or a clock in this cluster is behind",
            logs,
        ]],
    );
}

#[test]
fn without_a_configuration_the_name_is_that_of_the_service() {
    let facts = DoctorFacts {
        configuration: Ok(None),
        ..showing(Certificate {
            is_for_service: Some(false),
            ..certificate()
        })
    };
    let finding = super::findings(&facts);
    let finding = finding.iter().find(|one| one.check == Check::ServerName);
    let found = &finding.expect("one").found;
    assert!(
        found.ends_with(", not for olmguard.olmguard-system.svc"),
        "{found}"
    );
    assert_eq!(Scene::well().names.service, "olmguard");
}
