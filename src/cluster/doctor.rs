//! Facts about olmguard, gathered from its cluster. The cluster is not changed.
//!
//! ```text
//! configuration, service, endpoints, deployment   objects, read once
//! replicas     each ready endpoint, through the API server's proxy, else at its address
//! permissions  SubjectAccessReviews for the service account of the guard
//! policies     UpgradePolicies and UpgradeGuardrails, read, with their status
//! round trip   a dry run of a creation that must be denied
//! ```
//!
//! What cannot be asked is a fact, too: it costs that fact alone.

mod permissions;
mod policies;
mod replicas;
mod serving;

use std::sync::Arc;

use kube::Client;

use crate::cluster::configuration::ExpectedConfiguration;
use crate::cluster::fault::{FaultClass, WatchFault};
use crate::cluster::{configuration, line};
use crate::tls::{Authorities, Clock};
use olmguard_views::doctor::{Configuration, DoctorFacts, MissingAnswer, Names, Need};
use serving::send_probe;

/// What is looked at, and by what it is judged.
#[derive(Debug)]
pub struct Examination {
    /// The names of what is looked at.
    pub names: Names,
    /// The webhook configuration as it is shipped.
    pub expected: ExpectedConfiguration,
    /// The port of a replica that tells its health.
    pub ops_port: u16,
    /// The release of this program.
    pub version: String,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// The cluster cannot be asked at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot ask the API server: {0}")]
pub struct NoAnswer(String);

/// Gathers the facts.
///
/// # Errors
/// If the API server does not answer, or does not know who asks.
pub async fn gather(client: &Client, of: &Examination) -> Result<DoctorFacts, NoAnswer> {
    let (client, _) = line::open(client.clone());
    greet(&client).await?;
    let names = &of.names;
    let read = read_configuration(&client, of).await;
    let (configuration, bundle) = match read {
        Ok(Some((configuration, bundle))) => (Ok(Some(configuration)), bundle),
        Ok(None) => (Ok(None), None),
        Err(unasked) => (Err(unasked), None),
    };
    let server_name = configuration.as_ref().ok().and_then(Option::as_ref);
    let server_name = server_name.and_then(|one| one.webhook.as_ref()?.server_name.clone());
    let endpoints = serving::endpoints(&client, names).await;
    let trusted = replicas::CertificateTrust {
        authorities: bundle.map(|bundle| Authorities::from_pem(&bundle)),
        server_name,
    };
    let ready = endpoints.iter().flatten().filter(|one| one.is_ready);
    let asked = ready.map(|one| replicas::ask(&client, of, &trusted, one));
    let replicas = futures_util::future::join_all(asked).await;
    let found = serving::deployment(&client, names).await;
    let permissions = permissions::ask(&client, names, found.as_ref().ok()).await;
    Ok(DoctorFacts {
        names: names.clone(),
        version: of.version.clone(),
        configuration,
        service: serving::service(&client, names).await,
        endpoints,
        deployment: found.map(|found| found.counts),
        replicas,
        permissions,
        policies: policies::ask(&client).await,
        round_trip: send_probe(&client, names).await,
    })
}

/// Whether anybody answers who knows who asks.
async fn greet(client: &Client) -> Result<(), NoAnswer> {
    let Err(error) = client.apiserver_version().await else {
        return Ok(());
    };
    let WatchFault { class, words } = WatchFault::from(&error);
    match class {
        FaultClass::Unreachable
        | FaultClass::Silent
        | FaultClass::Unauthorized
        | FaultClass::Undecodable => Err(NoAnswer(words)),
        // It answers, and whoever asks may not know its version.
        _ => Ok(()),
    }
}

/// What became of something that needs a right.
fn unasked(need: Need, error: &kube::Error) -> MissingAnswer {
    let WatchFault { class, words } = WatchFault::from(error);
    MissingAnswer {
        need,
        is_forbidden: class == FaultClass::Forbidden,
        why: words,
    }
}

fn need(verb: &'static str, resource: &str, namespace: Option<&str>, name: Option<&str>) -> Need {
    Need {
        verb,
        resource: resource.to_owned(),
        name: name.map(str::to_owned),
        namespace: namespace.map(str::to_owned),
    }
}

// === The webhook configuration of olmguard ===

/// The configuration with the bundle of its webhook, if there is one.
async fn read_configuration(
    client: &Client,
    of: &Examination,
) -> Result<Option<(Configuration, Option<Vec<u8>>)>, MissingAnswer> {
    let read = configuration::read(client, &of.expected).await;
    read.map_err(|error| {
        let resource = "validatingwebhookconfigurations";
        let name = of.expected.name();
        unasked(need("get", resource, None, Some(name)), &error)
    })
}
