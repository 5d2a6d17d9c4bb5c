//! The changes to a webhook configuration that make API servers trust a bundle.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use hyper::Uri;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cluster::authority::AuthorityFailure;
use olmguard_server::pem_file;
use olmguard_server::tls::Leaf;

/// Returns our webhooks: their indexes, and their bundles.
pub(super) fn ours<'c>(
    configuration: &'c ValidatingWebhookConfiguration,
    names: &[ServerName<'_>],
) -> Result<Vec<(usize, &'c [u8])>, AuthorityFailure> {
    if let Some(annotation) = injection(configuration) {
        let configuration = configuration.metadata.name.clone().unwrap_or_default();
        return Err(AuthorityFailure::Injected {
            configuration,
            annotation,
        });
    }
    let webhooks = configuration.webhooks.iter().flatten().enumerate();
    let ours: Vec<_> = webhooks
        .filter(|(_, webhook)| is_ours(&webhook.client_config, names))
        .collect();
    if ours.is_empty() {
        return Err(no_webhook(configuration, names));
    }
    Ok(ours
        .into_iter()
        .map(|(at, webhook)| (at, bundle(webhook)))
        .collect())
}

/// Returns the patch that sets the bundles at these indexes; none if there are none.
///
/// The patch applies only to the version that was read, so the indexes are correct.
pub(super) fn patch(
    configuration: &ValidatingWebhookConfiguration,
    bundles: impl Iterator<Item = (usize, String)>,
) -> Option<json_patch::Patch> {
    let puts: Vec<_> = bundles.map(|(at, bundle)| put(at, &bundle)).collect();
    if puts.is_empty() {
        return None;
    }
    let version = &configuration.metadata.resource_version;
    let test = json!({"op": "test", "path": "/metadata/resourceVersion", "value": version});
    let steps: Vec<Value> = [test].into_iter().chain(puts).collect();
    let patch = serde_json::from_value(Value::Array(steps));
    Some(patch.expect("each step has its op, path and value"))
}

/// Returns the bundle of a webhook; empty if it has none.
fn bundle(webhook: &ValidatingWebhook) -> &[u8] {
    let found = webhook.client_config.ca_bundle.as_ref();
    found.map_or(&[], |ByteString(found)| found)
}

/// Returns the annotation by which another program writes these bundles, if any.
fn injection(configuration: &ValidatingWebhookConfiguration) -> Option<&'static str> {
    let annotations = configuration.metadata.annotations.as_ref()?;
    INJECTIONS
        .into_iter()
        .find(|name| annotations.contains_key(*name))
}

/// Returns the step that adds or replaces a bundle.
fn put(at: usize, bundle: &str) -> Value {
    let value = ByteString(bundle.as_bytes().to_vec());
    json!({"op": "add", "path": format!("/webhooks/{at}/clientConfig/caBundle"), "value": value})
}

/// Whether an API server calls the webhook by one of these names.
fn is_ours(client: &WebhookClientConfig, names: &[ServerName<'_>]) -> bool {
    let called = called(client);
    let called = called.and_then(|called| ServerName::try_from(called).ok());
    called.is_some_and(|called| names.contains(&called))
}

/// Returns the name that the certificate of a webhook must be valid for.
pub(in crate::cluster) fn called(client: &WebhookClientConfig) -> Option<String> {
    if let Some(service) = &client.service {
        return Some(format!("{}.{}.svc", service.name, service.namespace));
    }
    let url: Uri = client.url.as_ref()?.parse().ok()?;
    let host = url.host()?.trim_start_matches('[').trim_end_matches(']');
    Some(host.to_owned())
}

fn no_webhook(
    configuration: &ValidatingWebhookConfiguration,
    names: &[ServerName<'_>],
) -> AuthorityFailure {
    let names: Vec<_> = names.iter().map(ServerName::to_str).collect();
    AuthorityFailure::NoWebhook {
        configuration: configuration.metadata.name.clone().unwrap_or_default(),
        names: names.join(", "),
    }
}

/// The annotations of cert-manager's ca-injector, and of OpenShift's service-ca operator.
const INJECTIONS: [&str; 4] = [
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
    "service.beta.openshift.io/inject-cabundle",
];

// === What one replica remembers of a configuration: the published bundle, and foreign certificates ===
//
// Foreign certificates stay next to ours for [`GRACE`]. So a server with a certificate from another Secret or from
// cert-manager stays trusted until its last replica has ended. After that they are removed, because olmguard decides
// which CAs are trusted. Certificates that are no longer in the bundle are forgotten.

/// The memory of this replica about one configuration.
#[derive(Debug, Default)]
pub(super) struct KnownConfiguration {
    /// Our certificates that were last published, if any.
    ours: Option<Certificates>,
    /// Foreign certificates, and when each was seen first.
    others: BTreeMap<Certificate, Instant>,
    /// The last note, if it still applies.
    noted: Option<BundleNote>,
}

/// A condition that an administrator should know about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum BundleNote {
    /// The configuration does not exist.
    Absent,
    /// The bundle was changed by another client.
    Changed,
    /// The bundle has foreign certificates that stay for a while.
    Others,
}

/// A moment, by the wall clock and by the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockMoment {
    pub(super) now: SystemTime,
    pub(super) at: Instant,
}

