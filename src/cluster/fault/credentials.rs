//! What went wrong with credentials, without anything that may be one.
//!
//! kube's own texts hold the output of a plugin, its command, or the place in its answer where
//! reading it failed: each of them may be a token. So only what is known to hold none is passed on.

use kube::client::AuthError;

/// In one line.
pub(super) fn words(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecParse(_) => {
            "the plugin for credentials answers what is no ExecCredential".to_owned()
        }
        AuthError::AuthExecRun { out, .. } => {
            format!("the plugin for credentials ended with {}", out.status)
        }
        AuthError::AuthExecStart(error) => {
            format!("the plugin for credentials cannot be run: {error}")
        }
        AuthError::ReadTokenFile(..)
        | AuthError::ExecPluginFailed
        | AuthError::MissingCommand
        | AuthError::ExecMissingClusterInfo
        | AuthError::InvalidBasicAuth(_)
        | AuthError::InvalidBearerToken(_)
        | AuthError::UnrefreshableTokenResponse => error.to_string(),
        _ => {
            "the credentials cannot be had: their provider does not answer as it should".to_owned()
        }
    }
}
