//! Measures the memory that hostile texts need. A separate test binary, because it counts all
//! memory of the process.

use std::collections::BTreeMap;

use olmguard_catalog::version::Version;
use olmguard_policy::{
    BypassPermission, Change, Maker, Moment, Operation, PolicyBundle, PolicyOrigin,
    PolicyViolation, Subject, UpgradePolicy, UserInfo,
};
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Returns the peak memory use during the work, in KiB.
fn measured(work: impl FnOnce() -> UpgradePolicy) -> (UpgradePolicy, usize) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let policy = work();
    let peak = MEMORY.peak_usage().saturating_sub(before);
    (policy, peak / 1024)
}

/// A single test, because several would count each other's memory.
#[test]
fn hostile_texts_are_cheap() {
    let many = |part: &str| part.repeat(1024 / part.len());
    let texts = [
        "(",
        "[",
        "{",
        "((",
        "-(",
        "!",
        "-",
        "?:",
        "a?b:",
        "a&&",
        "a||(",
        "f(",
        ".a(",
        "{1:",
        "[[1],",
        "1+",
        "\"",
        "'''",
        "r'",
        "//\n",
        "a.",
        "a[",
        "&&!",
        "in ",
        "A{",
        ",",
        ":",
        "has(",
        "a.exists(b,",
        "0x",
        "1e",
        "`",
        "true&&",
        "to.major<1||",
        "[1,2,3]==",
        "size('a')+",
        "'\\u00e9'+",
    ];
    for text in texts.into_iter().map(many) {
        let (_, kib) = measured(|| policy(&json!({"conditions": [{"expression": text}]})));
        assert!(kib < 8 * 1024, "{kib} KiB: {text}");
    }
    let long = ["true", &" && true".repeat(127)].concat();
    let conditions = vec![json!({ "expression": long }); 64];
    let (read, kib) = measured(|| policy(&json!({"conditions": conditions})));
    assert_eq!(read.faults(), []);
    assert!(kib < 64 * 1024, "{kib} KiB for 64 long conditions");
    costly_evaluations();
}

/// The costliest expressions that are accepted, with the largest values.
fn costly_evaluations() {
    let user = UserInfo {
        name: String::new(),
        groups: (0..256).map(|n| format!("{n:01024}")).collect(),
    };
    for expression in [
        "user.groups.all(a, user.groups.all(b, a.contains(b) || true))",
        "user.groups.all(a, channels.filter(b, b < a) != [a])",
        "channels.all(a, user.groups.exists_one(b, a + b == b))",
        "user.groups.map(a, a + a + a) == []",
    ] {
        let read = policy(&json!({"conditions": [{"expression": expression}]}));
        let (read, kib) = measured(|| {
            install(&read, &user);
            read
        });
        assert_eq!(read.faults(), []);
        assert!(kib < 64 * 1024, "{kib} KiB: {expression}");
    }
}

fn policy(rules: &Value) -> UpgradePolicy {
    UpgradePolicy::read(&json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
        "metadata": {"name": "production"}, "spec": {"rules": rules},
    }))
}

/// The violations of an installation by this user.
fn install(policy: &UpgradePolicy, user: &UserInfo) -> Vec<PolicyViolation> {
    let version = Version::parse("1.0.0").expect("a version");
    policy.violations(&Change {
        subject: Subject {
            package: "p",
            namespace: "",
            labels: &BTreeMap::new(),
        },
        maker: Maker::User,
        from: PolicyOrigin::Nothing,
        to: PolicyBundle {
            name: "p.v1.0.0",
            version: &version,
        },
        is_move: true,
        catalog: "c",
        channels: &[],
        range: None,
        bypass: false,
        permission: BypassPermission::Unknown,
        deprecated: false,
        operation: Operation::Create,
        user: Some(user),
        now: Moment::EPOCH,
    })
}
