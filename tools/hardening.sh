#!/usr/bin/env bash
# The short form of docs/hardening.md: what is done to break the programs, a minute or two of each.
#
#   tools/hardening.sh DIR_OF_BUILT_BINARIES
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
[[ $# -eq 1 && -d $1 ]] || { echo "usage: tools/hardening.sh DIR_OF_BUILT_BINARIES" >&2; exit 2; }

failed=0
# A command that ends with 77 could not be run here.
step() {
  local code=0
  printf '\n+ %s\n' "$*"
  "$@" || code=$?
  case $code in 0 | 77) ;; *) failed=1 ;; esac
}
step env KRM_VARIANTS_TRIPLES=20000 cargo test --quiet --locked --test krm reference_merge
step cargo test --quiet --locked --test krm secrets
step tests/faults.py "$1"
step tests/krmv_kills.py "$1"
step tests/dense.py "$1"
step tests/crowds.py "$1"
step tests/determinism.py "$1"
exit "$failed"
