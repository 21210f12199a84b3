#!/usr/bin/env bash
# tools/action/install.sh with releases in a directory: a program or a link to it is installed, and one of a wrong sum is not.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v curl >/dev/null || { echo "curl is not on PATH" >&2; exit 77; }
[[ $(uname -sm) == "Linux x86_64" ]] || { echo "the archives of this test are for x86_64 Linux" >&2; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=krm-variants-9.9.9-x86_64-unknown-linux-musl
release=$work/releases/v9.9.9
mkdir -p "$release" "$work/$name/bin"
printf '#!/bin/sh\necho "no-such-program 9.9.9"\n' >"$work/$name/bin/no-such-program"
chmod +x "$work/$name/bin/no-such-program"
# As an archive has the functions.
ln -s no-such-program "$work/$name/bin/no-such-function"
tar -czf "$release/$name.tar.gz" -C "$work" "$name"
(cd "$release" && sha256sum -- *.tar.gz >SHA256SUMS.x86_64-unknown-linux-musl)
export RELEASES=file://$work/releases
# No login is used.
export GH_CONFIG_DIR=$work GH_TOKEN='' GITHUB_TOKEN=''

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
[[ $(tools/action/install.sh no-such-program "$work/bin" 9.9.9) == "no-such-program 9.9.9" ]] || fail "it was not installed"
[[ -x $work/bin/no-such-program ]] || fail "it is not in its directory"

tools/action/install.sh no-such-function "$work/function" 9.9.9 >/dev/null
[[ -x $work/function/no-such-function && ! -L $work/function/no-such-function ]] || fail "the function that is a link was not installed"

echo "changed" >>"$release/$name.tar.gz"
if tools/action/install.sh no-such-program "$work/other" 9.9.9 2>"$work/said"; then fail "a wrong sum was accepted"; fi
grep -q "expected the SHA-256" "$work/said" || fail "the reason was not printed: $(cat "$work/said")"
[[ ! -e $work/other/no-such-program ]] || fail "a program of a wrong sum was installed"
PATH=$work/bin:$PATH tools/action/install.sh no-such-program "$work/third" 9.9.9 >/dev/null
[[ ! -e $work/third ]] || fail "one on PATH was installed again"
echo "all checks of tools/action/install.sh passed"
