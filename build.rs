//! Links the programs at fixed addresses where they are linked dynamically for glibc: the loader has nothing to
//! relocate then, which takes two thirds of the start of a program with large tables (`expand-variant-set`).

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let is_glibc =
        variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_static = variable("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
    if is_glibc && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
