//! The stored content as JSON: the authorities, from oldest to newest. Also the parts of one authority.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData, SignatureAlgorithm, SigningKey,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use zeroize::Zeroizing;

use crate::pem_file;
use crate::tls::leaf::{IdentityOrigin, moment, parse};
use crate::tls::self_managed::renewal::{
    AuthorityFate, MOST, NextAuthority, ReplicaView, RotationStage, Term, stage,
};
use crate::tls::self_managed::{AUTHORITY_LIFE, AuthorityError, BACKDATE, LEAF_LIFE};
use crate::tls::{ServerIdentity, TlsError};

/// All authorities that clients must trust, from oldest to newest.
#[derive(Clone, Default)]
pub(super) struct StoredAuthorities {
    authorities: Vec<Authority>,
}

#[derive(Deserialize, Serialize)]
struct Wire {
    authorities: Vec<WireAuthority>,
}

#[derive(Deserialize, Serialize)]
struct WireAuthority {
    certificate: String,
    key: Zeroizing<String>,
    /// Seconds since 1970.
    published: Option<u64>,
    leaving: bool,
}

impl StoredAuthorities {
    /// Reads stored content. Errors report the position, and none of the content.
    pub(super) fn read(content: &[u8]) -> Result<Self, AuthorityError> {
        let wire: Wire =
            serde_json::from_slice(content).map_err(|error| AuthorityError::Damaged {
                why: format!(
                    "expected JSON with authorities, found something else at line {} column {}",
                    error.line(),
                    error.column()
                ),
            })?;
        if wire.authorities.len() > MOST {
            return Err(AuthorityError::Damaged {
                why: format!("expected at most {MOST} authorities, found more"),
            });
        }
        let authorities = wire.authorities.into_iter().enumerate().map(read_one);
        Ok(Self {
            authorities: authorities.collect::<Result<_, _>>()?,
        })
    }

    /// The stored form.
    pub(super) fn write(&self) -> Zeroizing<Vec<u8>> {
        let authorities = self.authorities.iter().map(|authority| WireAuthority {
            certificate: authority.material.certificate.clone(),
            key: authority.material.key.clone(),
            published: authority.published.map(seconds),
            leaving: authority.is_leaving,
        });
        let wire = Wire {
            authorities: authorities.collect(),
        };
        let mut content = Zeroizing::new(Vec::with_capacity(self.room()));
        serde_json::to_writer(&mut *content, &wire).expect("texts and numbers can be written");
        content
    }

    /// Returns an upper bound of the written size. A buffer that grows would leave copies behind that are not wiped.
    fn room(&self) -> usize {
        let texts = self.authorities.iter();
        let texts =
            texts.map(|one| one.material.certificate.len() + one.material.key.len() + AROUND);
        // A line feed takes two characters in JSON.
        AROUND + texts.map(|length| length * 2).sum::<usize>()
    }

    /// Returns what is due, as this replica sees it.
    fn stage(&self, view: ReplicaView<'_>) -> RotationStage {
        let terms = self
            .authorities
            .iter()
            .map(|authority| view.term(authority));
        stage(&terms.collect::<Vec<Term>>(), view.now)
    }

    /// Returns the authorities after the steps that are due, or `None` if none is due.
    pub(super) fn advanced(&self, view: ReplicaView<'_>) -> Result<Option<Self>, AuthorityError> {
        let RotationStage { fates, next, .. } = self.stage(view);
        let marks = self.authorities.iter().map(|one| one.is_leaving);
        let is_same = marks.map(AuthorityFate::marked).eq(fates.iter().copied());
        if is_same && next == NextAuthority::NotYet {
            return Ok(None);
        }
        let mut authorities: Vec<_> = self.authorities.iter().zip(fates).filter_map(met).collect();
        if next == NextAuthority::Due {
            authorities.push(Authority::make(view.now)?);
        }
        Ok(Some(Self { authorities }))
    }

