//! The decision table: from an edit and the facts to a judgement, with its evidence.
//!
//! ```text
//! Edit --exempt?--> row 1 --> Request --rows 2 to 15--> 16: guardrails --> 17: policies --> Ruling --> Judgement
//!                                ^                                                           |
//!                                '------ advice: the same rows, asked again about each suggestion
//! ```
//!
//! The rows and their order are those of the project's contract, and `rule` goes through them in this order. If a row
//! is a refusal of the resolver, `ruling` keeps the text of the resolver. Rows 16 and 17 are put to each step that OLM
//! takes under the edit (`walk`).
//! Nothing here words anything: `explain` does.
//!
//! Invariant: the same facts give the same judgement, in every command and on every replica.

mod advice;
mod basis;
mod earlier;
mod exempt;
mod guardrail_row;
mod identify;
mod nearby;
mod policy_row;
mod preflight_row;
mod question;
mod rows;
mod rule;
mod ruling;
mod successors;
mod token;
mod walk;
mod warning;

pub use crate::resolve::{
    CrdRefusal, InstallFault, InstallFaults, NameTooLong, PolicyFinding, Requester, Stop,
    UpgradePolicies, UserInfo,
};
pub use advice::{
    Advice, BypassHelps, DeadEnd, Fix, FixValue, FoundAdvice, OneEdit, PathInOneCatalog, advise,
    pin,
};
pub use basis::{Basis, Policies};
pub use earlier::{BaseDoubt, EarlierObject, SchemaRefusal, pinned, resolved};
pub use exempt::{Exemption, ExemptionKind, exemption};
pub use identify::{
    CatalogKnowledge, IdentifiedInstalled, NamingError, StatedInstalled, identify,
    nearest_versions, target,
};
pub use policy_row::denied_steps;
pub(crate) use preflight_row::images_named;
pub use rule::{Request, rule};
pub use ruling::{
    AllowedChange, ForbiddenStep, Jump, MatchedBundles, NoCatalogs, OutdatedCatalogs,
    PolicyRefusal, PreflightRefusal, RuledEdit, Ruling, SpecFault, UnansweredReason, UnjudgedSteps,
    UnknownPolicies, Wait,
};
pub use successors::{AcceptedBundles, successors};
pub use token::{Token, Verdict};
pub use walk::{
    MOST_FORBIDDEN, Walk, WalkEnd, affordable_steps, most_steps, recorded, steps_of, walk,
};
pub use warning::{Continuation, OldKubernetes, ShortWebhookNames, Warning};

use std::collections::BTreeSet;

use crate::extension::schema::Finding;
use crate::extension::{Extension, Filter, Installed, SourceType};
use crate::resolve::{EditContext, InstallContext, Occasion};
use olmguard_policy::Conditions;
use olmguard_preflight::content::NeededObject;

/// One edit of an extension, with the facts that a caller knows of it.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// The object after the edit.
    pub new: &'a Extension,
    /// The object before the edit; absent for a creation, and offline.
    pub old: Option<&'a Extension>,
    /// What is installed.
    pub installed: &'a Installed,
    /// Everything that the CRD would refuse; empty behind an API server, which has refused it already.
    pub schema: &'a [Finding],
    /// The user and the time of the edit.
    pub requester: &'a Requester,
}

/// The judgement on an edit: the row that answered, and the warnings.
#[derive(Debug)]
pub struct Judgement<'s> {
    /// The row that answered, with its evidence.
    pub ruled: RuledEdit<'s>,
    /// The warnings, the most important first.
    pub warnings: Vec<Warning<'s>>,
}

impl Judgement<'_> {
    /// The row that answered.
    pub fn token(&self) -> Token {
        self.ruled.ruling.token()
    }

    /// The outcome of the edit.
    pub fn verdict(&self) -> Verdict {
        self.token().verdict()
    }
}

