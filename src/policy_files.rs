//! Reads the policies and guardrails of administrators from manifests.
//!
//! An object that cannot be read denies every move of what it matches, as in a cluster: a broken rule must not allow
//! more than a valid one.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::manifest::{
    Document, Input, Inputs, ManifestObject, MeantKind, Position, Positions, ValueStep, documents,
};
use crate::policy_objects::{
    PolicyFileFault, PolicyObject, PolicyObjectFault, PolicyObjects, PolicyPlace, is_policy_object,
    sentence,
};
use olmguard_catalog::guardrail::{
    self, AdministratorGuardrails, GuardrailProblem, Guardrails, GuardrailsObject, ImposedBy,
    UnreadGuardrails,
};
use olmguard_catalog::members::FieldProblem;
use olmguard_policy::{GROUP, UpgradePolicy};

/// The objects, and their faults.
#[derive(Debug, Default)]
pub(crate) struct ReadPolicies {
    pub(crate) objects: PolicyObjects,
    pub(crate) faults: Vec<PolicyFileFault>,
    pub(crate) packages: Vec<NamedPackage>,
    /// The place of each object, by title.
    places: HashMap<String, PolicyPlace>,
}

/// A package that an object names without a wildcard.
#[derive(Clone, Debug)]
pub(crate) struct NamedPackage {
    pub(crate) place: PolicyPlace,
    pub(crate) title: String,
    pub(crate) package: String,
}

impl ReadPolicies {
    /// The reason why a command cannot use the files: one is unreadable or has a kind with a typo, or there is no
    /// policy.
    pub(crate) fn unusable(&self) -> Option<&PolicyFileFault> {
        self.faults.iter().find(|fault| fault.title.is_none())
    }

    /// Loads the objects in these files and directories. Other objects are skipped.
    pub(crate) fn load(paths: &[PathBuf]) -> Self {
        let mut read = Self::default();
        for Input { path, bytes } in Inputs::of_files(paths.to_vec()) {
            match bytes {
                Ok(bytes) => read.file(&path, &bytes),
                Err(error) => read.unread(PolicyPlace::new(&path, None), &error.to_string()),
            }
        }
        if !paths.is_empty() && read.objects.is_empty() {
            read.unread(PolicyPlace::new("--policy", None), NO_POLICY);
        }
        read
    }

    /// Bounds these policies together if there are no others. Those that do not fit get a fault.
    pub(crate) fn bound_together(&mut self) {
        self.faults
            .extend(self.objects.bound_together().into_iter().flatten());
    }

    fn file(&mut self, file: &str, bytes: &[u8]) {
        for document in documents(bytes) {
            match document {
                Ok(document) => self.document(file, document),
                Err(error) => {
                    let place = place_at(file, error.at);
                    self.unread(place, &error.kind.to_string());
                }
            }
        }
    }

    fn document(&mut self, file: &str, document: Document) {
        let schema = document.value.get("schema").and_then(Value::as_str);
        if schema == Some(guardrail::SCHEMA) {
            let at = document.positions.nearest(&[]);
            return self.unread(place_at(file, at), GUARDRAILS);
        }
        let (objects, positions) = document.into_objects();
        for object in &objects {
            if is_policy(object) {
                self.object(file, object, &positions);
            } else if let Some(meant) = MeantKind::of(object).filter(MeantKind::is_policy) {
                let place = place_at(file, at(object, &positions, meant.field()));
                self.unread(place, &meant.to_string());
            }
        }
    }

    fn object(&mut self, file: &str, object: &ManifestObject, positions: &Positions) {
        let read = PolicyObject::read(&object.value);
        let place = |path: &str| place_at(file, at(object, positions, path));
        for fault in read.faults() {
            self.fault(place(&fault.path), Some(read.title()), fault.why);
        }
        if let Some(first) = self.places.insert(read.title(), place("")) {
            self.fault(place(""), Some(read.title()), format!("{TWICE}{first}"));
        }
        let named = read.packages().into_iter();
        self.packages
            .extend(named.map(|(path, package)| NamedPackage {
                place: place(&path),
                title: read.title(),
                package,
            }));
        let conditions = place(UpgradePolicy::CONDITIONS);
        self.objects.add(read, Some(conditions));
    }

