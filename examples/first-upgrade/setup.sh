#!/usr/bin/env bash
# usage: setup.sh file|chart|values|packages|layouts EMPTY_DIR
# Makes what a tutorial starts from: an upstream with two releases, and `own`, a Git repository of yours.
#
#   file      upstream/manifests/install.yaml, tags v1.0.0 and v1.1.0
#   values    charts/app, a Helm chart, tags app-1.0.0 and app-1.1.0
#   chart     the same; own has the file values.yaml
#   packages  catalog/web and catalog/api, each with its own tags; own has a package of each, with an edit
#   layouts   operator/releases/operator-VERSION.yaml, and catalog/web with its own tags and the branch main
set -euo pipefail
# Needs no Git identity, and makes the commits that the documents show.
export GIT_AUTHOR_NAME=You GIT_AUTHOR_EMAIL=you@example.com GIT_AUTHOR_DATE=2026-01-01T00:00:00Z
export GIT_COMMITTER_NAME=You GIT_COMMITTER_EMAIL=you@example.com GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
[[ $# -eq 2 ]] || { sed -n 's/^# usage: setup/usage: setup/p' "$0" >&2; exit 2; }
mkdir -p "$2"
cd "$2"
# usage: repository NAME
repository() {
  git init --quiet --initial-branch=main "$1"
}
# usage: commit REPOSITORY TAG   commits all files, and tags the commit
commit() {
  git -C "$1" add --all
  git -C "$1" commit --quiet --message "$2"
  git -C "$1" tag "$2"
}

# usage: install_file TAG TAG_OF_DEX REPLICAS [FLAG]   prints the file of a release
install_file() {
  cat <<END
apiVersion: apps/v1
kind: Deployment
metadata:
  name: server
spec:
  replicas: $3
  template:
    spec:
      containers:
      - name: server
        image: quay.io/example/server:$1
        args:
        - server
        - --port=8080${4+
        - $4}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: dex
spec:
  template:
    spec:
      containers:
      - name: dex
        image: quay.io/example/dex:$2
END
}
file() {
  repository upstream
  mkdir upstream/manifests
  install_file v1.0.0 v2.41.0 1 >upstream/manifests/install.yaml
  commit upstream v1.0.0
  install_file v1.1.0 v2.43.0 2 --metrics-port=8082 >upstream/manifests/install.yaml
  commit upstream v1.1.0
  repository own
}

# usage: release_chart VERSION REPLICAS GRACE_PERIOD
release_chart() {
  cat >charts/app/Chart.yaml <<END
apiVersion: v2
name: app
version: $1
END
  cat >charts/app/values.yaml <<END
# The number of replicas.
replicaCount: $2
image:
  repository: example.com/app
  tag: $1
END
  cat >charts/app/templates/deployment.yaml <<END
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
spec:
  replicas: {{ .Values.replicaCount }}
  template:
    spec:
      terminationGracePeriodSeconds: $3
      containers:
      - name: app
        image: {{ .Values.image.repository }}:{{ .Values.image.tag }}
END
}
values() {
  repository charts
  mkdir -p charts/app/templates
  release_chart 1.0.0 1 30
  commit charts app-1.0.0
  release_chart 1.1.0 2 60
  printf '# Metrics for Prometheus.\nmetrics:\n  enabled: false\n' >>charts/app/values.yaml
  commit charts app-1.1.0
  repository own
}
chart() {
  values
  echo 'replicaCount: 3' >own/values.yaml
}

# usage: release_package NAME TAG REPLICAS
release_package() {
  mkdir -p "catalog/$1"
  cat >"catalog/$1/deployment.yaml" <<END
apiVersion: apps/v1
kind: Deployment
metadata:
  name: $1
spec:
  replicas: $3
  template:
    spec:
      containers:
      - name: $1
        image: example.com/$1:$2
END
  commit catalog "$1/$2"
}
packages() {
  repository catalog
  release_package web v1.0.0 1
  release_package api v2.0.0 1
  repository own
  mkdir -p own/team-a/src own/team-b
  echo 'fn main() {}' >own/team-a/src/main.rs
  (
    cd own
    krmv get ../catalog//web@web/v1.0.0 team-a/web
    krmv get ../catalog//api@api/v2.0.0 team-b/api
  ) >/dev/null 2>&1
  sed -i.orig 's/replicas: 1/replicas: 3 # by load/' own/team-a/web/deployment.yaml
  rm own/team-a/web/deployment.yaml.orig
  git -C own add --all
  git -C own commit --quiet --message 'Web and API for our cluster'
  release_package web v1.1.0 2
  release_package api v2.1.0 1
}

layouts() {
  repository operator
  mkdir operator/releases
  install_file v1.0.0 v2.41.0 1 >operator/releases/operator-1.0.0.yaml
  commit operator v1.0.0
  install_file v1.1.0 v2.43.0 1 >operator/releases/operator-1.1.0.yaml
  commit operator v1.1.0
  repository catalog
  release_package web v1.0.0 1
  release_package web v1.1.0 2
  repository own
}

case $1 in
  file | chart | values | packages | layouts) "$1" ;;
  *) sed -n 's/^# usage: setup/usage: setup/p' "$0" >&2; exit 2 ;;
esac
