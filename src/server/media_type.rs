//! Whether a request's headers describe a body of plain JSON.

use axum::http::{HeaderMap, HeaderName, header};

/// Whether `content-type` is `application/json`, in any case and with any parameters.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value.map(|value| value.split(';').next().unwrap_or_default().trim());
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}

/// Whether `content-encoding` names nothing but `identity`, in any case.
pub(super) fn is_identity(headers: &HeaderMap) -> bool {
    codings(headers, &header::CONTENT_ENCODING)
        .all(|coding| coding.eq_ignore_ascii_case(b"identity"))
}

/// Whether `transfer-encoding` is absent or `chunked` alone.
///
/// hyper accepts any list that ends with `chunked` and removes only the chunks. RFC 9112, 6.1: a
/// server that does not understand a transfer coding answers 501.
pub(super) fn is_chunked_at_most(headers: &HeaderMap) -> bool {
    let mut codings = codings(headers, &header::TRANSFER_ENCODING);
    let first = codings.next();
    first.is_none_or(|coding| coding.eq_ignore_ascii_case(b"chunked")) && codings.next().is_none()
}

/// The codings of a list header, over all its lines.
fn codings<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h [u8]> {
    let lines = headers.get_all(name).into_iter();
    let codings = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    codings
        .map(<[u8]>::trim_ascii)
        .filter(|coding| !coding.is_empty())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn json_is_written_in_many_ways() {
        for (value, expected) in [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("Application/JSON ;CHARSET=UTF-8", true),
            ("application/jsonp", false),
            ("text/json", false),
            ("application/yaml", false),
            ("", false),
        ] {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(is_json(&headers), expected, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
    fn lines(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        let values = values.iter().copied().map(HeaderValue::from_static);
        values.map(|value| (name.clone(), value)).collect()
    }

    #[test]
    fn identity_is_the_only_content_coding() {
        for (values, expected) in [
            (&[][..], true),
            (&["identity"], true),
            (&["Identity"], true),
            (&["IDENTITY, identity"], true),
            (&[" ,"], true),
            (&["gzip"], false),
            (&["identity, gzip"], false),
            (&["identity", "br"], false),
            (&["identities"], false),
        ] {
            let headers = lines(&header::CONTENT_ENCODING, values);
            assert_eq!(is_identity(&headers), expected, "{values:?}");
        }
    }

    #[test]
    fn chunked_is_the_only_transfer_coding() {
        for (values, expected) in [
            (&[][..], true),
            (&["chunked"], true),
            (&["Chunked"], true),
            (&["gzip, chunked"], false),
            (&["gzip", "chunked"], false),
            (&["chunked, chunked"], false),
            (&["identity"], false),
        ] {
            let headers = lines(&header::TRANSFER_ENCODING, values);
            assert_eq!(is_chunked_at_most(&headers), expected, "{values:?}");
        }
    }
}
