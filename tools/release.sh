#!/usr/bin/env bash
# Builds what a release consists of and tries it; uploads nothing. docs/releasing.md says how to release.
#
#   tools/release.sh dry-run            archives, checksums, an install into an empty root, the documents' commands
#   tools/release.sh images             images of krmv and of each single function, each started once
#   tools/release.sh names [--check]    writes repository and registry of Cargo.toml into every metadata.yaml
#   tools/release.sh notes              the notes of the version in Cargo.toml, from CHANGELOG.md
#   tools/release.sh sbom [TARGET]      the dependencies of a target as CycloneDX, beside its archive
#   tools/release.sh formula            a Homebrew formula for the archives in target/archives
#   tools/release.sh aqua               an entry for aqua's registry, which mise reads too
#   tools/release.sh krew               a plugin for kubectl's krew: `kubectl krmv`
#   tools/release.sh package            what `cargo publish` would publish of krm-yaml: a build without this checkout
#
# TARGETS="..." names the targets of dry-run; by default that of this machine. PROFILE=release builds faster, for a try.
set -euo pipefail
cd "$(dirname "$0")/.."
# All paths below are in it.
export CARGO_TARGET_DIR=$PWD/target

# Whatever is unpacked for a try; gone at the end.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
metadata() { cargo metadata --format-version 1 --no-deps --locked; }
# usage: manifest PYTHON_EXPRESSION   of `package`, the one of `krmv`, and of `packages`, all of the workspace
manifest() {
  metadata | python3 -c "import json, sys; packages = json.load(sys.stdin)['packages']
package = next(package for package in packages if package['name'] == 'krmv')
print($1)"
}

programs() { manifest "'\n'.join(t['name'] for package in packages for t in package['targets'] if t['kind'] == ['bin'])"; }
# All programs except krmv, which has every function.
functions() { programs | grep -vx krmv; }

names() {
  local repository registry file name wrong=0
  repository=$(manifest "package['repository']")
  registry=$(manifest "package['metadata']['images']['registry']")
  for file in functions/*/metadata.yaml; do
    name=$(basename "$(dirname "$file")")
    sed -E \
      -e "s|^image: .*|image: $registry/$name|" \
      -e "s|^sourceURL: .*(/tree/.*)|sourceURL: $repository\1|" \
      -e "s|^( *- ).*(/tree/[^/]*/examples/.*)|\1$repository\2|" "$file" >"$file.new"
    if cmp -s "$file" "$file.new"; then
      rm "$file.new"
    elif [[ ${1-} == --check ]]; then
      diff -u "$file" "$file.new" || true
      rm "$file.new"
      wrong=1
    else
      mv "$file.new" "$file"
      echo "written: $file"
    fi
  done
  [[ $wrong -eq 0 ]] || fail "metadata.yaml names other places than Cargo.toml: run tools/release.sh names"
}

# usage: build TARGET WHAT...   prints the directory of the programs
build() {
  local target=$1 profile=${PROFILE-dist} flags=
  shift
  # A static binary: glibc's targets link it statically too, and nothing here looks up users or hosts. At fixed
  # addresses it starts without relocating itself.
  [[ $target != *linux* ]] || flags="-C target-feature=+crt-static -C relocation-model=static"
  RUSTFLAGS=$flags cargo build --profile "$profile" --locked --target "$target" "$@" >&2
  echo "target/$target/${profile/#dev/debug}"
}

# usage: archive TARGET VERSION   krmv, and a link to it by the name of each function
archive() {
  local target=$1 version=$2 name stage built shell function
  name=krm-variants-$version-$target
  stage=target/archives/$name
  built=$(build "$target" --bin krmv)
  rm -rf "$stage"
  mkdir -p "$stage/bin"
  cp "$built/krmv" "$stage/bin/"
  for function in $(functions); do ln -s krmv "$stage/bin/$function"; done
  # The pages, so that what the README links to is there.
  git ls-files -z -- '*.md' LICENSE schemas examples docs functions ':!tests' ':!fuzz' ':!tools' ':!functions/*/src/*' ':!functions/*.toml' |
    tar --create --null --files-from=- | tar --extract --directory "$stage"
  # Manual pages, and completions for bash, zsh and fish.
  cargo run --quiet --locked --package krmv --example completions -- "$stage/share/completions"
  cargo run --quiet --locked --bin krmv -- man "$stage/share/man/man1"
  for shell in bash:krmv.bash zsh:_krmv fish:krmv.fish; do
    cargo run --quiet --locked --bin krmv -- completion "${shell%%:*}" >"$stage/share/completions/${shell%%:*}/${shell##*:}"
  done
  # What the licences of the dependencies ask for: their names and texts of them.
  cargo metadata --format-version 1 --locked --filter-platform "$target" | python3 tools/licences.py >"$stage/LICENCES-OF-DEPENDENCIES.txt"
  # Reproducible: the same files make the same bytes.
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime='1970-01-01 00:00:00 UTC' --mode='u+rw,go=rX' \
    --directory target/archives "$name" | gzip --no-name --best >"target/archives/$name.tar.gz"
  rm -rf "$stage"
}

