#!/usr/bin/env bash
# Packages that kpt and our functions work on in turns.
#
#   tests/follow_with_kpt.sh DIR [REVISIONS]      DIR holds the built binaries; 5 revisions by default
#
# Clones: a clone of render-variant has, resource by resource, what `kpt pkg get` writes: for all packages of
# $KRM_VARIANTS_SHARED/corpus (default ../shared beside the checkout) and for one of odd spellings.
# Turns: a package of each maker (kpt pkg get, render-variant, render-fleet), with local edits, follows an upstream that changes,
# renames, moves, adds and deletes resources. kpt pkg update and the maker (merge-package for kpt's own) do one revision each.
# After each the package must be what the maker makes anew of that revision, with the same edits, and each must go on from the
# other's lock. Ends with 77 without kpt.
set -euo pipefail

[[ $# -ge 1 && -d $1 ]] || { echo "usage: $0 DIR_OF_BUILT_BINARIES [REVISIONS]" >&2; exit 2; }
command -v kpt >/dev/null || { echo "kpt is not on PATH" >&2; exit 77; }
binaries=$(cd "$1" && pwd)
revisions=${2:-5}
root=$(cd "$(dirname "$0")/.." && pwd)
corpus=${KRM_VARIANTS_SHARED:-$root/../shared}/corpus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
git config --global init.defaultBranch main

failed=0
fail() {
  echo "FAILED: $*" >&2
  failed=1
}
# usage: quietly COMMAND...     its output is of interest only if it fails
quietly() { "$@" >log 2>&1 || { cat log >&2; fail "$*"; }; }
kptfile() { printf 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: %s\n' "$1"; }
# usage: resource APIVERSION/KIND NAME [LINE...]
resource() {
  printf 'apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n' "${1%/*}" "${1##*/}" "$2"
  printf '%s\n' "${@:3}"
}
# usage: variant PACKAGE REVISION
variant() {
  printf 'apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: %s\nspec:\n' "$1"
  printf '  upstream: {repo: catalog, package: %s, revision: %s}\n  downstream: {repo: edge, package: %s}\n' "$1" "$2" "$1"
}
# usage: same EXPECTED FOUND    their resources as kpt prints them; other files as they are
# Quotes may differ, and the lines of comments, which kpt moves whenever it prints them.
same() {
  local package path
  rm -rf as-printed
  for package in expected found; do
    mkdir -p as-printed
    cp -R "$1" "as-printed/$package"
    find "as-printed/$package" -name Kptfile -exec rm {} +
    quietly kpt fn source "as-printed/$package"
    sed -e '/seqindent:/d' -e '/^ *#/d' -e '/^ *$/d' -e "s/[\"']//g" log >"as-printed/$package.yaml"
    sed -n 's/^ *config.kubernetes.io.path: //p' "as-printed/$package.yaml" | while read -r path; do
      rm -f "as-printed/$package/$path"
    done
    shift
  done
  diff -r as-printed/expected as-printed/found && diff as-printed/expected.yaml as-printed/found.yaml
}

# --- clones ---

odd() {
  mkdir -p odd/sub
  kptfile odd >odd/Kptfile
  kptfile sub >odd/sub/Kptfile
  resource v1/ConfigMap in-sub >odd/sub/a.yml
  resource v1/ConfigMap kptfile.kpt.dev '  annotations:' '    config.kubernetes.io/local-config: "true"' 'data: {name: odd}' >odd/package-context.yaml
  resource v1/ConfigMap crlf | sed 's/$/\r/' >odd/crlf.yaml
  resource v1/ConfigMap short | head -c -1 >odd/short.yaml
  resource rbac.authorization.k8s.io/v1/ClusterRole cluster-scoped '  namespace: ""' >odd/role.yaml
  echo '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "json"}}' >odd/a.json
  printf 'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: in-list}\n' >odd/list.yaml
  printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- a.yaml\n' >odd/kustomization.yaml
  printf 'apiVersion: a.b/v1\nkind: Local\nmetadata:\n  annotations:\n    a: b\n' >odd/local.yaml
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {a: b}\n' >odd/labels.yaml
  printf 'a: 1\n' >odd/values.yaml
  printf -- '- op: add\n  path: /a\n' >odd/patch.yaml
  {
    printf '# A licence.\n\n# Above.\n'
    resource v1/ConfigMap annotated '  annotations:' '    a: b # behind'
    echo ---
    resource apps/v1/Deployment in-namespace '  namespace: ns' '  annotations: {}'
    echo ---
    printf 'kind: ConfigMap\nmetadata: # kpt-merge: old-ns/old\n  namespace: new-ns\n  name: 12\n  annotations: null\napiVersion: v1\n'
    echo ---
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n    annotations: {a: b}\n    name: wide\n'
  } >odd/several.yaml
}

# usage: clone DIRECTORY NAME    compares the clones of a package
clone() {
  local name=$2
  rm -rf upstream kpts ours
  mkdir -p upstream
  cp -R "$1" "upstream/$name"
  [[ -f upstream/$name/Kptfile ]] || kptfile "$name" >"upstream/$name/Kptfile"
  git init --quiet upstream
  git -C upstream add --all --force
  git -C upstream commit --quiet --message v1
  git -C upstream tag v1
  quietly kpt pkg get "$work/upstream/.git/$name@v1" kpts
  variant "$name" v1 >variant.yaml
  quietly "$binaries/render-variant" --package ours --config variant.yaml --upstream "upstream//$name?ref=v1"
  # kpt makes no package context, and of a `List` its elements.
  [[ -f kpts/package-context.yaml ]] || rm -f ours/package-context.yaml
  sed -i "s/^  name: .*/  name: odd/" ours/package-context.yaml kpts/package-context.yaml 2>/dev/null || true
  same kpts ours || fail "the clone of $1"
}

odd
clone odd odd
clones=1
if [[ -d $corpus ]]; then
  for directory in "$corpus"/*/*; do
    clone "$directory" "$(basename "$(dirname "$directory")")"
    # Nothing else changes.
    if diff -r --exclude=Kptfile --exclude=package-context.yaml "upstream/$(basename "$(dirname "$directory")")" ours | grep '^[<>]' |
      grep -vE '^< metadata:|^> (metadata: # kpt-merge: | +annotations:$| +internal.kpt.dev/upstream-identifier: )|^[<>]   name(space)?: '; then
      fail "the bytes of $directory"
    fi
    clones=$((clones + 1))
  done
fi
[[ $failed -eq 0 ]] || exit 1
echo "$clones clones, all as by kpt pkg get"

# --- turns ---

# Without comments and blank lines, which kpt would lose.
deployment() { # FILE NAME REVISION
  mkdir -p "$(dirname "catalog/nginx/$1")"
  resource apps/v1/Deployment "$2" spec: '  replicas: 1' '  template:' '    spec:' '      containers:' '      - name: app' \
    "        image: app:$3" '        args:' "        - --version=$3" >"catalog/nginx/$1"
}
version() {
  rm -rf catalog/nginx
  mkdir -p catalog/nginx/db
  { kptfile nginx; printf 'info:\n  description: version %s\n' "$1"; } >catalog/nginx/Kptfile
  kptfile db >catalog/nginx/db/Kptfile
  resource v1/ConfigMap kptfile.kpt.dev '  annotations:' '    config.kubernetes.io/local-config: "true"' data: '  name: nginx' \
    "  version: \"$1\"" >catalog/nginx/package-context.yaml
  # To be edited, to be moved with and without edits, to be renamed, and in a sub-package.
  deployment edited.yaml edited "$1"
  deployment renamed-here.yaml renamed-here "$1"
  deployment moved-here.yaml moved-here "$1"
  deployment "$([[ $1 -lt 3 ]] || echo apps/)moved.yaml" moved "$1"
  deployment "$([[ $1 -lt 3 ]] || echo apps/)edited-and-moved.yaml" edited-and-moved "$1"
  deployment renamed.yaml renamed "$1"
  [[ $1 -lt 4 ]] || sed -i 's/^metadata:/metadata: # kpt-merge: \/renamed/; s/name: renamed/name: new-name/' catalog/nginx/renamed.yaml
  deployment db/db.yaml db "$1"
  # Some come and go.
  resource v1/ConfigMap "of-$1" data: "  version: \"$1\"" >"catalog/nginx/of-$1.yaml"
  [[ $1 -eq 1 ]] || resource v1/ConfigMap "of-$(($1 - 1))" data: "  version: \"$1\"" >"catalog/nginx/of-$(($1 - 1)).yaml"
  { resource v1/ConfigMap one data: "  version: \"$1\""; echo ---; resource v1/ConfigMap two data: "  version: \"$1\""; } >catalog/nginx/both.yaml
  printf '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "json"}, "data": {"version": "%s"}}\n' "$1" >catalog/nginx/a.json
  echo "notes of $1" >catalog/nginx/notes.txt
  git -C catalog add --all
  git -C catalog commit --quiet --message "version $1"
  # All the ways to name a version: a tag, an annotated one, one of the package's own.
  case $(($1 % 3)) in
    0) git -C catalog tag "v$1" ;;
    1) git -C catalog tag --annotate --message "version $1" "v$1" ;;
    2) git -C catalog tag "nginx/v$1" ;;
  esac
}
git init --quiet catalog
for ((number = 1; number <= revisions; number++)); do version "$number"; done
git clone --quiet --mirror catalog catalog.git

# usage: make MAKER PACKAGE REVISION      makes a package, or brings it up to the revision
make() {
  variant nginx "v$3" >variant.yaml
  case $1 in
    kpt-pkg-get) if [[ -d $2 ]]; then
      quietly "$binaries/merge-package" --package "$2" --upstream "catalog.git//nginx?ref=v$3"
    else
      quietly kpt pkg get "$work/catalog.git/nginx@v$3" "$2"
    fi ;;
    render-variant) quietly "$binaries/render-variant" --package "$2" --config variant.yaml --upstream "catalog.git//nginx?ref=v$3" ;;
    render-fleet)
      rm -rf fleet
      mkdir -p fleet/edge
      [[ ! -d $2 ]] || mv "$2" fleet/edge/nginx
      quietly "$binaries/render-fleet" --package fleet --variants variant.yaml --catalog catalog=catalog.git
      mv fleet/edge/nginx "$2"
      ;;
  esac
}
# usage: edit PACKAGE TURN     what a person and a pipeline do to it; TURN tells who makes the move
edit() {
  sed -i 's/replicas: 1/replicas: 7/' "$1/edited.yaml"
  sed -i 's/^  name: edited$/&\n  namespace: prod\n  labels: {mine: "true"}/' "$1/edited.yaml"
  sed -i 's/^  name: renamed-here$/  name: my-name\n  namespace: prod/' "$1/renamed-here.yaml"
  sed -i 's/^  name: \(renamed\|new-name\)$/&\n  namespace: prod/' "$1/renamed.yaml"
  sed -i 's/^  name: db$/&\n  namespace: prod/' "$1/db/db.yaml"
  sed -i 's/^  name: two$/&\n  namespace: prod/' "$1/both.yaml"
  # kpt does not follow a resource that was moved: it makes a second one if it was edited, ...
  [[ $2 == kpt ]] || find "$1" -name edited-and-moved.yaml -exec sed -i 's/^  name: edited-and-moved$/&\n  namespace: prod/' {} +
  # ... and does not update one that was moved here.
  mkdir -p "$1/here"
  mv "$1/moved-here.yaml" "$1/here/moved.yaml"
}
field() { sed -n "/^upstreamLock:/,/^[a-z]*:\$/s/^ *$2: *//p" "$1/Kptfile" | head -1; }

turns=0
for maker in kpt-pkg-get render-variant render-fleet; do
  for first in ours kpt; do
    rm -rf turns
    make "$maker" turns 1
    [[ $first == ours ]] && mover=kpt || mover=ours
    edit turns "$mover"
    turn=$first
    for ((number = 2; number <= revisions; number++)); do
      if [[ $turn == kpt ]]; then quietly kpt pkg update "turns@v$number"; else make "$maker" turns "$number"; fi
      rm -rf fresh
      make "$maker" fresh "$number"
      edit fresh "$mover"
      for package in fresh turns; do
        rm -rf "$package-compared"
        cp -R "$package" "$package-compared"
        [[ $turn == ours ]] || rm -f "$package-compared/here/moved.yaml"
      done
      what="$maker, revision $number, by $turn"
      same fresh-compared turns-compared || fail "$what"
      commit=$(git -C catalog rev-parse "$(field turns commit)^{commit}")
      expected=$(git -C catalog rev-parse "$(field fresh commit)^{commit}")
      if [[ $commit != "$expected" || $(field turns ref) != "$(field fresh ref)" ]]; then
        diff fresh/Kptfile turns/Kptfile || true
        fail "the lock of $what"
      fi
      [[ $turn == ours ]] && turn=kpt || turn=ours
      turns=$((turns + 1))
    done
  done
done
[[ $failed -eq 0 ]] || exit 1
echo "$turns updates in turns, all as a package of that revision"
