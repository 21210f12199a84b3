#!/usr/bin/env bash
# What keeps crates and programs small: limits of dependencies, lines, public items, sizes and start-up.
#
#   tests/house.sh crates          dependencies and public items of the crates; builds nothing
#   tests/house.sh programs DIR    sizes of the released programs, and what the small ones must not hold
#   tests/house.sh archives DIR    sizes and start-up of the programs that are static and optimized across crates
#
# DIR holds the built programs, target/release for one. A limit that no longer fits is changed here: say why in the commit.
set -euo pipefail
cd "$(dirname "$0")/.."

# Own crates count too.
most_public_items=450
small=(set-package-context prepend-pipeline)
# Static, with the C library and with the features that other programs need.
most_bytes_of_a_small_program=4194304
most_bytes_of_all_functions=100000000
# An archive has krmv, and a link to it for each function.
most_bytes_of_an_archives_programs=30000000
most_instructions_of_a_start=600000
# By what a program can be known to hold: Git, expressions (CEL), the page of a fleet's report, archives.
declare -A contents=(
  [Git]='packed-refs|/gix(-pack|-odb|-ref)?-[0-9.]+/src/'
  [CEL]='no viable alternative|/(cel|antlr4rust)-[0-9.]+/src/'
  ["the HTML report"]='</html>'
  [archives]='/(tar|flate2|zlib-rs)-[0-9.]+/src/'
)

failed=0
fail() {
  failed=$((failed + 1))
  echo "FAILED: $*"
}
# usage: check TEXT CONDITION...   a condition of `test`
check() {
  local text=$1
  shift
  if test "$@"; then
    echo "ok: $text"
  else
    fail "$text"
  fi
}

# usage: dependencies CRATE MOST NAME...   at most so many crates, and none of these
dependencies() {
  local crate=$1 most=$2 name found
  shift 2
  found=$(cargo tree --locked --package "$crate" --edges normal --target x86_64-unknown-linux-musl --prefix none --format '{p}' |
    awk '{ print $1, $2 }' | sort -u)
  check "$crate: $(wc -l <<<"$found") crates, at most $most" "$(wc -l <<<"$found")" -le "$most"
  for name; do
    if grep -q "^$name " <<<"$found"; then fail "$crate must not depend on $name"; fi
  done
}

crates() {
  dependencies set-package-context 60 gix cel antlr4rust askama tar flate2
  dependencies krm-yaml 30 gix cel antlr4rust askama tar flate2 clap krm-package krm-core
  tools/public_items.py --most "$most_public_items" || fail "public items"
}

# usage: all_functions DIR MOST
all_functions() {
  local directory=$1 most=$2 manifest total=0 count=0 size
  for manifest in functions/*/Cargo.toml; do
    size=$(wc -c <"$directory/$(basename "$(dirname "$manifest")")")
    total=$((total + size))
    count=$((count + 1))
  done
  check "$count functions: $total bytes, at most $most" "$total" -le "$most"
}

programs() {
  local name what found size
  for name in "${small[@]}"; do
    size=$(wc -c <"$1/$name")
    check "$name: $size bytes, at most $most_bytes_of_a_small_program" "$size" -le "$most_bytes_of_a_small_program"
    for what in "${!contents[@]}"; do
      found=$(grep -aoE "${contents[$what]}" "$1/$name" | sort -u | tr '\n' ' ' || true)
      check "$name is without $what${found:+, found: $found}" -z "$found"
    done
  done
  # A word that no program has any more would find nothing.
  for what in "${!contents[@]}"; do
    check "render-fleet has $what" "$(grep -acE "${contents[$what]}" "$1/render-fleet" || true)" -gt 0
  done
  all_functions "$1" "$most_bytes_of_all_functions"
}

archives() {
  local name instructions
  local size
  size=$(wc -c <"$1/krmv")
  check "krmv: $size bytes, at most $most_bytes_of_an_archives_programs" "$size" -le "$most_bytes_of_an_archives_programs"
  for name in "${small[@]}"; do
    if readelf --program-headers "$1/$name" | grep -q INTERP; then fail "$name is not static"; fi
    command -v valgrind >/dev/null || { echo "left out: the start of $name, since valgrind is not on PATH"; continue; }
    instructions=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1/$name" --version 2>&1 | sed -n 's/.*Collected *: *//p')
    check "$name --version: $instructions instructions, at most $most_instructions_of_a_start" \
      "${instructions:-$((most_instructions_of_a_start + 1))}" -le "$most_instructions_of_a_start"
  done
}

case "${1-} $#" in
  "crates 1") crates ;;
  "programs 2" | "archives 2")
    [[ -d $2 ]] || { echo "$2: there is no such directory" >&2; exit 2; }
    [[ $(uname -s) == Linux ]] || { echo "measured on Linux alone" >&2; exit 77; }
    "$1" "$(cd "$2" && pwd)"
    ;;
  *)
    sed -n '4,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
if [[ $failed -gt 0 ]]; then
  echo "$failed failed" >&2
  exit 1
fi
