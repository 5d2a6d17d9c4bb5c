//! Inputs that a tool has yet to render, and the kustomizations among them: which files are patches, and which
//! extensions an overlay changes.
//!
//! ```text
//! base/ext.yaml <--resources-- base <--resources-- overlays/prod --patches--> overlays/prod/patch.yaml
//! ```
//!
//! olmguard renders nothing. An object that kustomize changes is not checked as written, because the answer would be
//! about an object that no cluster gets. An object that at least one overlay applies as written is checked, and each
//! overlay that changes the object is skipped. Catalogs and policies always count as written, because omitting a rule
//! would allow what the rule forbids.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::cli::commands::check::cases::CasePlace;
use crate::facts::given::GivenObjects;
use crate::manifest::{
    ManifestObject, Position, documents, kustomizations, manifest_files, read_file,
};
use olmguard_catalog::guardrail::GuardrailsObject;
use olmguard_engine::explain::{Renderer, Unrendered};
use olmguard_engine::extension::{RecognisedObject, recognise};

/// All kustomizations, indexed by the paths that they name.
#[derive(Debug, Default)]
pub(super) struct Kustomizations {
    all: Vec<Kustomization>,
    /// The kustomizations that use a file or a directory as a resource or a component.
    users: HashMap<PathBuf, Vec<usize>>,
    /// The kustomization that uses a file as a patch.
    patched: HashMap<PathBuf, usize>,
    by_directory: HashMap<PathBuf, usize>,
    /// The files of the inputs.
    inputs: HashSet<PathBuf>,
    /// The resources of kustomizations that contain objects that olmguard reads.
    read: HashSet<PathBuf>,
    /// The paths of `-f`.
    directories: Vec<PathBuf>,
}

impl Kustomizations {
    /// Reads the kustomizations in the paths of `-f`, and next to the files that `-f` names.
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

    /// The reason why an object of this file is not checked as written, if any.
    pub(super) fn unrendered(&mut self, file: &str, object: &ManifestObject) -> Option<Unrendered> {
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
        self.read.insert(path);
        (is_extension && !is_as_written).then_some(Unrendered::Resource)
    }

    /// The directory to build for this file, as written in a command.
    pub(super) fn built(&self, file: &str) -> Option<String> {
        let path = normal(Path::new(file));
        let user = || self.users.get(&path)?.first();
        let first = self.patched.get(&path).or_else(user)?;
        let top = self.all.get(self.top(*first))?;
        (!top.is_component).then(|| top.shown.clone())
    }

    /// The kustomizations whose objects are not all checked, and for which nothing is skipped yet. Some of their
    /// resources are not among the inputs, or they change objects for which another overlay is named.
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
        let incomplete = tops.filter(|one| {
            self.lacks(one, &mut HashSet::new()) || self.alters(one, false, &mut HashSet::new())
        });
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

    /// Whether a kustomization, or one that it builds on, generates objects or uses a path that is not among the
    /// inputs.
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

    /// Whether a kustomization, or one that it builds on, changes an object that olmguard reads. `is_changed` is set
    /// if a kustomization above it changes objects; then it suffices to have such an object.
    fn alters<'k>(
        &'k self,
        one: &'k Kustomization,
        is_changed: bool,
        seen: &mut HashSet<(&'k Path, bool)>,
    ) -> bool {
        let is_changed = is_changed || self.changes(one, &mut HashSet::new());
        if !seen.insert((&one.directory, is_changed)) {
            return false;
        }
        let mut used = one.resources.iter().chain(&one.components);
        used.any(|used| match self.by_directory.get(used) {
            Some(below) => {
                let below = self.all.get(*below);
                below.is_some_and(|below| self.alters(below, is_changed, seen))
            }
            None => is_changed && self.read.contains(used),
        })
    }

    /// Whether a top-level overlay gets the resources of this kustomization as written.
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

    /// Whether a kustomization or one of its components changes objects that olmguard reads. A missing component may
    /// change them.
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

    /// A kustomization that builds on this one, and on which no other builds. Follows the first user at each level.
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

/// The path without `.`, and without `..` as far as possible.
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

/// A kustomization: the resources that it builds on, and its changes. Paths are relative to the current directory.
#[derive(Debug)]
struct Kustomization {
    file: String,
    directory: PathBuf,
    /// The directory, as written in a command.
    shown: String,
    is_component: bool,
    /// Files, and directories of other kustomizations. Entries that are not paths are included, and never found.
    resources: Vec<PathBuf>,
    components: Vec<PathBuf>,
    patches: Vec<PathBuf>,
    /// Whether a patch or a transformer may change an object that olmguard reads.
    changes: bool,
    /// Whether charts or generators of the kustomization generate objects.
    is_generated: bool,
}

impl Kustomization {
    /// Reads the kustomization in a file. Returns `None` if the file is not a kustomization, or cannot be read.
    fn read(path: &str) -> Option<Self> {
        let bytes = read_file(Path::new(path)).ok()?;
        let document = documents(&bytes).next()?.ok()?;
        let value = document.value.as_object().map(|_| &document.value)?;
        let api_version = value.get("apiVersion").and_then(Value::as_str);
        let is_one = api_version.is_none_or(|version| version.starts_with(GROUP));
        is_one.then(|| Self::of(path, value))
    }

