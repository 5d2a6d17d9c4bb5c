//! Rows 2 to 18, for a request that can be read.

use crate::extension::{Filter, Installed};
use crate::judge::filter_question::FilterQuestion;
use crate::judge::policed::policed;
use crate::judge::read_installed::ReadInstalled;
use crate::judge::{Basis, RuledEdit, Ruling};
use crate::resolve::EditContext;

/// What resolution is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What the extension asks for.
    pub filter: &'a Filter,
    /// What is installed.
    pub installed: &'a Installed,
    /// What upgrade policies decide by besides.
    pub context: EditContext<'a>,
}

/// Rows 2 to 18.
pub fn rule<'s>(basis: Basis<'s>, request: &Request<'_>) -> RuledEdit<'s> {
    match FilterQuestion::of(basis, request.filter) {
        Ok(question) => {
            let installed = ReadInstalled::of(request.installed, basis.snapshot.rules());
            policed(&question, &installed, request.context)
        }
        Err(error) => Ruling::from(error).into(),
    }
}
