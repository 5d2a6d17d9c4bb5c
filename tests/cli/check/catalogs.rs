//! Catalogs that cannot be read, or only in part.

use super::scene::{CATALOG, asking, cluster_catalog, extension, scene};

#[test]
fn a_catalog_that_no_extension_needs_is_bad_input_all_the_same() {
    let selector = "selector: {matchLabels: {olm.operatorframework.io/metadata.name: hub}}";
    let scene = scene(&[("a.yaml", &asking("a", selector))]);
    let ran = scene.run(&["-f", "a.yaml", CATALOG, "--catalog=gone=no/such", "-o=json"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let expected = "error: catalog \"gone\": no/such: cannot open: ";
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(report["results"][0]["token"], "Resolved");
    assert_eq!(report["catalogs"][0]["name"], "gone");
    assert_eq!(report["catalogs"][0]["loaded"], false);
    let error = report["catalogs"][0]["error"].as_str();
    assert!(error.is_some_and(|error| error.starts_with("no/such: cannot open: ")));
}

#[test]
fn a_catalog_that_cannot_be_read_undecides_what_needs_it_and_nothing_else() {
    let scene = scene(&[
        ("a.yaml", &extension("a", "1.1.0")),
        ("bad.yaml", "schema: ["),
    ]);
    let rows: &[(&[&str], (i32, &str))] = &[
        (&[CATALOG], (0, "Resolved")),
        (
            &[CATALOG, "--catalog=bad=bad.yaml"],
            (3, "CatalogNotLoaded"),
        ),
        (
            &["--catalog=hub=bad.yaml", "--on-undecided=warn"],
            (3, "CatalogNotLoaded"),
        ),
        (
            &["--catalog=hub=bad.yaml", "--on-undecided=deny"],
            (3, "CatalogNotLoaded"),
        ),
    ];
    for (flags, (code, token)) in rows {
        let got = scene.tokens(&[&["-f", "a.yaml"], *flags].concat());
        assert_eq!(got, (*code, vec![(*token).to_owned()]), "{flags:?}");
    }
}

/// The catalog exists in the cluster: ignoring it would deny an edit that its content might allow.
#[test]
fn a_field_that_cannot_be_read_does_not_make_a_catalog_absent() {
    let bad_priority = cluster_catalog("hub", "spec:\n  priority: high\n");
    let bad_labels = cluster_catalog("other", "  labels: {team: 1}\n");
    let team = "selector: {matchLabels: {team: a}}";
    let named = "selector: {matchLabels: {olm.operatorframework.io/metadata.name: hub}}";
    let scene = scene(&[
        ("absent.yaml", &extension("absent", "7.0.0")),
        ("team.yaml", &asking("team", team)),
        ("named.yaml", &asking("named", named)),
        ("priority.yaml", &bad_priority),
        ("labels.yaml", &bad_labels),
    ]);
    let check = |extension: &str, catalogs: &str| {
        let ran = scene.run(&["-f", extension, catalogs, CATALOG, "-o=json"]);
        let token = ran.json()["results"][0]["token"].clone();
        (ran.code, token.as_str().map(str::to_owned), ran.stderr)
    };
    let priority = "error: priority.yaml:1:1: ClusterCatalog \"hub\": spec.priority is \"high\": \
                    expected a whole number of 32 bits\n";
    let labels = "error: labels.yaml:1:1: ClusterCatalog \"other\": metadata.labels is 1: \
                  expected a map of strings\n";
    for (extension, catalogs, token, stderr) in [
        ("absent.yaml", "priority.yaml", "CatalogNotLoaded", priority),
        ("named.yaml", "priority.yaml", "CatalogNotLoaded", priority),
        ("team.yaml", "priority.yaml", "NoCatalogs", priority),
        ("absent.yaml", "labels.yaml", "CatalogNotLoaded", labels),
        ("team.yaml", "labels.yaml", "CatalogNotLoaded", labels),
    ] {
        let expected = (3, Some(token.to_owned()), stderr.to_owned());
        assert_eq!(
            check(extension, catalogs),
            expected,
            "{extension} {catalogs}"
        );
    }
}

#[test]
fn a_catalog_without_a_name_is_bad_input_and_no_catalog() {
    let nameless = "apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\n";
    let scene = scene(&[("a.yaml", &extension("a", "1.1.0")), ("c.yaml", nameless)]);
    let (code, report) = scene.json(&["-f", ".", CATALOG]);
    // `hub.yaml` is in the directory as well, but its objects have no kind, so they are ignored.
    assert_eq!(
        (code, &report["results"][0]["token"]),
        (3, &"Resolved".into())
    );
    assert_eq!(report["catalogs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn objects_describe_what_the_flag_gives_the_content_of() {
    let scene = scene(&[
        ("a.yaml", &extension("a", "1.1.0")),
        (
            "team.yaml",
            &asking("team", "selector: {matchLabels: {team: a}}"),
        ),
        (
            "off.yaml",
            &cluster_catalog("hub", "spec:\n  availabilityMode: Unavailable\n"),
        ),
        (
            "down.yaml",
            &cluster_catalog("hub", "status:\n  conditions: []\n"),
        ),
        (
            "team-a.yaml",
            &cluster_catalog("hub", "  labels: {team: a}\n"),
        ),
    ]);
    let rows: &[(&[&str], i32, &str)] = &[
        (&["-f", "a.yaml"], 4, "NoCatalogs"),
        (&["-f", "a.yaml", "team-a.yaml"], 4, "CatalogNotLoaded"),
        (&["-f", "a.yaml", "off.yaml", CATALOG], 4, "NoCatalogs"),
        (
            &["-f", "a.yaml", "down.yaml", CATALOG],
            4,
            "CatalogNotLoaded",
        ),
        (&["-f", "team.yaml", CATALOG], 4, "NoCatalogs"),
        (&["-f", "team.yaml", "team-a.yaml", CATALOG], 0, "Resolved"),
    ];
    for (arguments, code, token) in rows {
        assert_eq!(
            scene.tokens(arguments),
            (*code, vec![(*token).to_owned()]),
            "{arguments:?}"
        );
    }
}
