#!/usr/bin/env bash
# usage: play.sh DIR_OF_BUILT_BINARIES EMPTY_DIR
# Runs what the README describes, from `git init` on; fails if anything differs from its description.
set -euo pipefail
PATH="$(cd "$1" && pwd):$PATH"
export PATH GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
mkdir -p "$2" && cd "$2"

expect() { grep -qF -- "$2" "$1" || { echo "$1 has no '$2':" >&2; cat "$1" >&2; exit 1; }; }
# usage: version TAG IMAGE REPLICAS
version() {
  cat >catalog/nginx/deployment.yaml <<EOF
apiVersion: apps/v1
kind: Deployment
metadata:
  name: nginx
spec:
  replicas: $3
  selector:
    matchLabels:
      app: nginx
  template:
    metadata:
      labels:
        app: nginx
    spec:
      containers:
      - name: nginx
        image: $2
EOF
  git -C catalog add --all
  git -C catalog commit --quiet --message "$1"
  git -C catalog tag "$1"
}

# A catalog with three versions of a package.
git init --quiet --initial-branch=main catalog
mkdir catalog/nginx
printf 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: nginx\n' >catalog/nginx/Kptfile
version v1 nginx:1.27 1
version v2 nginx:1.28 1
version nginx/v3 nginx:1.29 2

# What `kpt pkg get` writes: a package with a lock.
mkdir web
git -C catalog archive v1 nginx | tar --extract --directory web --strip-components=1
cat >>web/Kptfile <<EOF
upstream:
  type: git
  git: {repo: https://example.com/catalog, directory: /nginx, ref: v1}
upstreamLock:
  type: git
  git: {repo: https://example.com/catalog, directory: /nginx, ref: v1, commit: $(git -C catalog rev-parse v1)}
EOF
sed -i.orig 's/replicas: 1/replicas: 5 # load/' web/deployment.yaml && rm web/deployment.yaml.orig

# kpt pkg update web@v2
merge-package --package web --upstream 'catalog//nginx?ref=v2'
expect web/deployment.yaml 'image: nginx:1.28'
expect web/deployment.yaml 'replicas: 5 # load'
expect web/Kptfile "ref: v2, commit: $(git -C catalog rev-parse v2)"

# Again: nothing to do.
cp -R web before
merge-package --package web --upstream 'catalog//nginx?ref=v2'
diff -r before web

# A tag of this package only. Both sides changed the replicas, so the exit code is 4.
code=0
merge-package --package web --upstream 'catalog//nginx?ref=v3' onConflict=local --exit-conflicts 2>results || code=$?
[[ $code -eq 4 ]] || { cat results >&2; exit 1; }
expect results 'spec.replicas'
expect web/deployment.yaml 'image: nginx:1.29'
expect web/deployment.yaml 'replicas: 5 # load'
expect web/Kptfile 'ref: nginx/v3'

# Without kpt from the start: a copy without a record of its origin.
mkdir fork
git -C catalog archive v1 nginx/deployment.yaml | tar --extract --directory fork --strip-components=1
sed -i.orig 's/replicas: 1/replicas: 7/' fork/deployment.yaml && rm fork/deployment.yaml.orig
merge-package --package fork --original auto --upstream 'catalog//nginx?ref=v2' createKptfile=true 2>results
expect results 'a copy of `v1`'
expect fork/deployment.yaml 'image: nginx:1.28'
expect fork/deployment.yaml 'replicas: 7'
expect fork/Kptfile 'ref: v2'
merge-package --package fork --upstream 'catalog//nginx?ref=v2'

# Two branches of a fleet's repository, each with an edit in neighbouring lines.
git init --quiet --initial-branch=main fleet
cp -R fork fleet/web
git -C fleet config merge.krm.driver 'merge-package --git-merge-driver %O %A %B %P'
git -C fleet config merge.krm.recursive binary
printf '*.yaml merge=krm\nKptfile merge=krm\n' >fleet/.gitattributes
git -C fleet add --all && git -C fleet commit --quiet --message start
git -C fleet checkout --quiet -b scale
sed -i.orig 's/replicas: 7/replicas: 9/' fleet/web/deployment.yaml && rm fleet/web/deployment.yaml.orig
git -C fleet commit --quiet --all --message scale
git -C fleet checkout --quiet main
sed -i.orig 's/^  selector:/  paused: true\n  selector:/' fleet/web/deployment.yaml && rm fleet/web/deployment.yaml.orig
git -C fleet commit --quiet --all --message pause
git -C fleet merge --quiet --no-edit scale
expect fleet/web/deployment.yaml 'replicas: 9'
expect fleet/web/deployment.yaml 'paused: true'
echo "played"
