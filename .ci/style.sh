# Format, lints, documentation of the crates, what they hold, licences, the oldest Rust. A part of `.ci/run`.
if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
  step "rustfmt and clippy" rustup component add rustfmt clippy
fi
if ! cargo deny --version >/dev/null 2>&1; then
  begin cargo-deny cargo install --locked --debug cargo-deny@0.20.2
fi

step "format" cargo fmt --all --check
step "clippy" cargo clippy --workspace --all-targets --locked -- -D warnings
step "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# What Cargo.toml promises: newer syntax must not slip in.
minimum=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if cargo "+$minimum" --version >/dev/null 2>&1 || rustup toolchain install "$minimum" --profile minimal; then
  step "Rust $minimum" env CARGO_TARGET_DIR="$target/minimum" cargo "+$minimum" check --workspace --locked
else
  left_out "Rust $minimum" "the toolchain could not be installed"
fi

if [[ -n ${background[cargo-deny]-} ]]; then step "cargo-deny" finish cargo-deny; fi
step "dependencies" cargo deny --workspace check bans licenses sources
step "what a crate may hold" tests/house.sh crates
# The fuzz targets need a nightly toolchain and are not built here; their versions must be those of Cargo.lock.
step "dependencies of the fuzz targets" cargo fetch --manifest-path fuzz/Cargo.toml --locked
