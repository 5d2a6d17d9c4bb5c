//! Everything that `-f` names, sorted by kind.

use std::collections::{BTreeSet, HashSet};
use std::io;

use serde_json::Value;

use crate::cli::CommandFailure;
use crate::cli::args::catalogs::UsageError;
use crate::cli::commands::check::ahead::InputsAhead;
use crate::cli::commands::check::args::CheckPlan;
use crate::cli::commands::check::base::{Ancestor, Base, ParsedObject, Past, Renames, is_review};
use crate::cli::commands::check::cases::{
    Case, CasePlace, InstalledSource, Subject, deciding_field,
};
use crate::cli::commands::check::kustomize::{Kustomizations, Skipped};
use crate::cli::commands::{BadInput, InputProblem};
use crate::facts::given::{self, GivenObjects, UniqueObjects, unrendered};
use crate::manifest::{
    Document, DocumentError, DocumentErrorKind, InputError, Inputs, ManifestObject, Position,
    Positions, ValueStep, documents,
};
use olmguard_admission::Review;
use olmguard_engine::explain::Unrendered;
use olmguard_engine::extension::schema::{self, Finding, SchemaRelease};
use olmguard_engine::extension::{
    Extension, FilterError, FilterProblem, Hint, Identity, RecognisedObject, Shape, catalog_hints,
    hints, recognise,
};
use olmguard_engine::judge::Exemption;
use olmguard_preflight::content::NeededObject;

/// Everything that was read, in the order of the inputs.
#[derive(Debug, Default)]
pub(super) struct GatheredInputs {
    pub(super) cases: Vec<Case>,
    /// Catalogs and policies.
    pub(super) given: GivenObjects,
    pub(super) other_kinds: usize,
    /// Objects in the inputs that an installation can need.
    pub(super) brought: BTreeSet<NeededObject>,
    /// Inputs that a tool has yet to render.
    pub(super) skipped: Vec<Skipped>,
    kustomizations: Kustomizations,
    pub(super) errors: Vec<BadInput>,
    /// Unknown fields of catalogs, each with its file.
    pub(super) hints: Vec<(String, Hint)>,
    /// The base, if one is given.
    pub(super) base: Option<Base>,
    /// The earlier names that extensions may have had in the base.
    pub(super) renames: Renames,
    /// The number of unchanged extensions, which are not cases.
    pub(super) unchanged: usize,
    /// The names of unchanged extensions whose installed version is given.
    named: HashSet<String>,
    unique: UniqueObjects,
}

impl GatheredInputs {
    /// Reads every input, and keeps unreadable inputs as errors.
    pub(super) fn read(plan: &CheckPlan<'_>) -> Result<Self, CommandFailure> {
        let args = plan.args;
        let mut gathered = Self {
            kustomizations: Kustomizations::read(&args.paths),
            ..Self::default()
        };
        let mut inputs = InputsAhead::new(Inputs::new(args.paths.clone(), io::stdin()));
        if let Some(name) = &args.base {
            let (base, errors) = Base::read(name, &args.paths, &mut inputs)?;
            gathered.base = Some(base);
            gathered.errors = errors;
        }
        for input in inputs {
            match input.bytes {
                Ok(bytes) => gathered.file(&input.path, &bytes, plan)?,
                Err(InputError::NotFound) if gathered.is_emptied(&input.path) => {}
                Err(error) => gathered.unread_file(&input.path, error),
            }
        }
        if let Some(base) = &mut gathered.base {
            gathered.errors.extend(base.settle());
            gathered.renames = base.renames();
        }
        let incomplete = gathered.kustomizations.incomplete(&gathered.skipped);
        gathered.skipped.extend(incomplete);
        gathered.check_installed(plan)?;
        Ok(gathered)
    }

