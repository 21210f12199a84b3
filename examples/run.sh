#!/usr/bin/env bash
# Runs the examples as tests: every directory with a .expected/config.yaml or a play.sh.
#
#   examples/run.sh DIR [EXAMPLE...]        DIR holds the built binaries, target/release for one
#   UPDATE_EXPECT=1 examples/run.sh DIR            rewrites .expected/: read the diff before you commit it
#
# Each runs its function on a copy of its package, without kpt: --diff must print .expected/diff.patch
# and write nothing; in place the package must become what that patch makes of it, with the results of
# .expected/results.yaml; and a second run must change no byte and have no result, or those of
# .expected/results-again.yaml.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
[[ $# -ge 1 && -d $1 ]] || { echo "usage: $0 DIR_OF_BUILT_BINARIES [EXAMPLE...]" >&2; exit 2; }
binaries=$(cd "$1" && pwd)
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

checks=0
failed=0
ok() {
  checks=$((checks + 1))
  echo "ok: $*"
}
fail() {
  failed=$((failed + 1))
  echo "FAILED: $*" >&2
}
field() { sed -n "s/^$2: *//p" "$1"; } # of a flat YAML file
# usage: run LOG EXPECTED_CODE COMMAND...   stdout goes to LOG, stderr to LOG.stderr
run() {
  local log=$1 expected=$2 code=0
  shift 2
  "$@" >"$log" 2>"$log.stderr" || code=$?
  [[ $code -eq $expected ]] && return
  cat "$log" "$log.stderr" >&2
  fail "exit code $code, expected $expected: $*"
  return 1
}

run_example() {
  local dir=$1 name expected binary config exit_code check_code=3 copy word source
  local -a flags=() again=()
  name=$(basename "$dir")
  expected=$dir/.expected
  binary=$binaries/$(field "$expected/config.yaml" exec)
  config=$dir/$(field "$expected/config.yaml" fnConfig)
  exit_code=$(field "$expected/config.yaml" exitCode)
  # Flags other than --config and --package; their paths are relative to the example.
  for word in $(field "$expected/config.yaml" flags); do
    case $word in
      --*) flags+=("$word") ;;
      *=*) flags+=("${word%%=*}=$dir/${word#*=}") ;; # NAME=PATH
      *) flags+=("$dir/$word") ;;
    esac
  done
  # The flags of the second run, if they differ.
  again=("${flags[@]}")
  if grep -q '^flagsAgain:' "$expected/config.yaml"; then again=(); fi
  for word in $(field "$expected/config.yaml" flagsAgain); do
    if [[ $word == --* ]]; then again+=("$word"); else again+=("$dir/$word"); fi
  done
  copy=$work/$name
  echo "== $name"

  if grep -q '^prints: true' "$expected/config.yaml"; then
    run_printing_example "$dir" "$name" "$binary" "$config" "${flags[@]}"
    return 0
  fi

  # Without a package, it starts with an empty one.
  source=$work/$name-source
  if [[ -d $dir/package ]]; then cp -R "$dir/package" "$source"; else mkdir "$source"; fi
  cp -R "$source" "$copy"
  run "$work/diff" "$exit_code" \
    "$binary" --config "$config" "${flags[@]}" --package "$copy" --diff --results "$work/diff-results" || return 0
  if [[ -n ${UPDATE_EXPECT-} ]]; then
    cp "$work/diff" "$expected/diff.patch"
    cp "$work/diff-results" "$expected/results.yaml"
  fi
  diff -u "$expected/diff.patch" "$work/diff" || { fail "$name: --diff"; return 0; }
  ok "$name: --diff prints .expected/diff.patch"
  diff -u "$expected/results.yaml" "$work/diff-results" || { fail "$name: --diff --results"; return 0; }
  ok "$name: --diff --results writes .expected/results.yaml"

  [[ $exit_code -ne 0 ]] && check_code=$exit_code
  [[ -s $expected/diff.patch ]] || check_code=$exit_code
  run "$work/check" "$check_code" "$binary" --config "$config" "${flags[@]}" --package "$copy" --check || return 0
  ok "$name: --check ends with $check_code"
  diff -r "$source" "$copy" || { fail "$name: --diff or --check wrote to the package"; return 0; }
  ok "$name: --diff and --check write nothing"

  cp -R "$source" "$work/$name-patched"
  if [[ -s $expected/diff.patch ]]; then
    patch --quiet --binary -d "$work/$name-patched" -p1 <"$expected/diff.patch" ||
      { fail "$name: .expected/diff.patch does not apply"; return 0; }
  fi
  run "$work/first" "$exit_code" \
    "$binary" --config "$config" "${flags[@]}" --package "$copy" --results "$work/results" || return 0
  diff -r "$work/$name-patched" "$copy" || { fail "$name: in place"; return 0; }
  ok "$name: in place the patch's lines change and no others"
  diff -u "$expected/results.yaml" "$work/results" || { fail "$name: --results"; return 0; }
  ok "$name: --results writes .expected/results.yaml"

  # A script that uses the outcome, and fails if it differs from its description.
  if [[ -x $dir/render.sh ]]; then
    run "$work/render" 0 "$dir/render.sh" "$binaries" "$work/$name-rendered" || return 0
    ok "$name: render.sh"
  fi

  [[ $exit_code -ne 0 ]] && return 0
  run "$work/second" 0 \
    "$binary" --config "$config" "${again[@]}" --package "$copy" --results "$work/results" || return 0
  diff -r "$work/$name-patched" "$copy" || { fail "$name: the second run changed something"; return 0; }
  # A second run has no results, except for the conditions that some functions always report.
  if [[ -n ${UPDATE_EXPECT-} && -f $expected/results-again.yaml ]]; then
    cp "$work/results" "$expected/results-again.yaml"
  fi
  if [[ -f $expected/results-again.yaml ]]; then
    diff -u "$expected/results-again.yaml" "$work/results" || { fail "$name: results of the second run"; return 0; }
  elif grep -q 'message:' "$work/results"; then
    cat "$work/results" >&2
    fail "$name: the second run has results"
    return 0
  fi
  run "$work/check" 0 "$binary" --config "$config" "${again[@]}" --package "$copy" --check || return 0
  ok "$name: the second run changes nothing and says nothing new"
}

