#!/usr/bin/env bash
# Runs the built set-package-context, expand-variant-set and merge-package through the real kustomize, as exec transformers,
# and asks it whether the patches of create-patch do what they should, and whether merged kustomizations have the edits of
# both sides.
#
#   tests/with_kustomize.sh DIR     DIR holds the built binaries, target/release for one
#
# Takes kustomize from PATH, or else builds the pinned version with Go into target/kustomize.
# Ends with 77 if neither works. (kubectl kustomize will not do: it refuses exec functions.)
set -euo pipefail

version=v5.8.2
root=$(cd "$(dirname "$0")/.." && pwd)
function=set-package-context
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

[[ $# -eq 1 && -d $1 ]] || { echo "usage: $0 DIR_OF_BUILT_BINARIES" >&2; exit 2; }
binary=$(cd "$1" && pwd)/$function
[[ -x $binary ]] || fail "$binary is not there: build it first"

if command -v kustomize >/dev/null; then
  kustomize=$(command -v kustomize)
else
  cache=${CARGO_TARGET_DIR:-$root/target}/kustomize/$version
  kustomize=$cache/kustomize
  if [[ ! -x $kustomize ]]; then
    command -v go >/dev/null || { echo "neither kustomize nor go is on PATH"; exit 77; }
    step "go install kustomize $version"
    mkdir -p "$cache"
    GOBIN=$(cd "$cache" && pwd) go install "sigs.k8s.io/kustomize/kustomize/v5@$version" ||
      { echo "kustomize $version cannot be installed"; exit 77; }
  fi
fi
echo "kustomize $("$kustomize" version), $binary"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# usage: kustomization NAME DATA_LINE...   a directory with the example's package context and one more item
kustomization() {
  local dir=$work/$1
  shift
  mkdir "$dir"
  # kustomize leaves local-config items out of its output, and here it is the output that tells.
  grep -Ev '^  annotations:|local-config' "$package/package-context.yaml" >"$dir/package-context.yaml"
  cp "$package/workload-cluster.yaml" "$dir/"
  printf 'resources:\n- package-context.yaml\n- workload-cluster.yaml\ntransformers:\n- fn-config.yaml\n' \
    >"$dir/kustomization.yaml"
  cat >"$dir/fn-config.yaml" <<Y
apiVersion: fn.kpt.dev/v1alpha1
kind: SetPackageContext
metadata:
  name: region-and-site
  annotations:
    config.kubernetes.io/function: |
      exec:
        path: ./$function
Y
  printf '%s\n' "$@" >>"$dir/fn-config.yaml"
  ln -s "$binary" "$dir/$function"
}
build() { "$kustomize" build --enable-alpha-plugins --enable-exec "$@"; }

step "kustomize build with $function as a transformer"
kustomization good 'data:' '  region: us-east1' '  site: "042"' 'removeKeys:' '- zone'
cp -R "$work/good" "$work/copy"
rm "$work/copy/$function"
printf '#!/bin/sh\nexec cat\n' >"$work/copy/$function"
chmod +x "$work/copy/$function"
cp -R "$work/good" "$work/good-before"
build "$work/copy" >"$work/copy.out"
build "$work/good" >"$work/good.out" 2>"$work/good.err" || { cat "$work/good.err" >&2; fail "kustomize build"; }
# kustomize sorts keys and drops comments itself, in the copy as well.
diff -u --label 'expected lines' --label 'found lines' - \
  <(diff -U0 "$work/copy.out" "$work/good.out" | grep -Ev '^(---|\+\+\+|@@) ' || true) <<'D' ||
-  region: us-west1
+  region: us-east1
+  site: "042"
-  zone: us-west1-b
D
  fail "other lines changed than expected"
ok "exactly the expected lines changed"
[[ ! -s $work/good.err ]] || { cat "$work/good.err" >&2; fail "a good run wrote to stderr"; }
ok "nothing is on stderr"
diff -r "$work/good-before" "$work/good" || fail "kustomize build changed its input"
ok "the kustomization is as it was"

step "kustomize build with a reserved key"
kustomization bad 'data:' '  name: x'
code=0
build "$work/bad" >"$work/bad.out" 2>"$work/bad.err" || code=$?
[[ $code -ne 0 ]] || fail "a reserved key: exit code 0"
ok "a reserved key: ended with an error"
[[ ! -s $work/bad.out ]] || { cat "$work/bad.out" >&2; fail "a reserved key: there is output"; }
ok "a reserved key: there is no output"
# Results do not reach the user of kustomize: stderr is all there is.
grep -q 'reserved' "$work/bad.err" || { cat "$work/bad.err" >&2; fail "a reserved key: stderr does not say why"; }
ok "a reserved key: stderr says why"

step "kustomize build with expand-variant-set as a transformer"
fleet=$root/examples/expand-variant-set-fleet
mkdir "$work/fleet"
cp "$fleet/cluster.yaml" "$work/fleet/"
sed 's|^  namespace: default|&\n  annotations:\n    config.kubernetes.io/function: "exec: {path: ./expand-variant-set}"|' \
  "$fleet/fn-config.yaml" >"$work/fleet/set.yaml"
ln -s "$(dirname "$binary")/expand-variant-set" "$work/fleet/expand-variant-set"
printf 'resources:\n- cluster.yaml\ntransformers:\n- set.yaml\n' >"$work/fleet/kustomization.yaml"
build "$work/fleet" >"$work/fleet.out" 2>"$work/fleet.err" || { cat "$work/fleet.err" >&2; fail "kustomize build"; }
found=$(grep -c '^kind: PackageVariant$' "$work/fleet.out") || true
[[ $found -eq 10 ]] || { cat "$work/fleet.out" >&2; fail "$found PackageVariants, expected 10"; }
ok "there are 10 PackageVariants"
grep -q '^  name: web-prod-useast1-web$' "$work/fleet.out" || fail "no PackageVariant web-prod-useast1-web"
ok "one of them is web-prod-useast1-web"

step "kustomize build with merge-package as a transformer"
mkdir "$work/merge" "$work/merge-annotated"
config_map() { # usage: config_map DATA [NAMESPACE SOURCE]
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n'
  [[ $# -eq 1 ]] || printf '  namespace: %s\n  annotations:\n    config.kubernetes.io/merge-source: %s\n' "$2" "$3"
  printf 'data: {%s}\n' "$1"
}
for dir in "$work/merge" "$work/merge-annotated"; do
  cat >"$dir/merge.yaml" <<'Y'
apiVersion: fn.kpt.dev/v1alpha1
kind: MergePackage
metadata:
  name: merge
  annotations:
    config.kubernetes.io/function: "exec: {path: ./merge-package}"
Y
  ln -s "$(dirname "$binary")/merge-package" "$dir/merge-package"
  printf 'resources: [dest.yaml]\ntransformers: [merge.yaml]\n' >"$dir/kustomization.yaml"
done
config_map 'size: "5", image: "app:1"' >"$work/merge/dest.yaml"
{
  echo 'original:'
  config_map 'size: "1", image: "app:1"' | sed '1s/^/- /; 2,$s/^/  /'
  echo 'upstream:'
  config_map 'size: "1", image: "app:2"' | sed '1s/^/- /; 2,$s/^/  /'
} >>"$work/merge/merge.yaml"
# Three resources of one identity are an error of kustomize, so each has a namespace of its own.
config_map 'size: "5", image: "app:1"' local dest >"$work/merge-annotated/dest.yaml"
config_map 'size: "1", image: "app:1"' old original >>"$work/merge-annotated/original.yaml"
config_map 'size: "1", image: "app:2"' new updated >>"$work/merge-annotated/updated.yaml"
sed -i 's/dest.yaml/dest.yaml, original.yaml, updated.yaml/' "$work/merge-annotated/kustomization.yaml"
for dir in merge merge-annotated; do
  build "$work/$dir" >"$work/merge.out" 2>"$work/merge.err" || { cat "$work/merge.err" >&2; fail "kustomize build"; }
  found=$(sed -n '/^data:/,/^kind:/p' "$work/merge.out")
  [[ $found == $'data:\n  image: app:2\n  size: "5"\nkind: ConfigMap' ]] ||
    { cat "$work/merge.out" >&2; fail "$dir: the result is another one"; }
  ok "$dir: both changes are in the one result"
done

step "kustomize build with patches of create-patch"
if command -v python3 >/dev/null; then
  python3 "$root/tests/kustomize_patches.py" "$(dirname "$binary")" "$kustomize build" >"$work/patches.log" 2>&1 ||
    { grep -v '^ok: ' "$work/patches.log" >&2; fail "patches for kustomize"; }
  grep -c '^ok: ' "$work/patches.log"
else
  echo "left out: there is no python3"
fi

step "merges of kustomizations"
if python3 -c 'import yaml' 2>/dev/null; then
  python3 "$root/tests/kustomize_merges.py" "$(dirname "$binary")" "$kustomize build" >"$work/merges.log" 2>&1 ||
    { cat "$work/merges.log" >&2; fail "a merge has not the edits of both sides"; }
  tail -1 "$work/merges.log"
else
  echo "left out: there is no python3 with PyYAML"
fi

# Forks of real projects, from bare clones in OWNER+NAME/repo.
if [[ -n ${KRM_VARIANTS_MIRRORS-} ]] && python3 -c 'import yaml' 2>/dev/null; then
  step "overlays of forks"
  python3 "$root/tests/overlays.py" "$(dirname "$binary")" "$kustomize build" "$KRM_VARIANTS_MIRRORS" >"$work/overlays.log" 2>&1 ||
    { cat "$work/overlays.log" >&2; fail "an overlay does not make its fork"; }
  tail -1 "$work/overlays.log"
fi

[[ $checks -eq 10 ]] || fail "$checks checks ran, expected 10"
echo "all $checks checks passed"
