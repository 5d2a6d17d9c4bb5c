//! What went wrong with credentials, without anything that may be one.
//!
//! kube's own texts hold the output of a plugin, its command, or the place in its answer where
//! reading it failed: each of them may be a token. So only what is known to hold none is passed on.

use kube::client::AuthError;

/// In one line.
pub(super) fn words(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecParse(_) => {
            "the credential plugin did not return an ExecCredential".to_owned()
        }
        AuthError::AuthExecRun { out, .. } => {
            format!("the credential plugin exited with {}", out.status)
        }
        AuthError::AuthExecStart(error) => {
            format!("the credential plugin cannot be run: {error}")
        }
        AuthError::ReadTokenFile(..)
        | AuthError::ExecPluginFailed
        | AuthError::MissingCommand
        | AuthError::ExecMissingClusterInfo
        | AuthError::InvalidBasicAuth(_)
        | AuthError::InvalidBearerToken(_)
        | AuthError::UnrefreshableTokenResponse => error.to_string(),
        _ => "the credentials are unavailable: their provider gave an unexpected answer".to_owned(),
    }
}
