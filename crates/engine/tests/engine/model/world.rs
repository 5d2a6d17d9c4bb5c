//! Random worlds of package `p`, and their form for the program.

use olmguard_catalog::guardrail::{AdministratorGuardrails, ImposedBy, read};
use olmguard_catalog::olm::Rules;
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{Edit, Policies, Requester, UpgradePolicies, UserInfo};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::guardrails::catalog::{Facts, content, guardrails};
use olmguard_policy::{Moment, UpgradePolicy};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::guardrails::oracle::line::{LINE, Range, range, version};
use crate::guardrails::oracle::table::{Graph, Rule, graph, rule};
use crate::model::table::Condition;

/// Everything that a verdict depends on.
#[derive(Clone, Debug)]
pub(crate) struct RandomCluster {
    pub(crate) catalogs: Vec<Catalog>,
    pub(crate) administrator: Option<Stated>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) request: Request,
}

#[derive(Clone, Debug)]
pub(crate) struct Catalog {
    pub(crate) name: &'static str,
    pub(crate) priority: i32,
    pub(crate) bundles: Vec<PlacedBundle>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) is_deprecated: bool,
    pub(crate) author: Option<Stated>,
}

/// A bundle by the index of its version. A renamed bundle has the version of another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Name {
    pub(crate) at: usize,
    pub(crate) is_renamed: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedBundle {
    pub(crate) name: Name,
    pub(crate) is_deprecated: bool,
    pub(crate) is_dependent: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) name: &'static str,
    pub(crate) is_deprecated: bool,
    pub(crate) entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: Name,
    pub(crate) replaces: Option<Name>,
    pub(crate) skips: Vec<Name>,
    pub(crate) skip_range: Option<Range>,
}

/// The guardrails of one owner, each rule with whether the bypass lifts it.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    pub(crate) graph: Graph,
    pub(crate) rules: Vec<(Rule, bool)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) warns: bool,
    pub(crate) rules: PolicyRules,
}

#[derive(Clone, Debug)]
pub(crate) struct PolicyRules {
    pub(crate) allow: Option<Range>,
    pub(crate) deny: Option<Range>,
    pub(crate) step: Option<&'static str>,
    pub(crate) prereleases: Option<&'static str>,
    pub(crate) deprecated: Option<&'static str>,
    pub(crate) range: Option<&'static str>,
    pub(crate) catalogs: Option<Vec<&'static str>>,
    pub(crate) bypass: Option<&'static str>,
    pub(crate) is_closed: Option<bool>,
    pub(crate) condition: Option<Condition>,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) range: Option<Range>,
    pub(crate) channels: Vec<&'static str>,
    pub(crate) bypasses: bool,
    pub(crate) installed: Option<Name>,
}

// === Drawing worlds ===

const CATALOGS: [&str; 3] = ["hub", "mirror", "own"];

const CHANNELS: [&str; 2] = ["alpha", "beta"];

pub(crate) fn world() -> impl Strategy<Value = RandomCluster> {
    let catalogs = (
        catalog(CATALOGS[0]),
        weighted(0.4, catalog(CATALOGS[1])),
        weighted(0.2, catalog(CATALOGS[2])),
    );
    let policies = prop_oneof![
        1 => Just(Vec::new()),
        1 => prop::collection::vec(policy(), 1..3),
    ];
    let parts = (catalogs, weighted(0.3, stated()), policies, request());
    parts.prop_map(
        |((hub, mirror, own), administrator, policies, request)| RandomCluster {
            catalogs: std::iter::once(hub).chain(mirror).chain(own).collect(),
            administrator,
            policies,
            request,
        },
    )
}

fn name() -> impl Strategy<Value = Name> {
    (0..LINE.len(), prop::bool::weighted(0.1)).prop_map(|(at, is_renamed)| Name { at, is_renamed })
}