# For a function that prints and never writes to the package: --diff must print .expected/diff.patch,
# a plain run .expected/output.yaml, and with that as the live resource nothing is left to change.
run_printing_example() {
  local dir=$1 name=$2 binary=$3 config=$4 expected copy
  shift 4
  expected=$dir/.expected
  copy=$work/$name
  cp -R "$dir/package" "$copy"
  run "$work/diff" 0 "$binary" --config "$config" "$@" --package "$copy" --diff --results "$work/results" || return 0
  run "$work/output" 0 "$binary" --config "$config" "$@" --package "$copy" || return 0
  if [[ -n ${UPDATE_EXPECT-} ]]; then
    cp "$work/diff" "$expected/diff.patch"
    cp "$work/output" "$expected/output.yaml"
    cp "$work/results" "$expected/results.yaml"
  fi
  diff -u "$expected/diff.patch" "$work/diff" || { fail "$name: --diff"; return 0; }
  ok "$name: --diff prints .expected/diff.patch"
  diff -u "$expected/output.yaml" "$work/output" || { fail "$name: output"; return 0; }
  ok "$name: prints .expected/output.yaml"
  diff -u "$expected/results.yaml" "$work/results" || { fail "$name: --results"; return 0; }
  ok "$name: --results writes .expected/results.yaml"
  diff -r "$dir/package" "$copy" || { fail "$name: wrote to the package"; return 0; }
  ok "$name: the package stays as it is"
  run "$work/check" 3 "$binary" --config "$config" "$@" --package "$copy" --check || return 0
  run "$work/check" 0 "$binary" --config "$config" --live "$work/output" --package "$copy" --check || return 0
  ok "$name: once applied nothing is left to change"
}

examples=0
for config in "$here"/*/.expected/config.yaml; do
  dir=$(dirname "$(dirname "$config")")
  if [[ $# -gt 0 && " $* " != *" $(basename "$dir") "* ]]; then
    continue
  fi
  examples=$((examples + 1))
  run_example "$dir"
done

# Examples that start from an empty directory.
for play in "$here"/*/play.sh; do
  name=$(basename "$(dirname "$play")")
  if [[ $# -gt 0 && " $* " != *" $name "* ]]; then
    continue
  fi
  examples=$((examples + 1))
  echo "== $name"
  if run "$work/play" 0 "$play" "$binaries" "$work/$name"; then ok "$name: play.sh"; fi
done

[[ $examples -gt 0 ]] || fail "no example found"
echo "$examples examples, $checks checks passed, $failed failed"
[[ $failed -eq 0 ]]