    fn file(&mut self, file: &str, bytes: &[u8], plan: &CheckPlan<'_>) -> Result<(), UsageError> {
        let base = self.base.as_mut();
        if let Some(parsed) = base.and_then(|base| base.take_parsed(bytes)) {
            let mut objects = parsed.iter();
            return objects.try_for_each(|object| self.parsed(file, object, plan));
        }
        let mut is_whole = true;
        let skipped = self.skipped.len();
        for document in documents(bytes) {
            match document {
                Ok(document) => self.document(file, document, plan)?,
                Err(error) => {
                    is_whole = false;
                    self.unread_document(file, error);
                }
            }
        }
        // Once per file, because the file is searched for every name of the base.
        let is_whole = is_whole && skipped == self.skipped.len();
        if let Some(base) = self.base.as_mut().filter(|_| !is_whole) {
            base.spare(bytes);
        }
        Ok(())
    }

    fn document(
        &mut self,
        file: &str,
        document: Document,
        plan: &CheckPlan<'_>,
    ) -> Result<(), UsageError> {
        let (objects, positions) = document.into_objects();
        let mut objects = objects.iter();
        objects.try_for_each(|object| self.object(file, object, &positions, plan))
    }

    fn parsed(
        &mut self,
        file: &str,
        object: &ParsedObject,
        plan: &CheckPlan<'_>,
    ) -> Result<(), UsageError> {
        match object {
            ParsedObject::OtherKind(brought) => self.other(brought.clone()),
            ParsedObject::Whole(object, positions) => self.object(file, object, positions, plan)?,
        }
        Ok(())
    }

    /// Whether the change removes everything in this path of `-f`. The path is then missing on purpose.
    fn is_emptied(&self, filename: &str) -> bool {
        let base = self.base.as_ref();
        base.is_some_and(|base| base.source().is_emptied(filename))
    }

    fn unread_file(&mut self, file: &str, error: InputError) {
        if let Some(base) = &mut self.base {
            base.spare_file(file);
        }
        self.bad(file, InputProblem::Input(error));
    }

    fn unread_document(&mut self, file: &str, error: DocumentError) {
        if matches!(error.kind, DocumentErrorKind::Template { .. }) {
            let place = CasePlace {
                file: file.to_owned(),
                document: error.index,
                at: error.at,
            };
            self.skip(place, Unrendered::Template);
        } else {
            self.bad(file, InputProblem::Document(error));
        }
    }

    fn skip(&mut self, place: CasePlace, why: Unrendered) {
        let skipped = Skipped::new(place, why, &self.kustomizations);
        self.skipped.push(skipped);
    }

    /// The removed extensions, each with its earlier location as shown to people.
    pub(super) fn removed(&self) -> impl Iterator<Item = (String, &Ancestor)> {
        self.base.iter().flat_map(|base| {
            let removed = base.removed();
            removed.map(|one| (base.source().shown(&one.place.to_string()), one))
        })
    }

    /// Removed files of the base that cannot be read and whose content is not needed.
    pub(super) fn passed_over(&self) -> &[BadInput] {
        self.base.as_ref().map_or(&[], Base::passed_over)
    }

    fn object(
        &mut self,
        file: &str,
        object: &ManifestObject,
        positions: &Positions,
        plan: &CheckPlan<'_>,
    ) -> Result<(), UsageError> {
        let input = InputObject {
            file,
            object,
            positions,
        };
        let kustomized = self.kustomizations.unrendered(file, object);
        let kustomized = kustomized.map(|why| (Vec::new(), why));
        if let Some((path, why)) = kustomized.or_else(|| unrendered(object)) {
            self.past(input);
            self.skip(input.place(&path), why);
        } else if GivenObjects::has_kind_of(object) {
            if self.unique.is_new(object, file, input.at(&[]))? {
                self.given(input, plan);
            }
        } else if is_review(object) {
            match Review::read(&object.value, plan.requester.at) {
                Ok(review) => self.review(review, input),
                Err(error) => self.bad(file, InputProblem::Review(input.at(&[]), error)),
            }
        } else {
            self.extension(input, plan)?;
        }
        Ok(())
    }