    /// Returns the authorities with all of them stamped as published, or `None` if all already were.
    pub(super) fn published(&self, now: SystemTime) -> Option<Self> {
        let stamp = self.stamp(now);
        let mut published = self.clone();
        let news = published.authorities.iter_mut();
        let news = news.filter(|authority| authority.published.is_none());
        let count = news
            .map(|authority| authority.published = Some(stamp))
            .count();
        (count > 0).then_some(published)
    }

    /// Returns the stamp for new authorities. It is not earlier than the existing stamps, because this clock may be
    /// behind. An implausible stamp is ignored, so that it has no lasting effect.
    fn stamp(&self, now: SystemTime) -> SystemTime {
        let stamps = self.authorities.iter().filter_map(|one| one.published);
        let stamps = stamps.filter(|stamp| *stamp <= now + AUTHORITY_LIFE);
        stamps.fold(now, SystemTime::max)
    }

    /// Returns the certificates of all authorities, as PEM.
    pub(super) fn bundle(&self) -> String {
        self.authorities
            .iter()
            .map(|authority| &*authority.material.certificate)
            .collect()
    }

    /// Returns the authority that signs, as this replica sees it.
    pub(super) fn signer(&self, view: ReplicaView<'_>) -> Option<&Authority> {
        self.authorities.get(self.stage(view).signer?)
    }

    /// Returns all authorities, from oldest to newest.
    pub(super) fn authorities(&self) -> &[Authority] {
        &self.authorities
    }
}

/// Applies the next state to an authority; none if it is removed.
fn met((authority, fate): (&Authority, AuthorityFate)) -> Option<Authority> {
    let mut authority = authority.clone();
    authority.is_leaving = match fate {
        AuthorityFate::Stays => false,
        AuthorityFate::Leaves => true,
        AuthorityFate::Gone => return None,
    };
    Some(authority)
}

fn read_one((at, wire): (usize, WireAuthority)) -> Result<Authority, AuthorityError> {
    let damaged = |why| AuthorityError::Damaged {
        why: format!("authority {}: {why}", at + 1),
    };
    let mut authority = Authority::read(&wire.certificate, wire.key).map_err(damaged)?;
    authority.published = wire
        .published
        .map(since_1970)
        .transpose()
        .map_err(damaged)?;
    authority.is_leaving = wire.leaving;
    Ok(authority)
}

/// Converts a stamp. A date after every certificate would overflow sums.
fn since_1970(seconds: u64) -> Result<SystemTime, &'static str> {
    if seconds > YEAR_9999 {
        return Err("it was published after the year 9999");
    }
    Ok(UNIX_EPOCH + Duration::from_secs(seconds))
}

