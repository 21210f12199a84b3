#!/usr/bin/env bash
# What action.yaml and other CI systems run: upgrades every package, each on its own branch, and pushes the branches.
# `krmv upgrade --all --commit --branch` does all of the merging.
#
# usage: update.sh [OPTION...]    OPTION: for `git push`, such as `-o merge_request.create`
#
# Nothing needs to be set. $PACKAGES: directories of packages, one a line (default: all packages of the repository).
# $PREFIX: what the names of the branches begin with (default: krmv). Writes `branches` (those that were pushed, in one line),
# `changed` and `conflicts` (true or false) to $GITHUB_OUTPUT, and the reviews to $GITHUB_STEP_SUMMARY and to the file
# $REVIEW, if they are set. Without a remote `origin`, the packages are upgraded in the work tree, and nothing is committed.
# Ends with 2 if a package failed, after all others were done. Conflicts do not fail: they are open on their branches.
set -euo pipefail

prefix=${PREFIX:-krmv}
directories=()
while read -r directory; do
  if [[ -n $directory ]]; then directories+=("$directory"); fi
done <<<"${PACKAGES-}"
if [[ ${#directories[@]} -eq 0 ]]; then directories=(.); fi

if [[ -z ${GIT_COMMITTER_EMAIL-}$(git config user.email || true) ]]; then
  export GIT_AUTHOR_NAME=krmv GIT_AUTHOR_EMAIL=krmv@users.noreply.github.com
  export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/review"
code=0
branches=
own_branches() { git for-each-ref --format='%(objectname) %(refname:lstrip=2)' "refs/heads/$prefix/" | sort; }

if git remote get-url origin >/dev/null 2>&1; then
  own_branches >"$work/before"
  krmv upgrade --all --commit --branch="$prefix" "${directories[@]}" || code=$?
  own_branches >"$work/after"
  while read -r commit branch; do
    remote=$(git rev-parse --verify --quiet "refs/remotes/origin/$branch" || true)
    if [[ $commit == "$remote" ]]; then continue; fi
    # What krmv saw at `origin` may be replaced, and nothing else.
    if ! git push --quiet --force-with-lease="refs/heads/$branch:$remote" "$@" origin "$commit:refs/heads/$branch"; then
      echo "$branch: not pushed, because it changed at origin; the next run goes on from there" >&2
      code=2
      continue
    fi
    branches="$branches${branches:+ }$branch"
    git log -1 --format='## %s%n%n%b' "$commit" | sed '/^Krmv-/d' >>"$work/review"
  done < <(comm -13 "$work/before" "$work/after")
else
  echo 'There is no remote `origin`: the packages are upgraded in the work tree.' >&2
  krmv upgrade --all "${directories[@]}" || code=$?
fi

cat "$work/review" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
if [[ -n ${REVIEW-} ]]; then cp "$work/review" "$REVIEW"; fi
changed=false
if [[ -n $branches ]]; then changed=true; fi
# 1: conflicts are open, and nothing failed.
conflicts=false
if [[ $code -eq 1 ]]; then conflicts=true code=0; fi
printf 'branches=%s\nchanged=%s\nconflicts=%s\n' "$branches" "$changed" "$conflicts" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
