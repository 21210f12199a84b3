#!/usr/bin/env bash
# Runs the built set-package-context through the real kpt, in every way that kpt calls functions, inject-config in a
# pipeline, prepend-pipeline, render-variant and expand-variant-set with kpt fn eval, and merge-package, apply-patch,
# apply-config and create-patch with it and between kpt fn source and kpt fn sink.
#
#   tests/with_kpt.sh DIR        DIR holds the built binaries, target/release for one
#
# kpt reformats what it writes, so each result is compared with what kpt makes of the same package
# when the function only copies its input. The container checks need a wrapper that runs a command
# with a container engine, $KRM_VARIANTS_SHARED/tools/with-containers.sh (default ../shared beside
# the checkout); without it they are left out, and the last line says so.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
shared=${KRM_VARIANTS_SHARED:-$root/../shared}
function=set-package-context
image=localhost/krm-variants/$function:test
package=$root/examples/set-package-context-simple/package

checks=0
ok() {
  checks=$((checks + 1))
  echo "ok: $*"
}
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
step() { echo "== $*"; }
# usage: expect_diff NAME BEFORE AFTER <expected, in lines of "-old" and "+new"
expect_diff() {
  local found
  found=$(diff -rU0 "$2" "$3" | grep -Ev '^(diff|---|\+\+\+|@@) ' || true)
  diff -u --label 'expected lines' --label 'found lines' - <(printf '%s\n' "$found") ||
    fail "$1: other lines changed than expected"
  ok "$1: exactly the expected lines changed"
}
# usage: expect_text NAME FILE EXTENDED_REGEX...
expect_text() {
  local name=$1 file=$2 regex
  shift 2
  for regex; do
    if ! grep -Eq -e "$regex" "$file"; then
      cat "$file" >&2
      fail "$name: no line matches '$regex'"
    fi
  done
  ok "$name"
}
# usage: expect_failure NAME LOG COMMAND...   runs it, which must end with another code than 0
expect_failure() {
  local name=$1 log=$2
  shift 2
  if "$@" >"$log" 2>&1; then
    cat "$log" >&2
    fail "$name: exit code 0"
  fi
  ok "$name: ended with an error"
}
fresh() {
  rm -rf "$1"
  cp -R "$package" "$1"
}
# The PATH decides which function kpt runs under the one name that Kptfiles and commands use.
with_function() { PATH=$work/bin:$PATH "$@"; }
with_copy() { PATH=$work/copy:$PATH "$@"; }

