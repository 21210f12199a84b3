#!/usr/bin/env bash
# usage: play-on-cluster.sh DIR_OF_BUILT_BINARIES EMPTY_DIR
# Runs job.yaml, report.yaml and cronjob.yaml on a cluster whose node sees EMPTY_DIR at the same path and has the
# images (images.sh). As root, since pods that run as nobody write there.
#   KUBECTL  how to reach the cluster: `kubectl`
#   NODE     how to run a program on the node, for `ctr` and `kill`: `docker exec kind-control-plane` with kind
#   HOST_NETWORK=1  where pods get no token and reach no service: they take this kubeconfig and the node's network
# Fails if anything differs from its description.
set -euo pipefail
[[ $# -eq 2 ]] || { sed -n 2,9p "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
tools=$(cd "$here/../../tools/fleet" && pwd)
PATH="$(cd "$1" && pwd):$PATH"
export PATH
mkdir -p "$2" && cd "$2"
dir=$PWD
nobody=65534
export GIT_CONFIG_GLOBAL=$dir/gitconfig GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = a\nemail = a@example.com\n[safe]\ndirectory = *\n' >"$GIT_CONFIG_GLOBAL"

k() { ${KUBECTL:-kubectl} "$@"; }
node() { ${NODE:-} "$@"; }
title() { printf '\n== %s\n' "$*"; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# usage: volume NAME DIRECTORY   a volume of the node, for the claim of this name
volume() {
  k apply --filename - <<EOF
apiVersion: v1
kind: PersistentVolume
metadata: {name: $1}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  storageClassName: ""
  hostPath: {path: $2, type: Directory}
  claimRef: {name: $1, namespace: default}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $1}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: ""
  volumeName: $1
  resources: {requests: {storage: 1Gi}}
EOF
}
# usage: pod INDEX   the running pod of a shard, once it has made packages
pod() {
  local name='' before made
  for _ in $(seq 300); do
    name=$(k get pods --selector "job-name=render-fleet,batch.kubernetes.io/job-completion-index=$1" \
      --field-selector status.phase=Running --output 'jsonpath={.items[0].metadata.name}' 2>/dev/null || true)
    [[ -z $name ]] || break
    sleep 0.2
  done
  [[ -n $name ]] || fail "shard $1 does not run"
  before=$(packages)
  for _ in $(seq 300); do
    made=$(packages)
    [[ $made -le $((before + 20)) ]] || break
    sleep 0.1
  done
  echo "$name"
}
packages() { find work/fleet -mindepth 3 -maxdepth 3 -name Kptfile | wc -l; }
# usage: kill_shard INDEX   the process of its container, as if memory had run out
kill_shard() {
  local name id process
  name=$(pod "$1")
  id=$(k get pod "$name" --output 'jsonpath={.status.containerStatuses[0].containerID}')
  process=$(node ctr --namespace k8s.io tasks ls | awk -v id="${id#containerd://}" '$1 == id { print $2 }')
  [[ -n $process ]] || fail "the container of $name has no process"
  node kill -9 "$process"
  echo "shard $1: killed the process of $name; $(packages) packages were there"
}

title "A fleet of 2,000 variants, by one run on this machine"
python3 "$tools/generate.py" 2000 made
mkdir one work work/{fleet,variants,resources,reports}
git clone --quiet --bare made/catalog work/catalog.git
cp made/variants/* work/variants/
cp made/repositories.yaml work/resources/
render-fleet --package one --variants work/variants --resources work/resources --catalog catalog=work/catalog.git 2>&1 | tail -n 1

title "The same in 16 shards; two are killed midway, the pod of one is deleted"
chown -R $nobody work
volume fleet "$dir/work" | tail -n 1
# So little processor time that a shard takes a few seconds.
sed 's/cpu: 100m/cpu: 20m/; s/cpu: "1"/cpu: 60m/' "$here/job.yaml" | k apply --filename -
start=$(date +%s)
kill_shard 1
kill_shard 2
name=$(pod 5)
k delete pod "$name" --grace-period=1 --wait=false >/dev/null
echo "shard 5: deleted $name; $(packages) packages were there"
[[ $(packages) -lt 2000 ]] || fail "the shards were done before the last pod was deleted"
k wait --for=condition=complete --timeout=600s job/render-fleet
echo "$(($(date +%s) - start)) s"
k get pods --selector job-name=render-fleet --sort-by '{.metadata.creationTimestamp}' --output \
  'custom-columns=POD:.metadata.name,PHASE:.status.phase,EXIT:.status.containerStatuses[0].state.terminated.exitCode'
k get job render-fleet --output 'jsonpath={.status.succeeded} succeeded, {.status.failed} failed, {.status.completedIndexes}{"\n"}'
diff --recursive one work/fleet || fail "the fleets differ"
[[ $(find one -type f | wc -l) -eq $(find work/fleet -type f | wc -l) ]] || fail "files are left"
echo "all $(find one -type f | wc -l) files are those of the run on one machine"

title "One report"
k apply --filename "$here/report.yaml"
k wait --for=condition=complete --timeout=120s job/fleet-report
[[ -s work/fleet.html ]] || fail "no report"
grep -o '<title>[^<]*' work/fleet.html | head -n 1

title "A cluster with 40 Repositories, and endpoints for each of four regions"
k apply --filename - <<EOF
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: repositories.config.porch.kpt.dev}
spec:
  group: config.porch.kpt.dev
  scope: Namespaced
  names: {kind: Repository, plural: repositories, singular: repository}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
EOF
k wait --for=condition=established --timeout=60s crd/repositories.config.porch.kpt.dev >/dev/null
regions=(eu us asia africa)
for number in $(seq -w 1 40); do
  printf -- '---\napiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata:\n  name: cluster-%s\n' "$number"
  printf '  labels: {fleet: "true", role: cluster, region: %s}\n' "${regions[$((10#$number % 4))]}"
  printf 'spec: {type: git, git: {repo: https://git.example.com/%s.git}}\n' "$number"
done >repositories.yaml
for region in "${regions[@]}"; do
  printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  labels: {fleet: "true"}\n' "$region"
  printf 'data: {auth: auth.%s.example.com}\n' "$region"
done >endpoints.yaml
k apply --filename repositories.yaml --filename endpoints.yaml | tail -n 1

title "The Git repositories: fleet, variants, catalog"
mkdir git
for name in catalog variants fleet; do
  git init --quiet --initial-branch=main "$name"
done
mkdir catalog/web
printf 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n' >catalog/web/Kptfile
cat >catalog/web/endpoints.yaml <<EOF
apiVersion: v1
kind: ConfigMap
metadata:
  name: endpoints
  annotations:
    kpt.dev/config-injection: required
data: {}
EOF
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  image: web:1\n' >catalog/web/web.yaml
cat >variants/web.yaml <<EOF
apiVersion: config.porch.kpt.dev/v1alpha2
kind: PackageVariantSet
metadata:
  name: web
spec:
  upstream: {repo: catalog, package: web, revision: stable}
  targets:
  - repositorySelector:
      matchLabels: {role: cluster}
    template:
      injectors:
      - kind: ConfigMap
        nameExpr: repository.labels["region"]
EOF
printf 'apiVersion: fn.kpt.dev/v1alpha1\nkind: RenderFleet\nmetadata:\n  name: fleet\nprune: true\n' >variants/fleet.yaml
echo "The packages of all clusters." >fleet/README.md
for name in catalog variants fleet; do
  git -C "$name" add --all
  git -C "$name" commit --quiet --message "a"
done
git -C catalog tag stable
for name in catalog variants fleet; do
  git clone --quiet --bare "$name" "git/$name.git"
  git -C "$name" remote add origin "$dir/git/$name.git"
done
chown -R $nobody git
volume git "$dir/git" | tail -n 1
k apply --filename "$here/cronjob.yaml" | tail -n 1
k patch cronjob render-fleet --patch '{"spec": {"suspend": true}}' >/dev/null # this script starts its jobs
if [[ -n ${HOST_NETWORK-} ]]; then
  k create secret generic kubeconfig --from-literal "config=$(k config view --flatten --minify --raw)" >/dev/null
  pod=/spec/jobTemplate/spec/template/spec
  k patch cronjob render-fleet --type json --patch '[
    {"op": "add", "path": "'$pod'/hostNetwork", "value": true},
    {"op": "add", "path": "'$pod'/volumes/-", "value": {"name": "kubeconfig", "secret": {"secretName": "kubeconfig"}}},
    {"op": "add", "path": "'$pod'/initContainers/0/volumeMounts/-", "value": {"name": "kubeconfig", "mountPath": "/kube"}},
    {"op": "add", "path": "'$pod'/initContainers/0/env/-", "value": {"name": "KUBECONFIG", "value": "/kube/config"}}]' >/dev/null
fi

# usage: run NAME PACKAGES   one run of the CronJob, which must change so many packages
run() {
  local before after changed
  before=$(git -C git/fleet.git rev-parse main)
  k create job "$1" --from=cronjob/render-fleet >/dev/null
  k wait --for=condition=complete --timeout=60s "job/$1" >/dev/null || { k logs "job/$1" --all-containers; fail "$1"; }
  k logs "job/$1" --container render | tail -n 1
  after=$(git -C git/fleet.git rev-parse main)
  git -C git/fleet.git diff --name-only "$before" "$after" | cut -d / -f 1,2 | sort -u >changed
  changed=$(wc -l <changed)
  [[ $changed -eq $2 ]] || fail "$1: $changed packages changed, expected $2"
  echo "$1: $changed packages in $(git -C git/fleet.git rev-list --count "$before..$after") commits"
}
title "The first run makes 40 packages, the second has nothing to do"
run first 40
run second 0
title "The endpoints of one region change in the cluster: its packages follow, and no others"
k patch configmap eu --patch '{"data": {"auth": "login.eu.example.com"}}'
run endpoints 10
eu=$(for number in 04 08 12 16 20 24 28 32 36 40; do echo "cluster-$number/web"; done)
[[ $(cat changed) == "$eu" ]] || fail "other packages changed: $(tr '\n' ' ' <changed)"
git -C git/fleet.git show --unified=0 main -- cluster-04 | tail -n 4
title "The tag that all follow moves"
sed 's/web:1/web:2/' catalog/web/web.yaml >web.yaml && mv web.yaml catalog/web/web.yaml
git -C catalog commit --quiet --all --message "web 2"
git -C catalog tag --force stable >/dev/null
git -C catalog push --quiet --force --tags origin main
chown -R $nobody git
run tag 40
title "A cluster is gone from the cluster's Repositories: its package is deleted"
k delete repositories.config.porch.kpt.dev cluster-07
run gone 1
git -C git/fleet.git ls-tree --name-only main | grep -q cluster-07 && fail "cluster-07 is still there"
printf '\nEverything was as expected.\n'