fn catalog(name: &'static str) -> impl Strategy<Value = Catalog> {
    let parts = (
        0..2_i32,
        bundles(),
        subsequence(&CHANNELS, 0..=CHANNELS.len())
            .prop_flat_map(|names| names.into_iter().map(channel).collect::<Vec<_>>()),
        prop::bool::weighted(0.1),
        weighted(0.3, stated()),
    );
    let whole = parts.prop_map(
        move |(priority, bundles, channels, is_deprecated, author)| Catalog {
            name,
            priority,
            bundles,
            channels,
            is_deprecated,
            author,
        },
    );
    let empty = Catalog {
        name,
        priority: 0,
        bundles: Vec::new(),
        channels: Vec::new(),
        is_deprecated: false,
        author: None,
    };
    prop_oneof![1 => Just(empty), 19 => whole]
}

fn bundles() -> impl Strategy<Value = Vec<PlacedBundle>> {
    let bundle = |name, often| {
        let drawn = (prop::bool::weighted(0.2), prop::bool::weighted(0.04));
        let bundle = drawn.prop_map(move |(is_deprecated, is_dependent)| PlacedBundle {
            name,
            is_deprecated,
            is_dependent,
        });
        weighted(often, bundle)
    };
    let names = (0..LINE.len()).flat_map(|at| [(at, false, 0.6), (at, true, 0.1)]);
    let drawn = names.map(|(at, is_renamed, often)| bundle(Name { at, is_renamed }, often));
    drawn
        .collect::<Vec<_>>()
        .prop_map(|drawn| drawn.into_iter().flatten().collect())
}

/// An entry for most indexes, which often replaces the previous one.
fn channel(name: &'static str) -> impl Strategy<Value = Channel> {
    let entry = (
        prop::bool::weighted(0.7),
        prop::bool::weighted(0.1),
        prop_oneof![3 => Just(None), 1 => super::world::name().prop_map(Some)],
        prop::bool::weighted(0.6),
        prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(super::world::name(), 1..3)],
        weighted(0.25, range()),
    );
    let entries = prop::collection::vec(entry, LINE.len());
    (entries, prop::bool::weighted(0.1)).prop_map(move |(drawn, is_deprecated)| {
        let mut entries: Vec<Entry> = Vec::new();
        for (at, (is_there, is_renamed, other, follows, skips, skip_range)) in
            drawn.into_iter().enumerate()
        {
            if is_there {
                let before = entries.last().map(|entry| entry.name).filter(|_| follows);
                entries.push(Entry {
                    name: Name { at, is_renamed },
                    replaces: other.or(before),
                    skips,
                    skip_range,
                });
            }
        }
        Channel {
            name,
            is_deprecated,
            entries,
        }
    })
}

fn stated() -> impl Strategy<Value = Stated> {
    let rules = prop::collection::vec((rule(), any::<bool>()), 0..3);
    (graph(), rules).prop_map(|(graph, rules)| Stated { graph, rules })
}

fn policy() -> impl Strategy<Value = Policy> {
    let word = |words: &'static [&'static str]| weighted(0.2, select(words));
    let of_bundles = (
        weighted(0.15, range()),
        weighted(0.15, range()),
        word(&["Patch", "Minor", "Major"]),
        word(&["Deny", "Allow"]),
        word(&["Deny", "Warn", "Allow"]),
        weighted(0.1, subsequence(&CATALOGS, 1..=CATALOGS.len())),
    );
    let of_edits = (
        word(&["Pinned", "Bounded", "Any"]),
        word(&["Deny", "ByPermission", "Allow"]),
        weighted(0.15, prop::bool::weighted(0.3)),
        weighted(0.2, select(&Condition::ALL[..])),
    );
    let parts = (prop::bool::weighted(0.3), of_bundles, of_edits);
    parts.prop_map(|(warns, of_bundles, of_edits)| {
        let (allow, deny, step, prereleases, deprecated, catalogs) = of_bundles;
        let (range, bypass, is_closed, condition) = of_edits;
        let rules = PolicyRules {
            allow,
            deny,
            step,
            prereleases,
            deprecated,
            range,
            catalogs,
            bypass,
            is_closed,
            condition,
        };
        Policy { warns, rules }
    })
}

