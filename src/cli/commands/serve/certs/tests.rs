//! Tests of flags that are consistent, and of flags that are not.

use std::sync::Arc;

use clap::Parser;
use rustls::pki_types::ServerName;

use super::{Certs, CertsArgs};
use crate::cluster::authority::AuthorityPlace;
use olmguard_server::tls::MinVersion;

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
            "no certificate: expected --tls-cert and --tls-key, --certs self-managed in a cluster, \
             or --self-signed for a trial",
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
            "--self-signed and --tls-cert cannot be used together: each of them sets the source of \
             the certificate",
        ),
        (
            &["--certs=files", "--self-signed"],
            "--certs files and --self-signed cannot be used together: each of them sets the source \
             of the certificate",
        ),
        (
            &["--certs=self-managed", "--tls-key=x"],
            "--certs self-managed and --tls-key cannot be used together: each of them sets the \
             source of the certificate",
        ),
        (
            &["--tls-cert=x", "--tls-key=y", "--tls-secret=z"],
            "--tls-cert and --tls-secret cannot be used together: each of them sets the source of \
             the certificate",
        ),
        (
            &["--self-signed", "--webhook-configuration=z"],
            "--self-signed and --webhook-configuration cannot be used together: each of them sets \
             the source of the certificate",
        ),
        (
            &["--certs=self-managed"],
            "--certs self-managed needs a name: give --tls-server-name, the name that API servers \
             call, such as olmguard.olmguard-system.svc",
        ),
        (
            &["--tls-secret=Z"],
            "expected NAME or NAMESPACE/NAME, such as olmguard-tls",
        ),
        (
            &["--tls-secret=a/b/c"],
            "expected NAME or NAMESPACE/NAME, such as olmguard-tls",
        ),
        (
            &["--tls-secret=/a"],
            "expected NAME or NAMESPACE/NAME, such as olmguard-tls",
        ),
        (
            &["--webhook-configuration="],
            "expected the name of an object, such as olmguard",
        ),
        (
            &["--self-signed", "--client-allowed=api"],
            "--client-allowed is given without --client-ca: expected the CA certificates that sign \
             these clients",
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
    let with_configuration = [&arguments[..], &["--webhook-configuration=x"]].concat();
    assert!(matches!(resolved(&with_configuration), Ok(Certs::Files(_))));
    assert!(matches!(
        resolved(&["--self-signed"]),
        Ok(Certs::SelfSigned(..))
    ));
    assert!(matches!(
        resolved(&["--certs=self-signed"]),
        Ok(Certs::SelfSigned(..))
    ));
}

/// The place of a self-managed CA, for a program in the namespace `own`.
fn placed(arguments: &[&str]) -> AuthorityPlace {
    let name = "--tls-server-name=olmguard.own.svc";
    match resolved(&[&[name], arguments].concat()).unwrap() {
        Certs::SelfManaged(managed) => managed.placed("own").0,
        other => panic!("expected a self-managed certificate, not {other:?}"),
    }
}

#[test]
fn a_self_managed_authority_has_its_place() {
    let place = placed(&["--certs=self-managed"]);
    assert_eq!((&*place.namespace, &*place.secret), ("own", "olmguard-tls"));
    assert_eq!(place.configurations, ["olmguard"]);
    assert_eq!(
        place.names,
        [ServerName::try_from("olmguard.own.svc").unwrap()]
    );
    let place = placed(&["--tls-secret=other/tls.x"]);
    assert_eq!((&*place.namespace, &*place.secret), ("other", "tls.x"));
    let place = placed(&["--webhook-configuration=a,b", "--webhook-configuration=c"]);
    assert_eq!(place.configurations, ["a", "b", "c"]);
}

/// Without a cluster, no request is made to one.
#[tokio::test]
async fn a_self_managed_authority_needs_a_cluster() {
    let certs = resolved(&["--certs=self-managed", "--tls-server-name=a.b.svc"]).unwrap();
    let error = certs.start(None, Arc::new(())).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "--certs self-managed needs a cluster that stores its CA certificate, and --catalog uses \
         files instead of a cluster: omit --catalog, or give --tls-cert and --tls-key, or \
         --self-signed for a trial"
    );
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
