//! Links the programs at fixed addresses where they are linked dynamically for glibc: the loader has nothing to
//! relocate then, which takes two thirds of the start of a program with large tables (`expand-variant-set`).
//!
//! `KRM_VARIANTS_TEST_CFGS` names what only tests switch on (`without_scanner small_shares`, see `Cargo.toml`). Flags of the
//! compiler would build all dependencies once more.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=KRM_VARIANTS_TEST_CFGS");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    for cfg in variable("KRM_VARIANTS_TEST_CFGS").split_whitespace() {
        println!("cargo::rustc-cfg={cfg}");
    }
    let is_glibc =
        variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_static = variable("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
    if is_glibc && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
