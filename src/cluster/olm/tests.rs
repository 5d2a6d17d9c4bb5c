//! The facts in a Deployment, row by row.

use hyper::StatusCode;
use k8s_openapi::api::core::v1::Container;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{Duration, Instant, timeout};

use super::{manager_of, *};
use crate::cluster::line::{PACE, SECONDS};
use olmguard_support::api::{ApiServer, Asked, Trouble};

const UPSTREAM: &str = "/apis/apps/v1/namespaces/olmv1-system/deployments";

const OPENSHIFT: &str = "/apis/apps/v1/namespaces/openshift-operator-controller/deployments";

const VERSIONS: &str = "/apis/config.openshift.io/v1/clusterversions";

const DIGEST: &str = "registry.example/openshift/art-dev@sha256:1a2b";

fn container(image: &str, args: &[&str]) -> Container {
    Container {
        name: "manager".to_owned(),
        image: Some(image.to_owned()),
        args: Some(args.iter().map(|&arg| arg.to_owned()).collect()),
        ..Container::default()
    }
}

#[track_caller]
fn is_release(image: &str, openshift: Option<&str>, expected: &str, warnings: &[&str]) {
    let version = |text: &str| OpenShift::Version(text.to_owned());
    let openshift = openshift.map_or(OpenShift::NotHere, version);
    let found = found("olmv1-system", &container(image, &[]), &openshift);
    assert_eq!(found.release.to_string(), expected, "{image}");
    let said: Vec<_> = found.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said, warnings, "{image}");
}

#[test]
fn the_tag_says_the_release() {
    let repository = "registry.example/operator-framework/operator-controller";
    for (tag, release) in [
        ("v1.11.0", "1.11"),
        ("v1.2.0-rc1", "1.2"),
        ("v1.0.0", "1.0"),
        ("1.9", "1.9"),
        ("v1.8.1@sha256:1a2b", "1.8"),
        ("v4.20.0-202510091234.p0", "1.4"),
    ] {
        is_release(&format!("{repository}:{tag}"), None, release, &[]);
    }
    is_release("localhost:5000/op:v1.3.0", Some("4.20.3"), "1.3", &[]);
}

#[test]
fn the_version_of_openshift_says_the_release_of_a_digest() {
    for (version, release) in [
        ("4.18.0", "openshift-4.18"),
        ("4.20.3", "1.4"),
        ("4.23.0-ec.1", "1.11"),
        ("5.0.1", "1.11"),
    ] {
        is_release(DIGEST, Some(version), release, &[]);
    }
}

#[test]
fn an_unknown_release_is_taken_for_the_nearest_one_with_a_warning() {
    let unknown = |found: &str, taken: &str| {
        format!(
            "OLM {found} is not known to this olmguard: checked as {taken}, the nearest known \
             release"
        )
    };
    for (tag, taken) in [("v1.12.3", "1.11"), ("v2.0.0", "1.11"), ("v0.18.0", "1.0")] {
        let image = format!("registry.example/op/operator-controller:{tag}");
        is_release(&image, None, taken, &[&unknown(tag, taken)]);
    }
    for (version, taken) in [
        ("4.17.1", "openshift-4.18"),
        ("4.30.0", "1.11"),
        ("6.1.0", "1.11"),
    ] {
        is_release(DIGEST, Some(version), taken, &[&unknown(version, taken)]);
    }
}

#[test]
fn an_image_that_says_nothing_is_taken_for_the_newest_release_with_a_warning() {
    for image in [
        DIGEST,
        "localhost:5000/operator-controller",
        "operator-controller:devel",
        "operator-controller:v1",
        "operator-controller:v1.x",
        "operator-controller:1.2x.3",
        "operator-controller:v99999999999999999999.1",
        "operator-controller:20261121.1",
        "operator-controller:v10.0.0",
        "",
    ] {
        let warning = format!(
            "the image of operator-controller has no release in its tag, and this is not \
             OpenShift: checked as 1.11, the newest release; set --olm-release if it is another: \
             {image}"
        );
        is_release(image, None, "1.11", &[&warning]);
    }
}

