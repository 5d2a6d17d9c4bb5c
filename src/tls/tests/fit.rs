//! Whether clients can use what is served.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::ServerName;

use crate::tls::{Leaf, fitness};

const WEBHOOK: &str = "olmguard.olmguard-system.svc";

fn day(number: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(number * 24 * 60 * 60)
}

/// Valid from the 10th to the 20th day of 1970.
fn leaf(names: &[&str]) -> Leaf {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.not_before = day(9).into();
    params.not_after = day(19).into();
    let cert = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
    Leaf::read(cert.der()).unwrap()
}

fn judged(names: &[&str], wanted: &[&'static str], now: SystemTime) -> String {
    let wanted = wanted
        .iter()
        .map(|&name| ServerName::try_from(name).unwrap());
    let judged = fitness::judge(&leaf(names), &wanted.collect::<Vec<_>>(), now);
    judged.map_or_else(|unfit| unfit.to_string(), |()| "fit".to_owned())
}

#[test]
fn a_certificate_is_fit_for_its_names_in_its_time() {
    let (early, late) = (
        day(9) - Duration::from_secs(1),
        day(19) + Duration::from_secs(1),
    );
    for (names, wanted, now, expected) in [
        (&["a"][..], &[][..], day(9), "fit"),
        (&["a"], &[], day(19), "fit"),
        (&["a", WEBHOOK], &[WEBHOOK], day(9), "fit"),
        (&["*.olmguard-system.svc"], &[WEBHOOK], day(9), "fit"),
        (&["127.0.0.1", "::1"], &["127.0.0.1", "::1"], day(9), "fit"),
        (
            &["a"],
            &[],
            early,
            "the served certificate is not valid before 1970-01-10T00:00:00Z: expected one that is valid now; is the clock right?",
        ),
        (
            &["a"],
            &[],
            late,
            "the served certificate expired at 1970-01-20T00:00:00Z: expected one that is valid now",
        ),
        (
            &["a.example", "127.0.0.1"],
            &[WEBHOOK],
            day(9),
            "the served certificate is for a.example, 127.0.0.1: expected it to be for olmguard.olmguard-system.svc as well",
        ),
        (
            &[],
            &[WEBHOOK],
            day(9),
            "the served certificate is for no name: expected it to be for olmguard.olmguard-system.svc as well",
        ),
    ] {
        assert_eq!(judged(names, wanted, now), expected);
    }
}

#[test]
fn a_leaf_tells_what_the_certificate_says() {
    let leaf = leaf(&["a.example", "10.0.0.1", "fd00::1"]);
    assert_eq!(leaf.names, ["a.example", "10.0.0.1", "fd00::1"]);
    assert_eq!((leaf.not_before, leaf.not_after), (day(9), day(19)));
    assert_eq!(leaf.subject, "CN=rcgen self signed cert");
    assert!(leaf.serial.contains(':'), "{}", leaf.serial);
}
