#!/usr/bin/env bash
# A package that `kpt pkg update` and `merge-package` bring up to date in turns, beside one that kpt updates alone.
#
#   tests/follow_with_kpt.sh DIR [REVISIONS]      DIR holds the built binaries; 5 revisions by default
#
# After each revision both packages must hold the same, and each tool must go on from the other's lock.
# Ends with 77 without kpt.
set -euo pipefail

[[ $# -ge 1 && -d $1 ]] || { echo "usage: $0 DIR_OF_BUILT_BINARIES [REVISIONS]" >&2; exit 2; }
command -v kpt >/dev/null || { echo "kpt is not on PATH" >&2; exit 77; }
binaries=$(cd "$1" && pwd)
revisions=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
git config --global init.defaultBranch main

# Without comments and blank lines, which kpt would lose: then the bytes can be compared.
version() {
  local number
  mkdir -p catalog/nginx
  printf 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: nginx\ninfo:\n  description: version %s\n' "$1" >catalog/nginx/Kptfile
  for number in 1 2 3; do
    cat >"catalog/nginx/app-$number.yaml" <<EOF
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-$number
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: app
        image: app:$(($1 * number))
        args:
        - --version=$1
EOF
  done
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: of-%s\ndata:\n  version: "%s"\n' "$1" "$1" >"catalog/nginx/of-$1.yaml"
  rm -f "catalog/nginx/of-$(($1 - 2)).yaml"
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

local_edits() {
  sed -i 's/replicas: 1/replicas: 7/' "$1/app-1.yaml"
  sed -i 's/^metadata:/metadata:\n  labels:\n    mine: "true"/' "$1/app-2.yaml"
}
for package in alone turns; do
  kpt pkg get "$work/catalog.git/nginx@v1" "$package" >/dev/null 2>&1
  local_edits "$package"
done

field() { sed -n "/^upstreamLock:/,/^[a-z]*:\$/s/^ *$2: *//p" "$1/Kptfile" | head -1; }
failed=0
for ((number = 2; number <= revisions; number++)); do
  kpt pkg update "alone@v$number" >/dev/null 2>&1
  if ((number % 2)); then
    tool=kpt
    kpt pkg update "turns@v$number" >log 2>&1 || { cat log >&2; exit 1; }
  else
    tool=merge-package
    "$binaries/merge-package" --package turns --upstream "catalog.git//nginx?ref=v$number" >log 2>&1 || { cat log >&2; exit 1; }
  fi
  # kpt writes a comment beside the annotation of a new resource, and other quotes.
  rm -rf as-data
  for package in alone turns; do
    mkdir -p "as-data/$package"
    for file in "$package"/*; do
      sed -e 's/ # kpt-merge: .*//' -e "s/[\"']//g" "$file" >"as-data/$file"
    done
  done
  if ! diff -r --exclude=Kptfile as-data/alone as-data/turns; then
    echo "FAILED: version $number, by $tool" >&2
    failed=1
  fi
  commit=$(git -C catalog rev-parse "$(field turns commit)^{commit}")
  expected=$(git -C catalog rev-parse "$(field alone commit)^{commit}")
  if [[ $commit != "$expected" || $(field turns ref) != "$(field alone ref)" ]]; then
    diff alone/Kptfile turns/Kptfile || true
    echo "FAILED: the lock of version $number, by $tool" >&2
    failed=1
  fi
done
[[ $failed -eq 0 ]] || exit 1
echo "$((revisions - 1)) updates in turns, all as by kpt alone"
