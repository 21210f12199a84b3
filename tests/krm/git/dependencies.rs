//! What reading repositories brings along: no network code.

use std::process::Command;

/// Crates that talk to others, or hide what is said.
const NETWORK: [&str; 24] = [
    "async-std",
    "aws-lc-rs",
    "curl",
    "curl-sys",
    "h2",
    "hickory-resolver",
    "hyper",
    "isahc",
    "mio",
    "native-tls",
    "openssl",
    "openssl-sys",
    "quinn",
    "reqwest",
    "ring",
    "rustls",
    "schannel",
    "socket2",
    "ssh2",
    "russh",
    "tokio",
    "ureq",
    "webpki",
    "gix-credentials",
];

/// Features with which crates of gitoxide connect to somebody.
const CONNECTING: [&str; 5] = ["client", "curl", "reqwest", "http", "handshake"];

#[test]
fn no_dependency_talks_to_a_network() {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args([
        "tree",
        "--locked",
        "--offline",
        "--edges=normal",
        "--prefix=none",
    ]);
    command.arg("--format={p} [{f}]");
    let output = command.output().expect("cargo tree");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut seen = 0;
    for line in text.lines() {
        let name = line.split(' ').next().unwrap_or_default();
        assert!(!NETWORK.contains(&name), "{line}");
        if name.starts_with("gix") {
            seen += 1;
            let features = line.rsplit_once('[').map_or("", |(_, features)| features);
            let connecting = CONNECTING.iter().find(|word| features.contains(**word));
            assert_eq!(connecting, None, "{line}");
        }
    }
    assert!(seen > 20, "gix is in the tree:\n{text}");
}