#[test]
fn an_openshift_without_a_version_is_not_called_another_kubernetes() {
    for (openshift, why) in [
        (OpenShift::Unknown("403".to_owned()), "403"),
        (OpenShift::Version("x".to_owned()), "\"x\" is not a version"),
    ] {
        let found = found("n", &container(DIGEST, &[]), &openshift);
        let said: Vec<_> = found.warnings.iter().map(ToString::to_string).collect();
        let expected = format!(
            "the image of operator-controller has no release in its tag, and the version of \
             OpenShift cannot be read: checked as 1.11, the newest release; set --olm-release if \
             it is another: {why}"
        );
        assert_eq!(said, [expected]);
    }
}

#[test]
fn feature_gates_are_read_in_both_forms_and_the_last_one_wins() {
    let on = Gates::parse(["BundleReleaseSupport=true"], OlmRelease::default()).unwrap();
    let off = Gates::default();
    for (args, expected) in [
        (&["--leader-elect"][..], off),
        (&["--feature-gates=BundleReleaseSupport=true"], on),
        (&["--feature-gates", "BundleReleaseSupport=true"], on),
        (
            &["--feature-gates=BoxcutterRuntime=true,BundleReleaseSupport=true"],
            on,
        ),
        (
            &[
                "--feature-gates=BundleReleaseSupport=true",
                "--feature-gates=BundleReleaseSupport=false",
            ],
            off,
        ),
        (&["--feature-gates= BundleReleaseSupport=true ,"], on),
        (&["--feature-gates"], off),
        (&["--feature-gates=AllAlpha=true"], on),
    ] {
        let found = found("n", &container("x:v1.11.0", args), &OpenShift::NotHere);
        assert!(found.gates.resolve_as(expected), "{args:?}");
        assert_eq!(found.warnings, [], "{args:?}");
    }
}

/// The defaults of the running release may be others.
#[test]
fn the_gates_of_a_release_that_is_assumed_are_not_known() {
    let gates = |image| found("olmv1-system", &container(image, &[]), &OpenShift::NotHere).gates;
    assert_ne!(gates("r.example/oc:v1.11.0"), Gates::default());
    for image in [DIGEST, "r.example/oc:v1.99.0"] {
        assert_eq!(gates(image), Gates::default(), "{image}");
    }
}

#[test]
fn gates_that_are_not_known_are_ignored_with_a_warning() {
    let args = ["--feature-gates=FromTheFuture=true,BundleReleaseSupport=true,Odd"];
    let found = found("n", &container("x:v1.11.0", &args), &OpenShift::NotHere);
    assert_eq!(
        found.rules_unless(None, None).release_key,
        olmguard_catalog::olm::ReleaseKey::Honoured
    );
    let said: Vec<_> = found.warnings.iter().map(ToString::to_string).collect();
    let begins = "ignored in operator-controller's --feature-gates: ";
    assert!(said[0].starts_with(&format!("{begins}unknown feature gate \"FromTheFuture\"")));
    assert!(said[1].starts_with(&format!("{begins}feature gate \"Odd\" has no value")));
}

#[test]
fn what_was_found_is_told_in_one_line() {
    let args = ["--feature-gates=BundleReleaseSupport=true,BoxcutterRuntime=false"];
    let with = found(
        "olmv1-system",
        &container("x:v1.11.0", &args),
        &OpenShift::NotHere,
    );
    assert_eq!(
        with.to_string(),
        "OLM 1.11 (image tag v1.11.0), feature gates BundleReleaseSupport=true,BoxcutterRuntime=false, \
         of Deployment olmv1-system/operator-controller-controller-manager"
    );
    let without = found(
        "o",
        &container(DIGEST, &[]),
        &OpenShift::Version("4.20.3".to_owned()),
    );
    assert_eq!(
        without.to_string(),
        "OLM 1.4 (OpenShift 4.20.3), no feature gates, of Deployment o/operator-controller-controller-manager"
    );
}

#[test]
fn what_was_set_by_hand_counts_and_a_difference_is_a_warning() {
    let args = ["--feature-gates=BundleReleaseSupport=true"];
    let found = found("n", &container("x:v1.11.0", &args), &OpenShift::NotHere);
    let said = |release: &str, gates| -> Vec<_> {
        let warnings = compare(&found, Some(release.parse().unwrap()), gates);
        warnings.iter().map(ToString::to_string).collect()
    };
    assert_eq!(said("1.11", Some(found.gates)), [""; 0]);
    assert_eq!(
        said("1.9", None),
        [
            "OLM 1.11 runs in the cluster, but --olm-release sets 1.9, which olmguard uses",
            "OLM runs with feature gates BundleReleaseSupport=true, which olmguard ignores because \
             --olm-release names another release; to use them, set --olm-feature-gates",
        ]
    );
    assert_eq!(
        said("1.9", Some(found.gates)),
        ["OLM 1.11 runs in the cluster, but --olm-release sets 1.9, which olmguard uses"]
    );
    assert_eq!(
        said("1.11", Some(Gates::default())),
        [
            "OLM runs with feature gates BundleReleaseSupport=true, but --olm-feature-gates sets \
             others, which olmguard uses"
        ]
    );
    assert_eq!(compare(&found, None, None), []);
}