    /// Adds an extension, or counts an object of another kind. A copy of an extension is the same edit, unless its
    /// earlier state in the base may differ.
    fn extension(
        &mut self,
        input: InputObject<'_>,
        plan: &CheckPlan<'_>,
    ) -> Result<(), UsageError> {
        let InputObject { file, object, .. } = input;
        let recognised = recognise(&object.value);
        if recognised == RecognisedObject::Other {
            self.other(NeededObject::of_manifest(&object.value));
            return Ok(());
        }
        let is_new = self.unique.is_new(object, file, input.at(&[]))?;
        if !is_new && self.base.is_none() {
            return Ok(());
        }
        match (self.changed(input, plan), recognised) {
            (Some(past), RecognisedObject::Extension(shape)) => {
                self.manifest(shape, input, past, plan);
            }
            (Some(past), _) => self.unknown(input, past),
            (None, RecognisedObject::Extension(_)) => {
                let name = object.name.iter();
                name.for_each(|name| self.keep_name(name, plan));
            }
            (None, _) => {}
        }
        Ok(())
    }

    fn other(&mut self, brought: Option<NeededObject>) {
        self.other_kinds += 1;
        self.brought.extend(brought);
    }

    /// The earlier state of an object that becomes a case. An unchanged object is only counted, unless all objects are
    /// checked.
    fn changed(&mut self, input: InputObject<'_>, plan: &CheckPlan<'_>) -> Option<Past> {
        let past = self.past(input);
        if past.is_same() && !plan.args.all {
            self.unchanged += 1;
            return None;
        }
        Some(past)
    }

    /// Keeps the name of an unchanged extension whose installed version is given.
    fn keep_name(&mut self, name: &str, plan: &CheckPlan<'_>) {
        if plan.installed.contains_key(name) {
            self.named.insert(name.to_owned());
        }
    }

    /// Adds a catalog or a policy. Problems with it are errors of its file, and the object is applied anyway.
    fn given(&mut self, input: InputObject<'_>, plan: &CheckPlan<'_>) {
        let InputObject {
            file,
            object,
            positions,
        } = input;
        let mut faults = self.given.add(file, object, positions);
        let is_checked = !plan.args.no_schema && given::is_catalog_of_v1(object);
        if faults.is_empty() && is_checked {
            faults = given::refused(object, positions);
        }
        for (at, fault) in faults {
            self.bad(file, InputProblem::Given(at, fault));
        }
        if is_checked {
            let hints = catalog_hints(&object.value).into_iter();
            let hints = hints.map(|hint| placed(hint, input));
            self.hints.extend(hints.map(|hint| (file.to_owned(), hint)));
        }
    }

    fn manifest(
        &mut self,
        shape: Shape,
        input: InputObject<'_>,
        mut past: Past,
        plan: &CheckPlan<'_>,
    ) {
        let object = input.object;
        let release = SchemaRelease::v1(plan.rules.olm.minor());
        let hints = hints(shape, Some(release), &object.value).into_iter();
        let mut extension = Extension {
            hints: hints.map(|hint| placed(hint, input)).collect(),
            ..Extension::read(shape, &object.value)
        };
        if let Err(error) = &mut extension.filter {
            note_text(error, input);
        }
        let findings = if plan.args.no_schema {
            Vec::new()
        } else {
            refused(shape, release, &object.value, &mut past)
        };
        self.cases.push(Case {
            place: input.place(&deciding_field(&extension, &object.value, &[])),
            identity: extension.identity.clone(),
            subject: Subject::Manifest(Box::new(extension), findings),
            past,
            told: InstalledSource::default(),
        });
    }

    fn past(&mut self, InputObject { file, object, .. }: InputObject<'_>) -> Past {
        let base = self.base.as_mut();
        base.map_or(Past::NotAsked, |base| base.past(file, object))
    }

