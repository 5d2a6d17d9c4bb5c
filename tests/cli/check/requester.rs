//! The user and the time of an edit, for policies that use them: assumptions are reported.

use super::scene::{CATALOG, extension, scene};

const POLICIES: &str = "\
apiVersion: olmguard.dev/v1alpha1
kind: UpgradePolicy
metadata: {name: production}
spec:
  rules:
    conditions:
    - {expression: \"user.groups.exists(g, g == 'platform')\", message: only the platform team}
---
apiVersion: olmguard.dev/v1alpha1
kind: UpgradePolicy
metadata: {name: weekend}
spec:
  rules:
    windows: [{schedule: \"0 22 * * 6\", duration: 1h, timeZone: Europe/Berlin}]
";

/// Times inside and outside the window of Saturday 2026-11-21, 22:00 to 23:00 in Berlin.
const OPEN: &str = "--at=2026-11-21T21:30:00Z";
const CLOSED: &str = "--at=2026-11-20T21:30:00Z";

const USER: &str = "  Note: no user given: use --as, --as-group\n";
const NOW: &str = "  Note: checked at the current time: use --at\n";

fn checked(flags: &[&str]) -> (i32, String) {
    let scene = scene(&[
        ("a.yaml", &extension("a", "1.1.0")),
        ("policies.yaml", POLICIES),
    ]);
    let always = [
        "a.yaml",
        CATALOG,
        "--policy=policies.yaml",
        "--installed=a=1.0.0",
    ];
    let ran = scene.run(&[&always[..], flags].concat());
    (ran.code, ran.stdout)
}

#[test]
fn a_rule_about_the_user_says_that_none_is_given() {
    let (code, text) = checked(&[OPEN]);
    assert_eq!(code, 1, "{text}");
    let reason = "refused: policy production: condition not met: only the platform team [Policy]\n";
    assert!(text.contains(reason) && text.contains(USER), "{text}");
    assert!(!text.contains(NOW), "{text}");
    for given in [&["--as=jane"][..], &["--as-group=dev"]] {
        let (code, text) = checked(&[&[OPEN], given].concat());
        assert_eq!(code, 1, "{text}");
        assert!(text.contains(reason) && !text.contains("Note:"), "{text}");
    }
    let (code, text) = checked(&[OPEN, "--as-group=platform"]);
    assert_eq!((code, text.contains("Note:")), (0, false), "{text}");
}

#[test]
fn a_window_is_said_once_and_that_now_is_assumed() {
    let (code, text) = checked(&[CLOSED, "--as-group=platform"]);
    assert_eq!(code, 1, "{text}");
    let opens = "2026-11-21T22:00:00+01:00 Europe/Berlin (2026-11-21T21:00:00Z)";
    assert_eq!(text.matches(opens).count(), 1, "{text}");
    assert!(
        text.contains("  Wait until the next window opens.\n"),
        "{text}"
    );
    assert!(!text.contains("Note:"), "{text}");
    // One hour of the week is open. In all others, the note is printed.
    let (code, text) = checked(&["--as-group=platform"]);
    assert_eq!(code == 1, text.contains(NOW), "{text}");
}

/// The window is not the reason of the denial, but it opens the path at its time.
#[test]
fn a_window_that_closes_the_path_says_that_now_is_assumed() {
    let window = POLICIES.split("---\n").nth(1).expect("two policies");
    let scene = scene(&[
        ("a.yaml", &extension("a", "1.3.0")),
        ("policies.yaml", window),
    ]);
    let always = [
        "a.yaml",
        CATALOG,
        "--policy=policies.yaml",
        "--installed=a=1.0.0",
    ];
    let run = |flags: &[&str]| scene.run(&[&always[..], flags].concat()).stdout;
    assert!(run(&[OPEN]).contains("Path: "), "{}", run(&[OPEN]));
    let text = run(&[]);
    assert_eq!(text.contains("Blocked by: "), text.contains(NOW), "{text}");
    assert!(!run(&[CLOSED]).contains("Note:"));
}

#[test]
fn a_time_is_a_date_or_a_time_of_today_too() {
    for (at, code) in [
        ("2026-11-21", 1),
        ("2026-11-21T22:30:00+01:00", 0),
        ("22:00", -1),
        ("22:00:30", -1),
        ("tomorrow", 2),
        ("2026-13-01", 2),
        ("25:00", 2),
    ] {
        let flag = format!("--at={at}");
        let (found, text) = checked(&[&flag, "--as-group=platform"]);
        let is_expected = if code < 0 { found < 2 } else { found == code };
        assert!(is_expected, "{at}: {found} {text}");
        assert!(!text.contains(NOW), "{at}: {text}");
    }
}

/// A policy that is silently ignored would not be enforced.
#[test]
fn a_policy_of_a_kind_with_a_typo_is_not_left_out() {
    let scene = scene(&[
        ("a.yaml", &extension("a", "1.1.0")),
        ("policies/a.yaml", POLICIES),
        (
            "policies/b.yaml",
            "apiVersion: olmguard.dev/v1alpha1\nkind: UpgradePolcy\nmetadata: {name: b}\nspec: {rules: {step: Patch}}\n",
        ),
        (
            "policies/c.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
        ),
    ]);
    let ran = scene.run(&["a.yaml", CATALOG, "--policy=policies"]);
    assert_eq!((ran.code, &*ran.stdout), (2, ""));
    assert_eq!(
        ran.stderr,
        "error: policies/b.yaml:2:7: kind \"UpgradePolcy\" is not known: did you mean UpgradePolicy?\n"
    );
}

#[test]
fn a_review_is_judged_at_the_time_that_is_given() {
    let window = POLICIES.split("---\n").nth(1).unwrap();
    let object = extension("a", "1.1.0").replace('\n', "\n    ");
    let review = format!(
        "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  uid: u\n  operation: CREATE\n  \
         object:\n    {object}\n"
    );
    let scene = scene(&[("review.yaml", &review), ("policies.yaml", window)]);
    for (at, code) in [(OPEN, 0), (CLOSED, 1)] {
        let ran = scene.run(&["review.yaml", CATALOG, "--policy=policies.yaml", at]);
        assert_eq!(ran.code, code, "{at}: {}", ran.stdout);
        assert!(!ran.stdout.contains("Note:"), "{}", ran.stdout);
    }
    let ran = scene.run(&["review.yaml", CATALOG, "--policy=policies.yaml", "--all"]);
    assert!(!ran.stdout.contains(USER), "{}", ran.stdout);
}
