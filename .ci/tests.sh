# The tests of all crates, and those that `cargo test` leaves out. A part of `.ci/run`.
#
#   KRM_VARIANTS_SHARED=DIR        more test data; default ../shared beside the checkout
#   KRM_VARIANTS_YAML_SUITE=DIR    a checkout of the yaml-test-suite's data branch (DIR/<id>/in.yaml), for the round trip
#   KRM_VARIANTS_DEFINITIONS=FILE  what the built-in schema is made from, to make it again; fetched with pip if unset
if [[ -n ${KRM_VARIANTS_YAML_SUITE-} ]]; then
  KRM_VARIANTS_YAML_SUITE=$(cd "$KRM_VARIANTS_YAML_SUITE" && pwd) || exit 1
  export KRM_VARIANTS_YAML_SUITE
  echo "yaml-test-suite: $KRM_VARIANTS_YAML_SUITE"
else
  left_out "yaml-test-suite" "KRM_VARIANTS_YAML_SUITE is not set"
fi

# What the built-in schema is made from: 22 MB that need not be in this repository.
definitions() {
  local wheel=kubernetes_validate-1.37.0-py3-none-any.whl directory=$target/kubernetes-validate
  local inner=kubernetes_validate/kubernetes-json-schema/v1.37.0-local/_definitions.json
  mkdir -p "$directory"
  [[ -f $directory/$wheel ]] \
    || python3 -m pip download -q --no-deps --only-binary :all: kubernetes-validate==1.37.0 -d "$directory" || return 77
  echo "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9  $directory/$wheel" | sha256sum -c || return 1
  python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
    "$directory/$wheel" "$inner" >"$directory/_definitions.json"
}
if [[ -z ${KRM_VARIANTS_DEFINITIONS-} ]] && has python3 && step "definitions of Kubernetes' types" definitions; then
  KRM_VARIANTS_DEFINITIONS=$(cd "$target/kubernetes-validate" && pwd)/_definitions.json
fi

# As on a fresh machine: no configuration of Git, and so no name of a user.
fresh_machine() {
  local home code=0
  home=$(mktemp -d)
  CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup} HOME=$home XDG_CONFIG_HOME=$home GIT_CONFIG_NOSYSTEM=1 \
    cargo test --workspace --locked --no-fail-fast || code=$?
  rm -rf "$home"
  return "$code"
}
step "tests" fresh_machine
# With `--workspace` too, else what is built would have other features, and be built again.
krm=(cargo test --workspace --locked --test krm --)
if [[ -n ${KRM_VARIANTS_DEFINITIONS-} ]]; then
  export KRM_VARIANTS_DEFINITIONS
  step "the built-in schema, made again" tools/schema_table.py "$KRM_VARIANTS_DEFINITIONS" --check
  step "the built-in schema beside Kubernetes'" "${krm[@]}" --ignored the_built_in_schema
fi
step "scanner against parser, and one line of 1 GB" "${krm[@]}" --ignored a_million one_line_of_a_gigabyte
# Bounds of time and memory are those of the scanner, and hold without these switches. What is left out further is about
# processes, repositories and servers.
step "tests, general parser and several threads" \
  env KRM_VARIANTS_TEST="without_scanner small_shares" "${krm[@]}" --skip bounds:: --skip hostile:: --skip fast_path:: \
  --skip krmv:: --skip git:: --skip sources::
