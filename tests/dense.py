#!/usr/bin/env python3
"""Texts of many small parts: each function ends within five seconds of processor time, and ten times its input and 64 MB.

    tests/dense.py DIR_OF_BUILT_BINARIES [--megabytes 5] [--kind WORD] [--function WORD]

One resource (or very many) is made of a small piece, over and over; the inputs of a run have so many megabytes in all. The
contract gives these bounds for 50 MB. Less gets as much time, since it is the processor's alone that counts.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

HEAD = "apiVersion: v1\nkind: Big\nmetadata:\n  name: big\n"
LIST = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:"
KPTFILE = """apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: p
  annotations:
    config.kubernetes.io/path: Kptfile
"""
CONTEXT = """apiVersion: v1
kind: ConfigMap
metadata:
  name: kptfile.kpt.dev
  annotations:
    config.kubernetes.io/path: package-context.yaml
data:
  name: p
"""
VARIANT = """apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: v
spec:
  upstream: {repo: r, package: p, revision: v1}
  downstream: {repo: d, package: q}
  pipeline:
    mutators:
    - image: a:v1
  injectors:
  - name: big
"""
SET = """apiVersion: config.porch.kpt.dev/v1alpha2
kind: PackageVariantSet
metadata:
  name: s
spec:
  upstream: {repo: r, package: p, revision: v1}
  targets:
  - repositories:
    - name: d
      packageNames: [q]
"""
PATCH = "target: {kind: Big}\npatch:\n  metadata:\n    labels: {a: b}\n"

# What stands below `spec:`, as often as it takes; `{i}` counts.
PIECES = {
    "short keys": "  k{i}: v\n",
    "long keys": "  " + "k" * 60 + "{i}: v\n",
    "quoted keys": '  "k{i}": "v"\n',
    "number keys": "  {i}: v\n",
    "explicit keys": "  ? k{i}\n  : v\n",
    "items": "- a\n",
    "empty items": "-\n",
    "numbers": "- 1.5e3\n",
    "flow maps": "- {{a: b}}\n",
    "flow lists": "- [a, b]\n",
    "maps": "- name: a{i}\n",
    "nested maps": "- a:\n    b:\n      c: 1\n",
    "double-quoted": '- "x"\n',
    "escapes": '- "\\n\\t\\x41"\n',
    "single-quoted": "- 'it''s'\n",
    "literals": "- |\n  x\n",
    "folded": "- >\n  x\n",
    "lines of a plain scalar": "- a\n  b\n",
    "comments": "  # c\n",
    "comments behind values": "- a # c\n",
    "blank lines": "\n",
    "anchors": "- &a{i} x\n",
    "aliases": "- *a\n",
    "tags": "- !!str x\n",
    "colons": "- a:b:c\n",
    "line ends of Windows": "- a\r\n",
    "wide characters": "- ä: ü\n",
}

# Very many resources, and the bytes of each: as few as can be, and about as few as the limit of documents allows at 50 MB.
SMALL = {
    "small resources": 0,
    "small resources in files": 0,
    "resources of 160 bytes": 160,
    "resources of 160 bytes in files": 160,
    "resources with metadata in flow style": 160,
}


def body(kind, size, number):
    """The resource with about `size` bytes; another `number` is a change of the first value and of the last."""
    if kind == "one line of flow":
        return HEAD + "spec: [" + "1," * (size // 2) + f"{number}]\n"
    if kind == "one long scalar":
        return HEAD + "spec: " + "v" * size + f"{number}\n"
    if kind == "one block":
        return HEAD + "spec: |\n" + "  x\n" * (size // 4) + f"  {number}\n"
    piece = PIECES[kind]
    count = size // len(piece.format(i=100000))
    start = "spec:\n"
    if kind == "aliases":
        start = "spec:\n- &a x\n"
    if kind in ("comments", "blank lines"):
        start += "  a: b\n"
    text = "".join(piece.format(i=i) for i in range(count)) if "{i}" in piece else piece.format(i=0) * count
    is_list = piece.startswith("-")
    first, last = (f"- {place}{number}\n" if is_list else f"  {place}: {number}\n" for place in ("first", "last"))
    return HEAD + start + first + text + last


def as_item(document):
    return "- " + re.sub(r"\n(?=[^\r\n])", "\n  ", document)


def small_resources(size, number, kind):
    """Documents of so many bytes, or of the least size; another `number` is a change of the last."""
    def document(name, more=""):
        metadata = f" {{name: {name}, labels: {{a: b}}}}" if "flow style" in kind else f"\n  name: {name}"
        text = f"apiVersion: v1\nkind: Small\nmetadata:{metadata}\n"
        missing = SMALL[kind] - len(text) - len("x: \n")
        return text + (f"x: {'v' * missing}\n" if missing > 0 else "") + more

    count = size // len(document("a100000"))
    return [document(f"a{i}") for i in range(count)] + [document("last", f"y: {number}\n")]


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def cases(kind, megabytes, folder):
    """Each function, with what makes its flags and its standard input."""
    def documents(share, number):
        size = int(megabytes * 1e6 / share)
        return small_resources(size, number, kind) if kind in SMALL else [body(kind, size, number)]

    def supplied(name, share, number):
        return write(f"{folder}/{name}.yaml", "---\n".join(documents(share, number)))

    def listed(name, share, number, more=()):
        own = [HEAD] if kind.endswith("in files") else documents(share, number)
        items = "".join(as_item(document) for document in [*more, *own])
        return write(f"{folder}/{name}.list", f"{LIST}\n{items}")

    variant, patch = write(f"{folder}/variant.yaml", VARIANT), write(f"{folder}/patch.yaml", PATCH)
    empty = write(f"{folder}/empty.list", f"{LIST} []\n")

    def both(share):
        return ["--live", supplied("live", share, 2)], listed("config", share, 1)

    def merge():
        original, upstream = supplied("original", 3, 1), supplied("upstream", 3, 2)
        return ["--original", original, "--upstream", upstream], listed("local", 3, 1)

    def points():
        return ["--config", variant, "--resources", supplied("resources", 2, 1)], listed("points", 2, 1, [KPTFILE])

    def package():
        directory = pathlib.Path(folder) / "catalog/p/v1"
        directory.mkdir(parents=True, exist_ok=True)
        write(directory / "Kptfile", KPTFILE)
        write(directory / "all.yaml", "---\n".join(documents(1, 1)))
        return directory

    yield "set-package-context", lambda: (["a=b"], listed("context", 1, 1, [KPTFILE, CONTEXT]))
    yield "prepend-pipeline", lambda: (["--config", variant], listed("kptfile", 1, 1, [KPTFILE]))
    yield "inject-config", points
    yield "merge-package", merge
    yield "apply-patch", lambda: (["--patches", patch, "allowMissing=true"], listed("patched", 1, 1))
    yield "create-patch", lambda: both(2)
    yield "apply-config", lambda: both(2)
    yield "render-variant", lambda: (["--config", variant, "--upstream", package()], empty)
    yield "render-fleet", lambda: (["--variants", variant, "--catalog", f"r={package().parents[1]}"], empty)
    yield "expand-variant-set", lambda: ([], listed("set", 1, 1, [SET]))


def bytes_of(arguments):
    """The size of the files among them, and of those in directories."""
    paths = [pathlib.Path(argument.rpartition("=")[2]) for argument in map(str, arguments)]
    files = [file for path in paths for file in [path, *path.rglob("*")] if file.is_file()]
    return sum(file.stat().st_size for file in files)


def peak_memory(pid):
    """What the process has had at most so far; nothing once it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            peaks = (line for line in status if line.startswith("VmHWM:"))
            return max((int(line.split()[1]) * 1024 for line in peaks), default=0)
    except OSError:
        return 0


