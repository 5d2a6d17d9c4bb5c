//! Directories that a tool renders, and directories of several clusters.

use crate::check::scene::{CATALOG, Ran, asking, cluster_catalog, extension, scene};

const PATCH: &str = "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\n\
    metadata: {name: tower}\nspec: {source: {catalog: {version: \"1.1.0\"}}}\n";

/// Returns an overlay with this form of patch.
fn overlay(patches: &str) -> String {
    format!("resources: [../../base]\n{patches}\n")
}

#[track_caller]
fn runs(files: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let scene = scene(files);
    let ran = scene.run(&[arguments, &[CATALOG]].concat());
    assert!(!format!("{ran:?}").contains("remove one"), "{ran:?}");
    ran
}

#[test]
fn a_base_and_its_patches_are_to_be_rendered() {
    let base = extension("tower", "9.9.9");
    for patches in [
        "patches: [{path: patch.yaml}]",
        "patches: [{path: ./patch.yaml, target: {kind: ClusterExtension}}]",
        "patchesStrategicMerge: [patch.yaml]",
        "patchesJson6902: [{path: patch.yaml, target: {kind: ClusterExtension, name: tower}}]",
    ] {
        for name in ["kustomization.yaml", "kustomization.yml", "Kustomization"] {
            let prod = format!("kz/overlays/prod/{name}");
            let files = [
                ("kz/base/ext.yaml", &*base),
                ("kz/base/kustomization.yaml", "resources: [ext.yaml]\n"),
                (&prod, &*overlay(patches)),
                ("kz/overlays/prod/patch.yaml", PATCH),
            ];
            let ran = runs(&files, &["-f", "kz"]);
            let way = "render it first: kubectl kustomize kz/overlays/prod | olmguard check -f -";
            let expected = format!(
                "kz/base/ext.yaml:1:1: skipped\n  a resource that a kustomization changes; {way}\n\
                 kz/overlays/prod/patch.yaml:1:1: skipped\n  a patch of a kustomization; {way}\n"
            );
            assert!(
                ran.stdout.starts_with(&expected),
                "{patches} {name}: {ran:?}"
            );
            assert_eq!(ran.code, 0, "{ran:?}");
            let told = runs(&files, &["-f", "kz", "--installed", "tower=1.0.0"]);
            assert_eq!((told.code, told.stdout), (0, ran.stdout), "{patches}");
            for only in ["kz/overlays/prod", "kz/overlays/prod/patch.yaml"] {
                let ran = runs(&files, &["-f", only]);
                assert!(ran.stdout.contains(way), "{only}: {ran:?}");
                assert!(!ran.stdout.contains("deny"), "{only}: {ran:?}");
                assert_eq!(ran.code, 0, "{only}: {ran:?}");
            }
        }
    }
}