    fn unread(&mut self, place: PolicyPlace, why: &str) {
        let policy = UpgradePolicy::unread(&place.to_string(), why);
        let policy = PolicyObject::Policy(policy.into());
        self.objects.add(policy, Some(place.clone()));
        self.fault(place, None, why.to_owned());
    }

    fn fault(&mut self, place: PolicyPlace, title: Option<String>, why: String) {
        self.faults.push(PolicyFileFault { place, title, why });
    }
}

/// Whether an object is a policy or guardrails of an administrator, of any version.
pub(crate) fn is_policy(object: &ManifestObject) -> bool {
    is_policy_object(&object.api_version, &object.kind)
}

/// Returns a fault of an object as one sentence.
pub(crate) fn why(object: &PolicyObject, fault: &PolicyObjectFault) -> String {
    sentence(&object.title(), &fault.why)
}

/// Returns a place in a file.
pub(crate) fn place_at(file: &str, Position { line, column }: Position) -> PolicyPlace {
    PolicyPlace::new(file, Some((line, column)))
}

/// Returns the position of a field such as `spec.rules.windows[0].timeZone`, or of the nearest field above it.
pub(crate) fn at(object: &ManifestObject, positions: &Positions, path: &str) -> Position {
    object.position(positions, &ValueStep::of_path(path))
}

const GUARDRAILS: &str = "a file of guardrails: use --guardrails for it";
const NO_POLICY: &str = "found no UpgradePolicy or UpgradeGuardrails of olmguard.dev: expected at least one in the files";
const TWICE: &str =
    "is there twice, this one is applied: expected one object of this name, the other is at ";

// === The guardrails of administrators, read from their files ===
//
// A document that cannot be read forbids every upgrade of its package. If its package is unknown, it forbids every
// upgrade of every package.

/// The rules, and their faults.
#[derive(Debug, Default)]
pub(crate) struct LoadedGuardrails {
    pub(crate) imposed: AdministratorGuardrails,
    pub(crate) faults: Vec<GuardrailsFault>,
    /// The first fault that could concern any package: a command cannot use such a file.
    unusable: Option<GuardrailsFault>,
}

/// The reason why rules cannot be read, with their place. The place has the path as given. The answer to an edit has
/// only the file name instead, so it does not depend on the location of the file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("guardrails {place}: {why}")]
pub(crate) struct GuardrailsFault {
    place: String,
    why: String,
}

/// The files, each with its name and content.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct GuardrailFiles(Vec<(String, Vec<u8>)>);

impl GuardrailFiles {
    /// Reads the files, whatever they contain. The files can be read again: a pipe, a socket or a device is an error,
    /// because it may never end and is empty the second time.
    ///
    /// # Errors
    /// The first path that cannot be read, or is neither a file nor a directory.
    pub(crate) fn load(paths: &[PathBuf]) -> Result<Self, GuardrailsFault> {
        for path in paths {
            let is_other = path
                .metadata()
                .is_ok_and(|it| !it.is_file() && !it.is_dir());
            if is_other {
                return Err(GuardrailsFault {
                    place: path.display().to_string(),
                    why: "is not a regular file: expected a file or a directory, because serve reloads guardrails"
                        .to_owned(),
                });
            }
        }
        Self::read(paths)
    }

    fn read(paths: &[PathBuf]) -> Result<Self, GuardrailsFault> {
        let inputs = Inputs::of_files(paths.to_vec());
        let contents = inputs.map(|Input { path, bytes }| match bytes {
            Ok(bytes) => Ok((path, bytes)),
            Err(error) => Err(GuardrailsFault {
                place: path,
                why: error.to_string(),
            }),
        });
        let mut contents: Vec<_> = contents.collect::<Result<_, _>>()?;
        // An empty directory counts as a file without rules: the rules were probably lost.
        if let Some(path) = paths.first().filter(|_| contents.is_empty()) {
            contents.push((path.display().to_string(), Vec::new()));
        }
        Ok(Self(contents))
    }
}

