//! Tells the program what it is built by and for: facts that change with the toolchain alone.
//!
//! The variables do not begin like the twins of flags: cargo sets them for what it runs, too.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=BUILT_WITH_RUSTC={}", compiler());
    println!("cargo::rustc-env=BUILT_FOR_TARGET={}", variable("TARGET"));
}

/// Such as `1.95.0`.
fn compiler() -> String {
    let said = Command::new(variable("RUSTC")).arg("--version").output();
    let said = said.expect("cargo names a compiler that runs").stdout;
    let said = String::from_utf8_lossy(&said);
    let version = said.split_whitespace().nth(1);
    version.expect("`rustc 1.95.0 (...)`").to_owned()
}

fn variable(name: &str) -> String {
    env::var(name).expect("cargo sets it")
}
