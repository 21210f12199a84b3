#!/usr/bin/env bash
# usage: setup.sh EMPTY_DIR
# Puts the three versions of this example where kpt, Git and merge-package look for them:
#
#   catalog/   a Git repository with the upstream package `wordpress`, tags v1 and v2
#   blog/      the package with local edits, as `kpt pkg get` made it from v1 (it has a lock)
#   fork/      a Git repository: `main` is v1 with the local edits, `upstream` is v2
set -euo pipefail
# Needs no Git identity, and makes the commits that the documents show.
export GIT_AUTHOR_NAME=You GIT_AUTHOR_EMAIL=you@example.com GIT_AUTHOR_DATE=2026-01-01T00:00:00Z
export GIT_COMMITTER_NAME=You GIT_COMMITTER_EMAIL=you@example.com GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
versions=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

git init --quiet --initial-branch=main catalog
# usage: commit REPOSITORY DIRECTORY VERSION MESSAGE   DIRECTORY becomes that version
commit() {
  git -C "$1" rm -r --quiet --ignore-unmatch -- "$2"
  mkdir -p "$1/$2"
  cp -R "$versions/$3/." "$1/$2"
  git -C "$1" add --all
  git -C "$1" commit --quiet --message "$4"
}
commit catalog wordpress original 'wordpress v1'
git -C catalog tag v1
commit catalog wordpress upstream 'wordpress v2'
git -C catalog tag v2

cp -R "$versions/package" blog
cat >>blog/Kptfile <<END
upstream:
  type: git
  git:
    repo: file://$PWD/catalog
    directory: /wordpress
    ref: v1
  updateStrategy: resource-merge
upstreamLock:
  type: git
  git:
    repo: file://$PWD/catalog
    directory: /wordpress
    ref: v1
    commit: $(git -C catalog rev-parse v1)
END

git init --quiet --initial-branch=main fork
commit fork . original 'wordpress v1'
git -C fork switch --quiet --create upstream
commit fork . upstream 'wordpress v2'
git -C fork switch --quiet main
commit fork . package 'Our edits'