def run(program, flags, stdin, folder):
    """Exit code, seconds of processor time, peak memory in bytes and standard error."""
    peak = 0
    with open(stdin, "rb") as file, open(f"{folder}/errors", "w+b") as errors:
        process = subprocess.Popen([program, *flags], stdin=file, stdout=subprocess.DEVNULL, stderr=errors)
        ended = 0
        while not ended:
            # The system's own record begins with the memory of this script.
            peak = max(peak, peak_memory(process.pid))
            time.sleep(0.002)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read(4000).decode(errors="replace")
    return process.returncode, usage.ru_utime + usage.ru_stime, peak, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--megabytes", type=float, default=5)
    parser.add_argument("--kind", default="")
    parser.add_argument("--function", default="")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kinds = [*PIECES, "one line of flow", "one long scalar", "one block", *SMALL]
    count, wrong, most = 0, 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in (kind for kind in kinds if arguments.kind in kind):
            for function, inputs in cases(kind, arguments.megabytes, folder):
                if arguments.function not in function:
                    continue
                flags, stdin = inputs()
                read = bytes_of([stdin, *flags])
                code, seconds, memory, said = run(f"{arguments.binaries}/{function}", flags, stdin, folder)
                count += 1
                share = max(memory - (64 << 20), 0) / read
                is_wrong = code not in (0, 1, 2) or "panicked" in said or seconds > 5 or share > 10
                before = most.get(function, (0, "", 0, ""))
                most[function] = max(before[:2], (seconds, kind)) + max(before[2:], (share, kind))
                if is_wrong:
                    wrong += 1
                    print(f"{kind}: {function}: exit code {code}, {seconds:.1f} s, {share:.1f} times the input and 64 MB\n{said[-300:]}")
    for function, (seconds, slow, times, large) in most.items():
        print(f"{function}: at most {seconds:.1f} s ({slow}), {times:.1f} times the input and 64 MB ({large})")
    print(f"{count} runs, {wrong} beyond the bounds")
    sys.exit(wrong > 0)


main()