    fn review(&mut self, review: Review, input: InputObject<'_>) {
        let dump = &input.object.value;
        let field = review
            .extension()
            .map(|extension| deciding_field(extension, dump, &["request", "object"]));
        self.cases.push(Case {
            place: input.place(&field.unwrap_or_default()),
            identity: review.identity().clone(),
            subject: Subject::Review(Box::new(review)),
            past: Past::NotAsked,
            told: InstalledSource::default(),
        });
    }

    fn unknown(&mut self, input: InputObject<'_>, past: Past) {
        let object = input.object;
        let exemption = Exemption::UnknownVersion {
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
        };
        self.cases.push(Case {
            place: input.place(&[]),
            identity: Identity::read(&object.value),
            subject: Subject::Unknown(exemption),
            past,
            told: InstalledSource::default(),
        });
    }

    /// Checks that each extension of `--installed` is in the inputs, because a fact about another extension would be
    /// lost silently.
    fn check_installed(&self, plan: &CheckPlan<'_>) -> Result<(), UsageError> {
        match self.strangers(plan.named.iter()).next() {
            Some(name) => Err(UsageError::InstalledStranger {
                extension: name.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The extensions whose installed version is given, and that are neither cases nor unchanged. Inputs that are
    /// skipped or cannot be read may contain any extension.
    pub(super) fn strangers<'n>(
        &self,
        given: impl Iterator<Item = &'n String>,
    ) -> impl Iterator<Item = &'n String> {
        let is_whole = self.errors.is_empty() && self.skipped.is_empty();
        let is_there = |name: &String| {
            self.manifest_names().any(|known| known == name) || self.named.contains(name)
        };
        given.filter(move |name| is_whole && !is_there(name))
    }

    /// The names of the extensions in manifests.
    pub(super) fn manifest_names(&self) -> impl Iterator<Item = &String> {
        let cases = self.cases.iter();
        let manifests = cases.filter(|case| matches!(case.subject, Subject::Manifest(..)));
        manifests.filter_map(|case| case.identity.name.as_ref())
    }

    fn bad(&mut self, file: &str, problem: InputProblem) {
        self.errors.push(BadInput::new(file, problem));
    }
}

/// An object of the inputs, with its file and the positions in its document.
#[derive(Clone, Copy)]
struct InputObject<'i> {
    file: &'i str,
    object: &'i ManifestObject,
    positions: &'i Positions,
}

impl InputObject<'_> {
    fn at(&self, path: &[ValueStep<'_>]) -> Position {
        self.object.position(self.positions, path)
    }

    fn place(&self, path: &[ValueStep<'_>]) -> CasePlace {
        CasePlace {
            file: self.file.to_owned(),
            document: self.object.document,
            at: self.at(path),
        }
    }
}

/// The hint with its position.
fn placed(hint: Hint, input: InputObject<'_>) -> Hint {
    let step = |step| match str::parse(step) {
        Ok(index) => ValueStep::Index(index),
        Err(_) => ValueStep::Key(step),
    };
    let steps: Vec<_> = hint.path.iter().map(|name| step(name)).collect();
    let at = input.at(&steps);
    Hint {
        at: Some((at.line, at.column)),
        ..hint
    }
}

/// Records how a field is written that must be a string and is not.
fn note_text(error: &mut FilterError, input: InputObject<'_>) {
    if let FilterProblem::Type { written, .. } = &mut error.problem {
        let path = ValueStep::of_path(&error.field);
        let text = input.object.source_text(input.positions, &path);
        *written = text.map(str::to_owned);
    }
}

/// The findings of the CRD about an object, and about the edit if the earlier state is known.
fn refused(shape: Shape, release: SchemaRelease, new: &Value, past: &mut Past) -> Vec<Finding> {
    let Past::Found(found) = past else {
        return schema::check(shape, release, new);
    };
    let refused = found.ancestor.before().refused(shape, release, new);
    found.breaks = refused.is_new;
    refused.findings
}
