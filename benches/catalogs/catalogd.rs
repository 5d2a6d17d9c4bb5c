//! A catalogd as a process: this program, run again.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use tempfile::NamedTempFile;

use olmguard_support::catalogd::answer::Answer;
use olmguard_support::catalogd::authority::Authority;
use olmguard_support::catalogd::scripted::{Asked, Scripted};

use crate::world::World;

/// A catalogd that runs until this is dropped. It serves each catalog unchanged, as `plain-NAME` and `gzip-NAME`, and
/// its next version with gzip, as `next-NAME`. It also serves `plain-tiny`, a package with one bundle.
pub(crate) struct Catalogd {
    child: Child,
    /// The URL of `plain-NAME` up to the `plain`.
    base: String,
    pub(crate) ca: NamedTempFile,
}

impl Catalogd {
    pub(crate) fn start(world: &World) -> Self {
        let (variable, value) = world.variable();
        let ca = NamedTempFile::new().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env(CA, ca.path())
            .env(variable, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program runs again");
        let mut base = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut base).unwrap();
        let base = base.trim().to_owned();
        Self { child, base, ca }
    }

    /// The base URL of a catalog that is sent in this form.
    pub(crate) fn base(&self, way: &str, name: &str) -> String {
        format!("{}{way}-{name}", self.base)
    }
}

impl Drop for Catalogd {
    /// Closes the standard input of the process, which then ends.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

/// Whether this process is a catalogd.
pub(crate) fn is_catalogd() -> bool {
    std::env::var_os(CA).is_some()
}

/// Serves until standard input ends. Prints one line, the start of every base URL.
pub(crate) fn run_catalogd() {
    let authority = Authority::new("catalogd");
    std::fs::write(std::env::var_os(CA).expect("a path"), authority.pem()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answers = answers();
    let script = move |asked: &Asked| answer(&answers, asked);
    let server = runtime.block_on(Scripted::tls(authority.server(), script));
    writeln!(std::io::stdout().lock(), "{}", server.base("")).unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    runtime.shutdown_background();
}

fn answers() -> HashMap<String, Answer> {
    let world = World::of_variable();
    let of = |name: &str| {
        let content = world.content(name);
        let next = [&content, TINY.as_bytes()].concat();
        [
            (format!("plain-{name}"), Answer::ok(&content)),
            (format!("gzip-{name}"), Answer::gzip(&content)),
            (format!("next-{name}"), Answer::gzip(&next)),
        ]
    };
    let tiny = ("plain-tiny".to_owned(), Answer::ok(TINY.as_bytes()));
    world
        .names()
        .into_iter()
        .flat_map(of)
        .chain([tiny])
        .collect()
}

fn answer(answers: &HashMap<String, Answer>, asked: &Asked) -> Answer {
    let catalog = asked.head.split('/').nth(2).unwrap_or_default();
    let answer = answers.get(catalog).cloned();
    answer.unwrap_or_else(|| Answer::status("404 Not Found"))
}

/// The environment variable that makes a process a catalogd: the path to which it writes its CA certificate.
const CA: &str = "OLMGUARD_BENCH_CA";

/// A catalog with one bundle. Without a bundle, the catalog would be held back for a minute.
const TINY: &str = "{\"schema\": \"olm.package\", \"name\": \"tiny\"}\n\
    {\"schema\": \"olm.bundle\", \"package\": \"tiny\", \"name\": \"tiny.v1.0.0\"}\n";