# inject-config in a pipeline, ahead of a function that reads what it injected. Runs 8 checks.
check_inject_config() {
  local binary=$1 place
  [[ -x $binary ]] || fail "$binary is not there: build it first"
  ln -s "$binary" "$work/bin/inject-config"
  printf '#!/bin/sh\nexec cat\n' >"$work/copy/inject-config"
  # Puts the endpoint of the injected resource, and not that of the config, into the Deployment.
  cat >"$work/bin/propagate" <<'S'
#!/bin/sh
items=$(cat)
auth=$(printf '%s\n' "$items" | sed -n "s/^    auth: '*\([^' ]*\).*/\1/p" | sort -u)
printf '%s\n' "$items" | sed "s/value: auth.invalid/value: $auth/"
S
  cp "$work/bin/propagate" "$work/copy/propagate"
  chmod +x "$work/copy/inject-config" "$work/bin/propagate" "$work/copy/propagate"

  step "kpt fn render --allow-exec: inject-config, then a function that reads what was injected"
  place=$work/inject
  cp -R "$root/examples/inject-config-service-endpoints/package" "$place"
  sed -i 's/^  - image: .*/  - exec: inject-config\n    configPath: inject-config.yaml\n  - exec: propagate/; /configPath: service-endpoints/d' "$place/Kptfile"
  cat >"$place/inject-config.yaml" <<'Y'
apiVersion: fn.kpt.dev/v1alpha1
kind: InjectConfig
metadata:
  name: useast1
  annotations:
    config.kubernetes.io/local-config: "true"
injectors:
- name: useast1-service-endpoints
resources:
- apiVersion: infra.example.com/v1
  kind: ServiceEndpoints
  metadata:
    name: useast1-service-endpoints
  spec:
    # Moves to the new cluster in May.
    auth: 'auth.useast1.example.com' # of the region
Y
  cp -R "$place" "$place-copy"
  with_copy kpt fn render "$place-copy" --allow-exec >/dev/null 2>&1
  with_function kpt fn render "$place" --allow-exec --truncate-output=false >"$work/inject.log" 2>&1 ||
    { cat "$work/inject.log" >&2; fail "render with inject-config"; }
  expect_diff "render with inject-config" "$place-copy" "$place" <<'D'
+  - conditionType: config.injection.ServiceEndpoints.service-endpoints
+  - type: config.injection.ServiceEndpoints.service-endpoints
+    status: "True"
+    reason: ConfigInjected
+    message: injected resource "useast1-service-endpoints" from cluster
+  - type: config.injection.ConfigMap.limits
+    status: "False"
+    reason: NoResourceSelected
+    message: no in-cluster resources of type v1.ConfigMap
-          value: auth.invalid # from service-endpoints
+          value: auth.useast1.example.com # from service-endpoints
+    kpt.dev/injected-resource-name: useast1-service-endpoints
-  auth: auth.invalid
-  metrics: metrics.invalid
+  # Moves to the new cluster in May.
+  auth: 'auth.useast1.example.com' # of the region
D
  expect_text "render with inject-config: kpt shows the results" "$work/inject.log" \
    'PASS' '\[info\].*injected' 'executed 2 function'
  expect_text "render with inject-config: the comments on gates and conditions stay" "$place/Kptfile" \
    'Set by the team' 'asked for by Ops' 'by hand, see the runbook'

  step "the same once more"
  cp -R "$place" "$place-once"
  with_function kpt fn render "$place" --allow-exec >"$work/inject.log" 2>&1 ||
    { cat "$work/inject.log" >&2; fail "second render with inject-config"; }
  diff -r "$place-once" "$place" || fail "render with inject-config: the second run changed something"
  ok "render with inject-config: the second run changes nothing, conditions and gates included"

  step "kpt fn eval --exec inject-config, with another resource"
  sed -i 's/auth.useast1/auth.useast2/' "$place/inject-config.yaml"
  cp -R "$place" "$place-before"
  kpt fn eval "$place" --exec "$binary" --fn-config "$place/inject-config.yaml" >"$work/inject.log" 2>&1 ||
    { cat "$work/inject.log" >&2; fail "eval with inject-config"; }
  expect_diff "eval with inject-config" "$place-before" "$place" <<'D'
-  auth: 'auth.useast1.example.com' # of the region
+  auth: 'auth.useast2.example.com' # of the region
D

  step "an invalid injection point"
  sed -i "s/config-injection: 'optional'/config-injection: maybe/; s/config-injection: optional/config-injection: maybe/" "$place/service-endpoints.yaml"
  cp -R "$place" "$place-bad"
  expect_failure "eval with an invalid injection point" "$work/inject.log" \
    kpt fn eval "$place" --exec "$binary" --fn-config "$place/inject-config.yaml" --truncate-output=false
  expect_text "eval with an invalid injection point: kpt shows why" "$work/inject.log" '\[error\].*maybe'
  diff -r "$place-bad" "$place" || fail "eval with an invalid injection point: the package was changed"
  ok "eval with an invalid injection point: the package is as it was"
}

