#!/usr/bin/env bash
# Runs every function as an image: through `kpt fn eval --image`, in the pipeline of a Kptfile by `kpt fn render`, and as
# a container of kustomize. Each must do what the program itself does there (`--exec`), and change something.
#
#   WRAPPER tests/with_images.sh DIR     DIR holds static binaries: target/x86_64-unknown-linux-musl/release for one
#
# WRAPPER runs a command with a container engine, such as $KRM_VARIANTS_SHARED/tools/with-containers.sh. Needs kpt and
# kustomize on PATH; ends with 77 without an engine or one of them. Not a part of .ci/run, which builds no static binaries.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
[[ $# -eq 1 && -d $1 ]] || { echo "usage: $0 DIR_OF_STATIC_BINARIES" >&2; exit 2; }
binaries=$(cd "$1" && pwd)
engine=$(command -v podman || command -v docker) || { echo "neither podman nor docker is on PATH"; exit 77; }
for program in kpt kustomize; do
  command -v "$program" >/dev/null || { echo "$program is not on PATH"; exit 77; }
done
examples=$root/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

checks=0
failed=0
ok() {
  checks=$((checks + 1))
  echo "ok: $*"
}
fail() {
  failed=$((failed + 1))
  echo "FAILED: $*" >&2
}
image_of() { echo "localhost/krm-variants/$1:test"; }

# usage: inline FILE     the resources of a file as items of a list
inline() { sed '/^---$/d; s/^/  /; s/^  apiVersion/- apiVersion/' "$1"; }

without_pipeline() {
  python3 - "$1" <<'P'
import re, sys
text = open(sys.argv[1]).read()
open(sys.argv[1], "w").write(re.sub(r"(?m)^pipeline:\n(?:[ -].*\n|#.*\n)*", "", text))
P
}

# Makes the package and the config of a function, in $work/cases/<function>.
prepare() {
  local function=$1 place=$work/cases/$1
  mkdir -p "$place"
  case $function in
    set-package-context) cp -R "$examples/set-package-context-simple/"{package,fn-config.yaml} "$place" ;;
    prepend-pipeline) cp -R "$examples/prepend-pipeline-namespace/"{package,fn-config.yaml} "$place" ;;
    inject-config)
      cp -R "$examples/inject-config-service-endpoints/package" "$place"
      {
        printf 'apiVersion: fn.kpt.dev/v1alpha1\nkind: InjectConfig\nmetadata:\n  name: i\n'
        printf 'injectors:\n- name: useast1-service-endpoints\nresources:\n'
        inline "$examples/inject-config-service-endpoints/cluster.yaml"
      } >"$place/fn-config.yaml"
      ;;
    render-variant)
      cp -R "$examples/inject-config-service-endpoints/package" "$place"
      cp "$examples/render-variant-clone/fn-config.yaml" "$place"
      cp "$examples/render-variant-clone/resources/endpoints.yaml" "$place/package/endpoints.yaml"
      cp "$examples/set-package-context-simple/package/package-context.yaml" "$place/package"
      ;;
    expand-variant-set)
      cp -R "$examples/expand-variant-set-fleet/"{package,fn-config.yaml} "$place"
      cp "$examples/expand-variant-set-fleet/cluster.yaml" "$place/package/cluster.yaml"
      ;;
    merge-package)
      cp -R "$examples/merge-package-upgrade/package" "$place"
      cp -R "$examples/merge-package-upgrade/"{original,upstream} "$place/package"
      # kpt would run their functions as well.
      without_pipeline "$place/package/original/Kptfile"
      without_pipeline "$place/package/upstream/Kptfile"
      cat "$examples/merge-package-upgrade/fn-config.yaml" - >"$place/fn-config.yaml" <<<$'original: {path: original}\nupstream: {path: upstream}'
      ;;
    render-fleet)
      cp -R "$examples/render-fleet-clusters/"{package,catalog} "$place"
      cp "$examples/render-fleet-clusters/variants/fleet.yaml" "$place/package"
      mkdir "$place/package/resources"
      cp "$examples/render-fleet-clusters/repositories.yaml" "$place/package/resources"
      cat "$examples/render-fleet-clusters/fn-config.yaml" - >"$place/fn-config.yaml" <<Y
