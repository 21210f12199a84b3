# What the parts of `.ci/run` share. Sourced from the repository's root.
export CARGO_TERM_COLOR=never
# Each crate is compiled once: what helps the next build, or a debugger, would only take time.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false

target=${CARGO_TARGET_DIR:-target}
shared=${KRM_VARIANTS_SHARED-../shared}
summary=()
failed=()
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# usage: step NAME COMMAND...     a command that ends with 77 could not be run here
step() {
  local name=$1 start=$SECONDS code=0
  shift
  printf '\n+ %s\n' "$*"
  "$@" > >(tee "$logs/$name") 2>&1 || code=$?
  case $code in
    0) summary+=("ok       $name ($((SECONDS - start)) s)") ;;
    77) summary+=("left out $name: could not be run here") ;;
    *)
      summary+=("FAILED   $name (exit code $code, $((SECONDS - start)) s)")
      failed+=("$name")
      ;;
  esac
  return "$code"
}
left_out() { summary+=("left out $1: $2"); }
has() { command -v "$1" >/dev/null; }

# What takes long and is needed later runs alongside the other steps.
# usage: begin NAME COMMAND...; step TITLE finish NAME
declare -A background
begin() {
  local name=$1
  shift
  [[ -n ${background[$name]-} ]] && return
  printf '\n+ %s &\n' "$*"
  "$@" >"$logs/begun $name" 2>&1 &
  background[$name]=$!
}
finish() {
  local code=0
  wait "${background[$1]}" || code=$?
  cat "$logs/begun $1"
  return "$code"
}

# The programs as they are released: static, since containers run them. The benchmark runs them, and is compiled as the tests are:
# with the flags of a release, everything would be compiled twice more, since only programs abort on a panic.
host=$(rustc -vV | sed -n 's/^host: //p')
release=(env)
build=(cargo build --locked)
bench=(cargo bench --profile test --workspace --locked --bench functions)
binaries=$target/release
archives=$target/dist
if [[ $host == *-linux-gnu ]]; then
  release+=(RUSTFLAGS="-C target-feature=+crt-static -C relocation-model=static")
  build+=(--target "$host")
  binaries=$target/$host/release
  archives=$target/$host/dist
fi
build_programs() { "${release[@]}" "${build[@]}" --bins --release; }
begin_programs() { begin programs build_programs; }
# Fails if the programs could not be built; builds them once.
have_programs() {
  begin_programs
  if [[ -z ${programs_built-} ]]; then
    programs_built=no
    step "release build" finish programs && programs_built=yes
  fi
  [[ $programs_built == yes ]]
}

# What takes longest beside other tools, while the other programs are tried: each of these uses one core, and none measures time.
begin_peers() {
  if [[ -f $shared/tools/smp-oracle/build.sh ]] && has go; then begin smp-oracle tests/with_smp_oracle.sh; fi
  if has kubectl; then begin spellings python3 tests/with_kubectl_values.py; fi
  if have_programs && { has kustomize || has go; }; then begin kustomize tests/with_kustomize.sh "$binaries"; fi
}

report() {
  printf '\nSummary after %s s:\n' "$SECONDS"
  printf '  %s\n' "${summary[@]}"
  if [[ ${#failed[@]} -gt 0 ]]; then
    for name in "${failed[@]}"; do printf '\nThe end of "%s":\n' "$name" && tail -n 25 "$logs/$name"; done
    echo "${#failed[@]} failed"
    return 1
  fi
}
