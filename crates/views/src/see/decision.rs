//! What becomes of an edit that sets a filter: the judgement as data, its words where they are wanted.

use serde_json::{Value, json};

use olmguard_engine::explain;
use olmguard_engine::extension::{Extension, Filter, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{Advice, Basis, Edit, Judgement, Stop, Token, Verdict, advise, judge};
use olmguard_engine::resolve::Choice;

/// The judgement of an edit of an object that has a filter.
#[derive(Debug)]
pub(crate) struct Decision<'a> {
    basis: Basis<'a>,
    extension: Extension,
    installed: Installed,
    judgement: Judgement<'a>,
}

impl<'a> Decision<'a> {
    pub(crate) fn new(basis: Basis<'a>, filter: &Filter, installed: &InstalledBundle) -> Self {
        let mut extension = Extension::read(Shape::V1, &manifest(filter));
        extension.filter = Ok(filter.clone());
        let installed = Installed::Bundle(installed.clone());
        let judgement = judge(basis, &edit(&extension, &installed));
        Self {
            basis,
            extension,
            installed,
            judgement,
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.judgement.verdict()
    }

    pub(crate) fn token(&self) -> Token {
        self.judgement.token()
    }

    /// The bundle that the edit resolves to, whether or not it may.
    pub(crate) fn resolved(&self) -> Option<Choice<'a>> {
        let resolved = self.judgement.ruled.resolved();
        resolved.filter(|choice| choice.bundle().version.is_ok())
    }

    /// The bundle that the edit installs.
    pub(crate) fn given(&self) -> Option<Choice<'a>> {
        self.resolved().filter(|_| self.verdict() == Verdict::Allow)
    }

    /// What to do about a refusal, which is searched for.
    pub(crate) fn advice(&self) -> Advice {
        let edit = self.edit();
        let advise = |request| {
            let ruled = &self.judgement.ruled;
            advise(self.basis, edit.new, &request, ruled, &Stop::default())
        };
        edit.request().map(advise).unwrap_or_default()
    }

    /// Why it is refused or undecided, in one sentence.
    pub(crate) fn reason(&self) -> Option<String> {
        explain::reason(&self.edit(), &self.judgement)
    }

    /// The same at length, with this advice.
    pub(crate) fn message(&self, advice: &Advice) -> Option<String> {
        explain::message(&self.edit(), &self.judgement, advice)
    }

    /// The same at length, in one line.
    pub(crate) fn line(&self) -> Option<String> {
        explain::line(&self.edit(), &self.judgement, &self.advice())
    }

    fn edit(&self) -> Edit<'_> {
        edit(&self.extension, &self.installed)
    }
}

/// An edit behind an API server of nobody knows what.
fn edit<'e>(extension: &'e Extension, installed: &'e Installed) -> Edit<'e> {
    Edit {
        new: extension,
        old: None,
        installed,
        schema: &[],
    }
}

fn manifest(filter: &Filter) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "spec": {"source": {"sourceType": "Catalog", "catalog": {"packageName": filter.package}}},
    })
}
