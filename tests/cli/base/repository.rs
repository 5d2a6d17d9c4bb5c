//! A git repository, created by git, with manifests in `apps`. The program is run in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::check::scene::{Ran, Scene, scene};
use olmguard_support::git;
use olmguard_support::schema::assert_fits;

/// A directory with a catalog, the repository `repo`, and other files of a test.
pub(crate) struct Repository {
    scene: Scene,
}

/// The flag with the content of the catalog, from within the repository.
pub(crate) const CATALOG: &str = "--catalog=hub=../hub";

impl Repository {
    /// Creates a repository without commits. The catalog has `lantern-operator`, and one version of
    /// `wick` and of `shade`.
    pub(crate) fn new() -> Self {
        let hub = include_str!("../../../examples/Resolved/hub.yaml");
        let more = format!("{}---\n{}", package("wick"), package("shade"));
        let scene = scene(&[("hub/lantern.yaml", hub), ("hub/more.yaml", &more)]);
        let repository = Self { scene };
        repository.git_in(".", &["init", "-q", "-b", "main", "repo"]);
        repository
    }

    /// Creates a repository with these files in the only commit of its branch `main`.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let repository = Self::new();
        repository.write(files);
        repository.commit();
        repository
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.scene.path().join("repo").join(path)
    }

    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        self.scene.path().join(path)
    }

    pub(crate) fn write(&self, files: &[(&str, &str)]) {
        for (file, text) in files {
            let path = self.path(file);
            fs::create_dir_all(path.parent().expect("in the folder")).expect(file);
            fs::write(path, text).expect(file);
        }
    }

    pub(crate) fn remove(&self, file: &str) {
        fs::remove_file(self.path(file)).expect(file);
    }

    pub(crate) fn commit(&self) {
        self.commit_in("repo");
    }

    pub(crate) fn commit_in(&self, folder: &str) {
        git::commit(&self.beside(folder));
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in("repo", arguments)
    }

    /// Runs git in a directory next to the repository.
    #[track_caller]
    pub(crate) fn git_in(&self, folder: &str, arguments: &[&str]) -> String {
        git::git(&self.beside(folder), arguments)
    }

    /// Runs `olmguard check` in the repository.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_in("repo", arguments)
    }

    /// Runs it in a directory next to the repository.
    pub(crate) fn run_in(&self, folder: &str, arguments: &[&str]) -> Ran {
        let ended = self
            .scene
            .command(arguments)
            .current_dir(self.beside(folder))
            .output();
        let ended = ended.expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran {
            code: ended.status.code().expect("no signal"),
            stdout: text(ended.stdout),
            stderr: text(ended.stderr),
        }
    }

    /// Returns the exit code and the JSON, validated by its schema, of a check of `apps` against
    /// this base.
    #[track_caller]
    pub(crate) fn json(&self, base: &str, more: &[&str]) -> (i32, Value) {
        let arguments = ["-f", "apps", CATALOG, "-o=json", "--base", base];
        let ran = self.run(&[&arguments, more].concat());
        (ran.code, ran.json())
    }

    /// Returns the exit code and the rules of the findings in SARIF, validated by its schema.
    #[track_caller]
    pub(crate) fn findings(&self, folder: &str, arguments: &[&str]) -> (i32, Vec<String>) {
        let ran = self.run_in(folder, &[arguments, &["-o=sarif"]].concat());
        let log: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_fits("tests/sarif/sarif-2.1.0.json", &log);
        let found = log["runs"][0]["results"].as_array().expect("a list");
        let rule = |one: &Value| one["ruleId"].as_str().expect("a rule").to_owned();
        (ran.code, found.iter().map(rule).collect())
    }

    /// Returns `NAME CHANGE TOKEN` of each result of such a check.
    #[track_caller]
    pub(crate) fn tokens(&self, base: &str, more: &[&str]) -> Vec<String> {
        tokens(&self.json(base, more).1)
    }

    /// Checks that nothing is checked, for this reason.
    #[track_caller]
    pub(crate) fn misused(&self, arguments: &[&str], words: &str) {
        let ran = self.run(arguments);
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
    }
}

/// Returns `NAME CHANGE TOKEN` of each result.
pub(crate) fn tokens(report: &Value) -> Vec<String> {
    let results = report["results"].as_array().expect("a list").iter();
    let said = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let line = |result: &Value| {
        let change = said(&result["base"]["change"]);
        format!(
            "{} {change} {}",
            said(&result["name"]),
            said(&result["token"])
        )
    };
    results.map(line).collect()
}

/// Returns this field of each removed extension, sorted.
pub(crate) fn removed<'r>(report: &'r Value, key: &str) -> Vec<&'r str> {
    let removed = report["base"]["removed"].as_array().expect("a list");
    let said = removed.iter().map(|one| one[key].as_str().expect(key));
    let mut said: Vec<_> = said.collect();
    said.sort_unstable();
    said
}

/// Returns every file below a directory with its content and modification time.
pub(crate) fn print(folder: &Path) -> Vec<String> {
    let mut print = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("it is there");
            let written = metadata.modified().expect("a time");
            let content = metadata.is_file().then(|| fs::read(&path).expect("a file"));
            print.push(format!("{} {written:?} {content:?}", path.display()));
            if metadata.is_dir() {
                folders.push(path);
            }
        }
    }
    print.sort();
    print
}

/// Returns a package with one version.
fn package(name: &str) -> String {
    format!(
        "schema: olm.package\nname: {name}\ndefaultChannel: stable\n---\n\
         schema: olm.channel\npackage: {name}\nname: stable\nentries:\n- name: {name}.v1.0.0\n---\n\
         schema: olm.bundle\npackage: {name}\nname: {name}.v1.0.0\nimage: example.com/{name}:v1.0.0\n\
         properties:\n- {{type: olm.package, value: {{packageName: {name}, version: \"1.0.0\"}}}}\n"
    )
}
