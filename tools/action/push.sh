#!/usr/bin/env bash
# usage: push.sh BRANCH MESSAGE [OPTION...]    OPTION: for `git push`
#
# Commits all changes of the work tree and pushes them to BRANCH of `origin`. The branch is this script's own: what an
# earlier run pushed is replaced, so that a request that is still open is brought up to date. It stays as it is if it has
# these changes already, or if it has a commit by another person. Writes `pushed` to $GITHUB_OUTPUT, if that is set.
set -euo pipefail

branch=$1
message=$2
shift 2
pushed() {
  echo "pushed=$1" >>"${GITHUB_OUTPUT:-/dev/null}"
  exit 0
}

[[ -n $(git status --porcelain) ]] || pushed false
git add --all
git commit --quiet --message "$message"
target=refs/heads/$branch
# What the branch must be for it to be replaced; empty: it must not exist.
lease=
if git ls-remote --exit-code origin "$target" >/dev/null; then
  [[ $(git rev-parse --is-shallow-repository) == false ]] || git fetch --quiet --unshallow origin
  git fetch --quiet origin "$target"
  lease=$(git rev-parse FETCH_HEAD)
  own=$(git log -1 --format=%ce HEAD)
  if [[ -n $(git log --format=%ce HEAD..FETCH_HEAD | grep --invert-match --line-regexp --fixed-strings -- "$own") ]]; then
    echo "the branch $branch has a commit by another person; it is left unchanged" >&2
    pushed false
  fi
  if git diff --quiet HEAD FETCH_HEAD; then pushed false; fi
fi
git push --quiet --force-with-lease="$target:$lease" "$@" origin "HEAD:$target"
pushed true
