#!/usr/bin/env bash
# usage: play.sh DIR_OF_BUILT_BINARIES EMPTY_DIR
# A year of a platform team: a catalog, 40 clusters in four regions, local edits, upgrades, and clusters
# that come and go. Prints each step; fails if anything differs from its description.
set -euo pipefail
PATH="$(cd "$1" && pwd):$PATH"
export PATH GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
mkdir -p "$2" && cd "$2"

title() { printf '\n== %s\n' "$*"; }
# usage: expect FILE TEXT
expect() { grep -qF -- "$2" "$1" || { echo "$1 has no '$2':" >&2; cat "$1" >&2; exit 1; }; }
# usage: fleet CODE ARGUMENTS...   runs render-fleet, expects an exit code, prints the last lines
fleet() {
  local expected=$1 code=0
  shift
  render-fleet --package fleet --variants variants --resources cluster --catalog catalog=catalog "$@" 2>said || code=$?
  grep -E '^ *\[(warning|error)\]|variants: ' said | sed 's/^ *//' | cut -c 1-200 | tail -n 7
  [[ $code -eq $expected ]] || { echo "exit code $code, expected $expected" >&2; cat said >&2; exit 1; }
}
# usage: cluster NAME REGION TEAM
cluster() {
  cat >"cluster/$1.yaml" <<EOF
apiVersion: config.porch.kpt.dev/v1alpha1
kind: Repository
metadata:
  name: $1
  labels: {role: cluster, region: $2, team: $3}
spec:
  type: git
  git: {repo: https://git.example.com/$1.git}
EOF
}
# usage: release TAG IMAGE REPLICAS
release() {
  cat >catalog/web/deployment.yaml <<EOF
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: $3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: $2
EOF
  git -C catalog add --all
  git -C catalog commit --quiet --message "web $1"
  git -C catalog tag "web/$1"
}
# usage: set_revision REVISION
set_revision() { sed -i.orig "s/revision: .*/revision: $1/" variants/web.yaml && rm variants/web.yaml.orig; }

title "January: a catalog with the package web, and 40 clusters in four regions"
git init --quiet --initial-branch=main catalog
mkdir catalog/web cluster variants
printf 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n' >catalog/web/Kptfile
cat >catalog/web/endpoints.yaml <<EOF
apiVersion: infra.example.com/v1
kind: Endpoints
metadata:
  name: endpoints
  annotations:
    kpt.dev/config-injection: required
spec: {}
EOF
release v1 nginx:1.27 2
regions=(eu us asia africa) teams=(shop bank)
for number in $(seq -w 1 40); do
  cluster "cluster-$number" "${regions[$((10#$number % 4))]}" "${teams[$((10#$number % 2))]}"
done
for region in "${regions[@]}"; do
  cat >"cluster/endpoints-$region.yaml" <<EOF
apiVersion: infra.example.com/v1
kind: Endpoints
metadata:
  name: $region
spec:
  auth: auth.$region.example.com
EOF
done
cat >variants/web.yaml <<EOF
apiVersion: config.porch.kpt.dev/v1alpha2
kind: PackageVariantSet
metadata:
  name: web
spec:
  upstream:
    repo: catalog
    package: web
    revision: v1
  targets:
  - repositorySelector:
      matchLabels:
        role: cluster
    template:
      packageContext:
        dataExprs:
        - key: region
          valueExpr: repository.labels["region"]
      injectors:
      - kind: Endpoints
        nameExpr: repository.labels["region"]
      pipeline:
        mutators:
        - image: ghcr.io/kptdev/krm-functions-catalog/set-labels:latest
          name: team
          configMapExprs:
          - key: team
            valueExpr: repository.labels["team"]
EOF
fleet 0
expect fleet/cluster-01/web/endpoints.yaml 'auth: auth.us.example.com'
expect fleet/cluster-01/web/Kptfile 'team: bank'

title "March: five clusters are tuned by hand"
for number in 01 02 03 04 05; do
  sed -i.orig 's/replicas: 2/replicas: 9 # peak load/' "fleet/cluster-$number/web/deployment.yaml"
done
sed -i.orig 's/nginx:1.27/nginx:1.27-alpine/' fleet/cluster-0[12]/web/deployment.yaml
find fleet -name '*.orig' -delete
fleet 0

title "May: web v2 is released; first a forecast, as a page to look at"
release v2 nginx:1.28 2
set_revision v2
fleet 3 --check --report forecast.html
expect said '2 conflicts'
expect forecast.html '40 updated'

title "The conflict is decided once, for all clusters"
cat >fleet.yaml <<EOF
apiVersion: fn.kpt.dev/v1alpha1
kind: RenderFleet
metadata:
  name: web
prune: true
conflicts:
- path: spec.template.spec.containers[name=web].image   # whoever took alpine keeps it
  target: {kind: Deployment, name: web}
  take: local
- path: spec.replicas                                   # the load of a cluster is its own
  take: local
EOF
fleet 0 --config fleet.yaml
expect fleet/cluster-01/web/deployment.yaml 'image: nginx:1.27-alpine'
expect fleet/cluster-03/web/deployment.yaml 'image: nginx:1.28'
expect fleet/cluster-03/web/deployment.yaml 'replicas: 9 # peak load'

title "July: the set follows a tag that moves"
git -C catalog tag stable web/v2
set_revision stable
fleet 0 --config fleet.yaml
release v3 nginx:1.29 3
git -C catalog tag --force stable web/v3 >/dev/null
fleet 0 --config fleet.yaml
expect fleet/cluster-10/web/deployment.yaml 'replicas: 3'
expect fleet/cluster-03/web/deployment.yaml 'replicas: 9 # peak load'

title "September: two clusters are shut down, three are new; a team keeps the package of one"
sed -i.orig 's/deletion-policy: delete/deletion-policy: orphan/' fleet/cluster-39/web/Kptfile
rm fleet/cluster-39/web/Kptfile.orig cluster/cluster-39.yaml cluster/cluster-40.yaml
for number in 41 42 43; do cluster "cluster-$number" eu shop; done
fleet 0 --config fleet.yaml
expect said '3 created, 1 orphaned, 1 deleted'
[[ ! -e fleet/cluster-40 && -e fleet/cluster-39/web ]]

title "November: a package that a team made by hand is adopted"
cat >variants/adopted.yaml <<EOF
apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: adopted
spec:
  upstream: {repo: catalog, package: web, revision: stable}
  downstream: {repo: cluster-39, package: web}
  adoptionPolicy: adoptExisting
  injectors: [{kind: Endpoints, name: africa}]
EOF
fleet 0 --config fleet.yaml
expect said '1 adopted'

title "December: a change of a region's endpoints reaches its clusters, and no others"
sed -i.orig 's/auth.eu/login.eu/' cluster/endpoints-eu.yaml && rm cluster/endpoints-eu.yaml.orig
fleet 0 --config fleet.yaml
expect said '12 refreshed'

title "Nothing is left to do"
fleet 0 --config fleet.yaml --check
expect said '42 unchanged'

title "The packages go into Git; the next release comes as drafts for review"
for repository in fleet/*; do
  git init --quiet --initial-branch=main "$repository"
  git -C "$repository" add --all
  git -C "$repository" commit --quiet --message "the packages of this cluster"
done
release v4 nginx:1.30 3
git -C catalog tag --force stable web/v4 >/dev/null
fleet 0 --config fleet.yaml --drafts --report fleet.html
expect said 'as the draft `drafts/web/packagevariant-1`'
git -C fleet/cluster-10 show --format='%s%n' --unified=0 drafts/web/packagevariant-1 -- web/deployment.yaml
[[ -z $(git -C fleet/cluster-10 status --porcelain) ]]

cat <<EOF

Everything is in $PWD: a folder of fleet/ for each cluster, the forecast of May in forecast.html, the drafts in
fleet.html. To go on, edit a package, move the tag stable in catalog, and run

  render-fleet --package fleet --variants variants --resources cluster --catalog catalog=catalog --config fleet.yaml --diff
EOF
