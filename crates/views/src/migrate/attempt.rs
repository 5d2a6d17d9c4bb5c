//! An attempt to create an extension, as the engine judges it.

use crate::migrate::draft::ExtensionDraft;
use crate::migrate::plan::{MigrationFacts, Obstacle};
use olmguard_engine::explain::reason;
use olmguard_engine::extension::schema::{self, SchemaRelease};
use olmguard_engine::extension::{Extension, Installed, Shape};
use olmguard_engine::judge::{Edit, Judgement, Token, Verdict, judge};
use olmguard_engine::resolve::Choice;
use olmguard_preflight::PreflightCheck;

/// The judgement on the creation of an extension.
pub(super) struct Attempt<'a> {
    pub(super) draft: ExtensionDraft<'a>,
    /// Why it is not allowed.
    pub(super) refusal: Option<Obstacle>,
    /// The checks that fail for some settings of operator-controller.
    pub(super) doubts: Vec<PreflightCheck>,
    resolved: Option<Choice<'a>>,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(facts: &MigrationFacts<'a>, draft: ExtensionDraft<'a>) -> Self {
        let object = draft.object();
        let extension = Extension::read(Shape::V1, &object);
        let edit = Edit {
            new: &extension,
            old: None,
            installed: &Installed::Nothing,
            schema: &schema::check(Shape::V1, SchemaRelease::v1(draft.minor), &object),
            requester: facts.requester,
        };
        let judgement = judge(facts.basis, &edit);
        let doubts = judgement.ruled.preflight.as_ref();
        Self {
            doubts: doubts.map_or_else(Vec::new, |doubts| doubts.faults.checks()),
            resolved: judgement.ruled.resolved(),
            refusal: refusal(&edit, &judgement),
            draft,
        }
    }

    /// The first of these drafts that operator-controller installs, otherwise the first one.
    pub(super) fn best(
        facts: &MigrationFacts<'a>,
        drafts: Vec<ExtensionDraft<'a>>,
    ) -> Option<Self> {
        let mut attempts = drafts.into_iter().map(|draft| Self::new(facts, draft));
        let first = attempts.next()?;
        if first.is_installable() {
            return Some(first);
        }
        Some(attempts.find(Self::is_installable).unwrap_or(first))
    }

    /// Whether operator-controller installs what it resolves to, as far as is known.
    fn is_installable(&self) -> bool {
        let token = match &self.refusal {
            Some(Obstacle::Refused { token, .. }) => Some(*token),
            _ => None,
        };
        token != Some(Token::Preflight)
    }

    /// Whether this bundle is installed.
    pub(super) fn gives(&self, bundle: Choice<'_>) -> bool {
        let resolved = self.resolved.filter(|_| self.refusal.is_none());
        // Two catalogs can have the same bundle.
        resolved.is_some_and(|resolved| resolved.bundle().name == bundle.bundle().name)
    }
}

fn refusal(edit: &Edit<'_>, judgement: &Judgement<'_>) -> Option<Obstacle> {
    if judgement.verdict() == Verdict::Allow {
        return None;
    }
    Some(Obstacle::Refused {
        token: judgement.token(),
        reason: reason(edit, judgement).unwrap_or_default(),
    })
}
