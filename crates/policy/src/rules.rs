//! `rules`: the restrictions of a policy. An absent rule restricts nothing.

use olmguard_catalog::dns1123;
use olmguard_catalog::members::{self, FieldFaults, FieldProblem, Members, TextRule, WordRule};
use olmguard_catalog::version::{Constraint, Masterminds};
use serde_json::Value;

use crate::condition::{self, PolicyCondition};
use crate::fault::{FaultList, PolicyProblem};
use crate::limits;
use crate::violation::{Enforcement, RangeShape, Step};
use crate::window::{self, PolicyWindow};

/// The rules of one policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSet {
    pub(crate) allow: Option<Constraint>,
    pub(crate) deny: Option<Constraint>,
    pub(crate) step: Option<Step>,
    pub(crate) prereleases_denied: bool,
    pub(crate) deprecated: Option<Enforcement>,
    pub(crate) range: Option<RangeShape>,
    pub(crate) catalogs: Option<Vec<String>>,
    pub(crate) bypass: Option<Bypass>,
    /// One open window is enough. An empty list is no rule.
    pub(crate) windows: Vec<PolicyWindow>,
    pub(crate) conditions: Vec<PolicyCondition>,
}

/// The rule for edits that bypass the upgrade edges.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Bypass {
    Deny,
    ByPermission,
}

impl RuleSet {
    /// Reads `spec.rules`. A rule with a fault keeps its readable part.
    pub(crate) fn read(value: &Value, faults: &mut FaultList) -> Self {
        let Some(members) = Members::of(value, "spec.rules", KEYS, faults) else {
            return Self::default();
        };
        let (allow, deny) = versions(&members, faults);
        Self {
            allow,
            deny,
            step: members.word("step", &STEP, faults),
            prereleases_denied: members.word("prereleases", &PRERELEASES, faults) == Some(true),
            deprecated: members.word("deprecated", &DEPRECATED, faults).flatten(),
            range: members.word("range", &RANGE, faults),
            catalogs: catalogs(&members, faults),
            bypass: members.word("bypass", &BYPASS, faults).flatten(),
            windows: window::read(&members, faults),
            conditions: condition::read(&members, faults),
        }
    }
}

fn versions(
    rules: &Members<'_>,
    faults: &mut FaultList,
) -> (Option<Constraint>, Option<Constraint>) {
    let Some(value) = rules.get("versions") else {
        return (None, None);
    };
    let path = rules.path_of("versions");
    let Some(members) = Members::of(value, &path, VERSIONS, faults) else {
        return (None, None);
    };
    if VERSIONS.iter().all(|key| members.get(key).is_none()) {
        let expected = "allow, deny or both";
        faults.report_field(path, FieldProblem::Empty { expected });
    }
    let allow = constraint(&members, "allow", faults);
    (allow, constraint(&members, "deny", faults))
}

fn constraint(members: &Members<'_>, key: &str, faults: &mut FaultList) -> Option<Constraint> {
    let text = members.text(key, A_RANGE, faults)?;
    let range = Constraint::parse(text, NEWEST).map_err(PolicyProblem::Range);
    faults.take(range, || members.path_of(key))
}

fn catalogs(members: &Members<'_>, faults: &mut FaultList) -> Option<Vec<String>> {
    let items = members.some_items("catalogs", "a list of catalog names", faults)?;
    let mut names = Vec::new();
    for (path, item) in items {
        let name = members::text(item, path.clone(), A_CATALOG, faults);
        if let Some(name) = name.filter(|name| !dns1123::is_subdomain(name)) {
            faults.report(path, PolicyProblem::name(name, A_CATALOG.expected));
        }
        names.extend(name.map(str::to_owned));
    }
    Some(names)
}

/// The release with which the newest OLM reads `spec.source.catalog.version`.
const NEWEST: Masterminds = Masterminds::V3_5;

const KEYS: &[&str] = &[
    "versions",
    "step",
    "prereleases",
    "deprecated",
    "range",
    "catalogs",
    "bypass",
    "windows",
    "conditions",
];

const VERSIONS: &[&str] = &["allow", "deny"];

const STEP: WordRule<Step> = WordRule {
    rule: TextRule::filled("Patch, Minor or Major", limits::NAME_BYTES),
    known: &["Patch", "Minor", "Major"],
    meant: &[Step::Patch, Step::Minor, Step::Major],
};

const PRERELEASES: WordRule<bool> = WordRule {
    rule: TextRule::filled("Deny or Allow", limits::NAME_BYTES),
    known: &["Deny", "Allow"],
    meant: &[true, false],
};

const DEPRECATED: WordRule<Option<Enforcement>> = WordRule {
    rule: TextRule::filled("Deny, Warn or Allow", limits::NAME_BYTES),
    known: &["Deny", "Warn", "Allow"],
    meant: &[Some(Enforcement::Deny), Some(Enforcement::Warn), None],
};

const RANGE: WordRule<RangeShape> = WordRule {
    rule: TextRule::filled("Pinned, Bounded or Any", limits::NAME_BYTES),
    known: &["Pinned", "Bounded", "Any"],
    meant: &[RangeShape::Pinned, RangeShape::Bounded, RangeShape::Any],
};

const BYPASS: WordRule<Option<Bypass>> = WordRule {
    rule: TextRule::filled("Deny, ByPermission or Allow", limits::NAME_BYTES),
    known: &["Deny", "ByPermission", "Allow"],
    meant: &[Some(Bypass::Deny), Some(Bypass::ByPermission), None],
};

const A_RANGE: TextRule =
    TextRule::filled("a version range such as \">=1.2 <3\"", limits::RANGE_BYTES);

const A_CATALOG: TextRule = TextRule::filled("the name of a ClusterCatalog", limits::NAME_BYTES);
