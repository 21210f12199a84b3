#!/usr/bin/env bash
# Runs the commands of the documents and compares what they print with what the documents show.
#
#   tests/documents.sh DIR [PAGE...]         DIR holds the built binaries, target/release for one
#   UPDATE_EXPECT=1 tests/documents.sh DIR          writes the outputs again: read the diff before you commit it
#
# Run are the blocks fenced with ```console, top to bottom, each page in a shell and an empty directory of
# its own that holds a copy of examples/. In a block:
#
#   $ command          the lines up to the next `$ ` are its output, standard error included.
#                      A command goes on over lines that end with \ and up to the end of a here-document.
#   ...                as a line of output: any lines
#
# A command must succeed unless the next one is `echo $?` or its block is fenced with ```console fails. Blocks fenced
# with ```console jq, kpt, kubectl, kustomize or pre-commit are left out where that program is not on PATH. A line <!-- $ command -->
# runs a command that readers need not see. A block of text below <!-- file: PATH --> becomes that file.
# `cargo run --bin NAME -- ...` runs the built binary.
set -uo pipefail
shopt -s expand_aliases

root=$(cd "$(dirname "$0")/.." && pwd)
[[ $# -ge 1 && -d $1 ]] || { echo "usage: $0 DIR_OF_BUILT_BINARIES [PAGE...]" >&2; exit 2; }
binaries=$(cd "$1" && pwd)
PATH=$binaries:$PATH
shift

# What the outputs depend on: Git's identity and time make the ids of commits.
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=You GIT_AUTHOR_EMAIL=you@example.com GIT_COMMITTER_NAME=You \
  GIT_COMMITTER_EMAIL=you@example.com GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' \
  NO_COLOR=1 LC_ALL=C TERM=dumb

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commands=0
failed=0

cargo() {
  [[ "$1 $2 $4" == "run --bin --" ]] || { echo "not run here: cargo $*" >&2; return 1; }
  "$3" "${@:5}"
}
fail() {
  failed=$((failed + 1))
  echo "FAILED: $*" >&2
}
# usage: matches EXPECTED_FILE FOUND_FILE   `...` in the first stands for any lines
matches() {
  if ! grep -qx '\.\.\.' "$1"; then
    cmp -s "$1" "$2"
    return
  fi
  awk -v found="$2" '
    BEGIN { while ((getline line < found) > 0) text[++count] = line; at = 1; any = 0 }
    $0 == "..." { any = 1; next }
    { if (any) while (at <= count && text[at] != $0) at++
      if (at > count || text[at] != $0) { wrong = 1; exit }
      at++; any = 0 }
    END { exit wrong || (!any && at <= count) }' "$1"
}

# usage: run_page PAGE   reads the page, runs it, writes it with the outputs found to $work/written
run_page() {
  local page=$1 line info="" skipped="" file="" block="" command="" document more code=0 last=0 may_fail="" next
  local -a lines=()
  local at=0
  mapfile -t lines <"$page"
  : >"$work/written"
  while ((at < ${#lines[@]})); do
    line=${lines[at]}
    at=$((at + 1))
    printf '%s\n' "$line" >>"$work/written"
    if [[ -n $block ]]; then
      if [[ $line == '```' ]]; then
        block=""
        file=""
      elif [[ -n $file ]]; then
        printf '%s\n' "$line" >>"$file"
      elif [[ $block == console && $line == '$ '* ]]; then
        command=${line#'$ '}
        more=${command##*<<}
        document=""
        if [[ $more != "$command" ]]; then document=$(sed -E "s/^-?['\"]?([A-Za-z]+).*/\1/" <<<"$more"); fi
        while [[ -n $document || $command == *\\ ]]; do
          line=${lines[at]}
          at=$((at + 1))
          printf '%s\n' "$line" >>"$work/written"
          command+=$'\n'$line
          if [[ -n $document && $line == "$document" ]]; then document=""; fi
        done
        : >"$work/expected"
        while [[ ${lines[at]} != '```' && ${lines[at]} != '$ '* ]]; do
          printf '%s\n' "${lines[at]}" >>"$work/expected"
          at=$((at + 1))
        done
        next=${lines[at]}
        if [[ -n $skipped ]]; then
          cat "$work/expected" >>"$work/written"
          continue
        fi
        run_command "$command" >"$work/found.raw" 2>&1
        code=$last
        # A commit's id depends on the directory, which its Kptfile names.
        sed -E "s|$work/page|/home/you|g; s/(on 2026-01-01, )[0-9a-f]{8}:/\\15c0ffee1:/; s/(2026-01-01 \()[0-9a-f]{8} /\\15c0ffee1 /" "$work/found.raw" >"$work/found"
        if [[ $code -ne 0 && -z $may_fail && $next != '$ echo $?'* ]]; then
          cat "$work/found" >&2
          fail "$page: exit code $code: $command"
        fi
        if matches "$work/expected" "$work/found"; then
          cat "$work/expected" >>"$work/written"
        else
          cat "$work/found" >>"$work/written"
          if [[ -z ${UPDATE_EXPECT-} ]]; then
            diff -u --label "in the page" --label "printed" "$work/expected" "$work/found" >&2
            fail "$page: $command"
          fi
        fi
      fi
    elif [[ $line == '```'?* || ( $line == '```' && -n $file ) ]]; then
      info=${line#'```'}
      block=${info%% *}
      [[ -n $block ]] || block=text
      if [[ -n $file ]]; then
        mkdir -p "$(dirname "$file")"
        : >"$file"
      fi
      skipped=""
      may_fail=""
      if [[ $info == *fails* ]]; then may_fail=1; fi
      for more in jq kpt kubectl kustomize pre-commit; do
        if [[ " $info " == *" $more "* ]] && ! command -v "$more" >/dev/null; then skipped=$more; fi
      done
      if [[ $block == console && -n $skipped ]]; then echo "left out, $skipped is not on PATH: a block of $page"; fi
    elif [[ $line == '```' ]]; then
      block=text
    elif [[ $line == '<!-- $ '*' -->' ]]; then
      command=${line#'<!-- $ '}
      run_command "${command%' -->'}" >"$work/found" 2>&1
      [[ $last -eq 0 ]] || { cat "$work/found" >&2; fail "$page: exit code $last: $command"; }
    elif [[ $line == '<!-- file: '*' -->' ]]; then
      file=${line#'<!-- file: '}
      file=$work/page/${file%' -->'}
    fi
  done
  if [[ -n ${UPDATE_EXPECT-} ]]; then cmp -s "$work/written" "$page" || cp "$work/written" "$page"; fi
}
# Runs it in this shell, so that `cd` and variables hold for the rest of the page; $last is its exit code.
run_command() {
  commands=$((commands + 1))
  (exit "$last")
  eval "$1"
  last=$?
}

[[ $# -gt 0 ]] || { mapfile -t pages < <(cd "$root" && git ls-files '*.md' && git ls-files --others --exclude-standard '*.md'); set -- "${pages[@]}"; }
for page; do
  page=$root/${page#"$root/"}
  grep -q '^```console' "$page" || continue
  rm -rf "$work/page"
  mkdir "$work/page"
  cp -R "$root/examples" "$work/page/examples"
  before=$commands
  # In a subshell: what a page sets is its own. The counts come back by a file.
  (
    export HOME=$work/page
    cd "$work/page" || exit 1
    git config --global init.defaultBranch main
    git config --global advice.detachedHead false
    run_page "$page"
    echo "$commands $failed" >"$work/counts"
  )
  read -r commands failed <"$work/counts"
  echo "${page#"$root/"}: $((commands - before)) commands"
done
echo "$commands commands, $failed failed"
[[ $failed -eq 0 && $commands -gt 0 ]]
