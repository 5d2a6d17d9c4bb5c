//! The configuration by which API servers ask the guard.

use kube::Client;

use crate::cluster::configuration;
use crate::cluster::doctor::{Examination, need, unasked};
use olmguard_views::doctor::{Configuration, MissingAnswer};

/// The configuration with the bundle of its webhook, if there is one.
pub(super) async fn read(
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
