#!/usr/bin/env bash
# Opens or updates a pull request for each branch of update.sh, with `gh`. The title is the subject of the branch's last
# commit, and the text its review. A request that a person closed stays closed until its branch changes.
set -euo pipefail

prefix=${PREFIX:-krmv}
body=$(mktemp)
trap 'rm -f "$body"' EXIT

while read -r branch; do
  title=$(git log -1 --format=%s "$branch")
  git log -1 --format=%b "$branch" | sed '/^Krmv-/d' >"$body"
  if [[ -n $(gh pr list --head "$branch" --state open --json number --jq '.[].number') ]]; then
    gh pr edit "$branch" --title "$title" --body-file "$body"
  elif ! gh pr list --head "$branch" --state closed --json headRefOid --jq '.[].headRefOid' | grep -qx "$(git rev-parse "$branch")"; then
    gh pr create --head "$branch" --title "$title" --body-file "$body"
  fi
done < <(git for-each-ref --format='%(refname:lstrip=2)' "refs/heads/$prefix/")