/// A certificate as DER.
type Certificate = Vec<u8>;

type Certificates = BTreeSet<Certificate>;

impl KnownConfiguration {
    /// Returns a new value for each of these bundles, so that it contains our certificates; `None` for one that is
    /// right.
    pub(super) fn look(
        &mut self,
        found: &[&[u8]],
        bundle: &str,
        moment: ClockMoment,
    ) -> (Vec<Option<String>>, Option<BundleNote>) {
        let ours = certificates(bundle.as_bytes());
        let sets: Vec<_> = found.iter().map(|found| certificates(found)).collect();
        let all: Certificates = sets.iter().flatten().cloned().collect();
        let has_news = self.meet(&all, &ours, moment.at);
        let looks = found.iter().zip(&sets);
        let wanted = looks.map(|(found, set)| self.wanted(found, set, bundle, &ours, moment));
        let wanted: Vec<_> = wanted.collect();
        let note = self.noted(&wanted, &all, has_news);
        (wanted, note)
    }

    /// Records that our certificates are published.
    pub(super) fn published(&mut self, bundle: &str) {
        self.ours = Some(certificates(bundle.as_bytes()));
    }

    /// Records that the configuration does not exist. Changes until it exists again are not reported.
    pub(super) fn absent(&mut self) -> Option<BundleNote> {
        self.ours = None;
        self.others.clear();
        self.note(Some(BundleNote::Absent))
    }

    /// Remembers foreign certificates. Returns true if some of them are new.
    fn meet(&mut self, all: &Certificates, ours: &Certificates, at: Instant) -> bool {
        let was_ours =
            |one: &Certificate| self.ours.as_ref().is_some_and(|ours| ours.contains(one));
        let others = all.iter();
        let others = others.filter(|one| !ours.contains(*one) && !was_ours(one));
        let others: BTreeMap<_, _> = others
            .map(|one| (one.clone(), self.others.get(one).copied().unwrap_or(at)))
            .collect();
        let has_news = others.keys().any(|one| !self.others.contains_key(one));
        self.others = others;
        has_news
    }

    fn wanted(
        &self,
        found: &[u8],
        set: &Certificates,
        bundle: &str,
        ours: &Certificates,
        moment: ClockMoment,
    ) -> Option<String> {
        let kept = set.iter().filter(|one| self.is_kept(one, moment));
        let kept: Certificates = kept.cloned().collect();
        // The order does not matter: otherwise replicas that write different orders would overwrite each other forever.
        let is_right = !set.is_empty() && *set == ours.union(&kept).cloned().collect();
        if is_right || found == bundle.as_bytes() {
            return None;
        }
        let kept: String = kept.iter().map(|one| pem_file::written(&[one])).collect();
        Some(bundle.to_owned() + &kept)
    }

    fn is_kept(&self, one: &Certificate, moment: ClockMoment) -> bool {
        let seen = self.others.get(one);
        let is_new = seen.is_some_and(|seen| moment.at.duration_since(*seen) < GRACE);
        is_new
            && Leaf::read(&CertificateDer::from(&**one))
                .is_ok_and(|leaf| moment.now <= leaf.not_after)
    }

    fn noted(
        &mut self,
        wanted: &[Option<String>],
        all: &Certificates,
        has_news: bool,
    ) -> Option<BundleNote> {
        let is_right = wanted.iter().all(Option::is_none);
        let lacks = self.ours.as_ref().is_some_and(|ours| !ours.is_subset(all));
        match &self.ours {
            _ if is_right && !has_news => self.note(None),
            Some(_) if has_news || (lacks && !is_right) => self.note(Some(BundleNote::Changed)),
            None if has_news => self.note(Some(BundleNote::Others)),
            _ => None,
        }
    }

