#!/usr/bin/env bash
# usage: play.sh DIR_OF_BUILT_BINARIES EMPTY_DIR
# Creates the overlay of the fork; fails if it differs from the one here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$1/create-overlay" --package "$here/fork" --upstream "$here/upstream" --into "$2/overlay"
diff -r "$here/overlay" "$2/overlay"
if command -v kustomize >/dev/null; then
  kustomize build "$2/overlay" >"$2/built"
  grep -qF 'image: registry.example.com/shop:1.4' "$2/built"
fi
