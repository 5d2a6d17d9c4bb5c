//! Set-up and checks of olmguard: `cargo xtask test`.

fn main() {}
