#!/usr/bin/env bash
# usage: play.sh DIR_OF_BUILT_BINARIES EMPTY_DIR
# Runs what the README describes, from `git init` on; fails if anything differs from its description.
set -euo pipefail
PATH="$(cd "$1" && pwd):$PATH"
mkdir -p "$2" && cd "$2"
export PATH XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com

# usage: run CODE COMMAND...   its output goes to the file `out`
run() {
  local expected=$1 code=0
  shift
  "$@" >out 2>&1 || code=$?
  [[ $code -eq $expected ]] || { echo "exit code $code, expected $expected: $*" >&2; cat out >&2; exit 1; }
}
expect() { grep -qF -- "$2" "$1" || { echo "$1 has no '$2':" >&2; cat "$1" >&2; exit 1; }; }
# The first command that the output suggests.
hint() { sed -n 's/^hint: //p' out | head -1; }

# usage: release TAG REPLICAS IMAGE
release() {
  cat >catalog/shop/deployment.yaml <<END
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
spec:
  replicas: $2
  template:
    spec:
      containers:
      - name: shop
        image: example.com/shop:$3
END
  git -C catalog add --all
  git -C catalog commit --quiet --message "$1"
  git -C catalog tag "$1"
}

# A repository with two releases of a package.
git init --quiet --initial-branch=main catalog
mkdir catalog/shop
release v1.0.0 1 1.0.0
release v1.1.0 2 1.1.0

# A package with an edit.
git init --quiet --initial-branch=main own
cd own
run 0 krmv get ../catalog//shop@v1.0.0
sed -i.old 's/replicas: 1/replicas: 5 # by load/' shop/deployment.yaml && rm shop/deployment.yaml.old
git add shop && git commit --quiet --message 'shop: get, and five replicas'

# What would each release bring?
run 3 krmv status
expect out 'v1.1.0: 1 conflict'

# The upgrade keeps the edit, and prints what is undecided and how to decide it.
run 1 krmv upgrade shop
expect shop/deployment.yaml 'replicas: 5 # by load'
expect shop/deployment.yaml 'image: example.com/shop:1.1.0'
[[ $(hint) == 'krmv resolve shop --take local spec.replicas' ]] || { cat out >&2; exit 1; }
run 0 sh -c "$(hint) --remember"
expect out 'All conflicts are decided. shop is now at v1.1.0.'
run 0 sh -c "$(hint)"

# The next upgrade decides the same conflict by the rule.
(cd .. && release v1.2.0 3 1.2.0)
run 0 krmv upgrade shop
expect out '1 decided by a rule'
expect shop/deployment.yaml 'replicas: 5 # by load'
expect shop/deployment.yaml 'image: example.com/shop:1.2.0'
run 0 sh -c "$(hint)"
[[ -z $(git status --porcelain --untracked-files=no) ]] || { git status >&2; exit 1; }
run 0 krmv status
expect out 'up to date'
run 0 krmv diff shop
expect out '+  replicas: 5 # by load'
