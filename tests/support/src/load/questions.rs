//! The requests of a load: an allowed upgrade, a denied jump, and an edit of a label.

use crate::load::review::{Edit, UID_TOLD, post};

/// An edit, and the texts of the expected answer.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    pub name: &'static str,
    pub edit: Edit<'static>,
    /// The texts in the answer: the uid, the verdict, and the reason code.
    pub answer: [&'static str; 3],
}

impl Question {
    /// Returns the bytes of a request with this edit.
    pub fn request(&self) -> Vec<u8> {
        post(&self.edit.review())
    }
}

/// Questions about the real catalogs, by their names.
pub const REAL: [Question; 3] = [
    allowed(Edit {
        package: "opendatahub-operator",
        catalog: "v4.18",
        installed: ("opendatahub-operator.v2.21.0", "2.21.0"),
        wanted: "2.22.0",
    }),
    refused(Edit {
        package: "victoriametrics-operator",
        catalog: "v4.18",
        installed: ("victoriametrics-operator.v0.52.0", "0.52.0"),
        wanted: "0.57.0",
    }),
    label(Edit {
        package: "opendatahub-operator",
        catalog: "v4.18",
        installed: ("opendatahub-operator.v2.21.0", "2.21.0"),
        wanted: "2.21.0",
    }),
];

/// Questions about the catalog of the examples.
pub const EXAMPLE: [Question; 3] = [
    allowed(of_the_example("1.1.0")),
    refused(of_the_example("1.3.0")),
    label(of_the_example("1.0.0")),
];

const fn of_the_example(wanted: &'static str) -> Edit<'static> {
    Edit {
        package: "lantern-operator",
        catalog: "hub",
        installed: ("lantern-operator.v1.0.0", "1.0.0"),
        wanted,
    }
}

const fn allowed(edit: Edit<'static>) -> Question {
    Question {
        name: "allowed",
        edit,
        answer: [UID_TOLD, r#""allowed":true"#, r#""token":"Resolved""#],
    }
}

const fn refused(edit: Edit<'static>) -> Question {
    Question {
        name: "refused",
        edit,
        answer: [UID_TOLD, r#""allowed":false"#, r#""token":"NotASuccessor""#],
    }
}

const fn label(edit: Edit<'static>) -> Question {
    Question {
        name: "label",
        edit,
        answer: [UID_TOLD, r#""allowed":true"#, r#""token":"NotJudged""#],
    }
}
