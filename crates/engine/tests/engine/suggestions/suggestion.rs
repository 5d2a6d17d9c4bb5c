//! Follows the suggestions of one answer as a user would: by editing the object.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use crate::suggestions::requests::UNREADABLE;
use olmguard_catalog::olm::ReleaseKey;
use olmguard_catalog::version::BundleReleaseSupport;
use olmguard_engine::explain::Answer;
use olmguard_engine::extension::{Installed, InstalledBundle};
use olmguard_engine::judge::{Basis, BypassHelps, Fix, FixValue, Request, Token, Verdict, rule};
use olmguard_engine::resolve::EditContext;
use olmguard_engine::snapshot::Snapshot;
use olmguard_fixtures::question::{answer_to, extension};

/// The result of an edit: its version without build metadata, and the bundle installed afterwards.
struct Reached {
    version: String,
    installed: Installed,
}

/// Puts a question, and follows every suggestion of a denial.
pub(crate) fn walk(walked: &mut Walked, snapshot: &Snapshot, asked: &Value, installed: &Installed) {
    let answer = answer_to(snapshot, asked, installed);
    walked.answers += 1;
    let from = Start {
        snapshot,
        asked,
        installed,
    };
    let advice = &answer.advice;
    let has_any = !advice.path.is_empty()
        || advice.fix.is_some()
        || !advice.allowed_next.is_empty()
        || advice.bypass != BypassHelps::No;
    if answer.verdict() != Verdict::Deny {
        walked.check(!has_any, || from.tell("suggests without a denial", &answer));
        return;
    }
    walked.denials += 1;
    if !has_any {
        walked.without_any(&answer);
    }
    from.fix(walked, &answer);
    from.path(walked, &answer);
    from.next(walked, &answer);
    from.bypass(walked, &answer);
}

struct Start<'a> {
    snapshot: &'a Snapshot,
    asked: &'a Value,
    installed: &'a Installed,
}

impl Start<'_> {
    fn fix(&self, walked: &mut Walked, answer: &Answer) {
        let Some(fix) = &answer.advice.fix else {
            walked.check(answer.advice.path.is_empty(), || {
                self.tell("a path without a fix", answer)
            });
            return;
        };
        walked.fixes += 1;
        let reached = self.reach(&applied(self.asked, fix), self.installed);
        walked.check(reached.is_some(), || {
            self.tell("the fix is refused", answer)
        });
    }

    /// Follows the path step by step; the fix is the first step. If edges blocked the request, they no longer do at the
    /// end. If several versions are requested, several catalogs can still tie there.
    fn path(&self, walked: &mut Walked, answer: &Answer) {
        let path = &answer.advice.path;
        if path.is_empty() {
            return;
        }
        walked.paths += 1;
        let bundle = self.installed.bundle();
        let readable = bundle.is_some_and(|bundle| bundle.version != UNREADABLE);
        let pins = path.get(usize::from(readable)..).unwrap_or_default();
        let fixed = answer.advice.fix.as_ref().map(|fix| fix.value.clone());
        let is_fix = pins.first().cloned().map(FixValue::Text) == fixed;
        walked.check(is_fix, || self.tell("the fix is not the first hop", answer));
        let mut installed = self.installed.clone();
        for pin in pins {
            walked.hops += 1;
            match self.reach(&with(self.asked, "version", json!(pin)), &installed) {
                Some(reached) if reached.version == *pin => installed = reached.installed,
                _ => return walked.check(false, || self.tell(&format!("no hop to {pin}"), answer)),
            }
        }
        let stood_in_the_way =
            |answer: &Answer| matches!(answer.token, Token::NotASuccessor | Token::Downgrade);
        if stood_in_the_way(answer) {
            let end = answer_to(self.snapshot, self.asked, &installed);
            walked.check(!stood_in_the_way(&end), || {
                self.tell("edges stand in the way at the end", answer)
            });
        }
    }

    /// The versions do not depend on the range, so each list is tried once for all ranges.
    fn next(&self, walked: &mut Walked, answer: &Answer) {
        let next = &answer.advice.allowed_next;
        let depends_on = with(self.asked, "version", Value::Null);
        let key = format!("{depends_on} {:?}", self.installed);
        if walked.tried.get(&key) == Some(next) {
            return;
        }
        for version in next {
            walked.next += 1;
            let reached = self.reach(&with(self.asked, "version", json!(version)), self.installed);
            let is_it = reached.is_some_and(|reached| reached.version == *version);
            walked.check(is_it, || {
                self.tell(&format!("{version} is not next"), answer)
            });
        }
        walked.tried.insert(key, next.clone());
    }

    fn bypass(&self, walked: &mut Walked, answer: &Answer) {
        if answer.advice.bypass != BypassHelps::No {
            walked.overrides += 1;
            let bypassing = with(
                self.asked,
                "upgradeConstraintPolicy",
                json!("SelfCertified"),
            );
            let reached = self.reach(&bypassing, self.installed);
            walked.check(reached.is_some(), || {
                self.tell("the bypass is refused", answer)
            });
        }
    }

    /// The result of an edit if it is allowed, as operator-controller records it.
    fn reach(&self, asked: &Value, installed: &Installed) -> Option<Reached> {
        let extension = extension(asked);
        let filter = extension.filter.as_ref().ok()?;
        let ruled = rule(
            Basis::without_policies(self.snapshot),
            &Request {
                filter,
                installed,
                context: EditContext::unknown(),
            },
        );
        let bundle = ruled.resolved()?.bundle();
        let read = bundle.version.as_ref().ok()?;
        let gate = match self.snapshot.rules().release_key {
            ReleaseKey::Honoured => BundleReleaseSupport::Enabled,
            _ => BundleReleaseSupport::Disabled,
        };
        let recorded = read.recorded(gate);
        Some(Reached {
            version: read.version.without_build().to_string(),
            installed: Installed::Bundle(InstalledBundle {
                name: Some(bundle.name.to_string()),
                version: recorded.version,
                release: recorded.release,
            }),
        })
    }

    fn tell(&self, what: &str, answer: &Answer) -> String {
        let catalogs: Vec<_> = self
            .snapshot
            .catalogs()
            .iter()
            .map(|c| (&c.name, c.priority))
            .collect();
        format!(
            "{what}: {} from {:?} in {catalogs:?}: {} {:?}",
            self.asked,
            self.installed,
            answer.token.as_str(),
            answer.advice
        )
    }
}