# prepend-pipeline with kpt fn eval; kpt then renders the Kptfile. Runs 5 checks.
check_prepend_pipeline() {
  local binary=$1 place=$work/prepend
  [[ -x $binary ]] || fail "$binary is not there: build it first"
  ln -s "$work/copy/$function" "$work/copy/prepend-pipeline"
  # In a pipeline: says in an annotation that it ran.
  printf '#!/bin/sh\nexec sed "s/^      team: web$/      team: web-first/"\n' >"$work/bin/say-first"
  chmod +x "$work/bin/say-first"

  step "kpt fn eval --exec prepend-pipeline"
  mkdir "$place"
  cat >"$place/Kptfile" <<'Y'
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: app
info:
  readinessGates:
  - conditionType: reviewed # asked for by Ops
pipeline:
  mutators:
  # Of the blueprint.
  - exec: cat # reads nothing
status:
  conditions:
  - type: reviewed # by hand
    status: "False"
Y
  cat >"$place/app.yaml" <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
  annotations:
    team: web
Y
  cat >"$work/pv.yaml" <<'Y'
apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: my-pv
spec:
  pipeline:
    mutators:
    # Runs ahead of all others.
    - exec: say-first # of ours
      name: say
Y
  cp -R "$place" "$place-copy"
  with_copy kpt fn eval "$place-copy" --exec prepend-pipeline --fn-config "$work/pv.yaml" >/dev/null 2>&1
  kpt fn eval "$place" --exec "$binary" --fn-config "$work/pv.yaml" >"$work/prepend.log" 2>&1 ||
    { cat "$work/prepend.log" >&2; fail "eval with prepend-pipeline"; }
  expect_diff "eval with prepend-pipeline" "$place-copy" "$place" <<'D'
+  # Runs ahead of all others.
+  - exec: say-first # of ours
+    name: PackageVariant.my-pv.say.0
D
  cp -R "$place" "$place-once"
  kpt fn eval "$place" --exec "$binary" --fn-config "$work/pv.yaml" >"$work/prepend.log" 2>&1
  diff -r "$place-once" "$place" || fail "eval with prepend-pipeline: the second run changed something"
  ok "eval with prepend-pipeline: the second run changes nothing"

  step "kpt fn render --allow-exec of that Kptfile"
  with_function kpt fn render "$place" --allow-exec >"$work/prepend.log" 2>&1 ||
    { cat "$work/prepend.log" >&2; fail "render of the edited Kptfile"; }
  expect_text "render of the edited Kptfile: both functions ran" "$work/prepend.log" 'executed 2 function'
  expect_text "render of the edited Kptfile: the function ran" "$place/app.yaml" 'team: web-first'
  expect_text "render of the edited Kptfile: conditions, gates and comments stay" "$place/Kptfile" \
    'conditionType: reviewed # asked for by Ops' 'type: reviewed # by hand' '# Of the blueprint.' 'exec: cat # reads nothing'
}

identifiers() { sed -n "s/^ *internal.kpt.dev.upstream-identifier: *['\"]*\([^'\"]*\).*/\1/p" "$@" | sort; }

