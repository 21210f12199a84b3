#!/usr/bin/env bash
# What action.yaml and other CI systems run: merges each of $PACKAGES (one a line) with $UPSTREAM at $REVISION, by default
# `latest`, the highest version.
#
# $UPSTREAM is a URL, cloned for this run, or the path of a clone. $DIRECTORY and $ON_CONFLICT may be empty. Writes
# `changed`, `conflicts` and `revision` (the tag or branch) to $GITHUB_OUTPUT, and results and a review of each package that changed
# to $GITHUB_STEP_SUMMARY and to the file $REVIEW, the text of a request, if they are set.
# Ends with an error if a package was not merged; conflicts are none.
set -euo pipefail

: "${PACKAGES:?}" "${UPSTREAM:?}"
REVISION=${REVISION:-latest}
revision=$REVISION
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

touch "$work/report"
clone=$UPSTREAM
if [[ ! -d $clone ]]; then
  clone=$work/upstream.git
  git clone --quiet --mirror -- "$UPSTREAM" "$clone"
fi

changed=false
conflicts=false
failed=0
while read -r package; do
  [[ -n $package ]] || continue
  directory=${DIRECTORY-}
  if [[ -z $directory ]]; then
    directory=$(sed -n '/^upstreamLock:/,$s|^ *directory: */*||p' "$package/Kptfile")
  fi
  cp -R "$package" "$work/before"
  # What `krmv resolve --remember` keeps.
  rules=()
  if [[ -f $package/.krmv.yaml ]]; then rules=(--conflicts "$package/.krmv.yaml"); fi
  code=0
  krmv merge-package --package "$package" --upstream "$clone//$directory?ref=$REVISION" --exit-conflicts \
    "${rules[@]}" "onConflict=${ON_CONFLICT:-upstream}" 2>"$work/results" || code=$?
  cat "$work/results" >&2
  case $code in
    0) ;;
    4) conflicts=true ;;
    *) failed=$code ;;
  esac
  revision=$(sed -n '/^upstream:/,/^[^ ]/s|^ *ref: *||p' "$package/Kptfile")
  if [[ -s $work/results ]]; then
    # shellcheck disable=SC2016 # backquotes of Markdown
    printf '### %s\n\n```\n%s\n```\n' "$package" "$(cat "$work/results")" >>"$work/report"
  fi
  if ! diff -rq "$work/before" "$package" >/dev/null; then
    changed=true
    krmv review-package --package "$package" --before "$work/before" --format markdown >>"$work/report"
  fi
  rm -rf "$work/before"
done <<<"$PACKAGES"
cat "$work/report" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
[[ -z ${REVIEW-} ]] || cp "$work/report" "$REVIEW"
printf 'changed=%s\nconflicts=%s\nrevision=%s\n' "$changed" "$conflicts" "$revision" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$failed"
