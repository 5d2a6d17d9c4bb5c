//! The kustomizations among the inputs: which files are patches, and which extensions an overlay changes.
//!
//! ```text
//! base/ext.yaml <--resources-- base <--resources-- overlays/prod --patches--> overlays/prod/patch.yaml
//! ```
//!
//! olmguard renders nothing, so what kustomize changes is not checked as it is written: the answer would be about
//! an object that no cluster gets. What at least one overlay applies as it is written is checked.

mod file;

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use super::cases::CasePlace;
use super::unrendered::Skipped;
use crate::facts::given::GivenObjects;
use crate::manifest::{ManifestObject, Position, kustomizations, manifest_files};
use file::Kustomization;
use olmguard_engine::explain::{Renderer, Unrendered};
use olmguard_engine::extension::{RecognisedObject, recognise};

/// All of them, by what they name.
#[derive(Debug, Default)]
pub(super) struct Kustomizations {
    all: Vec<Kustomization>,
    /// Those that have a file or a directory as a resource or a component.
    users: HashMap<PathBuf, Vec<usize>>,
    /// Those that have a file as a patch.
    patched: HashMap<PathBuf, usize>,
    by_directory: HashMap<PathBuf, usize>,
    /// The files of the inputs.
    inputs: HashSet<PathBuf>,
    /// What `-f` names.
    directories: Vec<PathBuf>,
}

impl Kustomizations {
    /// The kustomizations in what `-f` names, and those beside the files that it names.
    pub(super) fn read(paths: &[PathBuf]) -> Self {
        let files: Vec<_> = manifest_files(paths).collect();
        let found = kustomizations(paths, &files).into_iter();
        let mut read = Self {
            all: found
                .filter_map(|path| Kustomization::read(&path))
                .collect(),
            inputs: files.iter().map(|file| normal(Path::new(file))).collect(),
            directories: paths.iter().map(|path| normal(path)).collect(),
            ..Self::default()
        };
        for (index, one) in read.all.iter().enumerate() {
            for used in one.resources.iter().chain(&one.components) {
                read.users.entry(used.clone()).or_default().push(index);
            }
            let patches = one.patches.iter().map(|patch| (patch.clone(), index));
            read.patched.extend(patches);
            read.by_directory.insert(one.directory.clone(), index);
        }
        read
    }

    /// Why an object of this file is not checked as it is written, if it is not.
    pub(super) fn unrendered(&self, file: &str, object: &ManifestObject) -> Option<Unrendered> {
        let is_extension = recognise(&object.value) != RecognisedObject::Other;
        let is_read = is_extension || GivenObjects::has_kind_of(object);
        if self.all.is_empty() || !is_read {
            return None;
        }
        let path = normal(Path::new(file));
        if self.patched.contains_key(&path) {
            return Some(Unrendered::Patch);
        }
        let users = self.users.get(&path)?;
        let mut seen = HashSet::new();
        let mut users = users.iter();
        let is_as_written = users.any(|user| self.is_as_written(*user, &mut seen));
        (is_extension && !is_as_written).then_some(Unrendered::Resource)
    }

    /// The directory to build for what is in this file, as a command takes it.
    pub(super) fn built(&self, file: &str) -> Option<String> {
        let path = normal(Path::new(file));
        let user = || self.users.get(&path)?.first();
        let first = self.patched.get(&path).or_else(user)?;
        let top = self.all.get(self.top(*first))?;
        (!top.is_component).then(|| top.shown.clone())
    }

    /// The kustomizations whose resources are not all among the inputs, and that nothing is skipped for yet.
    pub(super) fn incomplete(&self, skipped: &[Skipped]) -> Vec<Skipped> {
        let is_named = |one: &Kustomization| {
            let by = Renderer::Kustomize(one.shown.clone());
            skipped.iter().any(|skipped| skipped.by == by)
        };
        let tops = self.all.iter().filter(|one| {
            let is_top = !one.is_component && !self.users.contains_key(&one.directory);
            let mut within = self.directories.iter();
            is_top && within.any(|named| one.directory.starts_with(named)) && !is_named(one)
        });
        let incomplete = tops.filter(|one| self.lacks(one, &mut HashSet::new()));
        let skip = |one: &Kustomization| Skipped {
            place: CasePlace {
                file: one.file.clone(),
                document: 0,
                at: Position::START,
            },
            why: Unrendered::Kustomization,
            by: Renderer::Kustomize(one.shown.clone()),
        };
        incomplete.map(skip).collect()
    }

    /// Whether something that it builds on is not among the inputs.
    fn lacks<'k>(&'k self, one: &'k Kustomization, seen: &mut HashSet<&'k Path>) -> bool {
        if !seen.insert(&one.directory) {
            return false;
        }
        let mut used = one.resources.iter().chain(&one.components);
        one.is_generated
            || used.any(|used| match self.by_directory.get(used) {
                Some(below) => self
                    .all
                    .get(*below)
                    .is_some_and(|below| self.lacks(below, seen)),
                None => !self.inputs.contains(used),
            })
    }

    /// Whether an overlay at the top gets what this one lists as it is written.
    fn is_as_written(&self, index: usize, seen: &mut HashSet<usize>) -> bool {
        let Some(one) = self.all.get(index).filter(|_| seen.insert(index)) else {
            return false;
        };
        !self.changes(one, &mut HashSet::new())
            && match self.users.get(&one.directory) {
                None => true,
                Some(users) => users.iter().any(|user| self.is_as_written(*user, seen)),
            }
    }

    /// Whether it or one of its components changes extensions. No one knows of a component that is not there.
    fn changes<'k>(&'k self, one: &'k Kustomization, seen: &mut HashSet<&'k Path>) -> bool {
        if !seen.insert(&one.directory) {
            return false;
        }
        let is_changed = |component: &PathBuf| {
            let component = self.by_directory.get(component);
            let component = component.and_then(|index| self.all.get(*index));
            component.is_none_or(|component| self.changes(component, seen))
        };
        one.changes || one.components.iter().any(is_changed)
    }

    /// The first one that builds on it, and on which no one builds.
    fn top(&self, index: usize) -> usize {
        let mut seen = HashSet::new();
        let mut top = index;
        while let Some(one) = self.all.get(top).filter(|_| seen.insert(top))
            && let Some(user) = self
                .users
                .get(&one.directory)
                .and_then(|users| users.first())
        {
            top = *user;
        }
        top
    }
}

/// A path without `.` and, as far as it goes, without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        let is_below = matches!(normal.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::CurDir => {}
            Component::ParentDir if is_below => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}