# render-variant with kpt fn eval: a clone of upstream, which kpt then renders. Runs 7 checks.
check_render_variant() {
  local binary=$1 place=$work/variant
  [[ -x $binary ]] || fail "$binary is not there: build it first"

  step "kpt fn eval --exec render-variant, with directories of the package for the roles"
  mkdir -p "$place/upstream" "$place/cluster"
  cat >"$place/upstream/Kptfile" <<'Y'
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: app
pipeline:
  mutators:
  - exec: propagate # of the blueprint
Y
  cat >"$place/upstream/app.yaml" <<'Y'
# What the app is.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
  annotations:
    team: web
spec:
  template:
    spec:
      containers:
      - name: app
        env:
        - name: AUTH
          value: auth.invalid # from service-endpoints
Y
  cat >"$place/upstream/endpoints.yaml" <<'Y'
apiVersion: infra.example.com/v1
kind: ServiceEndpoints
metadata:
  name: service-endpoints
  annotations:
    kpt.dev/config-injection: required
spec: {}
Y
  cat >"$place/cluster/endpoints.yaml" <<'Y'
apiVersion: infra.example.com/v1
kind: ServiceEndpoints
metadata:
  name: useast1-service-endpoints
spec:
  auth: 'auth.useast1.example.com' # until May
Y
  cat >"$work/variant.yaml" <<'Y'
apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: my-pv
  annotations:
    fn.kpt.dev/upstream-path: upstream
    fn.kpt.dev/resources-path: cluster
spec:
  upstream: {repo: blueprints, package: app, revision: v1}
  downstream: {repo: edge, package: edge-app}
  packageContext:
    data: {region: useast1}
  pipeline:
    mutators:
    - exec: say-first
      name: say
  injectors:
  - name: useast1-service-endpoints
Y
  kpt fn eval "$place" --exec "$binary" --fn-config "$work/variant.yaml" --truncate-output=false >"$work/variant.log" 2>&1 ||
    { cat "$work/variant.log" >&2; fail "eval with render-variant"; }
  expect_text "eval with render-variant: the Kptfile" "$place/Kptfile" \
    'name: edge-app' 'name: PackageVariant.my-pv.say.0' 'exec: propagate # of the blueprint' 'reason: ConfigInjected'
  expect_text "eval with render-variant: the package context" "$place/package-context.yaml" 'name: edge-app' 'region: useast1'
  rm -rf "$work/repository"
  mkdir "$work/repository"
  cp -R "$place/upstream" "$work/repository/app"
  git -C "$work/repository" init --quiet --initial-branch main
  git -C "$work/repository" add .
  git -C "$work/repository" -c user.name=n -c user.email=n@example.com commit --quiet -m app
  kpt pkg get "file://$work/repository/.git/app@main" "$work/got" >"$work/got.log" 2>&1 || { cat "$work/got.log" >&2; fail "kpt pkg get"; }
  diff <(identifiers "$work/got"/*.yaml) <(identifiers "$place/app.yaml" "$place/endpoints.yaml") || fail "render-variant: other identifiers than kpt's"
  ok "eval with render-variant: upstream-identifier is what kpt pkg get writes"
  expect_text "eval with render-variant: kpt shows the conditions" "$work/variant.log" 'Ready is True' 'Stalled is False'

  step "kpt fn render --allow-exec of the variant"
  # Its sources have done their part.
  rm -r "$place/upstream"
  with_function kpt fn render "$place" --allow-exec >"$work/variant.log" 2>&1 ||
    { cat "$work/variant.log" >&2; fail "render of the variant"; }
  expect_text "render of the variant: both functions ran, on what was injected" "$place/app.yaml" \
    'team: web-first' 'value: auth.useast1.example.com # from service-endpoints' '# What the app is.'

  step "render-variant once more, and kpt fn render"
  sed -i '/upstream-path/d' "$work/variant.yaml"
  cp -R "$place" "$place-once"
  kpt fn eval "$place" --exec "$binary" --fn-config "$work/variant.yaml" >"$work/variant.log" 2>&1 ||
    { cat "$work/variant.log" >&2; fail "second eval with render-variant"; }
  diff -r "$place-once" "$place" || fail "render-variant: the second run changed something"
  ok "render-variant: the second run changes nothing, conditions and gates included"
  cp "$place/Kptfile" "$work/Kptfile"
  with_function kpt fn render "$place" --allow-exec >"$work/variant.log" 2>&1
  diff "$work/Kptfile" "$place/Kptfile" || fail "render of the variant: the Kptfile was changed"
  ok "render of the variant: the Kptfile stays as it is"
}

# expand-variant-set with kpt fn eval, with the set and the objects in the package. Runs 3 checks.
check_expand_variant_set() {
  local binary=$1 place=$work/fleet example=$root/examples/expand-variant-set-fleet
  [[ -x $binary ]] || fail "$binary is not there: build it first"

  step "kpt fn eval --exec expand-variant-set"
  cp -R "$example/package" "$place"
  cp "$example/cluster.yaml" "$example/fn-config.yaml" "$place/"
  kpt fn eval "$place" --exec "$binary" --truncate-output=false >"$work/fleet.log" 2>&1 ||
    { cat "$work/fleet.log" >&2; fail "eval with expand-variant-set"; }
  expect_text "eval with expand-variant-set: kpt shows the counts" "$work/fleet.log" \
    '9 created, 1 updated, 0 unchanged, 1 removed' 'Ready is True'
  # kpt reformats; without a cluster the alone-standing run says what must be there.
  cp -R "$example/package" "$place-alone"
  "$binary" --package "$place-alone" --config "$example/fn-config.yaml" --resources "$example/cluster.yaml" 2>/dev/null
  [[ $(ls "$place/web") == "$(ls "$place-alone/web")" ]] || fail "eval with expand-variant-set: other files"
  ok "eval with expand-variant-set: the files are those of a run without kpt"
  cp -R "$place" "$place-once"
  kpt fn eval "$place" --exec "$binary" >"$work/fleet.log" 2>&1
  diff -r "$place-once" "$place" || fail "eval with expand-variant-set: the second run changed something"
  ok "eval with expand-variant-set: the second run changes nothing"
}

# merge-package in the three ways of its README. Runs 6 checks.
check_merge_package() {
  local binary=$1 place=$work/merge example=$root/examples/merge-package-upgrade
  [[ -x $binary ]] || fail "$binary is not there: build it first"

  step "kpt fn eval --exec merge-package"
  mkdir -p "$place/.upstream"
  cp -R "$example/package/." "$place/"
  cp -R "$example/original" "$place/.upstream/old"
  cp -R "$example/upstream" "$place/.upstream/new"
  cat >"$work/merge.yaml" <<'Y'
apiVersion: fn.kpt.dev/v1alpha1
kind: MergePackage
metadata:
  name: update
original: {path: .upstream/old}
upstream: {path: .upstream/new}
Y
  ln -s "$work/copy/$function" "$work/copy/merge-package"
  cp -R "$place" "$place-copy"
  with_copy kpt fn eval "$place-copy" --exec merge-package --fn-config "$work/merge.yaml" >/dev/null 2>&1
  kpt fn eval "$place" --exec "$binary" --fn-config "$work/merge.yaml" --truncate-output=false >"$work/merge.log" 2>&1 ||
    { cat "$work/merge.log" >&2; fail "eval with merge-package"; }
  expect_diff "eval with merge-package" "$place-copy" "$place" <<'D'
-    - image: gcr.io/kpt-fn/set-label:v0.1
-      configMap:
-        app: wordpress
+    - image: gcr.io/kpt-fn/set-labels:v0.1
+      configMap:
+        app: wordpress
-    - image: gcr.io/kpt-fn/kubeval:v0.1
+    - image: gcr.io/kpt-fn/kubeval:v0.3
-      storage: 5Gi # pictures
+      storage: 4Gi # pictures
D
  expect_text "eval with merge-package: kpt shows conflicts and counts" "$work/merge.log" \
    '\[warning\].*spec.resources.requests.storage: local and upstream both changed' '2 changed, 0 added.*1 conflict'
  sed '$a onConflict: error' "$work/merge.yaml" >"$work/merge-error.yaml"
  cp -R "$place-copy" "$place-error"
  expect_failure "eval with merge-package, conflicts as errors" "$work/merge.log" \
    kpt fn eval "$place-error" --exec "$binary" --fn-config "$work/merge-error.yaml"
  diff -r "$place-copy" "$place-error" || fail "eval with merge-package, conflicts as errors: the package was changed"
  ok "eval with merge-package, conflicts as errors: the package is as it was"

  step "kpt fn source | merge-package --original OLD --upstream NEW | kpt fn sink"
  kpt fn source "$example/package" | "$binary" --original "$example/original" --upstream "$example/upstream" |
    kpt fn sink "$place-sink"
  rm -r "$place/.upstream"
  diff -r "$place" "$place-sink" || fail "source | merge-package | sink: another result than with eval"
  ok "source | merge-package | sink: the result is that of eval"
  # Behind a merge: nothing but the conflict, which upstream won.
  kpt fn source "$place" | "$binary" --original "$example/original" --upstream "$example/upstream" >"$work/merge.list"
  ! grep -q '^results:' "$work/merge.list" || { cat "$work/merge.list" >&2; fail "merge-package again: there are results"; }
  ok "merge-package again: nothing is left to say"
}

# apply-patch, apply-config and create-patch with kpt fn eval and between source and sink. Runs 6 checks.
check_patches() {
  local binaries=$1 place=$work/patches example=$root/examples/apply-config-deployment name
  for name in apply-patch apply-config create-patch; do
    [[ -x $binaries/$name ]] || fail "$binaries/$name is not there: build it first"
    sed "s/KIND/$(sed -E 's/(^|-)(.)/\U\2/g' <<<"$name")/" >"$work/$name.yaml" <<'Y'
apiVersion: fn.kpt.dev/v1alpha1
kind: KIND
metadata:
  name: front
listOrder: apiserver
Y
  done
  cat >>"$work/apply-patch.yaml" <<'Y'
patches:
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: front
    namespace: shop
  spec:
    replicas: 3
Y
  echo 'live: {path: live}' | tee -a "$work/apply-config.yaml" >>"$work/create-patch.yaml"
  mkdir "$place"
  cp -R "$example/package/." "$example/live" "$place/"

  step "kpt fn eval --exec apply-patch"
  ln -s "$work/copy/$function" "$work/copy/apply-patch"
  cp -R "$example/package" "$place-patched"
  cp -R "$example/package" "$place-copy"
  with_copy kpt fn eval "$place-copy" --exec apply-patch --fn-config "$work/apply-patch.yaml" >/dev/null 2>&1
  kpt fn eval "$place-patched" --exec "$binaries/apply-patch" --fn-config "$work/apply-patch.yaml" >"$work/patches.log" 2>&1 ||
    { cat "$work/patches.log" >&2; fail "eval with apply-patch"; }
  expect_diff "eval with apply-patch" "$place-copy" "$place-patched" <<'D'
+  replicas: 3
D

  step "kpt fn eval --exec apply-config, and between source and sink"
  cp -R "$place" "$place-applied"
  kpt fn eval "$place-applied" --exec "$binaries/apply-config" --fn-config "$work/apply-config.yaml" >"$work/patches.log" 2>&1 ||
    { cat "$work/patches.log" >&2; fail "eval with apply-config"; }
  expect_text "eval with apply-config: the live resource with the config's fields" "$place-applied/deployment.yaml" \
    'name: mesh-proxy' 'image: registry.example.com/front:1.5.0' 'last-applied-configuration:'
  diff -r "$place/live" "$place-applied/live" || fail "eval with apply-config: the live resource was changed"
  ok "eval with apply-config: the live resource stays as it is"
  kpt fn source "$example/package" | "$binaries/apply-config" --live "$example/live" listOrder=apiserver |
    kpt fn sink "$place-sink"
  diff "$place-applied/deployment.yaml" "$place-sink/deployment.yaml" || fail "source | apply-config | sink: another result than with eval"
  ok "source | apply-config | sink: the result is that of eval"

  step "kpt fn eval - --exec create-patch, and between source and sink"
  kpt fn source "$place" | kpt fn eval - --exec "$binaries/create-patch" --fn-config "$work/create-patch.yaml" 2>"$work/patches.log" |
    kpt fn sink "$place-made" || { cat "$work/patches.log" >&2; fail "eval with create-patch"; }
  expect_text "eval with create-patch: a patch" "$place-made/shop/deployment_front.yaml" \
    'image: registry.example.com/front:1.5.0' 'patch: delete' 'minReadySeconds: null'
  kpt fn source "$example/package" | "$binaries/create-patch" --live "$example/live" listOrder=apiserver |
    kpt fn sink "$place-made-sink"
  diff "$place-made/shop/deployment_front.yaml" "$place-made-sink/shop/deployment_front.yaml" ||
    fail "source | create-patch | sink: another patch than with eval"
  ok "source | create-patch | sink: the patch is that of eval"
}

# The second half, which the first calls inside of the container wrapper.
container_checks() {
  step "podman build: the Dockerfile, with a directory for its build stage"
  podman build --quiet --network none --build-context "build=$work/static" \
    --build-arg FUNCTION="$function" -t "$image" "$root" >"$work/build.log" 2>&1 ||
    { cat "$work/build.log" >&2; fail "image build"; }
  ok "the image is built"

  step "podman run: as kpt fn doc does"
  podman run --rm -i --network none --user nobody --security-opt=no-new-privileges \
    "$image" --help >"$work/help.log" 2>&1 || { cat "$work/help.log" >&2; fail "--help in the container"; }
  expect_text "--help in the container names the function" "$work/help.log" "$function"

  step "kpt fn eval --image $image -- region=useast1"
  fresh "$work/image"
  kpt fn eval "$work/image" --image "$image" --image-pull-policy never --truncate-output=false \
    -- region=useast1 >"$work/image.log" 2>&1 || { cat "$work/image.log" >&2; fail "eval --image"; }
  expect_diff "eval --image" "$work/eval-copy" "$work/image" <<'D'
-  region: 'us-west1' # where the cluster is made
+  region: 'useast1' # where the cluster is made
D
  expect_text "eval --image: kpt shows the results" "$work/image.log" 'PASS' '^ *Results:' '\[info\].*region'

  step "kpt fn eval --image $image -- name=x"
  fresh "$work/image"
  expect_failure "eval --image with a reserved key" "$work/image.log" \
    kpt fn eval "$work/image" --image "$image" --image-pull-policy never --truncate-output=false -- name=x
  diff -r "$package" "$work/image" || fail "a failing container changed the package"
  ok "eval --image with a reserved key: the package is as it was"
}

if [[ ${1-} == --container-checks ]]; then
  work=$2
  container_checks
  echo "$checks" >"$work/container-checks"
  exit 0
fi

[[ $# -eq 1 && -d $1 ]] || { echo "usage: $0 DIR_OF_BUILT_BINARIES" >&2; exit 2; }
binary=$(cd "$1" && pwd)/$function
[[ -x $binary ]] || fail "$binary is not there: build it first"
command -v kpt >/dev/null || fail "kpt is not on PATH"
echo "kpt $(kpt version 2>/dev/null || true), $binary"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/copy" "$work/static"
ln -s "$binary" "$work/bin/$function"
printf '#!/bin/sh\nexec cat\n' >"$work/copy/$function"
chmod +x "$work/copy/$function"

step "kpt fn eval --exec $function -- region=useast1"
fresh "$work/eval-copy"
with_copy kpt fn eval "$work/eval-copy" --exec "$function" -- region=useast1 >/dev/null 2>&1
fresh "$work/eval"
kpt fn eval "$work/eval" --exec "$binary" --truncate-output=false --results-dir "$work/eval-results" \
  -- region=useast1 >"$work/eval.log" 2>&1 || { cat "$work/eval.log" >&2; fail "eval --exec"; }
expect_diff "eval --exec" "$work/eval-copy" "$work/eval" <<'D'
-  region: 'us-west1' # where the cluster is made
+  region: 'useast1' # where the cluster is made
D
expect_text "eval --exec: kpt shows the results" "$work/eval.log" 'PASS' '^ *Results:' '\[info\].*region'
expect_text "eval --exec: kpt stores the results" "$work/eval-results/results.yaml" \
  'kind: FunctionResultList' 'severity: info' 'region' 'path: data'

step "the same once more"
cp -R "$work/eval" "$work/eval-once"
with_function kpt fn eval "$work/eval" --exec "$function" -- region=useast1 >"$work/eval.log" 2>&1
diff -r "$work/eval-once" "$work/eval" || fail "eval --exec: the second run changed something"
if grep -q 'Results' "$work/eval.log"; then
  cat "$work/eval.log" >&2
  fail "eval --exec: the second run has results"
fi
ok "eval --exec: the second run changes nothing and says nothing"

step "kpt fn render --allow-exec, one entry with configMap and one with configPath"
fresh "$work/render"
cat >"$work/render/set-package-context.yaml" <<'Y'
apiVersion: fn.kpt.dev/v1alpha1
kind: SetPackageContext
metadata:
  name: site
  annotations:
    config.kubernetes.io/local-config: "true"
data:
  site: "042" # as on the rack's label
removeKeys:
- zone
Y
# The pipeline is the Kptfile's last section; upstream's needs an image from a registry.
sed -i '/^pipeline:/,$d' "$work/render/Kptfile"
cat >>"$work/render/Kptfile" <<Y
pipeline:
  mutators:
  - exec: $function
    configMap:
      region: useast1
  - exec: $function
    configPath: set-package-context.yaml
Y
cp -R "$work/render" "$work/render-copy"
cp -R "$work/render" "$work/render-bad"
with_copy kpt fn render "$work/render-copy" --allow-exec >/dev/null 2>&1
with_function kpt fn render "$work/render" --allow-exec --truncate-output=false \
  --results-dir "$work/render-results" >"$work/render.log" 2>&1 ||
  { cat "$work/render.log" >&2; fail "render"; }
expect_diff "render" "$work/render-copy" "$work/render" <<'D'
-  region: 'us-west1' # where the cluster is made
-  # Left over from the time of clusters with one zone.
-  zone: us-west1-b
+  region: 'useast1' # where the cluster is made
+  site: "042" # as on the rack's label
D
expect_text "render: kpt shows the results of both" "$work/render.log" \
  'PASS' '^ *Results:' '\[info\].*region' '\[info\].*site' '\[info\].*zone' 'executed 2 function'
expect_text "render: kpt stores the results" "$work/render-results/results.yaml" \
  'kind: FunctionResultList' 'severity: info' 'region' 'site' 'zone' 'path: data'

step "kpt fn source | $function region=useast1 | kpt fn sink"
fresh "$work/source"
kpt fn source "$work/source" | "$work/copy/$function" | kpt fn sink "$work/sink-copy"
kpt fn source "$work/source" | "$binary" region=useast1 | kpt fn sink "$work/sink"
expect_diff "source | sink" "$work/sink-copy" "$work/sink" <<'D'
-  region: 'us-west1' # where the cluster is made
+  region: 'useast1' # where the cluster is made
D
diff -r "$package" "$work/source" || fail "source | sink: the source was changed"
ok "source | sink: the source is as it was"

step "a reserved key: kpt fn eval --exec $function -- name=x"
fresh "$work/bad"
expect_failure "eval with a reserved key" "$work/bad.log" \
  kpt fn eval "$work/bad" --exec "$binary" --truncate-output=false -- name=x
expect_text "eval with a reserved key: kpt shows why" "$work/bad.log" '^ *Results:' '\[error\]' 'reserved'
diff -r "$package" "$work/bad" || fail "eval with a reserved key: the package was changed"
ok "eval with a reserved key: the package is as it was"

step "a reserved key in a pipeline, behind a good entry"
sed -i 's/^  site: .*/  name: x/' "$work/render-bad/set-package-context.yaml"
cp -R "$work/render-bad" "$work/render-bad-before"
expect_failure "render with a reserved key" "$work/bad.log" \
  with_function kpt fn render "$work/render-bad" --allow-exec --truncate-output=false
expect_text "render with a reserved key: kpt shows why" "$work/bad.log" '\[error\]' 'reserved'
diff -r "$work/render-bad-before" "$work/render-bad" || fail "render with a reserved key: the package was changed"
ok "render with a reserved key: the package is as it was"

check_inject_config "$(dirname "$binary")/inject-config"
check_prepend_pipeline "$(dirname "$binary")/prepend-pipeline"
check_render_variant "$(dirname "$binary")/render-variant"
check_expand_variant_set "$(dirname "$binary")/expand-variant-set"
check_merge_package "$(dirname "$binary")/merge-package"
check_patches "$(dirname "$binary")"

expected=$((15 + 8 + 5 + 7 + 3 + 6 + 6))
left_out=""
wrapper=$shared/tools/with-containers.sh
if [[ -x $wrapper ]]; then
  expected=$((expected + 6))
  step "a static binary for the image"
  # Not in a pipe: `grep -q` ends first, and ldd then fails.
  if [[ $(ldd "$binary" 2>&1) == *'=>'* ]]; then
    # The release binary uses the system's C library, which an image from scratch does not have.
    target=$(uname -m)-unknown-linux-musl
    if rustup target add "$target" >/dev/null 2>&1; then
      (cd "$root" && cargo build --release --locked --target "$target" --package "$function")
    else
      target=$(uname -m)-unknown-linux-gnu
      (cd "$root" && RUSTFLAGS="-C target-feature=+crt-static" \
        cargo build --release --locked --target "$target" --package "$function")
    fi
    binary=${CARGO_TARGET_DIR:-$root/target}/$target/release/$function
  fi
  cp "$binary" "$work/static/$function"
  "$wrapper" bash "$0" --container-checks "$work"
  checks=$((checks + $(<"$work/container-checks")))
else
  left_out="; left out: containers ($wrapper is not there)"
fi

[[ $checks -eq $expected ]] || fail "$checks checks ran, expected $expected"
echo "all $checks checks passed$left_out"
