//! Images from mirrors and registries on loopback, with the `registries.conf` and `certs.d` of a machine.

use std::path::PathBuf;

use base64_simd::STANDARD;
use olmguard_support::catalogd::answer::Answer;
use olmguard_support::catalogd::authority::Authority;
use olmguard_support::oci::TestRegistry;

use super::*;

/// Creates a reader on its own machine, with this text in `registries.conf`.
fn reader(conf: &str) -> Reader {
    let mut reader = Reader::new();
    let root = reader.folder.path().to_owned();
    reader.reader.access.containers = ContainersConfig::of(|_| None, &root, 7);
    write(&reader, "etc/containers/registries.conf", conf);
    reader
}

fn write(reader: &Reader, path: &str, content: &str) -> PathBuf {
    let path = reader.folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

/// Returns a table with mirrors, which are tried in this order.
fn table(prefix: &str, location: &str, mirrors: &[&str]) -> String {
    let mirrors = mirrors
        .iter()
        .map(|it| format!("[[registry.mirror]]\nlocation = \"{it}\"\n"));
    let mirrors: String = mirrors.collect();
    format!("[[registry]]\nprefix = \"{prefix}\"\nlocation = \"{location}\"\n{mirrors}")
}

fn host(registry: &TestRegistry) -> String {
    registry.image("").trim_end_matches('/').to_owned()
}

fn without_it() -> TestRegistry {
    TestRegistry::scripted(|_| Answer::status("404 Not Found"))
}

#[test]
fn the_first_mirror_that_has_the_image_serves_all_of_it() {
    let (empty, full, unused) = (without_it(), TestRegistry::of(catalog()), without_it());
    let mirrors = [
        &format!("{}/m", host(&empty)),
        &*format!("{}/m", host(&full)),
    ];
    let reader = reader(&table("quay.example/team", &host(&unused), &mirrors));
    is_catalog(&reader.read("oci:quay.example/team/a:v1").unwrap());
    assert_eq!(empty.paths(), ["/v2/m/a/manifests/v1"], "one try");
    let asked = full.paths();
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert!(
        asked.iter().all(|path| path.starts_with("/v2/m/a/")),
        "{asked:?}"
    );
    assert_eq!(unused.paths(), [""; 0]);
    let pinned = format!("oci:quay.example/team/a@{}", catalog().top);
    is_catalog(&reader.read(&pinned).unwrap());
    assert_eq!(
        full.paths().len(),
        4,
        "the digest is known, whatever served it"
    );
}

#[test]
fn the_registry_serves_what_no_mirror_has() {
    let (busy, full) = (
        TestRegistry::scripted(|_| Answer::status("503 Service Unavailable")),
        TestRegistry::of(catalog()),
    );
    // No one listens at port 1.
    let mirrors = ["localhost:1", &*host(&busy)];
    let reader = reader(&table(&host(&full), &host(&full), &mirrors));
    is_catalog(&reader.read(&format!("oci:{}", full.image("a:v1"))).unwrap());
    assert_eq!(busy.paths().len(), 1, "one try");
    assert_eq!(full.paths()[0], "/v2/a/manifests/v1");
}

#[test]
fn a_mirror_that_serves_is_asked_again_like_any_registry() {
    let image = catalog();
    let mirror = TestRegistry::scripted(move |asked| match asked.number {
        1 => Answer::status("503 Service Unavailable"),
        _ => image.answer(asked),
    });
    let reader = reader(&table("quay.example", "localhost:1", &[&host(&mirror)]));
    is_catalog(&reader.read("oci:quay.example/a:v1").unwrap());
    assert_eq!(mirror.paths().len(), 5);
}

#[test]
fn each_place_that_failed_is_named_with_its_reason() {
    let (mirror, registry) = (
        TestRegistry::scripted(|_| Answer::status("403 Forbidden")),
        without_it(),
    );
    let mirrors = [&format!("{}/m", host(&mirror)), "shut.example"];
    let conf = table("quay.example", &host(&registry), &mirrors);
    let shut = "[[registry]]\nlocation = \"shut.example\"\nblocked = true\n";
    let reader = reader(&(conf + shut));
    let fault = reader.read("oci:quay.example/a:v1").unwrap_err();
    let root = reader.folder.path().display().to_string();
    let fault = fault
        .replace(&host(&mirror), "MIRROR")
        .replace(&host(&registry), "REGISTRY");
    let expected = "mirrors failed ([MIRROR/m/a:v1: MIRROR answered HTTP 403 Forbidden: log in with podman login or \
                    docker login, or name a file of credentials in REGISTRY_AUTH_FILE], [shut.example/a:v1: \
                    shut.example/a:v1 is blocked by blocked = true for \"shut.example\" in \
                    ROOT/etc/containers/registries.conf: remove it there, or use another registry]), and so did REGISTRY/a:v1: REGISTRY \
                    answered HTTP 404 Not Found: no such image there; check its name and its tag";
    assert_eq!(fault.replace(&root, "ROOT"), expected);
}

#[test]
fn a_mirror_with_another_manifest_fails_the_pull() {
    let (liar, registry) = (
        TestRegistry::scripted(|_| Answer::ok(b"{}")),
        TestRegistry::of(catalog()),
    );
    let reader = reader(&table("quay.example", &host(&registry), &[&host(&liar)]));
    let place = format!("oci:quay.example/a@{}", catalog().top);
    let fault = reader.read(&place).unwrap_err();
    let expected = format!(
        "at {}/a@{}: manifest has the digest ",
        host(&liar),
        catalog().top
    );
    assert!(fault.starts_with(&expected), "{fault}");
    assert_eq!(registry.paths(), [""; 0], "as upstream");
}

#[test]
fn a_place_that_the_reference_does_not_name_is_named_with_its_fault() {
    let registry = without_it();
    let name = host(&registry);
    let reader = reader(&table("quay.example/x", &format!("{name}/y"), &[]));
    let fault = reader.read("oci:quay.example/x/a:v1").unwrap_err();
    let expected = format!(
        "at {name}/y/a:v1: {name} answered HTTP 404 Not Found: no such image there; check its name and its tag"
    );
    assert_eq!(fault, expected);
}

#[test]
fn an_insecure_registry_must_have_a_known_ca() {
    let registry = TestRegistry::tls(Authority::new("a").server(), catalog());
    let name = host(&registry);
    let reader = reader(&format!(
        "[[registry]]\nlocation = \"{name}\"\ninsecure = true\n"
    ));
    let fault = reader.read(&format!("oci:{name}/a:v1")).unwrap_err();
    let expected = format!(
        "TLS with {name}: certificate is not signed by a CA certificate in the system's store; add its CA certificate to \
         /etc/containers/certs.d/{name}/ca.crt; insecure = true allows plain HTTP, but no certificate of an unknown CA"
    );
    assert_eq!(fault, expected);
}

#[test]
fn a_blocked_registry_is_not_asked() {
    let registry = TestRegistry::of(catalog());
    let name = host(&registry);
    let reader = reader(&format!(
        "[[registry]]\nlocation = \"{name}\"\nblocked = true\n"
    ));
    let fault = reader.read(&format!("oci:{name}/a:v1")).unwrap_err();
    assert!(
        fault.starts_with(&format!("{name}/a:v1 is blocked by ")),
        "{fault}"
    );
    assert_eq!(registry.paths(), [""; 0]);
}

#[test]
fn a_file_with_a_fault_stops_the_pull() {
    let registry = TestRegistry::of(catalog());
    let reader = reader("[[registry]]\nlocation = 1\n");
    let fault = reader
        .read(&format!("oci:{}", registry.image("a:v1")))
        .unwrap_err();
    assert!(
        fault.contains("/etc/containers/registries.conf:2:12: invalid type"),
        "{fault}"
    );
    assert_eq!(registry.paths(), [""; 0]);
}

#[test]
fn a_mirror_gets_its_own_credentials_and_no_others() {
    let image = catalog();
    let mirror = TestRegistry::scripted(move |asked| {
        if asked.head.contains("authorization: Basic ") {
            return image.answer(asked);
        }
        Answer::raw(
            b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Basic realm=x\r\ncontent-length: 0\r\n\r\n",
        )
    });
    let name = host(&mirror);
    let mut reader = reader(&table("quay.example", "localhost:1", &[&name]));
    let auth = |pair: &str| json!({"auth": STANDARD.encode_to_string(pair)});
    let logins = json!({"auths": {"quay.example": auth("registry:1"), &*name: auth("mirror:2")}});
    let file = write(&reader, "auth.json", &logins.to_string());
    reader.reader.access.credentials = CredentialFiles::at(file);
    is_catalog(&reader.read("oci:quay.example/a:v1").unwrap());
    let expected = format!(
        "authorization: Basic {}\r\n",
        STANDARD.encode_to_string("mirror:2")
    );
    let mut sent = mirror.asked().into_iter().map(|asked| asked.head);
    assert!(sent.all(|head| !head.contains("authorization") || head.contains(&expected)));
}

#[test]
fn a_place_that_is_insecure_can_be_without_tls() {
    let registry = TestRegistry::of(catalog());
    // Linux connects this address to the local machine, but its name is not one of loopback.
    let name = host(&registry).replace("localhost", "0.0.0.0");
    let table = |insecure| format!("[[registry]]\nlocation = \"{name}\"\ninsecure = {insecure}\n");
    let place = format!("oci:{name}/a:v1");
    is_catalog(&reader(&table(true)).read(&place).unwrap());
    let asked = registry.paths().len();
    assert!(reader(&table(false)).read(&place).is_err());
    assert_eq!(registry.paths().len(), asked);
}

#[test]
fn a_ca_of_certs_d_is_trusted_for_its_host_alone() {
    let (authority, another) = (Authority::new("a"), Authority::new("b"));
    let registry = TestRegistry::tls(authority.server(), catalog());
    let (name, place) = (host(&registry), format!("oci:{}", registry.image("a:v1")));
    let reader = reader("");
    let fault = reader.read(&place).unwrap_err();
    let unknown = |trusted: &str| {
        format!("TLS with {name}: certificate is not signed by a CA certificate in {trusted}")
    };
    let way_out = |directory: &str| format!("; add its CA certificate to {directory}/ca.crt");
    let directory = format!("etc/containers/certs.d/{name}");
    assert_eq!(
        fault,
        unknown("the system's store") + &way_out(&format!("/{directory}"))
    );
    write(&reader, &format!("{directory}/ca.crt"), &another.pem());
    let folder = reader.folder.path().join(&directory);
    let fault = reader.read(&place).unwrap_err();
    assert_eq!(
        fault,
        unknown(&format!("the system's store and {}", folder.display()))
            + &way_out(folder.to_str().unwrap())
    );
    write(&reader, &format!("{directory}/more.crt"), &authority.pem());
    is_catalog(&reader.read(&place).unwrap());
    let other = place.replace("localhost", "127.0.0.1");
    assert_eq!(
        reader.read(&other).unwrap_err(),
        (unknown("the system's store") + &way_out(&format!("/{directory}")))
            .replace("localhost", "127.0.0.1")
    );
    write(&reader, &format!("{directory}/client.key"), "x");
    let fault = reader.read(&place).unwrap_err();
    assert!(
        fault.contains("/client.key: client certificate or key without the other"),
        "{fault}"
    );
}
