//! An edit that sets a filter, judged.

use serde_json::{Value, json};

use crate::extension::{Extension, Filter, Installed, InstalledBundle, Shape};
use crate::judge::{
    Basis, Edit, FoundAdvice, Judgement, Requester, Stop, Token, Verdict, advise, judge,
};
use crate::resolve::{Choice, EditContext};

/// The judgement of an edit that sets a filter.
#[derive(Debug)]
pub struct Decision<'a> {
    basis: Basis<'a>,
    extension: Extension,
    installed: Installed,
    requester: Requester,
    judgement: Judgement<'a>,
}

impl<'a> Decision<'a> {
    /// Judges the edit that sets `filter` where a bundle is installed.
    pub fn new(
        basis: Basis<'a>,
        filter: &Filter,
        installed: &InstalledBundle,
        context: EditContext<'_>,
    ) -> Self {
        let mut extension = Extension::read(Shape::V1, &manifest(filter));
        extension.filter = Ok(filter.clone());
        extension.subject = context.subject.clone();
        let requester = context.requester.clone();
        let installed = Installed::Bundle(installed.clone());
        let judgement = judge(basis, &edit(&extension, &installed, &requester));
        Self {
            basis,
            extension,
            installed,
            requester,
            judgement,
        }
    }

    /// Whether it is allowed.
    pub fn verdict(&self) -> Verdict {
        self.judgement.verdict()
    }

    /// The row of the decision table that decides.
    pub fn token(&self) -> Token {
        self.judgement.token()
    }

    /// The bundle that the edit resolves to, whether or not it may.
    pub fn resolved(&self) -> Option<Choice<'a>> {
        let resolved = self.judgement.ruled.resolved();
        resolved.filter(|choice| choice.bundle().version.is_ok())
    }

    /// The bundle that the edit installs.
    pub fn given(&self) -> Option<Choice<'a>> {
        self.resolved().filter(|_| self.verdict() == Verdict::Allow)
    }

    /// What to do about a refusal, which is searched for.
    pub fn advice(&self) -> FoundAdvice<'a> {
        let edit = self.edit();
        let advise = |request| {
            let ruled = &self.judgement.ruled;
            advise(self.basis, edit.new, &request, ruled, &Stop::default())
        };
        edit.request().map(advise).unwrap_or_default()
    }

    /// The judgement itself.
    pub fn judgement(&self) -> &Judgement<'a> {
        &self.judgement
    }

    /// The edit that was judged.
    pub fn edit(&self) -> Edit<'_> {
        edit(&self.extension, &self.installed, &self.requester)
    }
}

/// An edit without an old object, whose API server's schema is not known.
fn edit<'e>(
    extension: &'e Extension,
    installed: &'e Installed,
    requester: &'e Requester,
) -> Edit<'e> {
    Edit {
        new: extension,
        old: None,
        installed,
        schema: &[],
        requester,
    }
}

fn manifest(filter: &Filter) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "spec": {"source": {"sourceType": "Catalog", "catalog": {"packageName": filter.package}}},
    })
}
