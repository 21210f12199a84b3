#!/usr/bin/env bash
# Patches beside the real code of kubectl and apimachinery: 120,000 generated questions.
#
#   tests/with_smp_oracle.sh       KRM_VARIANTS_SHARED=DIR holds tools/smp-oracle (default ../shared beside the checkout)
#
# Needs Go to build the oracle, unless KRM_VARIANTS_SMP_ORACLE names its binary; kubectl, where it is on PATH,
# is asked a sample too. Ends with 77 where the oracle's source is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

shared=${KRM_VARIANTS_SHARED-../shared}
if [[ -z ${KRM_VARIANTS_SMP_ORACLE-} ]]; then
  [[ -f $shared/tools/smp-oracle/build.sh ]] || { echo "$shared/tools/smp-oracle is absent" >&2; exit 77; }
  command -v go >/dev/null || { echo "go is not on PATH" >&2; exit 77; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  bash "$shared/tools/smp-oracle/build.sh" "$work"
  export KRM_VARIANTS_SMP_ORACLE=$work/smp-oracle
fi
if kubectl=$(command -v kubectl); then export KRM_VARIANTS_KUBECTL=$kubectl; fi
export KRM_VARIANTS_SMP_QUESTIONS=${KRM_VARIANTS_SMP_QUESTIONS-120000}
# With `--workspace`, as CI builds the tests: else they would have other features, and be built again.
cargo test --workspace --locked --test krm -- patch_oracle --nocapture
