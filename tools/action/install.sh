#!/usr/bin/env bash
# Puts a program of a release into a directory: `tools/action/install.sh NAME DIRECTORY [VERSION]`. Does nothing if NAME is on PATH.
#
# The archive is checked against the release's SHA256SUMS, and against its provenance where `gh` is logged in. Without a
# release for this machine the program is built from the sources that this script belongs to.
# $RELEASES is the address of the releases; by default that of the repository in Cargo.toml.
set -euo pipefail

name=${1:?usage: $0 NAME DIRECTORY [VERSION]}
directory=${2:?usage: $0 NAME DIRECTORY [VERSION]}
sources=$(cd "$(dirname "$0")/../.." && pwd)
field() { sed -n "s|^$1 = \"\(.*\)\"$|\1|p" "$sources/Cargo.toml" | head -n 1; }
repository=$(field repository)
version=${3:-$(field version)}
releases=${RELEASES:-$repository/releases/download}

if command -v "$name"; then exit 0; fi

case $(uname -s)-$(uname -m) in
  Linux-x86_64) target=x86_64-unknown-linux-musl ;;
  Linux-aarch64) target=aarch64-unknown-linux-musl ;;
  Darwin-x86_64) target=x86_64-apple-darwin ;;
  Darwin-arm64) target=aarch64-apple-darwin ;;
  *) target= ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=krm-variants-$version-$target
get() { curl --fail --silent --show-error --location --retry 3 --output "$work/$1" "$releases/v$version/$1"; }

# usage: check_sum FILE SUMS
check_sum() {
  local expected found
  expected=$(awk -v file="$1" '$2 == file || $2 == "*" file { print $1 }' "$work/$2")
  if command -v sha256sum >/dev/null; then found=$(sha256sum "$work/$1"); else found=$(shasum -a 256 "$work/$1"); fi
  [[ -n $expected && ${found%% *} == "$expected" ]] || {
    echo "$1: expected the SHA-256 ${expected:-of $2, which does not name the file}, found ${found%% *}" >&2
    exit 1
  }
}

mkdir -p "$directory"
if [[ -n $target ]] && get "$archive.tar.gz" && get "SHA256SUMS.$target"; then
  check_sum "$archive.tar.gz" "SHA256SUMS.$target"
  if command -v gh >/dev/null && gh auth status >/dev/null 2>&1; then
    gh attestation verify "$work/$archive.tar.gz" --repo "${repository#https://github.com/}"
  fi
  tar -xzf "$work/$archive.tar.gz" -C "$work"
  # A function is a link to krmv in the archive: its copy is krmv, which is the function by its name.
  cp "$work/$archive/bin/$name" "$directory/"
else
  echo "no release of $version for this machine: building $name from source" >&2
  # Each function is a crate of its own.
  crate=$sources/functions/$name
  if [[ ! -d $crate ]]; then crate=$sources; fi
  cargo install --locked --quiet --path "$crate" --bin "$name" --root "$work/root"
  cp "$work/root/bin/$name" "$directory/"
fi
"$directory/$name" --version
