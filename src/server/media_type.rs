//! Whether a request says that its body is JSON.

use axum::http::{HeaderMap, header};

/// Whether `content-type` is `application/json`, in any case and with any parameters.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value.map(|value| value.split(';').next().unwrap_or_default().trim());
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
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
}