fn request() -> impl Strategy<Value = Request> {
    let channels = subsequence(&["alpha", "beta", "missing"], 1..3);
    let parts = (
        weighted(0.5, range()),
        prop_oneof![2 => Just(Vec::new()), 1 => channels],
        prop::bool::weighted(0.2),
        weighted(0.85, name()),
    );
    parts.prop_map(|(range, channels, bypasses, installed)| Request {
        range,
        channels,
        bypasses,
        installed,
    })
}

// === Writing worlds ===

impl Name {
    pub(crate) fn written(self) -> String {
        let suffix = if self.is_renamed { "-renamed" } else { "" };
        format!("p.v{}{suffix}", version(self.at))
    }
}

impl RandomCluster {
    pub(crate) fn facts(&self) -> Facts {
        let state = |catalog: &Catalog| {
            let mut state = CatalogState::named(catalog.name, content(&catalog.blobs()));
            state.priority = catalog.priority;
            state
        };
        let written = self.policies.iter().enumerate();
        let written: Vec<_> = written.map(|(at, policy)| policy.written(at)).collect();
        let mut imposed = AdministratorGuardrails::default();
        if let Some(stated) = &self.administrator {
            let stated = read(&stated.written());
            imposed.add(
                Some("p"),
                ImposedBy {
                    place: "rules.yaml:3".into(),
                    stated,
                },
            );
        }
        Facts {
            snapshot: Snapshot::new(Rules::default(), self.catalogs.iter().map(state)),
            policies: Policies {
                guardrails: imposed,
                upgrades: UpgradePolicies::of(written.iter().map(UpgradePolicy::read)),
                ..Policies::default()
            },
        }
    }

    pub(crate) fn edit(&self) -> WrittenEdit {
        let request = &self.request;
        let policy = if request.bypasses {
            "SelfCertified"
        } else {
            "CatalogProvided"
        };
        let mut catalog = json!({"packageName": "p", "upgradeConstraintPolicy": policy});
        if let Some(range) = &request.range {
            catalog["version"] = range.written().into();
        }
        if !request.channels.is_empty() {
            catalog["channels"] = request.channels.clone().into();
        }
        let object = json!({
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": {"name": "e"},
            "spec": {"source": {"sourceType": "Catalog", "catalog": catalog}},
        });
        let bundle = |name: Name| {
            Installed::Bundle(InstalledBundle {
                name: Some(name.written()),
                version: version(name.at).to_owned(),
                release: None,
            })
        };
        WrittenEdit {
            extension: Extension::read(Shape::V1, &object),
            installed: request.installed.map_or(Installed::Nothing, bundle),
            requester: Requester {
                user: Some(UserInfo {
                    name: "ann".to_owned(),
                    groups: Vec::new(),
                }),
                at: Moment::parse("2026-11-20T09:00:00Z").expect("a time"),
            },
        }
    }
}

/// An edit with the objects that it refers to.
pub(crate) struct WrittenEdit {
    extension: Extension,
    installed: Installed,
    requester: Requester,
}

impl WrittenEdit {
    pub(crate) fn as_edit(&self) -> Edit<'_> {
        Edit {
            new: &self.extension,
            old: None,
            installed: &self.installed,
            schema: &[],
            requester: &self.requester,
        }
    }
}

impl Catalog {
    fn blobs(&self) -> Vec<Value> {
        let channels = self.channels.iter().map(Channel::written);
        let bundles = self.bundles.iter().map(PlacedBundle::written);
        let author = self.author.iter().map(|author| {
            let written = author.written();
            guardrails(author.graph.written(), &written["rules"])
        });
        let blobs = channels
            .chain(bundles)
            .chain(self.deprecations())
            .chain(author);
        blobs.collect()
    }