#[test]
fn an_overlay_without_files_of_its_own_is_to_be_rendered() {
    for text in [
        "resources: [../../base]\npatches: [{patch: \"kind: ClusterExtension\"}]\n",
        "resources: [../../base]\n",
        "resources: [\"https://git.example.com/base?ref=v1\"]\n",
        "components: [../../components/x]\n",
        "helmCharts: [{name: lantern}]\n",
    ] {
        let ran = runs(&[("prod/kustomization.yaml", text)], &["-f", "prod"]);
        let expected = "prod/kustomization.yaml:1:1: skipped\n  a kustomization; render it first: kubectl kustomize prod | olmguard check -f -\n";
        assert!(ran.stdout.starts_with(expected), "{text}: {ran:?}");
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

#[test]
fn what_no_overlay_changes_is_checked_as_it_is_written() {
    let tower = extension("tower", "1.1.0");
    let foreign = "resources: [ext.yaml, web.yaml]\npatches:\n- path: web-patch.yaml\n\
        - {patch: 'kind: Deployment', target: {kind: Deployment}}\nnamespace: x\n";
    for (kustomization, stage) in [
        ("resources: [ext.yaml]\n", ""),
        (foreign, ""),
        (
            "resources: [ext.yaml]\n",
            "resources: [../kz]\ncommonLabels: {stage: test}\n",
        ),
        (
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./x}\n",
            "",
        ),
    ] {
        let files = [
            ("kz/ext.yaml", &*tower),
            ("kz/kustomization.yaml", kustomization),
            ("kz/web.yaml", "apiVersion: apps/v1\nkind: Deployment\n"),
            (
                "kz/web-patch.yaml",
                "apiVersion: apps/v1\nkind: Deployment\n",
            ),
            ("stage/kustomization.yaml", stage),
        ];
        let ran = runs(&files, &["-f", "kz", "stage"]);
        assert!(
            ran.stdout.contains("tower: allow"),
            "{kustomization}: {ran:?}"
        );
        assert!(!ran.stdout.contains("skipped"), "{kustomization}: {ran:?}");
    }
    let files = [
        ("base/ext.yaml", &*tower),
        ("base/kustomization.yaml", "resources: [ext.yaml]\n"),
        (
            "prod/kustomization.yaml",
            "resources: [../base]\npatches: [{path: patch.yaml}]\n",
        ),
        ("prod/patch.yaml", PATCH),
        ("stage/kustomization.yaml", "resources: [../base]\n"),
    ];
    let ran = runs(&files, &["-f", "."]);
    assert!(
        ran.stdout.contains("base/ext.yaml:11:16: tower: allow"),
        "{ran:?}"
    );
    assert!(
        ran.stdout.contains("1 allowed; 1 template skipped"),
        "{ran:?}"
    );
}

#[test]
fn a_component_changes_what_its_users_list() {
    let files = [
        ("base/ext.yaml", &*extension("tower", "9.9.9")),
        (
            "base/kustomization.yaml",
            "resources: [ext.yaml]\ncomponents: [../pin]\n",
        ),
        (
            "pin/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: patch.yaml}]\n",
        ),
        ("pin/patch.yaml", PATCH),
    ];
    let ran = runs(&files, &["-f", "."]);
    let way = "render it first: kubectl kustomize ./base | olmguard check -f -";
    assert_eq!(ran.stdout.matches(way).count(), 2, "{ran:?}");
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn what_extensions_are_judged_by_is_changed_by_patches_too() {
    let image = "spec: {source: {type: Image, image: {ref: \"registry.example/hub:v1\"}}}\n";
    let files = [
        ("base/ext.yaml", &*extension("tower", "1.1.0")),
        ("base/hub.yaml", &*cluster_catalog("hub", image)),
        (
            "base/kustomization.yaml",
            "resources: [ext.yaml, hub.yaml]\n",
        ),
        (
            "prod/kustomization.yaml",
            "resources: [../base]\npatches: [{path: hub.yaml}]\n",
        ),
        (
            "prod/hub.yaml",
            &*cluster_catalog("hub", "spec: {priority: 5}\n"),
        ),
    ];
    let ran = runs(&files, &["-f", "."]);
    for file in ["base/ext.yaml", "prod/hub.yaml"] {
        let line = format!("{file}:1:1: skipped\n");
        assert!(ran.stdout.contains(&line), "{file}: {ran:?}");
    }
    for kind in [
        "ClusterCatalog",
        "Catalog",
        "UpgradePolicy",
        "UpgradeGuardrails",
        "Operator",
    ] {
        let inline =
            format!("resources: [../base]\npatches: [{{patch: '[]', target: {{kind: {kind}}}}}]\n");
        let files = [&files[..3], &[("prod/kustomization.yaml", &*inline)]].concat();
        let ran = runs(&files, &["-f", "."]);
        let skipped = "no extension found; 1 template skipped";
        assert!(ran.stdout.contains(skipped), "{kind}: {ran:?}");
    }
}

#[test]
fn an_operator_is_an_extension_that_patches_change() {
    let operator = "apiVersion: operators.operatorframework.io/v1alpha1\nkind: Operator\n\
        metadata: {name: tower}\nspec: {packageName: lantern-operator}\n";
    for (patch, is_changed) in [
        (operator, true),
        ("{\"kind\": \"Operator\", \"metadata\": {}}", true),
        ("kind: Deployment\nmetadata: {name: Operator}\n", false),
        ("kind: OperatorGroup\n", false),
        ("kind: !!str Operator\nmetadata: {name: tower}\n", true),
        (
            "apiVersion: operator.example.com/v1\nkind: Operator\n",
            false,
        ),
        ("kind: Operator\nmetadata: {{ unread }}\n", true),
    ] {
        let inline = serde_json::to_string(patch).expect("a text");
        for patches in [
            "[{path: patch.yaml}]".to_owned(),
            format!("[{{patch: {inline}}}]"),
        ] {
            let files = [
                ("base/ext.yaml", operator),
                ("base/kustomization.yaml", "resources: [ext.yaml]\n"),
                (
                    "prod/kustomization.yaml",
                    &*format!("resources: [../base]\npatches: {patches}\n"),
                ),
                ("prod/patch.yaml", patch),
            ];
            let ran = runs(&files, &["-f", "base", "prod"]);
            let is_skipped = ran.stdout.contains("base/ext.yaml:1:1: skipped\n");
            assert_eq!(is_skipped, is_changed, "{patches}: {ran:?}");
        }
    }
}

/// An overlay that applies an extension unchanged does not count for the other overlays.
#[test]
fn each_overlay_that_changes_an_extension_is_skipped() {
    let patched =
        "resources: [../base]\npatches: [{patch: '[]', target: {kind: ClusterExtension}}]\n";
    let files = [
        ("base/ext.yaml", &*extension("tower", "1.1.0")),
        ("base/kustomization.yaml", "resources: [ext.yaml]\n"),
        ("dev/kustomization.yaml", "resources: [../base]\n"),
        ("prod/kustomization.yaml", patched),
        ("stage/kustomization.yaml", patched),
        ("web/kustomization.yaml", "namePrefix: blue-\n"),
    ];
    let ran = runs(&files, &["-f", "."]);
    for overlay in ["prod", "stage"] {
        let expected = format!(
            "./{overlay}/kustomization.yaml:1:1: skipped\n  a kustomization; render it first: \
             kubectl kustomize ./{overlay} | olmguard check -f -\n"
        );
        assert!(ran.stdout.contains(&expected), "{ran:?}");
    }
    assert!(
        ran.stdout.contains("1 allowed; 2 templates skipped"),
        "{ran:?}"
    );
    let files = [&files[..2], &files[3..5]].concat();
    let ran = runs(&files, &["-f", "."]);
    assert!(ran.stdout.contains("kubectl kustomize ./stage"), "{ran:?}");
    assert!(
        ran.stdout
            .contains("no extension found; 2 templates skipped"),
        "{ran:?}"
    );
}

#[test]
fn equal_copies_are_one() {
    let (tower, hub) = (extension("tower", "1.1.0"), cluster_catalog("hub", ""));
    let commented = format!("# for production\n{tower}");
    let files = [
        ("two/prod/cc.yaml", &*hub),
        ("two/prod/ext.yaml", &*commented),
        ("two/stage/cc.yaml", &*hub),
        ("two/stage/ext.yaml", &*tower),
    ];
    let ran = runs(&files, &["-f", "two", "--installed=tower=1.0.0"]);
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
    assert!(ran.stdout.ends_with("\n1 allowed\n"), "{ran:?}");
    let other = extension("tower", "1.2.0");
    let ran = runs(
        &[files[0], files[1], ("two/stage/ext.yaml", &other)],
        &["-f", "two"],
    );
    let expected = "error: ClusterExtension \"tower\" is defined twice, at two/prod/ext.yaml:2:1 and at \
        two/stage/ext.yaml:1:1, with different content: check one directory for each cluster\n";
    assert_eq!((ran.code, &*ran.stderr), (2, expected), "{ran:?}");
}

#[test]
fn an_equal_copy_is_checked_if_it_was_another() {
    let (old, new) = (extension("tower", "1.0.0"), extension("tower", "1.3.0"));
    let scene = scene(&[
        ("old/prod/ext.yaml", &new),
        ("old/stage/ext.yaml", &old),
        ("new/prod/ext.yaml", &new),
        ("new/stage/ext.yaml", &new),
    ]);
    let (code, tokens) = scene.tokens(&["-f", "new", CATALOG, "--base", "./old"]);
    assert_eq!((code, tokens), (1, vec!["NotASuccessor".to_owned()]));
}

#[test]
fn an_openshift_template_is_to_be_processed() {
    for (version, fields) in [
        (
            "template.openshift.io/v1",
            asking("\"${NAME}\"", "version: ${VERSION}"),
        ),
        ("v1", extension("tower", "1.1.0")),
        (
            "v1",
            "apiVersion: olmguard.dev/v1alpha1\nkind: UpgradePolicy\nmetadata: {name: p}\n"
                .to_owned(),
        ),
    ] {
        let object = fields.replace('\n', "\n  ");
        let text = format!(
            "apiVersion: {version}\nkind: Template\nmetadata: {{name: t}}\nobjects:\n- {}\nparameters: [{{name: NAME}}]\n",
            object.trim_end()
        );
        let ran = runs(&[("t.yaml", &text)], &["-f", "t.yaml"]);
        let expected = "t.yaml:1:1: skipped\n  an OpenShift Template; render it first: oc process -f t.yaml | olmguard check -f -\n\
            no extension found; 1 template skipped\n";
        assert_eq!((ran.code, &*ran.stdout), (0, expected), "{ran:?}");
    }
    let other = "apiVersion: template.openshift.io/v1\nkind: Template\nobjects: [{kind: Service, metadata: {name: \"${X}\"}}]\n";
    let ran = runs(&[("t.yaml", other)], &["-f", "t.yaml"]);
    assert_eq!(ran.stdout, "no extension found; 1 object of another kind\n");
}

#[test]
fn a_chart_is_rendered_by_helm() {
    let template = asking("tower", "version: {{ .Values.version }}");
    let files = [
        (
            "charts/lantern/Chart.yaml",
            "apiVersion: v2\nname: lantern\nversion: 0.1.0\n",
        ),
        ("charts/lantern/values.yaml", "version: 1.1.0\n"),
        ("charts/lantern/templates/ext.yaml", &*template),
    ];
    for path in [
        "charts",
        "charts/lantern/templates",
        "charts/lantern/templates/ext.yaml",
    ] {
        let ran = runs(&files, &["-f", path]);
        let expected =
            "  a template; render it first: helm template charts/lantern | olmguard check -f -\n";
        assert!(ran.stdout.contains(expected), "{path}: {ran:?}");
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}
