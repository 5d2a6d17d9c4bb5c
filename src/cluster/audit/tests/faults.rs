//! Audits that do not end.

use super::*;
use crate::cluster::tests::logged::logged;

fn warnings(lines: &[Value]) -> Vec<String> {
    let warnings = lines.iter().filter(|line| line["level"] != "INFO");
    let warnings = warnings.filter(|line| line["level"] != "DEBUG");
    let words = warnings.map(|line| {
        let message = line["message"].as_str().unwrap_or_default();
        let error = line["error"].as_str().unwrap_or_default();
        format!("{message}: {error}")
    });
    words.collect()
}

pub(super) fn logged_times(lines: &[Value], message: &str) -> usize {
    lines
        .iter()
        .filter(|line| line["message"] == message)
        .count()
}

/// What is warned of while this happens, each time that it is.
pub(super) fn warned(act: impl AsyncFnOnce()) -> (Vec<String>, Vec<Value>) {
    let lines = logged(act);
    (warnings(&lines), lines)
}

#[test]
fn what_cannot_be_listed_is_counted_and_logged_once() {
    let (warnings, lines) = warned(async || {
        let api = cluster();
        api.put(EXTENSIONS, extension("good", "1.2.0", "1.2.0"));
        let scene = Scene::of(api);
        scene.begin();
        scene.until(COUNT, Some("1")).await;
        scene
            .api
            .put(EXTENSIONS, extension("other", "1.2.0", "1.2.0"));
        let is_list = |asked: &olmguard_support::api::Asked| asked.path == EXTENSIONS;
        scene
            .api
            .trouble(Trouble::Status(StatusCode::FORBIDDEN), is_list);
        scene.until(FAILURES, Some("3")).await;
        assert_eq!(
            scene.value(COUNT).as_deref(),
            Some("1"),
            "of the last audit"
        );
        assert_eq!(scene.value(TIME).as_deref(), Some("1700000000"));
        scene
            .api
            .trouble(Trouble::Status(StatusCode::BAD_GATEWAY), is_list);
        scene.until(FAILURES, Some("5")).await;
        scene.api.heal();
        scene.until(COUNT, Some("2")).await;
    });
    let expected = [
        "Failed to audit what is installed, keeping the figures of the last audit: installed extensions are unknown: \
         cannot list clusterextensions.olm.operatorframework.io: the API server answers 403: as the test says; grant \
         the verb \"list\" on them",
        "Failed to audit what is installed, keeping the figures of the last audit: installed extensions are unknown: \
         cannot list clusterextensions.olm.operatorframework.io: the API server answers 502: as the test says",
    ];
    assert_eq!(warnings, expected);
    assert_eq!(logged_times(&lines, "Auditing what is installed again"), 1);
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_silent_ends_the_audit() {
    let api = cluster();
    api.trouble(Trouble::Silent, |asked| asked.path == EXTENSIONS);
    let scene = Scene::of(api);
    scene.begin();
    scene.until(FAILURES, Some("1")).await;
    assert_eq!(scene.value(COUNT), None, "no audit has ended yet");
    scene.api.heal();
    scene.until(COUNT, Some("0")).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_without_an_end_is_not_kept() {
    let api = cluster();
    for number in 0..=MOST_EXTENSIONS {
        api.put(
            EXTENSIONS,
            json!({"metadata": {"name": format!("x-{number}")}}),
        );
    }
    let listed = installed(api.client()).await;
    assert_eq!(listed.map(|all| all.len()), Err(InstalledError::TooMany));
    assert_eq!(
        InstalledError::TooMany.to_string(),
        "there are more than 5000 ClusterExtensions"
    );
    api.delete(EXTENSIONS, "x-0");
    let listed = installed(api.client()).await;
    assert_eq!(listed.map(|all| all.len()), Ok(MOST_EXTENSIONS));
}

#[test]
fn an_audit_that_takes_too_long_says_so() {
    let words = [AuditError::TooLong, AuditError::Panicked].map(|error| error.to_string());
    let expected = [
        "it takes more than 300 s",
        "the thread that audits panicked; please report this",
    ];
    assert_eq!(words, expected);
}