    fn deprecations(&self) -> Option<Value> {
        let entry = |reference: Value| json!({"reference": reference, "message": "old"});
        let package = self
            .is_deprecated
            .then(|| entry(json!({"schema": "olm.package"})));
        let channels = self.channels.iter().filter(|channel| channel.is_deprecated);
        let channels =
            channels.map(|channel| entry(json!({"schema": "olm.channel", "name": channel.name})));
        let bundles = self.bundles.iter().filter(|bundle| bundle.is_deprecated);
        let bundles = bundles
            .map(|bundle| entry(json!({"schema": "olm.bundle", "name": bundle.name.written()})));
        let entries: Vec<_> = package.into_iter().chain(channels).chain(bundles).collect();
        (!entries.is_empty())
            .then(|| json!({"schema": "olm.deprecations", "package": "p", "entries": entries}))
    }
}

impl Channel {
    fn written(&self) -> Value {
        let entries: Vec<_> = self.entries.iter().map(Entry::written).collect();
        json!({"schema": "olm.channel", "package": "p", "name": self.name, "entries": entries})
    }
}

impl Entry {
    fn written(&self) -> Value {
        let mut entry = json!({"name": self.name.written()});
        if let Some(name) = self.replaces {
            entry["replaces"] = name.written().into();
        }
        if !self.skips.is_empty() {
            entry["skips"] = self.skips.iter().map(|name| name.written()).collect();
        }
        if let Some(range) = &self.skip_range {
            entry["skipRange"] = range.written().into();
        }
        entry
    }
}

impl PlacedBundle {
    fn written(&self) -> Value {
        let package = json!({"packageName": "p", "version": version(self.name.at)});
        let mut properties = vec![json!({"type": "olm.package", "value": package})];
        if self.is_dependent {
            properties.push(json!({"type": "olm.gvk.required", "value": {}}));
        }
        json!({
            "schema": "olm.bundle", "package": "p", "name": self.name.written(),
            "image": "registry.example/p:v", "properties": properties,
        })
    }
}

impl Stated {
    /// A document of a guardrails file. In the rules of an author, `bypassable` has no effect.
    fn written(&self) -> Value {
        let rules = self.rules.iter().enumerate();
        let rules = rules.map(|(at, (rule, is_lifted))| {
            let mut written = rule.written(at);
            if *is_lifted {
                written["bypassable"] = true.into();
            }
            written
        });
        json!({"graph": self.graph.written(), "rules": rules.collect::<Vec<_>>()})
    }
}

impl Policy {
    fn written(&self, at: usize) -> Value {
        let rules = &self.rules;
        let range = |range: &Option<Range>| range.as_ref().map(Range::written);
        let windows = rules.is_closed.map(|is_closed| {
            let (schedule, duration) = if is_closed {
                ("0 22 * * *", "1h")
            } else {
                ("0 0 * * *", "24h")
            };
            json!([{"schedule": schedule, "duration": duration}])
        });
        let conditions = rules
            .condition
            .map(|condition| json!([{"expression": condition.expression()}]));
        let mut written = json!({
            "step": rules.step,
            "prereleases": rules.prereleases,
            "deprecated": rules.deprecated,
            "range": rules.range,
            "catalogs": rules.catalogs,
            "bypass": rules.bypass,
            "windows": windows,
            "conditions": conditions,
        });
        if rules.allow.is_some() || rules.deny.is_some() {
            written["versions"] =
                without_nulls(json!({"allow": range(&rules.allow), "deny": range(&rules.deny)}));
        }
        json!({
            "apiVersion": "olmguard.dev/v1alpha1",
            "kind": "UpgradePolicy",
            "metadata": {"name": format!("policy-{at}")},
            "spec": {
                "enforcement": if self.warns { "Warn" } else { "Deny" },
                "rules": without_nulls(written),
            },
        })
    }
}

fn without_nulls(mut object: Value) -> Value {
    object
        .as_object_mut()
        .expect("an object")
        .retain(|_, value| !value.is_null());
    object
}
