#!/usr/bin/env bash
# usage: images.sh DIR_OF_STATIC_BINARIES OUT_DIR
# Builds the two images of this example without a network, as archives: OUT_DIR/render-fleet.tar of the function,
# OUT_DIR/fleet-tools.tar with the git, kubectl and shell of this machine, for which any such image can stand.
# ENGINE is podman or docker.
set -euo pipefail
[[ $# -eq 2 ]] || { sed -n 2,5p "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
binaries=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
rm -f "$out/render-fleet.tar" "$out/fleet-tools.tar" # archives are not written over
engine=${ENGINE:-podman}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

mkdir "$stage/build" "$stage/tools"
cp "$binaries/render-fleet" "$stage/build/"
"$engine" build --quiet --network none --build-context "build=$stage/build" --build-arg FUNCTION=render-fleet \
  --tag localhost/krm-variants/render-fleet:latest "$here/../.."
"$engine" save --output "$out/render-fleet.tar" localhost/krm-variants/render-fleet:latest

# usage: take PROGRAM PATH   with the libraries that it is linked with
take() {
  install -D "$1" "$stage/tools$2"
  # A static program has none.
  { ldd "$1" 2>/dev/null || true; } | awk '{ for (i = 1; i <= NF; i++) if ($i ~ "^/") print $i }' | while read -r library; do
    [[ -e $stage/tools$library ]] || install -D "$library" "$stage/tools$library"
  done
}
take "$(command -v sh)" /bin/sh
take "$(command -v git)" /usr/bin/git
take "$(command -v kubectl)" /usr/bin/kubectl
for name in git git-receive-pack git-upload-pack; do
  mkdir -p "$stage/tools$(git --exec-path)"
  ln -sf /usr/bin/git "$stage/tools$(git --exec-path)/$name"
  [[ $name == git ]] || ln -sf git "$stage/tools/usr/bin/$name"
done
cp -r "$here/../../container/etc" "$stage/tools/etc"
mkdir -p "$stage/tools/usr/share/git-core/templates"
mkdir -m 1777 "$stage/tools/tmp"
printf 'FROM scratch\nCOPY . /\nENV PATH=/usr/bin:/bin\nUSER 65534\n' >"$stage/Dockerfile"
"$engine" build --quiet --network none --file "$stage/Dockerfile" --tag localhost/fleet-tools:latest "$stage/tools"
"$engine" save --output "$out/fleet-tools.tar" localhost/fleet-tools:latest