fn seconds(moment: SystemTime) -> u64 {
    let since = moment.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// More than the JSON syntax around the texts of an authority.
const AROUND: usize = 64;

const YEAR_9999: u64 = 253_402_300_799;

// === One certificate authority: its certificate, its key, and the certificates that it signs ===

/// An authority, with the time of its publication and its mark. Cheap to clone.
///
/// Invariant: the key belongs to the certificate. rcgen accepts a foreign key without an error.
#[derive(Clone)]
pub(super) struct Authority {
    material: Arc<Material>,
    pub(super) published: Option<SystemTime>,
    /// Whether it is marked: replicas with a leaf from it must get another one.
    pub(super) is_leaving: bool,
}

struct Material {
    /// The certificate of the authority, PEM.
    certificate: String,
    /// The key as PEM, for the store only.
    key: Zeroizing<String>,
    issuer: Issuer<'static, CaKey>,
    not_before: SystemTime,
    not_after: SystemTime,
}

/// A signing key. The copy that rcgen keeps is wiped when it is dropped.
struct CaKey(Zeroizing<KeyPair>);

impl Authority {
    /// Makes an authority that is not published yet.
    pub(super) fn make(now: SystemTime) -> Result<Self, AuthorityError> {
        let key = Zeroizing::new(KeyPair::generate()?);
        let (from, until) = (now - BACKDATE, now + AUTHORITY_LIFE);
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        // Each authority has its own name, so that no client mistakes one for another.
        let name = format!("olmguard authority {}", date(now)?.unix_timestamp());
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = date(from)?;
        params.not_after = date(until)?;
        let certificate = params.self_signed(&*key)?.pem();
        Self::read(&certificate, Zeroizing::new(key.serialize_pem())).map_err(|why| {
            AuthorityError::Damaged {
                why: why.to_owned(),
            }
        })
    }

    /// Reads a stored authority and checks it. The result counts as not published.
    pub(super) fn read(certificate: &str, key: Zeroizing<String>) -> Result<Self, &'static str> {
        let der = CertificateDer::from_pem_slice(certificate.as_bytes())
            .map_err(|_| "its certificate is not PEM")?;
        let parsed = parse(&der).map_err(|_| "its certificate cannot be read")?;
        let pair = KeyPair::from_pem(&key).map_err(|_| "its key cannot be read")?;
        if !parsed.is_ca() {
            return Err("its certificate is not a CA certificate");
        }
        if pair.subject_public_key_info() != parsed.public_key().raw {
            return Err("its key does not belong to its certificate");
        }
        let validity = parsed.validity();
        let (not_before, not_after) = (moment(validity.not_before), moment(validity.not_after));
        let issuer = Issuer::from_ca_cert_der(&der, CaKey(Zeroizing::new(pair)))
            .map_err(|_| "its certificate cannot sign other certificates")?;
        Ok(Self {
            material: Arc::new(Material {
                certificate: pem_file::written(&[&der]),
                key,
                issuer,
                not_before,
                not_after,
            }),
            published: None,
            is_leaving: false,
        })
    }

    /// Signs a leaf for these names, with a key of its own. The leaf does not outlive the authority.
    pub(super) fn sign(
        &self,
        names: &[String],
        now: SystemTime,
    ) -> Result<ServerIdentity, TlsError> {
        let made = self.leaf(names, now)?;
        let key = PrivateKeyDer::Pkcs8(made.1.serialize_der().into());
        ServerIdentity::new(vec![made.0], key, &IdentityOrigin::Made)
    }

    fn leaf(
        &self,
        names: &[String],
        now: SystemTime,
    ) -> Result<(CertificateDer<'static>, Zeroizing<KeyPair>), AuthorityError> {
        let key = Zeroizing::new(KeyPair::generate()?);
        let mut params = CertificateParams::new(names)?;
        params
            .distinguished_name
            .push(DnType::CommonName, "olmguard");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        params.not_before = date(now - BACKDATE)?;
        params.not_after = date((now + LEAF_LIFE).min(self.material.not_after))?;
        let certificate = params.signed_by(&*key, &self.material.issuer)?;
        Ok((certificate.der().clone(), key))
    }

    /// Returns the start and the end of the validity.
    pub(super) fn validity(&self) -> (SystemTime, SystemTime) {
        (self.material.not_before, self.material.not_after)
    }

    /// Whether both are the same authority, published or not.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.material.certificate == other.material.certificate
    }
}

impl PublicKeyData for CaKey {
    fn der_bytes(&self) -> &[u8] {
        self.0.der_bytes()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl SigningKey for CaKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        self.0.sign(message)
    }
}

/// Converts a time for a certificate, which has whole seconds and years of four digits.
fn date(moment: SystemTime) -> Result<OffsetDateTime, AuthorityError> {
    let since = moment.duration_since(UNIX_EPOCH);
    let seconds = since.map_err(|_| AuthorityError::Clock)?.as_secs();
    let seconds = i64::try_from(seconds).map_err(|_| AuthorityError::Clock)?;
    OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| AuthorityError::Clock)
}

#[cfg(test)]
mod tests {
    //! Stored content is read back, or rejected without any of it in the error.

    use std::time::{Duration, UNIX_EPOCH};

    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::{MOST, StoredAuthorities};
    use crate::tls::self_managed::AUTHORITY_LIFE;
    use crate::tls::self_managed::renewal::{AuthorityHistory, ReplicaView};

    fn made() -> StoredAuthorities {
        let now = UNIX_EPOCH + Duration::from_secs(1 << 30);
        let view = ReplicaView {
            now,
            at: Instant::now(),
            history: &AuthorityHistory::default(),
            own: None,
        };
        StoredAuthorities::default()
            .advanced(view)
            .unwrap()
            .unwrap()
    }