# usage: own_archive VERSION HOST   the archive whose programs run on this machine
own_archive() {
  local target found=
  for target in "$2" "${2/%-gnu/-musl}"; do
    if [[ -f target/archives/krm-variants-$1-$target.tar.gz ]]; then found=target/archives/krm-variants-$1-$target.tar.gz; fi
  done
  [[ -n $found ]] || fail "no archive for $2 in target/archives: nothing to try"
  echo "$found"
}

dry_run() {
  local version host target root program archive_file kind
  local -a programs targets
  names --check
  version=$(manifest "package['version']")
  mapfile -t programs < <(programs)
  host=$(rustc --version --verbose | sed -n 's/^host: //p')
  read -ra targets <<<"${TARGETS-$host}"
  rm -rf target/archives
  mkdir -p target/archives
  for target in "${targets[@]}"; do archive "$target" "$version"; done
  (cd target/archives && sha256sum -- *.tar.gz >SHA256SUMS)

  # As a user: check the sums, unpack, run.
  root=$scratch
  (cd target/archives && sha256sum --check --quiet SHA256SUMS) || fail "checksums"
  archive_file=$(own_archive "$version" "$host")
  tar --extract --gzip --directory "$root" --file "$archive_file" --strip-components=1
  for program in "${programs[@]}"; do
    [[ $("$root/bin/$program" --version) == "$program $version" ]] || fail "$program --version"
  done
  kind=$(file --brief "$root/bin/krmv")
  [[ $host != *linux* || $kind == *"static"* ]] || fail "krmv is not static: $kind"
  python3 - "$root" <<'EOF' || fail "the README of the archive"
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
links = re.findall(r"\]\(([^()#]+)[^()]*\)", (root / "README.md").read_text())
links = [link for link in links if "://" not in link]
missing = [link for link in links if not (root / link).exists()]
print(f"{len(links)} links of the README", *missing)
sys.exit(1 if missing or not links else 0)
EOF
  for program in "${programs[@]}"; do
    [[ -f $root/share/man/man1/$program.1 && -f $root/share/completions/zsh/_$program ]] || fail "no manual of $program"
    bash -n "$root/share/completions/bash/$program.bash" || fail "completions of $program"
  done
  env -i PATH="$root/bin:$PATH" tests/documents.sh "$root/bin" || fail "commands of the documents"
  ls -l target/archives
  echo "${#programs[@]} programs for ${#targets[@]} targets, installed into an empty root and tried"
}

# The Dockerfile's build stage is replaced by programs that are built here. An image of a function holds that one alone,
# which is a fraction of krmv.
images() {
  local engine host version registry programs program image
  engine=$(command -v podman || command -v docker) || { echo "neither podman nor docker is on PATH"; exit 77; }
  host=$(rustc --version --verbose | sed -n 's/^host: //p')
  version=$(manifest "package['version']")
  registry=$(manifest "package['metadata']['images']['registry']")
  programs=$scratch
  for program in $(programs); do
    cp "$(build "$host" --package "$program" --bin "$program")/$program" "$programs/"
    image=$registry/$program:v$version
    "$engine" build --quiet --network none --build-context "build=$programs" --build-arg FUNCTION="$program" \
      --build-arg VERSION="$version" --build-arg REVISION="$(git rev-parse HEAD)" --build-arg SOURCE="$(manifest "package['repository']")" \
      -t "$image" . >/dev/null ||
      fail "$image cannot be built"
    # As kpt and kustomize run it.
    [[ $("$engine" run --rm --network none --user nobody --security-opt=no-new-privileges "$image" --version) == "$program $version" ]] ||
      fail "$image --version"
    echo "$image: $("$engine" image inspect --format '{{.Size}}' "$image") bytes"
  done
}

# usage: sbom [TARGET]
sbom() {
  local target=${1-} version name
  [[ -n $target ]] || target=$(rustc --version --verbose | sed -n 's/^host: //p')
  cargo cyclonedx --version >/dev/null 2>&1 || fail "cargo install --locked cargo-cyclonedx"
  version=$(manifest "package['version']")
  name=krm-variants-$version-$target.cdx
  mkdir -p target/archives
  # Reproducible: the commit's time, no serial number, and no folder of this machine.
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) \
    cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$target" --override-filename "$name"
  # One is written beside each manifest. That of `krmv` has what all programs are linked with.
  sed "s|path+file://$PWD\([#/]\)|path+file:///\1|g; s|path+file:////|path+file:///|g" "$name.json" >"target/archives/$name.json"
  rm -f "$name.json" crates/*/"$name.json" functions/*/"$name.json"
  python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["components"]), "components")' "target/archives/$name.json"
  (cd target/archives && sha256sum -- *.tar.gz *.json >SHA256SUMS)
}

