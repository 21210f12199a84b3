#!/usr/bin/env python3
"""What a package directory may hold, and who else may work in it.

usage: tests/crowds.py DIR_OF_BUILT_BINARIES [--long]

Writers at once, links, FIFOs, sockets, names of all kinds, a tree that may not be written; `--long`: also 100,000 files and a
file of 2 GB. Each either is done, or is an error that leaves every file as it was; no temporary file is left.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

KPTFILE = b"apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n"
CONTEXT = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\ndata:\n  name: p\n"
RESOURCE = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: r\n"
binaries = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else sys.exit(__doc__)
failed = []


def expect(what, holds, why=""):
    print(f"{'ok' if holds else 'FAILED'}: {what} {why if not holds else ''}", flush=True)
    if not holds:
        failed.append(what)


def package(folder, name):
    path = pathlib.Path(folder) / name
    path.mkdir()
    (path / "Kptfile").write_bytes(KPTFILE)
    (path / "package-context.yaml").write_bytes(CONTEXT)
    return path


def command(path, *arguments):
    return [str(binaries / "set-package-context"), "--package", str(path), *arguments]


def run(path, *arguments, before=()):
    return subprocess.run([*before, *command(path, *arguments)], capture_output=True, timeout=120)


def left_behind(path):
    return [str(file) for file in path.rglob(".krm-variants-*")]


def writers(folder):
    path = package(folder, "writers")
    codes = []
    for turn in range(10):
        running = [subprocess.Popen(command(path, f"k{number}=v{turn}"), stderr=subprocess.PIPE) for number in range(8)]
        for process in running:
            said = process.communicate()[1]
            codes.append(process.returncode)
            if process.returncode != 0:
                expect("a writer that was late says so", b"changed" in said, said)
    text = (path / "package-context.yaml").read_text()
    expect("writers at once: one of each turn at least is done", codes.count(0) >= 10 and set(codes) <= {0, 2}, codes)
    expect("writers at once: the file is whole", text.startswith(CONTEXT.decode()) and text.endswith("\n"), text)
    expect("writers at once: nothing is left behind", not left_behind(path), left_behind(path))


def odd_members(folder):
    path = package(folder, "odd")
    os.mkfifo(path / "fifo.yaml")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path / "socket.yaml"))
    (path / "loop.yaml").symlink_to("loop.yaml")
    (path / "dangling.yaml").symlink_to("nowhere")
    (path / "folder").symlink_to(".")
    (path / "null.yaml").symlink_to("/dev/null")
    (path / "dir.yaml").mkdir()
    names = ["-rf.yaml", "a b.yaml", "\n.yaml", "\x1b[31m.yaml", "ä.yaml", "\u202e.yaml", "*.yaml", "'\".yaml", "x" * 250 + ".yaml", "..yaml"]
    for name in names:
        (path / name).write_bytes(RESOURCE)
    done = run(path, "region=eu")
    expect("FIFO, socket, loops, odd names", done.returncode == 0, done.stderr)
    expect("odd names: no control character is printed", b"\x1b" not in done.stderr, done.stderr)
    expect("odd names: nobody else's file changed", all((path / name).read_bytes() == RESOURCE for name in names))
    other = package(folder, "bytes")
    with open(os.fsencode(other) + b"/\xff.yaml", "wb") as file:
        file.write(RESOURCE)
    done = run(other, "region=eu")
    expect("a name that is not UTF-8: done, or an error that names it", done.returncode in (0, 2) and b"panicked" not in done.stderr, done.stderr)
    server.close()


def read_only(folder):
    path = package(folder, "read-only")
    for entry in (path, *path.iterdir()):
        entry.chmod(0o555 if entry.is_dir() else 0o444)
    before = []
    if os.getuid() == 0:
        if not shutil.which("setpriv"):
            print("left out: a read-only tree (root writes everywhere, and setpriv is not on PATH)")
            return
        os.chmod(folder, 0o755)
        before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for flag, code in ("--diff", 0), ("--check", 3):
        done = run(path, flag, "region=eu", before=before)
        expect(f"a read-only tree: {flag}", done.returncode == code, done.stderr)
    done = run(path, "region=eu", before=before)
    expect("a read-only tree: an error", done.returncode == 2 and b"ermission denied" in done.stderr, done.stderr)
    expect("a read-only tree stays as it is", (path / "package-context.yaml").read_bytes() == CONTEXT)
    path.chmod(0o755)


def many(folder):
    path = package(folder, "many")
    for number in range(100_000):
        if number % 1000 == 0:
            (path / f"d{number}").mkdir()
        (path / f"d{number // 1000 * 1000}/{number}.yaml").write_bytes(RESOURCE.replace(b": r", b": r%d" % number))
    start = time.monotonic()
    done = run(path, "region=eu")
    expect(f"100,000 files in {time.monotonic() - start:.1f} s", done.returncode == 0, done.stderr[:500])


def large(folder):
    path = package(folder, "large")
    with open(path / "data.bin", "wb") as file:
        file.truncate(2 << 30)
    start = time.monotonic()
    done = run(path, "region=eu")
    expect(f"a file of 2 GB that is not KRM, in {time.monotonic() - start:.1f} s", done.returncode == 0, done.stderr[:500])
    (path / "data.bin").rename(path / "data.yaml")
    start = time.monotonic()
    done = run(path, "region=us")
    expect(f"a file of 2 GB named like KRM is refused, in {time.monotonic() - start:.1f} s", done.returncode == 2, (done.returncode, done.stderr[:500]))
    expect("and the package is as it was", b"region: eu" in (path / "package-context.yaml").read_bytes())


with tempfile.TemporaryDirectory(prefix="crowds-") as place:
    checks = [writers, odd_members, read_only]
    for check in checks + ([many, large] if "--long" in sys.argv else []):
        check(place)
sys.exit(1 if failed else 0)