impl LoadedGuardrails {
    /// Loads the rules in the files at some paths.
    ///
    /// # Errors
    /// If a file cannot be read, or contains anything but guardrails.
    pub(crate) fn load(paths: &[PathBuf]) -> Result<Self, GuardrailsFault> {
        let mut read = Self::of(&GuardrailFiles::read(paths)?);
        read.unusable.take().map_or(Ok(read), Err)
    }

    /// Reads the rules in some files. An unreadable part forbids every upgrade that it could concern.
    pub(crate) fn of(files: &GuardrailFiles) -> Self {
        let mut read = Self::default();
        for (file, bytes) in &files.0 {
            read.bytes(file, bytes);
        }
        read
    }

    /// Reads the content of a file. A file without documents must not allow everything, because rules were intended.
    fn bytes(&mut self, file: &str, bytes: &[u8]) {
        let mut documents = documents(bytes).peekable();
        if documents.peek().is_none() {
            let problem = GuardrailProblem::Text(NO_GUARDRAILS.to_owned());
            self.unread(file, Position::START, UnreadGuardrails::whole(problem));
        }
        for document in documents {
            match document {
                Ok(document) => self.document(file, document),
                Err(error) => {
                    let problem = GuardrailProblem::Text(error.kind.to_string());
                    self.unread(file, error.at, UnreadGuardrails::whole(problem));
                }
            }
        }
    }

    /// Reads one document. A list of objects, as kubectl prints it, counts as several documents.
    fn document(&mut self, file: &str, document: Document) {
        let start = document.positions.nearest(&[]);
        let (objects, positions) = document.into_objects();
        if objects.is_empty() {
            let problem = GuardrailProblem::Text(NO_GUARDRAILS.to_owned());
            self.unread(file, start, UnreadGuardrails::whole(problem));
        }
        for object in &objects {
            let at = |path: &str| object.position(&positions, &ValueStep::of_path(path));
            self.rules(file, &object.value, at);
        }
    }

    fn rules(&mut self, file: &str, value: &Value, at: impl Fn(&str) -> Position) {
        if is_object(value) {
            let object = GuardrailsObject::read(value);
            if let Err(unread) = &object.stated {
                let fault = GuardrailsFault::new(file, at(&unread.path), unread);
                let binds_all = object.package.is_none().then(|| fault.clone());
                self.unusable = self.unusable.take().or(binds_all);
                self.faults.push(fault);
            }
            return self.imposed.add_object(object);
        }
        let package = match package(value) {
            Ok(package) => package,
            Err(unread) => return self.unread(file, at(&unread.path), unread),
        };
        let stated = stated(value);
        if let Err(unread) = &stated {
            let fault = GuardrailsFault::new(file, at(&unread.path), unread);
            self.faults.push(fault);
        }
        let place = told(file, at(""));
        let package = Some(package);
        self.imposed.add(package, ImposedBy { place, stated });
    }

    fn unread(&mut self, file: &str, at: Position, unread: UnreadGuardrails) {
        let fault = GuardrailsFault::new(file, at, &unread);
        self.unusable.get_or_insert_with(|| fault.clone());
        self.faults.push(fault);
        let (place, stated) = (told(file, at), Err(unread));
        self.imposed.add(None, ImposedBy { place, stated });
    }
}

impl GuardrailsFault {
    fn new(file: &str, at: Position, unread: &UnreadGuardrails) -> Self {
        Self {
            place: format!("{file}:{at}"),
            why: unread.to_string(),
        }
    }
}

/// Whether the value is an `UpgradeGuardrails` object, as in a cluster.
fn is_object(value: &Value) -> bool {
    is_of_group(value) && value["kind"] == GuardrailsObject::KIND
}

fn is_of_group(value: &Value) -> bool {
    let version = value["apiVersion"].as_str().unwrap_or_default();
    version
        .split_once('/')
        .is_some_and(|(group, _)| group == GROUP)
}

/// Returns the place that answers to edits show. A server and a pipeline have the file in different directories, and
/// show the same place.
fn told(file: &str, at: Position) -> Box<str> {
    format!("{}:{}", base(file), at.line).into()
}

fn base(file: &str) -> &str {
    let name = Path::new(file).file_name();
    name.and_then(OsStr::to_str).unwrap_or(file)
}

