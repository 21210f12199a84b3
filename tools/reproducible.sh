#!/usr/bin/env bash
# Two builds as archives have them, in two folders: do they have the same bytes?
#
#   tools/reproducible.sh [PROGRAM]      default krmv
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1-krmv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in one another/folder; do
  mkdir -p "$work/$folder"
  git archive HEAD | tar -x -C "$work/$folder"
  # Paths of the folder and of cargo's home are no part of what is built.
  (cd "$work/$folder" && CARGO_TARGET_DIR=$work/$folder/target \
    RUSTFLAGS="--remap-path-prefix=$work/$folder=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo" \
    cargo build --quiet --profile dist --locked --package "$program")
done
sha256sum "$work/one/target/dist/$program" "$work/another/folder/target/dist/$program"
cmp "$work/one/target/dist/$program" "$work/another/folder/target/dist/$program" && echo "the same bytes"