# For a tap, with the sums of the archives that are there.
formula() {
  local repository version file target system processor sum
  repository=$(manifest "package['repository']")
  version=$(manifest "package['version']")
  cat <<EOF
class KrmVariants < Formula
  desc "Upgrades edited copies of Kubernetes manifests without losing edits"
  homepage "$repository"
  version "$version"
  license "Apache-2.0"

EOF
  for file in target/archives/*.tar.gz; do
    [[ -f $file ]] || fail "no archives: tools/release.sh dry-run"
    target=$(basename "$file" .tar.gz)
    case $target in *darwin*) system=macos ;; *) system=linux ;; esac
    case $target in *aarch64*) processor=arm ;; *) processor=intel ;; esac
    read -r sum _ < <(sha256sum "$file")
    printf '  on_%s do\n    on_%s do\n      url "%s"\n      sha256 "%s"\n    end\n  end\n' \
      "$system" "$processor" "$repository/releases/download/v$version/$(basename "$file")" "$sum"
  done
  sed "s/@functions@/$(functions | paste -sd ' ' -)/" <<'EOF'

  def install
    bin.install "bin/krmv"
    %w[@functions@].each { |name| bin.install_symlink bin/"krmv" => name }
    man1.install Dir["share/man/man1/*"]
    bash_completion.install Dir["share/completions/bash/*"]
    zsh_completion.install Dir["share/completions/zsh/*"]
    fish_completion.install Dir["share/completions/fish/*"]
    doc.install Dir["*.md"], "docs", "functions", "examples", "schemas"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/krmv --version")
    assert_match "merge-package", shell_output("#{bin}/merge-package --version")
  end
end
EOF
}

aqua() {
  local repository
  repository=$(manifest "package['repository']")
  repository=${repository#https://github.com/}
  cat <<EOF
packages:
- type: github_release
  repo_owner: ${repository%/*}
  repo_name: ${repository#*/}
  description: Upgrades edited copies of Kubernetes manifests without losing edits
  asset: krm-variants-{{trimV .Version}}-{{.Arch}}-{{.OS}}.tar.gz
  format: tar.gz
  replacements:
    amd64: x86_64
    arm64: aarch64
    darwin: apple-darwin
    linux: unknown-linux-musl
  supported_envs: [linux, darwin]
  checksum:
    type: github_release
    asset: SHA256SUMS.{{.Arch}}-{{.OS}}
    algorithm: sha256
  github_artifact_attestations:
    signer_workflow: $repository/.github/workflows/release.yaml
  files:
  - name: krmv
    src: krm-variants-{{trimV .Version}}-{{.Arch}}-{{.OS}}/bin/krmv
EOF
}

# krew names a plugin's program `kubectl-krmv`.
krew() {
  local repository version file name target system processor sum
  repository=$(manifest "package['repository']")
  version=$(manifest "package['version']")
  cat <<EOF
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: krmv
spec:
  version: v$version
  homepage: $repository
  shortDescription: Upgrade edited copies of manifests
  description: |
    Merges a release of upstream's manifests into your edited copy, field by
    field. Keeps your edits, comments and formatting, and asks only where you
    and upstream changed the same field. Needs Git, and no cluster.
  platforms:
EOF
  for file in target/archives/*.tar.gz; do
    [[ -f $file ]] || fail "no archives: tools/release.sh dry-run"
    name=$(basename "$file" .tar.gz)
    target=$name
    case $target in *darwin*) system=darwin ;; *) system=linux ;; esac
    case $target in *aarch64*) processor=arm64 ;; *) processor=amd64 ;; esac
    read -r sum _ < <(sha256sum "$file")
    cat <<EOF
  - selector:
      matchLabels: {os: $system, arch: $processor}
    uri: $repository/releases/download/v$version/$name.tar.gz
    sha256: $sum
    files:
    - {from: $name/bin/krmv, to: .}
    - {from: $name/LICENSE, to: .}
    bin: krmv
EOF
  done
}

# The section of the version, or what is unreleased.
notes() {
  local version section
  version=$(manifest "package['version']")
  for section in "$version" Unreleased; do
    if grep -q "^## \[$section\]" CHANGELOG.md; then
      awk -v heading="## [$section]" 'index($0, "## [") == 1 { inside = index($0, heading) == 1; next } inside' CHANGELOG.md
      return
    fi
  done
  fail "CHANGELOG.md has no section for $version"
}

# The only crate that is published must build by itself, and hold no test data. The others have `publish = false`.
package() {
  local crate=krm-yaml command=(cargo publish --dry-run)
  ! cargo package --list --locked --package "$crate" "$@" | grep -E '^(tests|fuzz|benches|examples)/' || fail "test data would be published"
  # Asks the registry too, where it can be reached.
  if ! cargo info --quiet serde >/dev/null 2>&1; then
    echo "the registry cannot be reached: packaged only"
    command=(cargo package)
  fi
  "${command[@]}" --locked --package "$crate" "$@" || fail "$crate cannot be published"
}

case ${1-} in
  dry-run) dry_run ;;
  names) names "${2-}" ;;
  notes) notes ;;
  sbom) sbom "${2-}" ;;
  formula) formula ;;
  aqua) aqua ;;
  krew) krew ;;
  images) images ;;
  package) shift; package "$@" ;;
  *) sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
