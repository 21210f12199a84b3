# The released programs beside the real kpt, kubectl and kustomize, where they are installed. A part of `.ci/run`.
begin_peers
if [[ -n ${background[smp-oracle]-} ]]; then
  step "patches beside kubectl" finish smp-oracle
else
  left_out "patches beside kubectl" "Go is not on PATH, or there is no smp-oracle"
fi
if [[ -n ${background[spellings]-} ]]; then
  step "spellings beside kubectl" finish spellings
else
  left_out "spellings beside kubectl" "kubectl is not on PATH"
fi
if ! have_programs; then
  left_out "kpt and kustomize" "there is no release build"
else
  if has kubectl; then
    step "last-applied beside kubectl" python3 tests/with_kubectl_apply.py "$binaries"
  else
    left_out "last-applied beside kubectl" "kubectl is not on PATH"
  fi
  if has kpt; then
    step "kpt" tests/with_kpt.sh "$binaries"
    step "updates in turns with kpt" tests/follow_with_kpt.sh "$binaries"
    step "kpt pkg update beside merge-package" cargo test --workspace --locked --test krm -- --ignored --nocapture kpt_merge
    step "every way to fill a role, through kpt" cargo test --workspace --locked --test krm -- --ignored --nocapture kpt_roles
  else
    left_out "kpt" "not on PATH"
  fi
  if has helm && has crane; then
    step "charts of the real helm, from a real registry" cargo test --workspace --locked --test krm -- --ignored --nocapture charts_of_the_real_helm
  else
    left_out "charts of the real helm" "helm or crane is not on PATH"
  fi
  # `registry` is the program of distribution.
  if has crane || has registry || has zot; then
    step "packages of real registries" cargo test --workspace --locked --test krm -- --ignored --nocapture packages_of_real_registries
  else
    left_out "packages of real registries" "neither crane nor registry nor zot is on PATH"
  fi
  if has helm || has kustomize; then
    step "what the real helm and kustomize render" cargo test --workspace --locked --test krm -- --ignored --nocapture by_the_real
  else
    left_out "what the real helm and kustomize render" "neither helm nor kustomize is on PATH"
  fi
  if [[ -n ${background[kustomize]-} ]]; then
    step "kustomize" finish kustomize
  else
    left_out "kustomize" "neither kustomize nor go is on PATH"
  fi
fi
