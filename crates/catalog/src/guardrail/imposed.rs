//! The guardrails of administrators, of any number of packages.

use std::collections::BTreeMap;

use crate::guardrail::{Guardrails, GuardrailsObject, UnreadGuardrails};

/// What administrators say of packages, beside what their authors say.
#[derive(Clone, Debug, Default)]
pub struct AdministratorGuardrails {
    by_package: BTreeMap<Box<str>, Vec<ImposedBy>>,
    /// What cannot be read so far that it is known which packages it is about.
    on_all: Vec<ImposedBy>,
}

/// What one document of an administrator's file, or one object, says.
#[derive(Clone, Debug)]
pub struct ImposedBy {
    /// Where it stands, as it is told of an edit, such as `guardrails.yaml:3`: without the folder, for
    /// a server has it in another one than a pipeline. An object is `UpgradeGuardrails NAME`.
    pub place: Box<str>,
    /// What it says.
    pub stated: Result<Guardrails, UnreadGuardrails>,
}

impl AdministratorGuardrails {
    /// Adds what is said of a package.
    pub fn add(&mut self, package: &str, by: ImposedBy) {
        self.by_package.entry(package.into()).or_default().push(by);
    }

    /// Adds what is said of nobody knows which packages: it could be any.
    pub fn add_unread(&mut self, place: Box<str>, unread: UnreadGuardrails) {
        let stated = Err(unread);
        self.on_all.push(ImposedBy { place, stated });
    }

    /// Adds what an object says, named by its kind and its name.
    pub fn add_object(&mut self, object: GuardrailsObject) {
        let place = format!("{} {}", GuardrailsObject::KIND, object.name).into();
        let stated = object.stated;
        match object.package {
            Some(package) => self.add(&package, ImposedBy { place, stated }),
            None => self.on_all.push(ImposedBy { place, stated }),
        }
    }

    /// Adds everything that another set says, after what is there.
    pub fn extend(&mut self, other: &Self) {
        for (package, said) in &other.by_package {
            let own = self.by_package.entry(package.clone()).or_default();
            own.extend(said.iter().cloned());
        }
        self.on_all.extend(other.on_all.iter().cloned());
    }

    /// What is said of a package, in the order of the documents.
    pub fn on(&self, package: &str) -> impl Iterator<Item = &ImposedBy> + Clone {
        let own = self.by_package.get(package).map_or(&[][..], Vec::as_slice);
        self.on_all.iter().chain(own)
    }

    /// Everything that is said, in byte order of the packages.
    pub fn iter(&self) -> impl Iterator<Item = &ImposedBy> {
        let packages = self.by_package.values().flatten();
        self.on_all.iter().chain(packages)
    }

    /// The packages, in byte order.
    pub fn packages(&self) -> impl Iterator<Item = &str> {
        self.by_package.keys().map(|package| &**package)
    }

    /// Whether nothing is said of any package.
    pub fn is_empty(&self) -> bool {
        self.by_package.is_empty() && self.on_all.is_empty()
    }
}
