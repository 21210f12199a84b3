# The programs as archives and images have them, optimized across crates: sizes, start-up. A part of `.ci/run`.
# Each is linked with all its crates at once, which takes minutes: an archive has krmv alone, with links to it, and the images have
# single programs, of which the two smallest are measured.
programs=(--bin krmv --bin set-package-context --bin prepend-pipeline)
if step "build for archives" "${release[@]}" "${build[@]}" "${programs[@]}" --profile dist; then
  step "sizes and start-up of archives" tests/house.sh archives "$archives"
else
  left_out "sizes and start-up of archives" "there is no build"
fi
