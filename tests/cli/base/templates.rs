//! Templates that are not rendered, and whose names are unknown.

use super::repository::{Repository, removed, tokens};
use crate::check::scene::asking;

fn tower(name: &str, version: &str) -> String {
    asking(name, &format!("version: {version}"))
}

#[test]
fn one_whose_name_is_rendered_later_may_have_been_any() {
    let repository = Repository::with(&[("apps/a.yaml", &tower("{{ .Release.Name }}", "1.0.0"))]);
    repository.write(&[("apps/a.yaml", &tower("tower", "1.3.0"))]);
    let (code, report) = repository.json("main", &[]);
    assert_eq!(tokens(&report), ["tower unknown InstalledUnknown"]);
    assert_eq!(code, 4);
    let message = report["results"][0]["message"].as_str().unwrap_or_default();
    let cause = "Cause: main:apps/a.yaml cannot be read completely";
    assert!(message.lines().any(|line| line == cause), "{message}");
}

#[test]
fn one_whose_name_is_rendered_later_may_be_there_still() {
    let repository = Repository::with(&[("apps/a.yaml", &tower("tower", "1.0.0"))]);
    repository.write(&[("apps/a.yaml", &tower("{{ .Release.Name }}", "1.0.0"))]);
    let (_, report) = repository.json("main", &[]);
    assert_eq!(removed(&report, "name"), [""; 0]);
    let other = "kind: Service\nmetadata:\n  name: {{ .Release.Name }}\n";
    repository.write(&[("apps/a.yaml", other)]);
    let (_, report) = repository.json("main", &[]);
    assert_eq!(removed(&report, "name"), ["tower"]);
}
