use std::fs;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::source::http::AwaitedPart;

fn text(text: &str) -> ConfigText {
    ConfigText {
        file: "registries.conf".into(),
        text: text.to_owned(),
    }
}

fn conf(toml: &str) -> RegistriesConf {
    RegistriesConf(parse(&text(toml)).unwrap())
}

/// Returns the places of an image, or `fault`. A place has the mark `http` if it may be used
/// without TLS, and `blocked` if it must not be used.
#[track_caller]
fn places(conf: &RegistriesConf, image: &str) -> Vec<String> {
    let Ok(sources) = conf.sources(&image.parse().unwrap()) else {
        return vec!["fault".to_owned()];
    };
    let all = sources.mirrors.into_iter().chain([sources.registry]);
    let shown = |place: PullSource| {
        let insecure = if place.is_insecure { "http " } else { "" };
        let blocked = place.blocked.map_or("", |_| "blocked ");
        format!("{blocked}{insecure}{}", place.image)
    };
    all.map(shown).collect()
}

fn digest(name: &str) -> String {
    format!("{name}@sha256:{}", "0".repeat(64))
}

#[test]
fn a_prefix_ends_where_a_part_of_the_name_ends() {
    for (name, prefix, expected) in [
        ("a.io/b/c:1", "a.io", Some(4)),
        ("a.io/b/c:1", "a.io/b", Some(6)),
        ("a.io/b/c:1", "a.io/b/c", Some(8)),
        ("a.io/b/c:1", "a.io/b/c:1", Some(10)),
        ("a.io/bc:1", "a.io/b", None),
        ("a.io.net/b:1", "a.io", None),
        ("a.io:5000/b:1", "a.io", Some(4)),
        ("a.io/b@sha256:0", "a.io/b", Some(6)),
        ("x.a.io/b:1", "*.a.io", Some(6)),
        ("y.x.a.io/b:1", "*.a.io", Some(8)),
        ("x.a.io:5000/b:1", "*.a.io", Some(6)),
        ("a.io/b:1", "*.a.io", None),
        ("x.a.io.net/b:1", "*.a.io", None),
        ("b.net/x.a.io/b:1", "*.a.io", None),
        ("a.io/b:1", "", None),
    ] {
        assert_eq!(matched(name, prefix), expected, "{name} {prefix}");
    }
}

/// The expected answers are those of upstream's code.
#[test]
fn mirrors_come_before_the_registry_and_the_longest_prefix_counts() {
    let conf = conf(
        r#"
        unqualified-search-registries = ["docker.io"]
        short-name-mode = "enforcing"
        [aliases]
        "x" = "docker.io/library/x"

        [[registry]]
        location = "quay.io"
        [[registry.mirror]]
        location = "m.example/quay/"
        [[registry.mirror]]
        location = "m.example:5000"
        insecure = true

        [[registry]]
        prefix = "quay.io/moved"
        location = "new.example/x"
        insecure = true

        [[registry]]
        prefix = "docker.io/library"
        location = "docker.example"

        [[registry]]
        prefix = "*.wild.example"
        [[registry.mirror]]
        location = "m.example/wild"

        [[registry]]
        prefix = "*.far.wild.example"
        location = "near.example"

        [[registry]]
        prefix = "a.b.io"
        location = "exact.example"
        [[registry]]
        prefix = "*.b.io"
        location = "wild.example"

        [[registry]]
        prefix = "tagged.example/a:1"
        location = "tag.example/b:1"

        [[registry]]
        prefix = "hub.example"
        location = "docker.io"
        "#,
    );
    for (image, expected) in [
        (
            "quay.io/a/b:1",
            &[
                "m.example/quay/a/b:1",
                "http m.example:5000/a/b:1",
                "quay.io/a/b:1",
            ][..],
        ),
        ("quay.io/moved/a:1", &["http new.example/x/a:1"]),
        ("docker.io/busybox:1", &["docker.example/busybox:1"]),
        ("index.docker.io/busybox:1", &["docker.example/busybox:1"]),
        ("docker.io/a/b:1", &["docker.io/a/b:1"]),
        (
            "x.wild.example/a:1",
            &["m.example/wild/a:1", "x.wild.example/a:1"],
        ),
        ("y.x.far.wild.example/a:1", &["near.example/a:1"]),
        ("wild.example/a:1", &["wild.example/a:1"]),
        ("other.example/a:1", &["other.example/a:1"]),
        ("quay.io:5000/a:1", &["fault"]),
        ("x.wild.example:50/a:1", &["fault"]),
        ("a.b.io/x:1", &["wild.example/x:1"]),
        ("c.b.io/x:1", &["wild.example/x:1"]),
        ("tagged.example/a:1", &["tagged.example/a:1"]),
        ("hub.example/busybox:1", &["fault"]),
        ("hub.example/a/b:1", &["docker.io/a/b:1"]),
    ] {
        assert_eq!(places(&conf, image), expected, "{image}");
    }
}

