#!/usr/bin/env bash
# Instructions that a few small runs take, beside the recorded ones: times are noisy, these are not.
#
#   tests/instructions.sh DIR            DIR holds the built binaries, target/release for one
#   UPDATE_EXPECT=1 tests/instructions.sh DIR   writes tests/instructions.txt again: say why in the commit
#
# Fails where a run takes over 30 % more than recorded; over 30 % less is only said. Counts are recorded once a release. Ends with 77 without
# valgrind, and on a machine for which nothing is recorded.
set -euo pipefail

cd "$(dirname "$0")/.."
[[ $# -eq 1 && -d $1 ]] || { echo "usage: $0 DIR_OF_BUILT_BINARIES" >&2; exit 2; }
binaries=$(cd "$1" && pwd)
tolerance=30
recorded=tests/instructions.txt
command -v valgrind >/dev/null || { echo "valgrind is not on PATH" >&2; exit 77; }
[[ $(uname -sm) == "Linux x86_64" ]] || { echo "recorded on x86_64 Linux alone" >&2; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# usage: deployments COUNT PREFIX_OF_FIRST_LINE PREFIX_OF_OTHERS TAG
deployments() {
  local number
  for ((number = 0; number < $1; number++)); do
    sed -e "1s/^/$2/" -e "1!s/^/$3/" <<EOF
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-$number
  namespace: shop # of all
  labels: {app: app-$number}
spec:
  replicas: $((number % 5 + 1)) # by load
  selector:
    matchLabels:
      app: app-$number
  template:
    metadata:
      labels:
        app: app-$number
    spec:
      containers:
      - name: app
        image: "registry.example.com/app-$number:$4"
        args: ["--port=8080"]
        ports:
        - containerPort: 8080
          name: http
        # Where it runs.
        env:
        - name: REGION
          value: us-east1
        - name: SCRIPT
          value: |
            set -e
            run app-$number
EOF
  done
}
# usage: list COUNT
list() {
  cat <<EOF
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: kptfile.kpt.dev
  data:
    name: bench # by kpt
EOF
  deployments "$1" "- " "  " v1
}
list 10 >"$work/10.yaml"
list 100 >"$work/100.yaml"
list 1000 >"$work/1000.yaml"

for side in original:v1 local:v1 upstream:v2; do
  mkdir "$work/${side%:*}"
  printf 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: bench\n' >"$work/${side%:*}/Kptfile"
  deployments 100 "---\n" "" "${side#*:}" >"$work/${side%:*}/all.yaml"
done
sed -i 's/replicas: 3 /replicas: 7 /' "$work/local/all.yaml"

cat >"$work/patch.yaml" <<'EOF'
target: {kind: Deployment}
patch:
  spec:
    template:
      spec:
        containers:
        - name: app
          image: app:2
          env:
          - name: REGION
            value: eu-west1
          - name: SCRIPT
            $patch: delete
EOF

failed=0
# usage: count NAME EXPECTED_CODE INPUT FUNCTION ARGUMENTS...
count() {
  local name=$1 expected=$2 input=$3 code=0 instructions before="" change="not recorded" verdict=""
  shift 3
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$work/log" \
    "$binaries/$1" "${@:2}" <"$input" >"$work/output" 2>"$work/errors" || code=$?
  instructions=$(sed -n 's/.*Collected *: *//p' "$work/log")
  if [[ $code -ne $expected || -z $instructions ]]; then
    cat "$work/log" "$work/errors" >&2
    echo "FAILED: $name ends with $code, expected $expected" >&2
    failed=$((failed + 1))
    return
  fi
  if [[ -f $recorded ]]; then before=$(sed -n "s/^\([0-9]*\) $name\$/\1/p" "$recorded"); fi
  if [[ -n $before ]]; then
    change="$(awk -v a="$instructions" -v b="$before" 'BEGIN { printf "%+.1f", (a / b - 1) * 100 }') %"
    if ((instructions * 100 > before * (100 + tolerance))); then
      verdict="FAILED"
    elif ((instructions * 100 < before * (100 - tolerance))); then
      verdict="less: record it again"
    fi
  elif [[ -z ${UPDATE_EXPECT-} ]]; then
    verdict="FAILED"
  fi
  if [[ $verdict == FAILED && -z ${UPDATE_EXPECT-} ]]; then failed=$((failed + 1)); fi
  printf '%-42s %14s %14s  %s %s\n' "$name" "$instructions" "$before" "$change" "$verdict"
  echo "$instructions $name" >>"$work/counts"
}

printf '%-42s %14s %14s  %s\n' run instructions recorded change
count "set-package-context of 10 resources" 0 "$work/10.yaml" set-package-context region=eu
count "set-package-context of 1,000 resources" 0 "$work/1000.yaml" set-package-context region=eu
count "merge-package of 100 resources" 3 /dev/null merge-package --check \
  --package "$work/local" --original "$work/original" --upstream "$work/upstream"
count "review-package of 100 resources" 0 /dev/null review-package \
  --package "$work/upstream" --before "$work/original"
count "create-overlay of 100 resources" 0 /dev/null create-overlay \
  --package "$work/upstream" --upstream "$work/original"
count "apply-patch to 100 resources" 0 "$work/100.yaml" apply-patch --patches "$work/patch.yaml"
fleet=examples/expand-variant-set-fleet
count "expand-variant-set of the fleet example" 3 /dev/null expand-variant-set --check \
  --config $fleet/fn-config.yaml --resources $fleet/cluster.yaml --package $fleet/package
example=examples/apply-config-deployment
count "apply-config of its example" 3 /dev/null apply-config --check --package $example/package --live $example/live
count "create-patch of the example of apply-config" 3 /dev/null create-patch --check \
  --package $example/package --live $example/live
example=examples/inject-config-service-endpoints
count "inject-config of its example" 3 /dev/null inject-config --check \
  --config $example/fn-config.yaml --resources $example/cluster.yaml --package $example/package
example=examples/prepend-pipeline-namespace
count "prepend-pipeline of its example" 3 /dev/null prepend-pipeline --check \
  --config $example/fn-config.yaml --package $example/package
example=examples/render-variant-clone
count "render-variant of its example" 3 /dev/null render-variant --check --config $example/fn-config.yaml \
  --upstream $example/upstream --resources $example/resources --package "$work/new"

example=examples/render-fleet-clusters
count "render-fleet of its example" 3 /dev/null render-fleet --check --jobs 1 --config $example/fn-config.yaml \
  --variants $example/variants --resources $example/repositories.yaml --catalog catalog=$example/catalog --package $example/package

if [[ $failed -gt 0 ]]; then
  echo "$failed failed" >&2
  exit 1
fi
if [[ -n ${UPDATE_EXPECT-} ]]; then cp "$work/counts" "$recorded"; fi