    fn json_of(state: &StoredAuthorities) -> Value {
        serde_json::from_slice(&state.write()).unwrap()
    }

    fn refusal(content: &[u8]) -> String {
        StoredAuthorities::read(content).err().unwrap().to_string()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let now = UNIX_EPOCH + Duration::from_secs(1 << 31);
        let state = made().published(now).unwrap();
        let written = state.write();
        assert_eq!(written.capacity(), state.room(), "it never grew");
        let read = StoredAuthorities::read(&written).unwrap();
        assert_eq!(json_of(&read), json_of(&state));
        assert!(read.published(now).is_none(), "all are");
    }

    #[test]
    fn what_is_damaged_is_refused_and_not_told() {
        let good = json_of(&made());
        let other = json_of(&made());
        let with = |key: &str, value: Value| {
            let mut wire = good.clone();
            wire["authorities"][0][key] = value;
            serde_json::to_vec(&wire).unwrap()
        };
        let secret = good["authorities"][0]["key"].as_str().unwrap();
        let leaf = rcgen::generate_simple_self_signed(["x".to_owned()]).unwrap();
        let mut plain = good.clone();
        plain["authorities"][0] = json!({
            "certificate": leaf.cert.pem(), "key": leaf.signing_key.serialize_pem(), "published": null,
            "leaving": false,
        });
        let many = json!({"authorities": vec![good["authorities"][0].clone(); MOST + 1]});
        let rows = [
            (b"{".to_vec(), "found something else at line 1 column 1"),
            (
                serde_json::to_vec(&json!({"authorities": secret})).unwrap(),
                "found something else at line 1",
            ),
            (
                with("certificate", json!("x")),
                "authority 1: its certificate is not PEM",
            ),
            (
                with("key", json!(secret[..100])),
                "authority 1: its key cannot be read",
            ),
            (
                with("key", other["authorities"][0]["key"].clone()),
                "authority 1: its key does not belong to its certificate",
            ),
            (
                with("published", json!(u64::MAX)),
                "authority 1: it was published after the year 9999",
            ),
            (
                serde_json::to_vec(&plain).unwrap(),
                "authority 1: its certificate is not a CA certificate",
            ),
            (
                serde_json::to_vec(&many).unwrap(),
                "expected at most 8 authorities, found more",
            ),
        ];
        for (content, expected) in rows {
            let said = refusal(&content);
            assert!(said.contains(expected), "{expected}: {said}");
            assert!(
                said.starts_with("the stored certificate authority is damaged: "),
                "{said}"
            );
            assert!(!said.contains(&secret[40..60]), "{said}");
        }
    }

    #[test]
    fn nothing_but_the_certificates_is_published() {
        let state = made();
        let mut wire = json_of(&state);
        let [first, second] = [0, 1].map(|_| made().bundle());
        let mut more = wire["authorities"][0].clone();
        let bundle = state.bundle();
        let untidy = format!(
            "a remark\r\n{}{first}{second}more",
            bundle.replace('\n', "\r\n")
        );
        wire["authorities"][0]["certificate"] = untidy.into();
        more["certificate"] = bundle.trim_end().into();
        wire["authorities"].as_array_mut().unwrap().push(more);
        let read = StoredAuthorities::read(&serde_json::to_vec(&wire).unwrap()).unwrap();
        assert_eq!(read.bundle(), bundle.repeat(2));
    }

    #[test]
    fn what_is_published_last_is_not_stamped_as_the_first() {
        const WEEK: Duration = Duration::from_hours(7 * 24);
        let now = UNIX_EPOCH + Duration::from_secs(1 << 31);
        let stamp_after = |stamp| {
            let mut state = made().published(stamp).unwrap();
            state.authorities.extend(made().authorities);
            state.published(now).unwrap().authorities[1].published
        };
        assert_eq!(stamp_after(now - WEEK), Some(now));
        assert_eq!(
            stamp_after(now + WEEK),
            Some(now + WEEK),
            "a clock is behind"
        );
        let never = now + AUTHORITY_LIFE + WEEK;
        assert_eq!(stamp_after(never), Some(now), "a clock was out of reason");
    }
}