/// Returns the package of a document.
fn package(value: &Value) -> Result<&str, UnreadGuardrails> {
    if is_of_group(value) {
        let problem = GuardrailProblem::Text(OTHER_OBJECT.to_owned());
        return Err(UnreadGuardrails::whole(problem));
    }
    if value.get("package").is_none() && value.get("schema").is_none() {
        let problem = GuardrailProblem::Text(NO_GUARDRAILS.to_owned());
        return Err(UnreadGuardrails::whole(problem));
    }
    let expected = "the name of a package";
    match text(value, "package", expected)? {
        "" => {
            let problem = FieldProblem::Empty { expected };
            Err(UnreadGuardrails::of_field("package", problem))
        }
        package => Ok(package),
    }
}

/// Reads the rules of a document with the known schema.
fn stated(value: &Value) -> Result<Guardrails, UnreadGuardrails> {
    match text(value, "schema", guardrail::SCHEMA)? {
        guardrail::SCHEMA => guardrail::read(value),
        other => {
            let problem = FieldProblem::unknown_word(other, None, &[guardrail::SCHEMA]);
            Err(UnreadGuardrails::of_field("schema", problem))
        }
    }
}

fn text<'v>(
    value: &'v Value,
    key: &str,
    expected: &'static str,
) -> Result<&'v str, UnreadGuardrails> {
    let Some(found) = value.get(key) else {
        return Err(UnreadGuardrails::of_field(
            key,
            FieldProblem::Missing { expected },
        ));
    };
    let other_type = || FieldProblem::other_type("a string", found);
    found
        .as_str()
        .ok_or_else(|| UnreadGuardrails::of_field(key, other_type()))
}

const OTHER_OBJECT: &str =
    "an UpgradePolicy: use --policy for this file; serve reads policies from the cluster";
const NO_GUARDRAILS: &str = "found no guardrails: expected schema: olmguard.guardrails.v1alpha1, or an object of kind UpgradeGuardrails";

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
    schema: olmguard.guardrails.v1alpha1
