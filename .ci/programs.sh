# The released programs: examples, commands of the documents, sizes, instructions, faults of the system. A part of `.ci/run`.
# Instructions need valgrind, faults need strace.
if have_programs; then
  # Alone: they measure time and memory.
  step "hostile expressions" cargo test --workspace --locked --test krm -- --ignored hostile_expressions
  if [[ " ${parts[*]} " == *" peers "* ]]; then begin_peers; fi
  step "examples" examples/run.sh "$binaries"
  step "commands of the documents" tests/documents.sh "$binaries"
  step "sizes and contents of the programs" tests/house.sh programs "$binaries"
  step "instructions" tests/instructions.sh "$binaries"
  step "instructions for a byte" env KRM_VARIANTS_PROGRAMS="$binaries" "${bench[@]}" -- counts
  step "workflow and pipeline of the documents" tests/hosted_ci.py "$binaries"
  step "faults of the system" tests/faults.py "$binaries"
  step "kills" tests/krmv_kills.py "$binaries" 20
else
  left_out "examples, commands of the documents, sizes, instructions, faults" "there is no release build"
fi
