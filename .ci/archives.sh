# The programs as archives and images have them, optimized across crates: sizes, start-up. A part of `.ci/run`.
# Each is linked with all its crates at once, which takes minutes.
if step "build for archives" "${release[@]}" "${build[@]}" --profile dist; then
  step "sizes and start-up of archives" tests/house.sh archives "$archives"
else
  left_out "sizes and start-up of archives" "there is no build"
fi