catalog: [{name: catalog, path: $place/catalog}]
resources: {path: resources}
Y
      ;;
    create-overlay | review-package)
      local kind=CreateOverlay role=upstream
      if [[ $function == review-package ]]; then kind=ReviewPackage role=before; fi
      cp -R "$examples/create-overlay-fork/fork" "$place/package"
      cp -R "$examples/create-overlay-fork/upstream" "$place/package/$role"
      printf 'apiVersion: fn.kpt.dev/v1alpha1\nkind: %s\nmetadata:\n  name: c\n%s: {path: %s}\n' "$kind" "$role" "$role" \
        >"$place/fn-config.yaml"
      ;;
    apply-patch)
      cp -R "$examples/apply-config-deployment/package" "$place"
      cat >"$place/fn-config.yaml" <<'Y'
apiVersion: fn.kpt.dev/v1alpha1
kind: ApplyPatch
metadata:
  name: p
patches:
- target: {kind: Deployment}
  patch:
    spec:
      minReadySeconds: 7 # by the platform team
Y
      ;;
    apply-config | create-patch)
      cp -R "$examples/apply-config-deployment/package" "$place"
      {
        printf 'apiVersion: fn.kpt.dev/v1alpha1\nkind: %s\nmetadata:\n  name: c\nlive:\n' \
          "$([[ $function == apply-config ]] && echo ApplyConfig || echo CreatePatch)"
        inline "$examples/apply-config-deployment/live/front.yaml"
      } >"$place/fn-config.yaml"
      ;;
  esac
}

# usage: compare WHAT BEFORE BY_EXEC BY_IMAGE
compare() {
  if diff -r "$2" "$3" >/dev/null; then fail "$1: the program changed nothing"; return; fi
  if diff -r "$3" "$4"; then ok "$1"; else fail "$1: the image did something else"; fi
}

# usage: both NAME COMMAND...     runs it for `exec` and `image`, each on a copy of $work/<name>-before
both() {
  local name=$1 way
  shift
  for way in exec image; do
    rm -rf "$work/$name-$way"
    cp -R "$work/$name-before" "$work/$name-$way"
    "$@" "$way" "$work/$name-$way" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
  done
}

