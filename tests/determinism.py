#!/usr/bin/env python3
"""Same input, same output: whatever the number of threads, the seeds of hash maps, the order of directories.

usage: tests/determinism.py DIR_OF_BUILT_BINARIES [--runs 20] [PACKAGE...]

Runs each function on copies of the examples' packages, and of other packages that are given: each time in a new process (with
other seeds), on one processor or all, in a directory whose files were made in another order. All outputs (files, standard
output, results, exit code) must be the same.
"""
import hashlib
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
words = sys.argv[1:]
runs = 20
if "--runs" in words:
    at = words.index("--runs")
    runs = int(words[at + 1])
    del words[at : at + 2]
if not words:
    sys.exit(__doc__)
binaries, given = pathlib.Path(words[0]).resolve(), [pathlib.Path(word).resolve() for word in words[1:]]
# Memory-backed file systems list a directory in the order in which its files were made.
place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def copy(source, target, choose):
    """Makes the files in a random order."""
    target.mkdir()
    files = [path for path in source.rglob("*") if path.is_file() and ".git" not in path.parts] if source else []
    choose.shuffle(files)
    for path in files:
        file = target / path.relative_to(source)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(path.read_bytes())


def examples():
    for path in sorted((HERE.parent / "examples").iterdir()):
        config = path / ".expected/config.yaml"
        if config.exists():
            fields = dict(re.findall(r"^(\w+): *(.*)$", config.read_text(), re.M))
            flags = [word if word.startswith("--") else str(path / word) for word in fields.get("flags", "").split()]
            package = path / "package" if (path / "package").is_dir() else None
            yield fields["exec"], ["--config", str(path / fields["fnConfig"]), *flags], package


def cases():
    found = list(examples())
    for function, arguments, package in found:
        yield f"{function} {package.parent.name if package else 'made'}", function, arguments, package
    for package in given:
        for function, arguments, _ in found:
            yield f"{function} {package.name}", function, arguments, package
        merge = ["--original", str(package), "--upstream", str(package)]
        yield f"merge-package {package.name} with itself", "merge-package", merge, package


def outcome(function, arguments, package, number, folder):
    choose = random.Random(number)
    target = pathlib.Path(folder) / "package"
    copy(package, target, choose)
    command = [str(binaries / function), "--package", "package", *arguments, "--results", "results.yaml"]
    if number % 2:
        command = ["taskset", "-c", "0", *command]
    done = subprocess.run(command, cwd=folder, capture_output=True)
    results = pathlib.Path(folder) / "results.yaml"
    parts = [str(done.returncode).encode(), done.stdout, done.stderr, results.read_bytes() if results.exists() else b""]
    for path in sorted(target.rglob("*")):
        if path.is_file():
            parts += [str(path.relative_to(target)).encode(), path.read_bytes()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


failed = count = 0
for name, *case in cases():
    found = set()
    for number in range(runs):
        with tempfile.TemporaryDirectory(dir=place) as folder:
            found.add(outcome(*case, number, folder))
    count += 1
    if len(found) != 1:
        failed += 1
        print(f"{name}: {len(found)} different outputs")
print(f"{count} cases, {runs} runs of each, {failed} with more than one output")
sys.exit(1 if failed else 0)
