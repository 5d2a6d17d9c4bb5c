//! Text that a tool replaces later is not a value: the object is skipped, with one line.

use crate::check::scene::{CATALOG, Ran, cluster_catalog, extension, scene};

/// Returns an extension with a replaced text.
fn with(old: &str, new: &str) -> String {
    let text = extension("tower", "1.1.0");
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

#[track_caller]
fn runs(text: &str) -> Ran {
    let scene = scene(&[("apps/a.yaml", text)]);
    scene.run(&["-f", "apps", CATALOG])
}

/// Checks that one object is skipped with this line, without an error.
#[track_caller]
fn skips(text: &str, line: &str) {
    let ran = runs(text);
    assert_eq!(ran.code, 0, "{text}\n{ran:?}");
    let lines: Vec<_> = ran.stdout.lines().collect();
    let skipped = |line: &&str| line.ends_with(": skipped");
    assert_eq!(
        lines.iter().filter(|line| skipped(line)).count(),
        1,
        "{ran:?}"
    );
    assert_eq!(lines.get(1), Some(&&*format!("  {line}")), "{text}");
    assert!(!ran.stdout.contains(": deny"), "{ran:?}");
}

#[test]
fn a_placeholder_in_any_form_is_skipped() {
    let envsubst = "render it first: envsubst < apps/a.yaml | olmguard check -f -";
    let unknown = "render it first, and check the result (-f -)";
    for (version, way) in [
        ("${VERSION}", envsubst),
        ("${VERSION:-1.1.0}", unknown),
        ("$VERSION", envsubst),
        (">=${MIN} <2.0.0", envsubst),
        ("$(params.version)", unknown),
        ("$(VERSION)", unknown),
        ("<version>", unknown),
        ("<x>", unknown),
        ("<YOUR VERSION>", unknown),
        ("@VERSION@", unknown),
        ("%VERSION%", unknown),
        ("__VERSION__", unknown),
        ("{{ version }}", unknown),
        ("{{ .Values.version }}", unknown),
        ("~{{ version }}", unknown),
        ("{% if x %}1.1.0{% endif %}", unknown),
        ("#{Version}", unknown),
    ] {
        let found = olmguard_placeholder(version);
        let line = format!("a tool fills in spec.source.catalog.version later: \"{found}\"; {way}");
        for quote in ['"', '\''] {
            let value = format!("version: {quote}{version}{quote}");
            skips(&with("version: \"1.1.0\"", &value), &line);
        }
        let is_plain = !version.starts_with(['@', '%', '{', '#', '>']);
        if is_plain {
            skips(&with("\"1.1.0\"", version), &line);
        }
    }
}

/// Returns the placeholder in a version.
fn olmguard_placeholder(version: &str) -> &str {
    match version {
        ">=${MIN} <2.0.0" => "${MIN}",
        "~{{ version }}" => "{{ version }}",
        "{% if x %}1.1.0{% endif %}" => "{% if x %}",
        whole => whole,
    }
}

#[test]
fn a_placeholder_that_breaks_the_yaml_is_skipped() {
    let line = "a template; render it first, and check the result (-f -)";
    for (old, new) in [
        ("\"1.1.0\"", "{{ .Values.version }}"),
        ("\"1.1.0\"", "{{version}}-rc"),
        ("\"1.1.0\"", "@VERSION@"),
        ("\"1.1.0\"", "%VERSION%"),
        ("version: \"1.1.0\"", "channels: [${CHANNEL}]"),
        ("version: \"1.1.0\"", "channels: [{{ channel }}]"),
        ("version: \"1.1.0\"", "channels: [@CHANNEL@]"),
        (
            "version: \"1.1.0\"",
            "selector: {matchLabels: {a: ${LABEL}}}",
        ),
        (
            "version: \"1.1.0\"",
            "{{- with .Values.version }}\n      version: {{ . }}\n      {{- end }}",
        ),
        (
            "version: \"1.1.0\"",
            "{% if version %}\n      version: \"1.1.0\"\n      {% endif %}",
        ),
        ("apiVersion", "{{- if .Values.on }}\napiVersion"),
        ("apiVersion", "{% for one in all %}\napiVersion"),
        ("  name: tower", "  {{- include \"meta\" . | nindent 2 }}"),
    ] {
        skips(&with(old, new), line);
    }
}

#[test]
fn a_placeholder_in_any_field_that_is_read_is_skipped() {
    for (field, old, new) in [
        ("apiVersion", "olm.operatorframework.io/v1", "${API}"),
        (
            "apiVersion",
            "olm.operatorframework.io/v1",
            "olm.operatorframework.io/${VERSION}",
        ),
        ("kind", "ClusterExtension", "${KIND}"),
        ("metadata.name", "name: tower", "name: tower-${STAGE}"),
        (
            "metadata.generateName",
            "name: tower",
            "generateName: ${STAGE}-",
        ),
        ("spec.namespace", "namespace: lantern", "namespace: ${NS}"),
        (
            "spec.serviceAccount.name",
            "spec:\n",
            "spec:\n  serviceAccount: {name: \"${SA}\"}\n",
        ),
        ("spec.source.sourceType", "Catalog\n", "${TYPE}\n"),
        (
            "spec.source.catalog.packageName",
            "lantern-operator",
            "${PACKAGE}",
        ),
        (
            "spec.source.catalog.channels[1]",
            "version: \"1.1.0\"",
            "channels: [stable, \"${CHANNEL}\"]",
        ),
        (
            "spec.source.catalog.upgradeConstraintPolicy",
            "version: \"1.1.0\"",
            "upgradeConstraintPolicy: ${POLICY}",
        ),
        (
            "spec.source.catalog.selector.matchLabels.a",
            "version: \"1.1.0\"",
            "selector: {matchLabels: {a: \"${A}\"}}",
        ),
        (
            "spec.source.catalog.selector.matchExpressions[0].values[0]",
            "version: \"1.1.0\"",
            "selector: {matchExpressions: [{key: a, operator: In, values: [\"${A}\"]}]}",
        ),
    ] {
        let ran = runs(&with(old, new));
        let found = format!("  a tool fills in {field} later: \"$");
        assert!(ran.stdout.contains(&found), "{field}: {ran:?}");
        assert_eq!(ran.code, 0, "{field}: {ran:?}");
    }
}

#[test]
fn what_is_not_read_may_be_filled_in_later() {
    for (old, new) in [
        ("spec:\n", "  labels: {stage: \"${STAGE}\"}\nspec:\n"),
        (
            "spec:\n",
            "  annotations: {a: \"{{ b }} <c> @d@\"}\nspec:\n",
        ),
        (
            "spec:\n",
            "spec:\n  config: {configType: Inline, inline: {watchNamespace: \"${NS}\"}}\n",
        ),
        ("apiVersion", "# ${VERSION} <x> {{ y }}\napiVersion"),
    ] {
        let ran = runs(&with(old, new));
        assert!(ran.stdout.contains("tower: allow"), "{ran:?}");
        assert!(!ran.stdout.contains("skipped"), "{ran:?}");
    }
}

#[test]
fn ranges_are_no_placeholders() {
    for range in [
        "<2.0.0",
        ">=1.0.0 <2.0.0",
        "<2.0.0 >1.0.0",
        "<2.0.0, >=1.1.0",
        "<1.1.0 || >1.1.0",
        "<1.1.0||>=1.2.0",
        "<v2.0.0 >v1.0.0",
        "=<2.0.0 =>1.0.0",
        "~1.1 || ^1.2",
        "*",
    ] {
        let ran = runs(&with("1.1.0", range));
        assert!(ran.stdout.contains("tower: allow"), "{range}: {ran:?}");
    }
    for wrong in [
        "latest",
        "<>1.0.0",
        "1.0.0}",
        "$",
        "@",
        "<<1.0.0",
        "[1.0,2.0)",
    ] {
        let ran = runs(&with("1.1.0", wrong));
        assert_eq!(ran.code, 1, "{wrong}: {ran:?}");
        assert!(ran.stdout.contains("[InvalidSpec]"), "{wrong}: {ran:?}");
    }
}

#[test]
fn the_place_is_the_field_and_the_others_are_checked() {
    let text = format!(
        "{}---\n{}",
        with("\"1.1.0\"", "${V}"),
        extension("other", "1.1.0")
    );
    let scene = scene(&[("a.yaml", &text)]);
    let (code, report) = scene.json(&["-f", "a.yaml", CATALOG]);
    assert_eq!((code, &report["summary"]["skipped"]), (0, &1.into()));
    assert_eq!(
        (
            &report["skipped"][0]["line"],
            &report["skipped"][0]["column"]
        ),
        (&11.into(), &16.into())
    );
    let why = "a tool fills in spec.source.catalog.version later: \"${V}\"; render it first: envsubst < a.yaml | olmguard check -f -";
    assert_eq!(report["skipped"][0]["why"], why);
    assert_eq!(report["results"][0]["name"], "other");
    let strict = scene.run(&["-f", "a.yaml", CATALOG, "--no-schema"]);
    assert!(
        strict.stdout.contains("1 allowed; 1 template skipped"),
        "{strict:?}"
    );
}

#[test]
fn templates_alone_check_nothing() {
    let scene = scene(&[("a.yaml", &with("\"1.1.0\"", "${V}"))]);
    let ran = scene.run(&["-f", "a.yaml", CATALOG]);
    assert_eq!(
        (ran.code, &*ran.stderr),
        (
            0,
            "warning: every ClusterExtension of the inputs still has to be rendered, so nothing is checked; with --require-match that is an error\n"
        )
    );
    let ran = scene.run(&["-f", "a.yaml", CATALOG, "--require-match"]);
    assert_eq!(
        (ran.code, &*ran.stderr),
        (
            3,
            "error: every ClusterExtension of the inputs still has to be rendered: --require-match expects at least one\n"
        )
    );
}

#[test]
fn a_catalog_is_skipped_only_for_what_decides() {
    let image = "spec:\n  source: {type: Image, image: {ref: \"${REGISTRY}/hub:v1\"}}\n";
    let named = cluster_catalog("\"hub-${STAGE}\"", image);
    let scene = scene(&[
        ("a.yaml", &extension("tower", "1.1.0")),
        ("image.yaml", &cluster_catalog("hub", image)),
        ("named.yaml", &named),
    ]);
    let ran = scene.run(&["-f", "a.yaml", "image.yaml", CATALOG]);
    assert_eq!(
        (ran.code, ran.stdout.contains("skipped")),
        (0, false),
        "{ran:?}"
    );
    let ran = scene.run(&["-f", "a.yaml", "named.yaml", CATALOG]);
    assert!(ran.stdout.contains("named.yaml:4:9: skipped"), "{ran:?}");
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_placeholder_in_the_base_leaves_open_what_it_was() {
    let filled = with("\"1.1.0\"", "${V}");
    let scene = scene(&[
        ("old/a.yaml", &filled),
        ("new/a.yaml", &extension("tower", "1.1.0")),
        ("any/a.yaml", &with("name: tower", "name: ${NAME}")),
    ]);
    for base in ["./old", "./any"] {
        let (code, tokens) = scene.tokens(&["-f", "new", CATALOG, "--base", base]);
        assert_eq!(
            (code, tokens),
            (4, vec!["InstalledUnknown".to_owned()]),
            "{base}"
        );
    }
    let (code, report) = scene.json(&["-f", "old", CATALOG, "--base", "./new"]);
    assert_eq!(
        (code, &report["summary"]["removed"]),
        (0, &0.into()),
        "{report}"
    );
}