eval_one() {
  local function=$1 way=$2 place=$3
  local -a flags=(--exec "$binaries/$function")
  if [[ $way == image ]]; then
    flags=(--image "$(image_of "$function")" --image-pull-policy never
      --mount "type=bind,src=$work/cases,dst=$work/cases")
  fi
  # A review leaves the items unchanged: its findings are results.
  if [[ $function == review-package ]]; then flags+=(--results-dir "$place/results"); fi
  kpt fn eval "$place" --fn-config "$work/cases/$function/fn-config.yaml" --truncate-output=false "${flags[@]}" || return
  # The name of the function is what differs.
  if [[ -d $place/results ]]; then sed -i '/^  - \(image\|exec\): /d' "$place"/results/*; fi
}

render_one() {
  local function=$1 way=$2 place=$3
  local how="exec: $binaries/$function"
  local -a flags=(--allow-exec)
  if [[ $way == image ]]; then
    how="image: $(image_of "$function")"
    flags=(--image-pull-policy never)
  fi
  sed -i "s|HOW|$how|" "$place/Kptfile"
  kpt fn render "$place" --truncate-output=false "${flags[@]}" || return
  # The name of the function is what differs.
  sed -i "s|$how|HOW|" "$place/Kptfile"
}

kustomize_one() {
  local function=$1 way=$2 place=$3 how
  how=$'      exec:\n        path: '$binaries/$function
  if [[ $way == image ]]; then how=$'      container:\n        image: '$(image_of "$function"); fi
  awk -v how="$how" '{ print } /^  annotations: # of kustomize/ { print "    config.kubernetes.io/function: |"; print how }' \
    "$place/fn-config.yaml" >"$place/fn.yaml"
  kustomize build --enable-alpha-plugins --enable-exec "$place" >"$place/out.yaml" || return
  rm "$place/fn.yaml"
}

for source in "$root"/functions/*/; do
  function=$(basename "$source")
  echo "== $function"
  "$engine" build --quiet --network none --build-context "build=$binaries" --build-arg FUNCTION="$function" \
    -t "$(image_of "$function")" "$root" >/dev/null
  prepare "$function"
  case=$work/cases/$function

  cp -R "$case/package" "$work/eval-before"
  both eval eval_one "$function" || { fail "$function: kpt fn eval"; rm -rf "$work/eval-before"; continue; }
  compare "$function: kpt fn eval --image" "$work/eval-before" "$work/eval-exec" "$work/eval-image"
  rm -rf "$work/eval-before"

  # A catalog is a directory outside of the package, which `kpt fn render` and kustomize do not mount. An overlay takes the
  # place of its fork, and a review changes no item.
  if [[ $function =~ ^(render-fleet|create-overlay|review-package)$ ]]; then continue; fi

  # Patches take the places of the items, and kpt deletes a Kptfile that is not among them.
  if [[ $function != create-patch ]]; then
    cp -R "$case/package" "$work/render-before"
    if [[ ! -f $work/render-before/Kptfile ]]; then
      printf 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: app\n' >"$work/render-before/Kptfile"
    fi
    without_pipeline "$work/render-before/Kptfile"
    printf 'pipeline:\n  mutators:\n  - HOW\n    configPath: of-function.yaml\n' >>"$work/render-before/Kptfile"
    cp "$case/fn-config.yaml" "$work/render-before/of-function.yaml"
    both render render_one "$function" || { fail "$function: kpt fn render"; rm -rf "$work/render-before"; continue; }
    compare "$function: kpt fn render" "$work/render-before" "$work/render-exec" "$work/render-image"
    rm -rf "$work/render-before"
  fi

  # The packages to merge are in directories, and kustomize takes no resource twice.
  if [[ $function == merge-package ]]; then continue; fi
  # It drops what is marked as local.
  mkdir "$work/kustomize-before"
  {
    echo resources:
    (cd "$case/package" && find . -name '*.yaml' | sort | sed 's/^/- /')
    if [[ -f $case/package/Kptfile ]]; then echo '- Kptfile.yaml'; fi
    echo 'transformers:'
    echo '- fn.yaml'
  } >"$work/kustomize-before/kustomization.yaml"
  (cd "$case/package" && find . -name '*.yaml' -exec cp --parents {} "$work/kustomize-before" \;)
  if [[ -f $case/package/Kptfile ]]; then cp "$case/package/Kptfile" "$work/kustomize-before/Kptfile.yaml"; fi
  sed -i '/local-config/d' $(find "$work/kustomize-before" -name '*.yaml')
  sed -i -z 's/\n  annotations:\n\([^ ]\)/\n\1/g; s/\n  annotations:\n  \([a-z]\)/\n  \1/g' $(find "$work/kustomize-before" -name '*.yaml')
  awk '/^  annotations:/ && !done { print "  annotations: # of kustomize"; done = 1; next }
       { print }' "$case/fn-config.yaml" >"$work/kustomize-before/fn-config.yaml"
  if ! grep -q 'of kustomize' "$work/kustomize-before/fn-config.yaml"; then
    sed -i '0,/^metadata:/s//metadata:\n  annotations: # of kustomize/' "$work/kustomize-before/fn-config.yaml"
  fi
  sed '/^transformers:/,$d' "$work/kustomize-before/kustomization.yaml" >"$work/plain.yaml"
  cp -R "$work/kustomize-before" "$work/plain"
  mv "$work/plain.yaml" "$work/plain/kustomization.yaml"
  kustomize build "$work/plain" >"$work/kustomize-before/out.yaml"
  rm -rf "$work/plain"
  if both kustomize kustomize_one "$function"; then
    compare "$function: a container of kustomize" "$work/kustomize-before" "$work/kustomize-exec" "$work/kustomize-image"
  else
    fail "$function: kustomize build"
  fi
  rm -rf "$work/kustomize-before"
done

echo "$checks checks, $failed failed"
[[ $failed -eq 0 ]]