#[test]
fn a_mirror_can_be_for_digests_or_for_tags_alone() {
    let mirror = |limit: &str| format!("[[registry.mirror]]\nlocation = \"m.example\"\n{limit}\n");
    for (of_registry, of_mirror, for_tag, for_digest) in [
        ("", "", true, true),
        ("", "pull-from-mirror = \"\"", true, true),
        ("", "pull-from-mirror = \"all\"", true, true),
        ("", "pull-from-mirror = \"digest-only\"", false, true),
        ("", "pull-from-mirror = \"tag-only\"", true, false),
        ("mirror-by-digest-only = true", "", false, true),
        (
            "mirror-by-digest-only = true",
            "pull-from-mirror = \"\"",
            false,
            true,
        ),
        ("mirror-by-digest-only = false", "", true, true),
    ] {
        let registry = format!("[[registry]]\nlocation = \"a.io\"\n{of_registry}\n");
        let conf = conf(&(registry + &mirror(of_mirror)));
        let has_mirror = |image: &str| places(&conf, image).len() == 2;
        let found = (has_mirror("a.io/b:1"), has_mirror(&digest("a.io/b")));
        assert_eq!(found, (for_tag, for_digest), "{of_registry} {of_mirror}");
    }
}

#[test]
fn a_place_is_blocked_by_its_own_name() {
    let conf = conf(
        r#"
        [[registry]]
        location = "closed.example"
        blocked = true
        [[registry.mirror]]
        location = "open.example"
        [[registry.mirror]]
        location = "shut.example/x"

        [[registry]]
        location = "shut.example"
        blocked = true
        "#,
    );
    let expected = [
        "open.example/a:1",
        "blocked shut.example/x/a:1",
        "blocked closed.example/a:1",
    ];
    assert_eq!(places(&conf, "closed.example/a:1"), expected);
    let sources = conf.sources(&"closed.example/a:1".parse().unwrap());
    let blocked = sources.unwrap().registry.blocked.unwrap();
    assert_eq!(
        blocked.to_string(),
        "closed.example/a:1 is blocked by blocked = true for \"closed.example\" in registries.conf: remove it there, or \
         use another registry"
    );
}

#[test]
fn a_location_that_makes_no_name_is_refused() {
    for (location, found) in [("UPPER.example/A", "UPPER.example/A/b:1"), ("x", "x/b:1")] {
        let conf = conf(&format!(
            "# x\n[[registry]]\nprefix = \"a.io\"\nlocation = \"{location}\"\n"
        ));
        let fault = conf.sources(&"a.io/b:1".parse().unwrap()).unwrap_err();
        let expected = format!(
            "registries.conf:2:1: location {location:?} makes {found:?} of a.io/b:1: expected the full name of an image, \
             such as docker.io/library/NAME:TAG"
        );
        assert_eq!(fault.to_string(), expected);
    }
}