package: lantern
rules:
- {id: slowly, kind: MaxMinorStep, step: 1}
";

    fn read(text: &str) -> LoadedGuardrails {
        let file = ("etc/rules.yaml".to_owned(), text.as_bytes().to_vec());
        LoadedGuardrails::of(&GuardrailFiles(vec![file]))
    }

    fn faults(text: &str) -> Vec<String> {
        let faults = read(text).faults;
        faults.iter().map(ToString::to_string).collect()
    }

    /// Whether an unreadable rule applies to a package.
    fn is_bound(text: &str, package: &str) -> bool {
        let imposed = read(text).imposed;
        imposed.on(package).any(|by| by.stated.is_err())
    }

    #[test]
    fn documents_are_told_by_where_they_begin() {
        let two = format!("# ours\n{GOOD}---\n{}", GOOD.replace("lantern", "wick"));
        let LoadedGuardrails {
            imposed, faults, ..
        } = read(&two);
        assert_eq!(faults, []);
        let places = imposed.iter().map(|by| &*by.place);
        assert_eq!(places.collect::<Vec<_>>(), ["rules.yaml:2", "rules.yaml:7"]);
        assert!(imposed.on("other").next().is_none());
    }

    #[test]
    fn what_cannot_be_read_is_told_by_its_place_and_binds_its_package() {
        let of_lantern = |found: &str, instead: &str| GOOD.replace(found, instead);
        for (text, expected) in [
            (
                of_lantern("step: 1", "step: 0"),
                "guardrails etc/rules.yaml:4:42: rules[0].step: expected a whole number from 1, found 0",
            ),
            (
                of_lantern("v1alpha1", "v7"),
                "guardrails etc/rules.yaml:1:9: schema: unknown value \"olmguard.guardrails.v7\": \
                 expected one of olmguard.guardrails.v1alpha1",
            ),
            (
                of_lantern("schema: olmguard.guardrails.v1alpha1\n", ""),
                "guardrails etc/rules.yaml:1:1: schema: missing: expected olmguard.guardrails.v1alpha1",
            ),
        ] {
            assert_eq!(faults(&text), [expected]);
            assert!(
                is_bound(&text, "lantern") && !is_bound(&text, "other"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_command_cannot_use_what_is_no_guardrails() {
        let paths = [PathBuf::from("nowhere/rules.yaml")];
        let fault = LoadedGuardrails::load(&paths).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "guardrails nowhere/rules.yaml: does not exist: expected a file or a directory"
        );
        let stdin = LoadedGuardrails::load(&[PathBuf::from("-")]).unwrap_err();
        assert_eq!(
            stdin.to_string(),
            "guardrails -: is standard input, which is not read here: expected a file or a directory"
        );
        let object = |kind: &str| format!("apiVersion: olmguard.dev/v1alpha1\nkind: {kind}\n");
        for (text, expected) in [
            (object("UpgradePolicy"), OTHER_OBJECT),
            ("kind: Secret\n".to_owned(), NO_GUARDRAILS),
        ] {
            let unusable = read(&text).unusable.expect("a fault").to_string();
            assert_eq!(
                unusable,
                format!("guardrails etc/rules.yaml:1:1: {expected}")
            );
        }
    }

    /// A device is not a regular file, like a pipe.
    #[cfg(unix)]
    #[test]
    fn a_server_reads_only_what_it_can_read_again() {
        let fault = GuardrailFiles::load(&[PathBuf::from("/dev/null")]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "guardrails /dev/null: is not a regular file: expected a file or a directory, because serve reloads \
             guardrails"
        );
    }

    #[test]
    fn a_list_has_the_rules_of_each_object_in_it() {
        let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
        let object = "- apiVersion: olmguard.dev/v1alpha1\n  kind: UpgradeGuardrails\n  metadata: {name: one}\n  \
                      spec: {package: lantern, rules: [{id: a, kind: MaxMinorStep, step: 0}]}\n";
        let text = list(object);
        assert_eq!(
            faults(&text),
            [
                "guardrails etc/rules.yaml:7:70: spec.rules[0].step: expected a whole number from 1, found 0"
            ]
        );
        assert!(is_bound(&text, "lantern") && !is_bound(&text, "other"));
        let good = text.replace("step: 0", "step: 1");
        assert_eq!(faults(&good), [""; 0]);
        // Lists without guardrails: the rules were probably lost.
        for text in [list("- {apiVersion: v1, kind: Secret}\n"), list("[]\n")] {
            assert!(read(&text).unusable.is_some(), "{text}");
        }
    }

    #[test]
    fn an_object_says_the_same() {
        let text = "\
    apiVersion: olmguard.dev/v1alpha1
kind: UpgradeGuardrails
metadata: {name: slowly}
spec:
  package: lantern
  rules:
  - {id: slowly, kind: MaxMinorStep, step: 1}
";
        let LoadedGuardrails {
            imposed, unusable, ..
        } = read(text);
        assert_eq!((imposed.on("lantern").count(), unusable), (1, None));
        assert!(imposed.on("lantern").all(|by| by.stated.is_ok()));
        let broken = read(&text.replace("step: 1}", "step: 0}"));
        assert_eq!(broken.unusable, None);
        assert!(
            broken.faults[0]
                .to_string()
                .contains(":7:44: spec.rules[0].step"),
            "{broken:?}"
        );
    }

    #[test]
    fn what_names_no_package_binds_all() {
        for (package, expected) in [
            (
                "",
                "guardrails etc/rules.yaml:1:1: package: missing: expected the name of a package",
            ),
            (
                "package: 7\n",
                "guardrails etc/rules.yaml:2:10: package: expected a string, found integer",
            ),
            (
                "package: ''\n",
                "guardrails etc/rules.yaml:2:10: package: empty: expected the name of a package",
            ),
        ] {
            let text = GOOD.replace("package: lantern\n", package);
            assert_eq!(faults(&text), [expected]);
            assert!(
                is_bound(&text, "lantern") && is_bound(&text, "other"),
                "{text}"
            );
        }
        assert!(is_bound("a: [", "other"));
    }

    #[test]
    fn broken_yaml_is_named_by_file_line_and_column() {
        assert_eq!(
            faults("a: [\n"),
            ["guardrails etc/rules.yaml:1:4: invalid YAML: unclosed bracket '['"]
        );
    }
}
