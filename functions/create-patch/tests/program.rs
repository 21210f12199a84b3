//! The program itself. What it does is tested with its step, and through `krmv`, which contains it.

use assert_cmd::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_create-patch");

#[test]
fn the_program_prints_its_version() {
    let output = Command::new(PROGRAM).arg("--version").output();
    let output = output.expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    let expected = concat!("create-patch ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn the_program_refuses_input_that_is_not_a_resource_list() {
    let output = Command::new(PROGRAM).write_stdin("a: [").output();
    let output = output.expect("the program runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("create-patch: "), "{message}");
}