#[test]
fn a_file_that_cannot_be_read_names_the_line() {
    let table = |rest: &str| format!("# x\n[[registry]]\n{rest}\n");
    let mirror = |rest: &str| table(&format!("location = \"a.io\"\n[[registry.mirror]]\n{rest}"));
    for (toml, expected) in [
        (
            "x = \n".to_owned(),
            "1:5: string values must be quoted, expected literal string: expected registries.conf in version 2",
        ),
        (
            table("location = 1"),
            "3:12: invalid type: integer `1`, expected a string: expected registries.conf in version 2",
        ),
        (
            table("location = \"a.io\"\ninsecure = \"no\""),
            "4:12: invalid type: string \"no\", expected a boolean: expected registries.conf in version 2",
        ),
        (
            mirror("location = \"b.io\"\npull-from-mirror = \"tags\""),
            "6:20: \"tags\" is not all, digest-only or tag-only: expected registries.conf in version 2",
        ),
        (
            "[registries.search]\nregistries = []\n".to_owned(),
            "1:2: [registries] is of version 1: expected version 2; write [[registry]] with a location, and \
             insecure or blocked",
        ),
        (
            "[registries.block]\nregistries = ['x']\n".to_owned(),
            "1:2: [registries] is of version 1: expected version 2; write [[registry]] with a location, and \
             insecure or blocked",
        ),
        (
            table("blocked = true"),
            "2:1: [[registry]] has neither prefix nor location: expected a location",
        ),
        (
            table("prefix = \"a.io\""),
            "2:1: prefix \"a.io\" has no location: expected one, or a prefix such as *.example.com",
        ),
        (
            table("prefix = \"*.a.io/x\"\nlocation = \"b.io\""),
            "2:1: prefix \"*.a.io/x\" has a wildcard: expected a host alone, such as *.example.com",
        ),
        (
            table("location = \"https://a.io\""),
            "2:1: \"https://a.io\" has a scheme: expected HOST or HOST/PATH",
        ),
        (
            table("location = \"a.io\"\npull-from-mirror = \"all\""),
            "2:1: registry \"a.io\" has pull-from-mirror: expected it in a [[registry.mirror]]",
        ),
        (
            mirror("insecure = true"),
            "2:1: [[registry.mirror]] of \"a.io\" has no location: expected one",
        ),
        (
            table(
                "location = \"a.io\"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = \"b.io\"\n\
                 pull-from-mirror = \"all\"",
            ),
            "2:1: registry \"a.io\" has mirror-by-digest-only, and its mirror pull-from-mirror: expected one of them",
        ),
        (
            table(
                "location = \"a.io\"\n[[registry]]\nprefix = \"b.io\"\nlocation = \"a.io\"\ninsecure = true",
            ),
            "4:1: location \"a.io\" has two values of insecure: expected one",
        ),
        (
            table(
                "location = \"a.io\"\n[[registry]]\nprefix = \"b.io\"\nlocation = \"a.io/\"\nblocked = true",
            ),
            "4:1: location \"a.io\" has two values of blocked: expected one",
        ),
    ] {
        let fault = parse(&text(&toml)).unwrap_err().to_string();
        assert_eq!(fault, format!("registries.conf:{expected}"), "{toml}");
    }
}

#[test]
fn only_an_insecure_place_is_asked_without_tls() {
    let connect = FetchError::Connect {
        host: "x".into(),
        why: "refused".into(),
    };
    let late = |awaited| FetchError::Timeout {
        awaited,
        limit: Duration::ZERO,
    };
    let tls = |fault| FetchError::Tls {
        host: "x".into(),
        fault,
    };
    let untrusted = TlsFault::UnknownIssuer {
        trusted: "x".into(),
    };
    let places = ["https://m.example/", "https://localhost/"].map(|url| Address::of(url).unwrap());
    for (error, insecure, loopback) in [
        (tls(TlsFault::None), true, true),
        (tls(TlsFault::Closed), true, true),
        (connect, true, false),
        (late(AwaitedPart::Connection), true, false),
        (late(AwaitedPart::Answer), false, false),
        (tls(untrusted), false, false),
    ] {
        let source = |is_insecure| PullSource {
            image: "m.example/a:1".parse().unwrap(),
            is_insecure,
            blocked: None,
        };
        let [far, near] = &places;
        assert_eq!(source(true).is_plain(far, &error), insecure, "{error}");
        assert_eq!(source(false).is_plain(near, &error), loopback, "{error}");
        assert!(!source(false).is_plain(far, &error), "{error}");
    }
}

#[test]
fn settings_that_are_unknown_or_empty_are_no_fault() {
    for toml in [
        "",
        "[registries.search]\n",
        "credential-helpers = [\"x\"]\nnew = 1\n",
        "[[registry]]\nlocation = \"a.io\"\nnew = true\n",
    ] {
        assert_eq!(places(&conf(toml), "a.io/b:1"), ["a.io/b:1"], "{toml}");
    }
}

#[test]
fn a_later_file_replaces_a_table_and_the_first_of_a_file_counts() {
    let folder = TempDir::new().unwrap();
    let table = |to: &str| format!("[[registry]]\nprefix = \"a.io\"\nlocation = \"{to}\"\n");
    let of =
        |variable: &'static str| (variable == "HOME").then(|| folder.path().join("home").into());
    let config = ContainersConfig::of(of, folder.path(), 0);
    let write = |path: &str, content: String| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    let first = || places(&RegistriesConf::read(&config).unwrap(), "a.io/x:1");
    assert_eq!(first(), ["a.io/x:1"], "no file");
    write(
        "etc/containers/registries.conf",
        table("one.io") + &table("two.io"),
    );
    assert_eq!(first(), ["one.io/x:1"]);
    write("etc/containers/registries.conf.d/a.conf", table("three.io"));
    assert_eq!(first(), ["three.io/x:1"]);
    write(
        "etc/containers/registries.conf.d/b.conf",
        "# another".to_owned(),
    );
    assert_eq!(first(), ["three.io/x:1"]);
}
