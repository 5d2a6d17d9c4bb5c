//! The origin of the action's program: its own source, or the archive of a release. It must never be the checked-out
//! repository, which can be anyone's pull request.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::github::{USUAL, run_of};
use super::repository::{INJECTIONS, PASSES, Ran, Repository};

/// A program that reports that it was run.
const PROGRAM: &str = "fn main() { println!(\"the program of the action\"); }";

/// Writes the source of an action, which builds quickly.
fn action(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let package =
        "[package]\nname = \"olmguard\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let lock = "version = 4\n\n[[package]]\nname = \"olmguard\"\nversion = \"0.1.0\"\n";
    for (file, text) in [
        ("Cargo.toml", package),
        ("Cargo.lock", lock),
        ("src/main.rs", PROGRAM),
    ] {
        fs::write(folder.join(file), text).expect(file);
    }
    folder.to_owned()
}

/// Writes a file that leaves a trace when it is run, and then does what was expected.
fn trap(repository: &Repository, file: &str) -> String {
    let path = repository.path().join(file);
    let pwned = repository.path().join("pwned");
    let text = format!(
        "#!/bin/sh\necho {file} >> '{}'\nexec \"$@\"\n",
        pwned.display()
    );
    repository.write(file, &text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path.display().to_string()
}

/// Returns a repository with all files that cargo, rustup and a shell look for.
fn hostile() -> Repository {
    let repository = Repository::with(PASSES);
    let wrapper = trap(&repository, "wrapper");
    let programs =
        "cargo rustc curl tar sha256sum mkdir cp cat od tr rm mktemp git olmguard bin/olmguard";
    for program in programs.split(' ') {
        trap(&repository, program);
        trap(&repository, &format!("evil/bin/{program}"));
    }
    let evil = repository.path().join("evil").display().to_string();
    let toolchain = format!("[toolchain]\npath = \"{evil}\"\n");
    repository.write("rust-toolchain.toml", &toolchain);
    repository.write("rust-toolchain", &toolchain);
    let config = format!(
        "[build]\nrustc = \"{evil}/bin/rustc\"\nrustc-wrapper = \"{wrapper}\"\n\
         rustc-workspace-wrapper = \"{wrapper}\"\n[alias]\ninstall = \"run\"\n"
    );
    repository.write(".cargo/config.toml", &config);
    repository.write(".cargo/config", &config);
    repository.write("Cargo.toml", "[workspace]\nmembers = [\"*\"]\n");
    for file in [".bashrc", ".bash_profile", ".profile", ".curlrc"] {
        repository.write(file, "touch pwned\n");
    }
    repository
}

#[track_caller]
fn runs_the_action_alone(repository: &Repository, ran: &[Ran]) {
    let pwned = repository.path().join("pwned");
    assert!(!pwned.exists(), "{:?}: {ran:?}", fs::read_to_string(&pwned));
    let last = ran.last().expect("a step");
    assert!(last.stdout.contains("the program of the action"), "{ran:?}");
    assert_eq!((ran.len(), last.code), (2, Some(0)), "{ran:?}");
}

#[test]
fn its_source_is_built_away_from_the_repository() {
    let repository = hostile();
    let folder = action(&repository.temp().join("action"));
    let ran = run_of(&folder, &repository, &USUAL[1..]);
    runs_the_action_alone(&repository, &ran);
}

/// This is the case of `uses: ./action`, after a checkout of the action into the repository.
#[test]
fn it_may_be_in_the_repository_itself() {
    let repository = hostile();
    let folder = action(&repository.path().join("action"));
    let ran = run_of(&folder, &repository, &USUAL[1..]);
    runs_the_action_alone(&repository, &ran);
}

/// The toolchain of the action must be able to build it.
#[test]
fn its_toolchain_is_the_one_that_the_source_needs() {
    let read = |file: &str| fs::read_to_string(root().join(file)).expect(file);
    let manifest = read("Cargo.toml");
    let least = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "));
    let least = least.expect("a version").trim_matches('"');
    let pinned = format!("RUSTUP_TOOLCHAIN: {least}.");
    assert!(read("action.yml").contains(&pinned), "{pinned}");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

const URL: &str = "https://git.example.com/releases/olmguard-0.1.0-linux-amd64.tar.gz";

/// Creates the archive of a release and a `curl` that fetches it, and returns the SHA-256 of the archive.
fn release(repository: &Repository) -> String {
    let folder = repository.temp().join("release");
    let archive = folder.join("release.tar.gz");
    fs::create_dir_all(folder.join("olmguard-0.1.0-linux-amd64")).expect("a folder");
    let program = folder.join("olmguard-0.1.0-linux-amd64/olmguard");
    executable(&program, "echo the program of the action");
    let mut tar = Command::new("tar");
    tar.current_dir(&folder).arg("-czf").arg(&archive);
    let tar = tar.arg("olmguard-0.1.0-linux-amd64").status();
    assert!(tar.expect("tar").success());
    let copy = format!(
        "while [ $# -gt 1 ]; do [ \"$1\" != --output ] || to=$2; shift; done\n[ \"$1\" = {URL} ]\ncp '{}' \"$to\"",
        archive.display()
    );
    executable(&repository.bin().join("curl"), &copy);
    let sum = Command::new("sha256sum")
        .arg(&archive)
        .output()
        .expect("sha256sum");
    let sum = String::from_utf8(sum.stdout).expect("UTF-8");
    sum.split(' ').next().expect("a digest").to_owned()
}

fn executable(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh -e\n{script}\n")).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// Runs the steps with this release. There is no source to build.
fn with_release(repository: &Repository, release: &str) -> Vec<Ran> {
    let given = [&USUAL[1..], &[("release", release)]].concat();
    run_of(Path::new("/no/action"), repository, &given)
}

#[test]
fn a_release_is_fetched_by_its_digest() {
    let repository = hostile();
    let digest = release(&repository);
    let ran = with_release(&repository, &format!("{URL}#sha256={digest}"));
    runs_the_action_alone(&repository, &ran);
}

#[test]
fn another_archive_is_refused_before_it_is_unpacked() {
    let repository = Repository::with(PASSES);
    let digest = release(&repository);
    let other = digest.chars().rev().collect::<String>();
    let ran = with_release(&repository, &format!("{URL}#sha256={other}"));
    let expected = format!(
        "error: the archive of the input release has the SHA-256 {digest}, expected {other}\n"
    );
    assert_eq!((ran.len(), ran[0].code), (1, Some(3)), "{ran:?}");
    assert_eq!(ran[0].stderr, expected);
    assert!(!repository.temp().join("olmguard/bin/olmguard").exists());
}

#[test]
fn a_release_without_a_digest_is_refused_before_it_is_fetched() {
    let repository = Repository::with(PASSES);
    let digest = release(&repository);
    let upper = digest.to_uppercase();
    let refused = [
        URL.to_owned(),
        format!("{URL}#sha256="),
        format!("{URL}#sha256={}", &digest[1..]),
        format!("{URL}#sha256={upper}x"),
        format!("{URL}#sha512={digest}"),
        format!("http{}#sha256={digest}", &URL[5..]),
        format!("-o/etc#sha256={digest}"),
        format!("file:///etc/hosts#sha256={digest}"),
    ];
    let injections = INJECTIONS
        .iter()
        .map(|text| format!("{text}#sha256={digest}"));
    for release in refused.into_iter().chain(injections) {
        let ran = with_release(&repository, &release);
        assert_eq!((ran.len(), ran[0].code), (1, Some(2)), "{release}: {ran:?}");
        let expected = "error: the input release must be https://HOST/PATH.tar.gz#sha256=HEX; \
                        SHA256SUMS of the release has HEX\n";
        assert_eq!(ran[0].stderr, expected);
        assert!(!repository.path().join("pwned").exists(), "{release}");
    }
}
