//! Reviews that are small on the wire and large in memory, all from one address.

use std::sync::Arc;

use tokio::task::JoinSet;

use olmguard_support::load::review::post;
use olmguard_support::load::wire::Target;

/// Sends 140 reviews of 512 KiB and 700 of 63 KiB that consist of channels of one letter, each on
/// its own connection.
pub(crate) async fn of_channels(target: &Target) {
    let large = request(&channels(65_500));
    let small = request(&channels(8_000));
    let requests = std::iter::repeat_n(large, 140).chain(std::iter::repeat_n(small, 700));
    send(target, requests).await;
}

/// Sends 200 reviews of 2 MB that consist of requirements of a label selector.
pub(crate) async fn of_requirements(target: &Target) {
    let requirement = r#"{"key":"a","operator":"Exists"},"#;
    let requirements = requirement.repeat(1_000_000 / requirement.len());
    let selector = format!(
        r#""selector":{{"matchExpressions":[{}]}}"#,
        requirements.trim_end_matches(',')
    );
    send(target, std::iter::repeat_n(request(&selector), 200)).await;
}

fn channels(count: usize) -> String {
    let channels = r#""a","#.repeat(count);
    format!(r#""channels":[{}]"#, channels.trim_end_matches(','))
}

/// Returns an update with this field in both objects, which differ in the version.
fn request(field: &str) -> Arc<[u8]> {
    let object = |version: &str| {
        format!(
            r#"{{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterExtension","metadata":{{"name":"p"}},"spec":{{"namespace":"n","serviceAccount":{{"name":"s"}},"source":{{"sourceType":"Catalog","catalog":{{"packageName":"p","version":"{version}",{field}}}}}}}}}"#
        )
    };
    let resource =
        r#"{"group":"olm.operatorframework.io","version":"v1","resource":"clusterextensions"}"#;
    let kind = r#"{"group":"olm.operatorframework.io","version":"v1","kind":"ClusterExtension"}"#;
    let body = format!(
        r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"u","kind":{kind},"resource":{resource},"name":"p","operation":"UPDATE","object":{},"oldObject":{}}}}}"#,
        object("1.1.0"),
        object("1.0.0")
    );
    post(&body).into()
}

/// Sends all requests at the same time, and drops the answers.
async fn send(target: &Target, requests: impl Iterator<Item = Arc<[u8]>>) {
    let mut sending = JoinSet::new();
    for request in requests {
        let target = target.clone();
        sending.spawn(async move {
            if let Ok(mut connection) = target.connect().await {
                drop(connection.ask(&request).await);
            }
        });
    }
    sending.join_all().await;
}
