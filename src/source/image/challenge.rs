//! What a registry asks for, in `WWW-Authenticate`: `Bearer realm="https://auth.example/token",service="registry.example"`.

use crate::foreign_text::one_line;

/// The authentication that a registry requests.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Challenge {
    Basic,
    Bearer {
        realm: String,
        service: Option<String>,
    },
    Other(Box<str>),
}

impl Challenge {
    /// The first that can be answered, or the first at all.
    pub(super) fn of<'a>(headers: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut all = headers.map(Self::parse);
        let first = all.next()?;
        let can_be_answered = |one: &Self| !matches!(one, Self::Other(_));
        if can_be_answered(&first) {
            return Some(first);
        }
        Some(all.find(can_be_answered).unwrap_or(first))
    }

    fn parse(text: &str) -> Self {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Self::Basic;
        }
        let parameter = |name| parameter(rest, name);
        match parameter("realm") {
            Some(realm) if scheme.eq_ignore_ascii_case("bearer") => Self::Bearer {
                realm,
                service: parameter("service"),
            },
            _ => Self::Other(one_line(scheme).into()),
        }
    }
}

/// The value of `NAME="VALUE"` in a list.
fn parameter(list: &str, wanted: &str) -> Option<String> {
    let mut rest = list;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        let name = name.trim_start_matches([',', ' ']).trim();
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value.trim().to_owned());
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_as_registries_write_them() {
        let bearer = |realm: &str, service: Option<&str>| Challenge::Bearer {
            realm: realm.into(),
            service: service.map(Into::into),
        };
        for (header, expected) in [
            (
                r#"Bearer realm="https://a.example/t",service="r.example",scope="repository:a:pull,push""#,
                bearer("https://a.example/t", Some("r.example")),
            ),
            (
                r#"bearer scope="a,b=c", realm="https://a.example/t""#,
                bearer("https://a.example/t", None),
            ),
            (
                "Bearer realm=https://a.example,service=x",
                bearer("https://a.example", Some("x")),
            ),
            (r#"Basic realm="r""#, Challenge::Basic),
            ("basic", Challenge::Basic),
            ("Bearer", Challenge::Other("Bearer".into())),
            (r#"Bearer realm="open"#, Challenge::Other("Bearer".into())),
            ("Negotiate", Challenge::Other("Negotiate".into())),
            ("", Challenge::Other("".into())),
        ] {
            assert_eq!(Challenge::parse(header), expected, "{header}");
        }
        let several = Challenge::of(["Negotiate", "Basic realm=x"].into_iter());
        assert_eq!(several, Some(Challenge::Basic));
        assert_eq!(Challenge::of([].into_iter()), None);
    }
}