    fn of(path: &str, value: &Value) -> Self {
        let directory = Path::new(path).parent().unwrap_or(Path::new(""));
        let below = |name: &str| normal(&directory.join(name));
        let named = |key: &str| texts(value.get(key)).map(below).collect::<Vec<_>>();
        let patches: Vec<_> = PATCHES
            .iter()
            .flat_map(|key| items(value.get(key)))
            .collect();
        let is_ours = |patch: &&Value| changes_what_is_read(patch, directory);
        let has = |key: &&str| items(value.get(key)).next().is_some() || value[*key].is_string();
        Self {
            file: path.to_owned(),
            directory: normal(directory),
            shown: shown(directory),
            is_component: value.get("kind").and_then(Value::as_str) == Some("Component"),
            resources: [named("resources"), named("bases")].concat(),
            components: named("components"),
            changes: TRANSFORMERS.iter().any(has) || patches.iter().any(is_ours),
            is_generated: GENERATORS.iter().any(has),
            patches: patches.into_iter().filter_map(file_of).map(below).collect(),
        }
    }
}

/// Whether a patch may change an object that olmguard reads: the patch or its target is of such a kind, or the kind is
/// unknown.
fn changes_what_is_read(patch: &Value, directory: &Path) -> bool {
    let of_target = |field| patch.get("target")?.get(field)?.as_str();
    if of_target("group").is_some_and(|group| !GROUPS.iter().any(|of| group.ends_with(of))) {
        return false;
    }
    if let Some(kind) = of_target("kind") {
        let is_pattern = kind.contains(|c: char| !c.is_ascii_alphanumeric());
        return KINDS.contains(&kind) || is_pattern;
    }
    let text = if let Some(name) = file_of(patch) {
        let file = Some(directory.join(name)).filter(|file| file.is_file());
        let Some(Ok(bytes)) = file.map(|file| read_file(&file)) else {
            return true;
        };
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        let inline = patch.as_str().or_else(|| patch.get("patch")?.as_str());
        inline.unwrap_or_default().to_owned()
    };
    patch.get("target").is_some() || has_what_is_read(&text)
}

/// Whether a text has an object that olmguard reads, or cannot be read and names such a kind.
fn has_what_is_read(text: &str) -> bool {
    let is_read = |object: &ManifestObject| {
        let group = object.api_version.split_once('/').map(|(group, _)| group);
        let is_of_group = |of: &&str| group.is_some_and(|group| group.ends_with(of));
        let has_group = object.api_version.is_empty() || GROUPS.iter().any(is_of_group);
        has_group && KINDS.contains(&&*object.kind)
    };
    if let Ok(documents) = documents(text.as_bytes()).collect::<Result<Vec<_>, _>>() {
        let mut documents = documents.into_iter();
        return documents.any(|document| document.into_objects().0.iter().any(is_read));
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let mut pairs = words.array_windows();
    pairs.any(|[key, kind]| *key == "kind" && KINDS.contains(kind))
}

/// The file of a patch; `None` if the patch is inline.
fn file_of(patch: &Value) -> Option<&str> {
    let text = patch.as_str().filter(|text| !text.contains([':', '\n']));
    text.or_else(|| patch.get("path")?.as_str())
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    items(list).filter_map(Value::as_str)
}

const GROUP: &str = "kustomize.config.k8s.io/";
/// The kinds of extensions, and of the objects that decide about their edits.
const KINDS: [&str; 6] = [
    "ClusterExtension",
    "Operator",
    "ClusterCatalog",
    "Catalog",
    olmguard_policy::KIND,
    GuardrailsObject::KIND,
];

/// The ends of their API groups: an `Operator` of another group is none of them.
const GROUPS: [&str; 2] = ["operatorframework.io", olmguard_policy::GROUP];

/// The fields with patches, in all versions of kustomize.
const PATCHES: [&str; 3] = ["patches", "patchesStrategicMerge", "patchesJson6902"];

/// The other fields that can change what olmguard reads of an object. `namespace` changes only its metadata, which
/// olmguard does not read. Only selectors read `labels`, and nearly every kustomization sets some.
const TRANSFORMERS: [&str; 4] = ["namePrefix", "nameSuffix", "replacements", "transformers"];

const GENERATORS: [&str; 3] = ["generators", "helmCharts", "helmChartInflationGenerator"];

/// An input that is not checked, with the reason.
#[derive(Debug)]
pub(super) struct Skipped {
    pub(super) place: CasePlace,
    pub(super) why: Unrendered,
    pub(super) by: Renderer,
}

impl Skipped {
    pub(super) fn new(place: CasePlace, why: Unrendered, kustomizations: &Kustomizations) -> Self {
        let by = renderer(&place.file, &why, kustomizations);
        Self { place, why, by }
    }

    /// The reason and what to do, on one line.
    pub(super) fn words(&self) -> String {
        self.why.words(&self.by)
    }
}

/// The tool that renders this file.
fn renderer(file: &str, why: &Unrendered, kustomizations: &Kustomizations) -> Renderer {
    let chart = || {
        let mut directories = Path::new(file).ancestors().skip(1);
        directories.find(|directory| directory.join("Chart.yaml").is_file())
    };
    match why {
        Unrendered::OpenShiftTemplate => return Renderer::Oc(file.to_owned()),
        Unrendered::Placeholder { text, .. } if file != "-" && is_of_envsubst(text) => {
            return Renderer::Envsubst(file.to_owned());
        }
        _ => {}
    }
    let built = kustomizations.built(file).map(Renderer::Kustomize);
    let chart = || chart().map(|directory| Renderer::Helm(shown(directory)));
    built.or_else(chart).unwrap_or(Renderer::Unknown)
}

/// Whether a text is `$NAME` or `${NAME}`. `envsubst` replaces nothing else, not even a default value.
fn is_of_envsubst(text: &str) -> bool {
    let name = text.strip_prefix('$').unwrap_or_default();
    let inner = name
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'));
    let name = inner.unwrap_or(name);
    !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// A directory, as written in a command.
fn shown(directory: &Path) -> String {
    match directory.to_string_lossy() {
        shown if shown.is_empty() => ".".to_owned(),
        shown => shown.into_owned(),
    }
}
