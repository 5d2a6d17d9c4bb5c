//! Entries of a pull secret with a pattern for the host, such as `*.example.com`, as the kubelet matches them.
//!
//! `*` is any text within a label, and `?` is one character. Host and pattern have as many labels, and the same port. The
//! path of the pattern is the start of the path, even if it ends within a name.
//!
//! Upstream: kubernetes v1.35.0, [`pkg/credentialprovider/keyring.go`] (`URLsMatch`). We do not read ranges such as
//! `[a-c]`.
//!
//! [`pkg/credentialprovider/keyring.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.0/pkg/credentialprovider/keyring.go

/// Whether a text is a pattern for the host of an image, which is `HOST/REPOSITORY`.
pub(super) fn is_pattern_of(pattern: &str, image: &str) -> bool {
    let (expected, found) = (HostPath::of(pattern), HostPath::of(image));
    let (globs, labels) = (expected.host.split('.'), found.host.split('.'));
    expected.host.contains(['*', '?'])
        && expected.port == found.port
        && found.path.starts_with(expected.path)
        && globs.clone().count() == labels.clone().count()
        && globs
            .zip(labels)
            .all(|(glob, label)| is_glob_of(glob.as_bytes(), label.as_bytes()))
}

/// The parts of `HOST:PORT/PATH`.
struct HostPath<'t> {
    host: &'t str,
    port: &'t str,
    path: &'t str,
}

impl<'t> HostPath<'t> {
    fn of(text: &'t str) -> Self {
        let (host, path) = text.split_once('/').unwrap_or((text, ""));
        let (host, port) = host.rsplit_once(':').unwrap_or((host, ""));
        Self { host, port, path }
    }
}

/// The first piece is at the start, the last one at the end, and each other one follows as early as it can.
fn is_glob_of(glob: &[u8], label: &[u8]) -> bool {
    let mut pieces = glob.split(|&byte| byte == b'*');
    let first = pieces.next().unwrap_or_default();
    let Some(last) = pieces.next_back() else {
        return is_piece(first, label);
    };
    let rest = pieces.try_fold(after(first, label), |rest, piece| {
        let rest = rest?;
        Some((0..=rest.len()).find_map(|at| after(piece, rest.get(at..)?)))
    });
    let end = rest
        .flatten()
        .and_then(|rest| rest.get(rest.len().checked_sub(last.len())?..));
    end.is_some_and(|end| is_piece(last, end))
}

/// The rest of a text that starts with a piece.
fn after<'t>(piece: &[u8], text: &'t [u8]) -> Option<&'t [u8]> {
    let (start, rest) = text.split_at_checked(piece.len())?;
    is_piece(piece, start).then_some(rest)
}

fn is_piece(piece: &[u8], text: &[u8]) -> bool {
    let mut pairs = piece.iter().zip(text);
    piece.len() == text.len() && pairs.all(|(&one, other)| one == b'?' || one == *other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_as_for_the_kubelet() {
        for (pattern, image, expected) in [
            ("*.example.com", "a.example.com/b/c", true),
            ("*.example.com", "example.com/b", false),
            ("*.example.com", "x.a.example.com/b", false),
            ("*.*.example.com", "x.a.example.com/b", true),
            ("a.*.com", "a.example.com/b", true),
            ("*.example.com", "a.example.com:5000/b", false),
            ("*.example.com:5000", "a.example.com:5000/b", true),
            ("*.example.com:5000", "a.example.com/b", false),
            ("*.example.com/team", "a.example.com/team/b", true),
            ("*.example.com/team", "a.example.com/teams/b", true),
            ("*.example.com/team", "a.example.com/b", false),
            ("prod-*.example.com", "prod-eu.example.com/b", true),
            ("prod-*.example.com", "prod.example.com/b", false),
            ("*-prod.example.com", "eu-prod.example.com/b", true),
            ("a*b*c.example.com", "a-b-b-c.example.com/b", true),
            ("a*b*c.example.com", "ac-b.example.com/b", false),
            ("a*a.example.com", "a.example.com/b", false),
            ("**.example.com", "a.example.com/b", true),
            ("r?.example.com", "r1.example.com/b", true),
            ("r?.example.com", "r.example.com/b", false),
            ("a.example.com", "a.example.com/b", false),
            ("*", "localhost:5000/b", false),
            ("*:5000", "localhost:5000/b", true),
        ] {
            let found = is_pattern_of(pattern, image);
            assert_eq!(found, expected, "{pattern} {image}");
        }
    }

    #[test]
    fn many_wildcards_take_no_time() {
        let (pattern, host) = ("*a".repeat(2000), "a".repeat(1999));
        assert!(!is_pattern_of(&pattern, &host));
    }
}
