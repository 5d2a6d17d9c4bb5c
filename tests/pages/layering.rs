//! The pure crates stay pure, and the dependencies between modules point in one direction.
//!
//! The build without features shows that the pure part needs no crate with I/O. This test reads the
//! sources to check that it does not use I/O in `std` either, and that no module uses a later one.

mod paths;
mod rules;

use std::fs;
use std::path::{Path, PathBuf};

use self::paths::paths;
use self::rules::{Fault, fault, in_one, is_edge, is_known};

#[test]
fn sources_keep_the_arrows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut faults = Vec::new();
    let mut read = 0;
    for (package, folder) in [
        ("catalog", "crates/catalog/src"),
        ("preflight", "crates/preflight/src"),
        ("policy", "crates/policy/src"),
        ("engine", "crates/engine/src"),
        ("report", "crates/report/src"),
        ("views", "crates/views/src"),
        ("admission", "crates/admission/src"),
        ("server", "crates/server/src"),
        ("program", "src"),
    ] {
        for file in sources(&root.join(folder)) {
            let name = file.strip_prefix(root).unwrap().to_str().unwrap();
            let module = name.strip_prefix(folder).unwrap().strip_suffix(".rs");
            let module: Vec<_> = module.unwrap().split('/').skip(1).collect();
            if module == ["lib"] {
                continue;
            }
            read += 1;
            let text = fs::read_to_string(&file).unwrap();
            let faults_of = faults_of(package, &text, &module);
            faults.extend(faults_of.into_iter().map(|fault| (name.to_owned(), fault)));
        }
    }
    assert!(read > 500, "only {read} files found in {}", root.display());
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn paths_of_all_crates_are_those_of_one() {
    for (package, path, expected) in [
        ("catalog", "crate::fbc::read", "crate::catalog"),
        (
            "catalog",
            "crate::version::Version",
            "crate::version::Version",
        ),
        ("engine", "olmguard_catalog::Catalog", "crate::catalog"),
        (
            "engine",
            "olmguard_catalog::olm::Rules",
            "crate::olm::Rules",
        ),
        ("engine", "olmguard_policy::Moment", "crate::policy"),
        ("program", "olmguard_views::lint", "crate::lint"),
        ("program", "crate::server", "crate::server"),
        ("program", "olmguard_admission::Review", "crate::admission"),
        ("views", "std::fmt", "std::fmt"),
    ] {
        assert_eq!(in_one(package, path), expected);
    }
}

#[track_caller]
fn refuses(module: &[&str], text: &str, path: &str, fault: Fault) {
    assert_eq!(
        faults_of("program", text, module),
        [(path.to_owned(), fault)],
        "{text}"
    );
}

#[track_caller]
fn accepts(module: &[&str], text: &str) {
    assert_eq!(faults_of("program", text, module), [], "{text}");
}

#[test]
fn refuses_what_reaches_out() {
    use Fault::{Impure, WholeStd};
    let refuses = |text, path, fault| refuses(&["judge", "rows"], text, path, fault);
    refuses("use std::fs;", "std::fs", Impure);
    refuses("use std::{fmt, net::IpAddr};", "std::net::IpAddr", Impure);
    refuses("use ::std::env::var;", "std::env::var", Impure);
    refuses("use std::time::{self};", "std::time", Impure);
    refuses(
        "fn now() { let _ = vec![std::time::Instant::now()]; }",
        "std::time::Instant::now",
        Impure,
    );
    refuses(
        "#[cfg(test)] mod tests { use std::process::*; }",
        "std::process",
        Impure,
    );
    refuses("use std::io::{Read, Write};", "std::io::Read", Impure);
    refuses("use kube::Client;", "kube::Client", Impure);
    refuses("fn f() -> anyhow::Result<()> {}", "anyhow::Result", Impure);
    refuses("async fn f() {}", "async", Impure);
    refuses(
        "use std as s; fn f() { s::fs::read(\"x\"); }",
        "std",
        WholeStd,
    );
    refuses("use std::*;", "std", WholeStd);
}

#[test]
fn refuses_arrows_that_point_back() {
    use Fault::{Arrow, UnknownModule};
    refuses(
        &["version"],
        "use crate::catalog::Catalog;",
        "crate::catalog::Catalog",
        Arrow,
    );
    refuses(
        &["resolve", "query"],
        "use crate::{judge, version};",
        "crate::judge",
        Arrow,
    );
    refuses(
        &["judge"],
        "use super::cli::Exit;",
        "crate::cli::Exit",
        Arrow,
    );
    refuses(
        &["judge", "rows"],
        "use super::super::source;",
        "crate::source",
        Arrow,
    );
    refuses(
        &["judge"],
        "mod a { use super::super::explain; }",
        "crate::explain",
        Arrow,
    );
    refuses(
        &["admission"],
        "use crate::server::Limits;",
        "crate::server::Limits",
        Arrow,
    );
    refuses(
        &["server"],
        "fn f(x: crate::source::Source) {}",
        "crate::source::Source",
        Arrow,
    );
    refuses(
        &["judge"],
        "use crate::helpers::x;",
        "crate::helpers::x",
        UnknownModule,
    );
    refuses(
        &["helpers"],
        "use std::fmt;",
        "crate::helpers",
        UnknownModule,
    );
}

#[test]
fn tests_of_an_edge_may_use_any_other() {
    let text = "use crate::source::load_bytes;";
    accepts(&["telemetry", "tests"], text);
    refuses(
        &["judge", "tests"],
        text,
        "crate::source::load_bytes",
        Fault::Arrow,
    );
}

#[test]
fn accepts_what_is_allowed() {
    accepts(
        &["judge", "rows"],
        "use super::super::judge::Edit; use super::ruling::Ruling;",
    );
    accepts(
        &["judge"],
        "use crate::catalog::{self, Catalog}; use crate::version::Version;",
    );
    accepts(
        &["judge"],
        "// use std::fs;\n/// See [`crate::explain`] and `std::fs`.\nfn f() { g(\"std::fs::read\") }",
    );
    accepts(
        &["judge"],
        "mod a { use super::advice; } use std::{fmt, collections::BTreeMap};",
    );
    accepts(
        &["judge"],
        "use std::io::Write as _; struct Clapper; fn f(kubes: u8) {}",
    );
    accepts(
        &["cli", "check"],
        "use std::fs; use clap::Parser; use crate::{explain, server, source};",
    );
    accepts(
        &["server"],
        "use olmguard_admission::Review; use tokio::net; use crate::judge::judge;",
    );
}

/// Returns each faulty path with its fault.
///
/// The tests of an edge may use any other module. The tests of a pure module follow its rules.
fn faults_of(package: &str, text: &str, module: &[&str]) -> Vec<(String, Fault)> {
    let path = in_one(package, &format!("crate::{}", module.join("::")));
    let top = path.split("::").nth(1).expect("a file lies in a module");
    if !is_known(top) {
        return vec![(format!("crate::{top}"), Fault::UnknownModule)];
    }
    if is_edge(top) && module.contains(&"tests") {
        return Vec::new();
    }
    let paths = paths(text, module).expect("the compiler reads it too");
    paths
        .into_iter()
        .map(|path| in_one(package, &path))
        .filter_map(|path| fault(top, &path).map(|fault| (path, fault)))
        .collect()
}

/// Returns every Rust file below a directory.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}