    /// Returns the note if it differs from the last one.
    fn note(&mut self, note: Option<BundleNote>) -> Option<BundleNote> {
        let is_same = self.noted == note;
        self.noted = note;
        note.filter(|_| !is_same)
    }
}

/// Returns all certificates that can be read; others cannot make anything trusted.
fn certificates(bundle: &[u8]) -> Certificates {
    let all = CertificateDer::pem_slice_iter(bundle);
    all.filter_map(Result::ok).map(|one| one.to_vec()).collect()
}

/// The time for which foreign certificates stay trusted next to ours: longer than a rollout takes.
pub(super) const GRACE: Duration = Duration::from_hours(1);

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    /// Returns a certificate that is valid until the start of this year.
    fn until(year: i32) -> String {
        let mut params = CertificateParams::new(["x".to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().pem().replace('\r', "")
    }

    fn later(moment: ClockMoment, by: Duration) -> ClockMoment {
        ClockMoment {
            now: moment.now + by,
            at: moment.at + by,
        }
    }

    /// Returns a moment in the year 2001.
    fn begin() -> ClockMoment {
        ClockMoment {
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000),
            at: Instant::now(),
        }
    }

    #[test]
    fn others_stay_for_an_hour_unless_they_have_expired() {
        let (ours, other, expired) = (until(2100), until(2100), until(2000));
        let (mut known, first) = (KnownConfiguration::default(), begin());
        let found = format!("{other}{expired}not a certificate\n");
        let both = format!("{ours}{other}");
        let looked = known.look(&[found.as_bytes()], &ours, first);
        assert_eq!(looked, (vec![Some(both.clone())], Some(BundleNote::Others)));
        known.published(&ours);
        let reversed = format!("{other}{ours}");
        for found in [&both, &reversed] {
            let looked = known.look(&[found.as_bytes()], &ours, first);
            assert_eq!(looked, (vec![None], None), "in any order");
        }
        let (wanted, note) = known.look(&[both.as_bytes()], &ours, later(first, GRACE));
        assert_eq!((wanted, note), (vec![Some(ours)], None));
    }

    #[test]
    fn a_change_by_somebody_else_is_noted_once() {
        let (ours, other) = (until(2100), until(2100));
        let (mut known, now) = (KnownConfiguration::default(), begin());
        assert_eq!(
            known.look(&[b""], &ours, now),
            (vec![Some(ours.clone())], None)
        );
        known.published(&ours);
        for note in [Some(BundleNote::Changed), None] {
            let (wanted, noted) = known.look(&[other.as_bytes()], &ours, now);
            assert_eq!(wanted, [Some(format!("{ours}{other}"))]);
            assert_eq!(noted, note);
        }
        assert_eq!(
            known.look(&[ours.as_bytes()], &ours, now),
            (vec![None], None)
        );
        let taken_out = known.look(&[b""], &ours, now);
        assert_eq!(taken_out.1, Some(BundleNote::Changed), "again");
    }

    #[test]
    fn what_was_ours_is_nobody_elses() {
        let (old, new) = (until(2100), until(2100));
        let both = format!("{old}{new}");
        let (mut known, now) = (KnownConfiguration::default(), begin());
        known.published(&old);
        let looked = known.look(&[old.as_bytes()], &both, now);
        assert_eq!(looked, (vec![Some(both.clone())], None));
        known.published(&both);
        let looked = known.look(&[both.as_bytes()], &new, now);
        assert_eq!(looked, (vec![Some(new)], None));
    }

    #[test]
    fn a_configuration_that_is_not_there_is_noted_once() {
        let mut known = KnownConfiguration::default();
        known.published(&until(2100));
        assert_eq!(known.absent(), Some(BundleNote::Absent));
        assert_eq!(known.absent(), None);
        let ours = until(2100);
        let looked = known.look(&[b""], &ours, begin());
        assert_eq!(looked.1, None, "nobody changed what is new");
        known.published(&ours);
        known.look(&[ours.as_bytes()], &ours, begin());
        assert_eq!(known.absent(), Some(BundleNote::Absent), "again");
    }
}