#[test]
fn the_container_is_the_one_that_runs_operator_controller() {
    let make = |name: &str, command: &[&str], image: &str| Container {
        name: name.to_owned(),
        command: Some(command.iter().map(|&word| word.to_owned()).collect()),
        image: Some(image.to_owned()),
        ..Container::default()
    };
    let proxy = || make("kube-rbac-proxy", &["/kube-rbac-proxy"], "proxy:v1");
    let chosen = |containers: &[Container]| manager_of(containers).map(|c| c.name.clone());
    let run = make("controller", &["/operator-controller"], "x");
    assert_eq!(
        chosen(&[make("manager", &[], "y"), run]).as_deref(),
        Some("controller")
    );
    let named = make("manager", &["/manager"], "x");
    assert_eq!(chosen(&[proxy(), named]).as_deref(), Some("manager"));
    let image = make(
        "main",
        &[],
        "r.example/ose-olm-operator-controller:v1@sha256:2",
    );
    assert_eq!(chosen(&[proxy(), image]).as_deref(), Some("main"));
    assert_eq!(chosen(&[proxy()]).as_deref(), Some("kube-rbac-proxy"));
    assert_eq!(chosen(&[proxy(), make("other", &[], "x")]), None);
    assert_eq!(chosen(&[]), None);
}

fn cluster() -> ApiServer {
    let api = ApiServer::start();
    api.serve("apps/v1", "deployments", "Deployment");
    api
}

fn deployment(image: &str, generation: i64) -> Value {
    json!({
        "metadata": {"name": DEPLOYMENT, "uid": "1", "generation": generation},
        "spec": {
            "selector": {},
            "template": {"spec": {"containers": [{"name": "manager", "image": image}]}},
        },
    })
}

/// An OpenShift cluster that runs OLM 1.7, which only its version shows.
fn openshift_cluster() -> ApiServer {
    let api = cluster();
    api.serve(
        "config.openshift.io/v1",
        "clusterversions",
        "ClusterVersion",
    );
    let version =
        json!({"metadata": {"name": "version"}, "status": {"desired": {"version": "4.21.7"}}});
    api.put(VERSIONS, version);
    api.put(OPENSHIFT, deployment(DIGEST, 1));
    api
}