impl<'a> Edit<'a> {
    /// The filter and what is installed, if the filter can be read.
    pub fn request(&self) -> Option<Request<'a>> {
        let filter = self.new.filter.as_ref().ok()?;
        Some(Request {
            filter,
            installed: self.installed,
            context: EditContext {
                is_update: self.old.is_some(),
                install: self.install(),
                ..EditContext::of(&self.new.subject, self.requester)
            },
        })
    }

    /// Whether it changes how a bundle is installed, or whether it can be.
    fn reconfigures(&self) -> bool {
        let old = self.old.and_then(|old| old.install.as_ref());
        let both = self.new.install.as_ref().zip(old);
        both.is_some_and(|(new, old)| new.decides_otherwise_than(old))
    }

    /// How the extension is to be installed, if its shape says so.
    fn install(&self) -> Option<InstallContext<'a>> {
        let request = self.new.install.as_ref()?;
        let old = self.old.and_then(|old| old.install.as_ref());
        let occasion = match (exemption(self), old) {
            (Some(Exemption::Reconfigured), Some(old)) if request.differs_from(old) => {
                Occasion::ConfigurationAlone
            }
            (Some(Exemption::Reconfigured), Some(_)) => Occasion::EnforcementAlone,
            (Some(Exemption::Stricter), _) if !self.reconfigures() => Occasion::BypassEnd,
            (_, Some(old)) if request.differs_from(old) => Occasion::Reconfiguration,
            (_, None) if matches!(self.installed, Installed::Nothing) => Occasion::Creation,
            _ => Occasion::Move,
        };
        Some(InstallContext {
            request,
            occasion,
            installed: self.installed,
        })
    }

    /// What must be there before OLM can install a bundle as the edit says, and what is installed does not show to be there.
    pub(crate) fn needs(&self) -> BTreeSet<NeededObject> {
        let Some(InstallContext {
            request, occasion, ..
        }) = self.install()
        else {
            return BTreeSet::new();
        };
        let is_first = matches!(self.installed, Installed::Nothing);
        let namespace = is_first.then(|| NeededObject::Namespace(request.namespace.clone()));
        let watched = request.watched().filter(|watched| {
            let is_other = *watched != request.namespace;
            is_other && (is_first || occasion.reconfigures())
        });
        let watched = watched.map(|name| NeededObject::WatchedNamespace(name.to_owned()));
        let has_account = is_first && !request.service_account.is_empty();
        let account = has_account.then(|| NeededObject::ServiceAccount {
            namespace: request.namespace.clone(),
            name: request.service_account.clone(),
        });
        namespace
            .into_iter()
            .chain(watched)
            .chain(account)
            .collect()
    }

    /// The filter of the old object, if its source was a catalog.
    fn old_filter(&self) -> Option<&'a Filter> {
        let old = self
            .old
            .filter(|old| old.source_type == SourceType::Catalog);
        old.and_then(|old| old.filter.as_ref().ok())
    }
}

/// Judges one edit.
pub fn judge<'s>(basis: Basis<'s>, edit: &Edit<'_>) -> Judgement<'s> {
    judge_with(basis, edit, Conditions::ALL)
}

/// [`judge`], with the conditions of upgrade policies evaluated as far as this.
pub fn judge_with<'s>(
    basis: Basis<'s>,
    edit: &Edit<'_>,
    conditions: Conditions<'_>,
) -> Judgement<'s> {
    let ruled = ruled(basis, edit, conditions);
    let warnings = warning::warnings(basis, edit, &ruled);
    Judgement { ruled, warnings }
}

fn ruled<'s>(basis: Basis<'s>, edit: &Edit<'_>, conditions: Conditions<'_>) -> RuledEdit<'s> {
    let rule = |request: Request<'_>| rule(basis, &request.with_conditions(conditions));
    match exemption(edit) {
        Some(Exemption::Stricter) => {
            let ruled = rows::spec_row(edit).ok().map(rule);
            ruled.map_or_else(
                || Ruling::NotJudged(Exemption::Stricter).into(),
                |ruled| ruled.of_stricter(edit.reconfigures()),
            )
        }
        Some(Exemption::Reconfigured) => {
            let ruled = rows::spec_row(edit).ok().map(rule);
            ruled.map_or_else(
                || Ruling::NotJudged(Exemption::Reconfigured).into(),
                RuledEdit::of_reconfigured,
            )
        }
        Some(exemption) => Ruling::NotJudged(exemption).into(),
        None => match rows::spec_row(edit) {
            Ok(request) => rule(request),
            Err(faults) => Ruling::InvalidSpec(faults).into(),
        },
    }
}
