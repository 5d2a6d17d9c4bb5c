//! The bearer token of a request.
//!
//! Upstream: RFC 6750, and Kubernetes, `apiserver/pkg/authentication/request/bearertoken`.

use axum::http::{HeaderMap, header};

/// The token of the one `Authorization` header, if it is one that a cluster may have given.
pub(super) fn token(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(only), None) = (all.next(), all.next()) else {
        return None;
    };
    let (scheme, token) = only.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim_start();
    let is_token = (1..=LONGEST).contains(&token.len()) && token.bytes().all(is_of_token);
    (scheme.eq_ignore_ascii_case("bearer") && is_token).then_some(token)
}

/// `b64token` of RFC 6750. None of these is ever escaped, so a token is found where a text repeats it.
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// The longest token, in bytes: those of service accounts have about a thousand.
const LONGEST: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_follows_one_bearer() {
        let long = format!("Bearer {}", "a".repeat(LONGEST));
        let longer = format!("{long}a");
        for (values, expected) in [
            (&["Bearer a.b-c_d~e+f/g=="][..], Some("a.b-c_d~e+f/g==")),
            (&["bearer  x"], Some("x")),
            (&[&long], Some(&long[7..])),
            (&[&longer], None),
            (&[], None),
            (&["Bearer"], None),
            (&["Bearer "], None),
            (&["Bearer a b"], None),
            (&["Bearer a,b"], None),
            (&["Bearer \"a\""], None),
            (&["Basic eDp5"], None),
            (&["Bearer a", "Bearer b"], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            assert_eq!(token(&headers), expected, "{values:?}");
        }
    }
}