#[tokio::test(start_paused = true)]
async fn it_is_found_in_either_namespace() {
    let api = cluster();
    let find = async |namespace| find(&api.client(), namespace).await;
    assert_eq!(
        find(None).await.unwrap_err().to_string(),
        "no operator-controller: expected a Deployment operator-controller-controller-manager in \
         namespace olmv1-system or openshift-operator-controller; is OLM v1 installed?"
    );
    api.put(OPENSHIFT, deployment("op:v1.4.0", 1));
    assert_eq!(find(None).await.unwrap().release.to_string(), "1.4");
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    assert_eq!(find(None).await.unwrap().release.to_string(), "1.8");
    let named = find(Some("openshift-operator-controller")).await.unwrap();
    assert_eq!(named.release.to_string(), "1.4");
    assert!(find(Some("elsewhere")).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn openshift_is_asked_where_the_image_has_a_digest_alone() {
    let api = openshift_cluster();
    let found = find(&api.client(), None).await.unwrap();
    assert_eq!(
        (found.release.to_string().as_str(), found.warnings),
        ("1.7", vec![])
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_with_its_reason() {
    let api = cluster();
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    assert_eq!(
        find(&api.client(), None).await.unwrap_err().to_string(),
        "cannot read Deployment olmv1-system/operator-controller-controller-manager: \
         the API server answers 403: as the test says"
    );
}

// === A watch while OLM is upgraded, missing, or not to be asked ===

struct Told(Receiver<OlmEvent>);

impl Told {
    fn by(api: &ApiServer) -> Self {
        let (events, told) = channel(1);
        tokio::spawn(watch(api.client(), None, events));
        Self(told)
    }

    async fn event(&mut self) -> String {
        let event = timeout(Duration::from_hours(1), self.0.recv()).await;
        let event = event.expect("told within an hour");
        match event.expect("the watch goes on") {
            OlmEvent::Found(found) => format!("found {}", found.release),
            OlmEvent::NotFound(error) => error.to_string(),
            OlmEvent::Alive => "alive".to_owned(),
            OlmEvent::Lost(fault) => format!("lost {}", fault.class.as_str()),
        }
    }

    /// The next answer.
    async fn answer(&mut self) -> String {
        let begun = Instant::now();
        loop {
            let event = self.event().await;
            assert!(
                begun.elapsed() < Duration::from_hours(1),
                "no answer in an hour"
            );
            if event != "alive" && !event.starts_with("lost") {
                return event;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_of_olm_is_noticed() {
    let api = cluster();
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    let mut told = Told::by(&api);
    assert_eq!(told.answer().await, "found 1.8");
    // Pods come and go: nothing that matters has changed.
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    api.put(UPSTREAM, deployment("op:v1.8.0", 2));
    api.put(UPSTREAM, deployment("op:v1.11.0", 3));
    assert_eq!(told.answer().await, "found 1.11");
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_or_forbidden_is_waited_for() {
    let api = cluster();
    let mut told = Told::by(&api);
    let nowhere = "no operator-controller";
    assert!(told.answer().await.starts_with(nowhere));
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    assert_eq!(told.answer().await, "found 1.8");
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    api.break_watches();
    let forbidden = "the API server answers 403";
    assert!(told.answer().await.contains(forbidden));
    api.heal();
    assert_eq!(told.answer().await, "found 1.8");
    api.delete(UPSTREAM, DEPLOYMENT);
    assert!(told.answer().await.starts_with(nowhere));
}

#[tokio::test(start_paused = true)]
async fn each_contact_and_each_failed_try_is_told() {
    let api = cluster();
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    let mut told = Told::by(&api);
    assert_eq!(told.event().await, "found 1.8");
    // The look, then the beginning of the watch.
    assert_eq!(told.event().await, "alive");
    assert_eq!(told.event().await, "alive");
    api.bookmark();
    assert_eq!(told.event().await, "alive");
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    api.break_watches();
    assert_eq!(told.event().await, "lost unreachable");
    assert!(told.event().await.starts_with("cannot read Deployment"));
    for _ in 0..5 {
        assert_eq!(told.event().await, "lost forbidden");
    }
    api.heal();
    assert_eq!(told.answer().await, "found 1.8");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_without_olm_is_heard_each_time() {
    let mut told = Told::by(&cluster());
    assert!(told.event().await.starts_with("no operator-controller"));
    for _ in 0..5 {
        assert_eq!(told.event().await, "alive");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_before_its_silence_would_be_the_end_of_the_connection() {
    let api = cluster();
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    let mut told = Told::by(&api);
    while !api.asked().iter().any(Asked::is_watch) {
        told.event().await;
    }
    let asked = api.asked();
    let watch = asked.iter().find(|asked| asked.is_watch()).unwrap();
    let seconds = SECONDS.to_string();
    assert_eq!(watch.param("timeoutSeconds"), Some(seconds.as_str()));
}

#[tokio::test(start_paused = true)]
async fn a_version_of_openshift_that_cannot_be_read_is_asked_for_again() {
    let api = openshift_cluster();
    api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |asked| {
        asked.path.starts_with(VERSIONS)
    });
    let mut told = Told::by(&api);
    assert_eq!(told.answer().await, "found 1.11");
    api.heal();
    let since = Instant::now();
    assert_eq!(told.answer().await, "found 1.7");
    assert!(
        since.elapsed() < Duration::from_secs(5),
        "{:?}",
        since.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_is_noticed_while_the_version_of_openshift_is_missing() {
    let api = openshift_cluster();
    api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |asked| {
        asked.path.starts_with(VERSIONS)
    });
    let mut told = Told::by(&api);
    assert_eq!(told.answer().await, "found 1.11");
    // Until the pauses are long.
    tokio::time::sleep(Duration::from_mins(5)).await;
    while api.watches() == 0 {
        told.event().await;
    }
    let since = Instant::now();
    api.put(OPENSHIFT, deployment("op:v1.8.0", 2));
    assert_eq!(told.answer().await, "found 1.8");
    assert!(since.elapsed() <= 2 * PACE, "{:?}", since.elapsed());
}
