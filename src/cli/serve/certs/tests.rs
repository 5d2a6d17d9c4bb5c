//! Flags that agree, and those that do not.

use clap::Parser;
use rustls::pki_types::ServerName;

use super::{Certs, CertsArgs};
use crate::tls::MinVersion;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    certs: CertsArgs,
}

fn resolved(arguments: &[&str]) -> Result<Certs, String> {
    let line = Line::try_parse_from([&["serve"], arguments].concat());
    let line = line.map_err(|error| error.to_string())?;
    line.certs.resolve().map_err(|error| error.to_string())
}

#[test]
fn flags_that_contradict_each_other_are_named() {
    for (arguments, expected) in [
        (
            &[][..],
            "no certificate: expected either --tls-cert and --tls-key, or --self-signed for trying out",
        ),
        (
            &["--tls-cert=x"],
            "--tls-key is missing: expected --tls-cert and --tls-key together",
        ),
        (
            &["--tls-key=x"],
            "--tls-cert is missing: expected --tls-cert and --tls-key together",
        ),
        (
            &["--certs=files"],
            "--tls-cert is missing: expected --tls-cert and --tls-key together",
        ),
        (
            &["--self-signed", "--tls-cert=x", "--tls-key=y"],
            "--self-signed and --tls-cert say where the certificate comes from, and disagree: expected one of them, not both",
        ),
        (
            &["--certs=files", "--self-signed"],
            "--certs files and --self-signed say where the certificate comes from, and disagree: expected one of them, not both",
        ),
        (
            &["--certs=self-managed", "--tls-key=x"],
            "--certs self-managed and --tls-key say where the certificate comes from, and disagree: expected one of them, not both",
        ),
        (
            &["--certs=self-managed"],
            "--certs self-managed needs a cluster to keep its authority in, and this is started without one: expected --tls-cert and --tls-key, or --self-signed for trying out",
        ),
        (
            &["--self-signed", "--client-allowed=api"],
            "--client-allowed is given without --client-ca: expected the authorities that vouch for these clients",
        ),
        (
            &["--self-signed", "--tls-server-name=a b"],
            "expected a DNS name such as olmguard.olmguard-system.svc, or an IP address",
        ),
    ] {
        let error = resolved(arguments).unwrap_err();
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn flags_that_agree_say_it_all() {
    let arguments = ["--certs=files", "--tls-cert=c", "--tls-key=k"];
    let terms = [
        "--tls-min-version=1.3",
        "--client-ca=a",
        "--client-allowed=x,y",
    ];
    let names = ["--tls-server-name=olmguard.svc", "--tls-server-name=::1"];
    let Certs::Files(files) = resolved(&[&arguments[..], &terms, &names].concat()).unwrap() else {
        panic!("expected files");
    };
    assert_eq!((files.cert, files.key), ("c".into(), "k".into()));
    assert_eq!(files.terms.min_version, MinVersion::V1_3);
    let ca = files.terms.client_ca.unwrap();
    assert_eq!((ca.file, ca.allowed.len()), ("a".into(), 2));
    let names = ["olmguard.svc", "::1"].map(|name| ServerName::try_from(name).unwrap());
    assert_eq!(files.wanted, names);
    assert!(matches!(
        resolved(&["--self-signed"]),
        Ok(Certs::SelfSigned(..))
    ));
    assert!(matches!(
        resolved(&["--certs=self-signed"]),
        Ok(Certs::SelfSigned(..))
    ));
}

#[test]
fn what_is_set_to_nothing_counts_as_none() {
    let files = [
        "--tls-cert=c",
        "--tls-key=k",
        "--client-allowed=",
        "--tls-server-name=",
    ];
    let Certs::Files(without) = resolved(&files).unwrap() else {
        panic!("expected files");
    };
    assert_eq!((without.terms.client_ca, without.wanted.len()), (None, 0));
    let Certs::Files(with) = resolved(&[&files[..], &["--client-ca=a"]].concat()).unwrap() else {
        panic!("expected files");
    };
    assert!(with.terms.client_ca.unwrap().allowed.is_empty());
}
