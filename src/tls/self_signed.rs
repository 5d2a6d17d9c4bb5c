//! A certificate that vouches for itself, for trying out.

use std::future::pending;

use rustls::pki_types::{PrivateKeyDer, ServerName};

use crate::tls::certificates::ServedCertificate;
use crate::tls::identity::IdentityOrigin;
use crate::tls::{Certificates, Identity, TlsConfig, TlsError};

/// Makes a certificate for `localhost`, `127.0.0.1`, `::1` and these names, and serves it for good.
/// It must be called within a runtime.
///
/// The authorities of clients are read once.
pub fn self_signed(
    terms: &TlsConfig,
    names: Vec<ServerName<'static>>,
) -> Result<Certificates, TlsError> {
    let served = ServedCertificate::new(&identity(&names)?, terms, terms.client_file()?.as_ref())?;
    Ok(Certificates::new(served, names, |_| pending()))
}

fn identity(names: &[ServerName<'_>]) -> Result<Identity, TlsError> {
    let own = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let names = names.iter().map(|name| name.to_str().into_owned());
    let names: Vec<String> = own.into_iter().chain(names).collect();
    let made = rcgen::generate_simple_self_signed(names)
        .map_err(|error| TlsError::Made(error.to_string()))?;
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    Identity::new(vec![made.cert.der().clone()], key, &IdentityOrigin::Made)
}
