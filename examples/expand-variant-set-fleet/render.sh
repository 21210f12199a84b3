#!/usr/bin/env bash
# Expands the set, then renders each PackageVariant: OUT gets a directory per cluster and package.
#
#   render.sh DIR OUT        DIR holds the built binaries
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
binaries=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)

cp -R "$here/package" "$out/fleet"
"$binaries/expand-variant-set" --package "$out/fleet" \
  --config "$here/fn-config.yaml" --resources "$here/cluster.yaml"

count=0
for variant in "$out"/fleet/web/*.yaml; do
  name=$(basename "$variant" .yaml)
  "$binaries/render-variant" --package "$out/rendered/$name" \
    --config "$variant" --upstream "$here/upstream" --resources "$here/cluster.yaml"
  count=$((count + 1))
done

# Each has its own name and endpoints.
for kptfile in "$out"/rendered/*/Kptfile; do
  grep -q 'reason: ConfigInjected' "$kptfile" || { echo "$kptfile: nothing is injected" >&2; exit 1; }
done
grep -q 'useast1' "$out/rendered/web-prod-useast1-web/endpoints.yaml"
echo "$count packages in $out/rendered"