fn with(asked: &Value, field: &str, value: Value) -> Value {
    let mut asked = asked.as_object().expect("an object").clone();
    asked.insert(field.to_owned(), value);
    Value::Object(asked)
}

/// The object after the edit that a fix describes.
fn applied(asked: &Value, fix: &Fix) -> Value {
    let value = match &fix.value {
        FixValue::Text(text) => json!(text),
        FixValue::List(items) => json!(items),
    };
    let field = fix
        .field
        .strip_prefix("spec.source.catalog.")
        .expect(&fix.field);
    let label = field
        .strip_prefix("selector.matchLabels[\"")
        .and_then(|rest| rest.strip_suffix("\"]"));
    match label {
        None => with(asked, field, value),
        Some(label) => {
            let mut selector = asked["selector"].as_object().cloned().unwrap_or_default();
            let labels = selector
                .entry("matchLabels")
                .or_insert_with(|| Value::Object(Map::new()));
            labels
                .as_object_mut()
                .expect("labels")
                .insert(label.to_owned(), value);
            with(asked, "selector", Value::Object(selector))
        }
    }
}

// === The followed suggestions, and the failures ===

/// Counts by kind of suggestion.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) answers: usize,
    pub(crate) denials: usize,
    pub(crate) fixes: usize,
    pub(crate) paths: usize,
    pub(crate) hops: usize,
    pub(crate) next: usize,
    pub(crate) overrides: usize,
    /// Denials without any suggestion, by token.
    pub(crate) without: BTreeMap<&'static str, usize>,
    /// The versions already tried as next versions, by everything that they depend on.
    pub(crate) tried: HashMap<String, Vec<String>>,
    failures: Vec<String>,
}

impl Walked {
    /// Notes a failure.
    pub(crate) fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.failures.push(what());
        }
    }

    /// Counts a denial that suggests nothing.
    pub(crate) fn without_any(&mut self, answer: &Answer) {
        *self.without.entry(answer.token.as_str()).or_default() += 1;
    }

    /// Prints the counts. Fails if there were failures or if nothing was followed.
    #[track_caller]
    pub(crate) fn finish(self, of: &str) {
        let Self {
            answers,
            denials,
            fixes,
            paths,
            hops,
            next,
            overrides,
            without,
            failures,
            ..
        } = self;
        let suggestions = fixes + paths + next + overrides;
        println!(
            "{of}: {answers} answers, {denials} denials, {suggestions} suggestions walked ({fixes} \
             fixes, {paths} paths of {hops} hops, {next} next versions, {overrides} overrides); \
             denials without any: {without:?}"
        );
        assert!(
            fixes > 0 && paths > 0 && next > 0 && overrides > 0,
            "{of}: nothing walked"
        );
        let shown: Vec<_> = failures.iter().take(8).collect();
        assert!(
            failures.is_empty(),
            "{of}: {} do not hold: {shown:#?}",
            failures.len()
        );
    }
}
