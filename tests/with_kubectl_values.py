#!/usr/bin/env python3
"""Compares the recorded spellings of krm-yaml with what the kubectl on PATH reads; UPDATE_EXPECT=1 records them again."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

TABLE = pathlib.Path(__file__).parent.parent / "crates/krm-yaml/src/scalar/kubernetes.txt"
HEAD = "apiVersion: example.com/v1\nkind: Spelling\nmetadata: {name: a}\n"


def read(text):
    """The lines of the object as JSON; None if kubectl refuses it."""
    command = ["kubectl", "annotate", "--local", "-f", "-", "a=b", "-o", "json"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def value(spelling):
    lines = read(f"{HEAD}v: {spelling}\n") or []
    found = [line.strip() for line in lines if line.startswith('    "v": ')]
    return found[0].removeprefix('"v": ').removesuffix(",") if found else "!"


def key(spelling):
    lines = read(f"{HEAD}d:\n  {spelling}: 1\n") or []
    if '    "d": {' not in lines:
        return "!"
    line = lines[lines.index('    "d": {') + 1].strip()
    return line.removesuffix(": 1") if line.endswith(": 1") else "!"


def main():
    lines = TABLE.read_text().splitlines()
    head = [line for line in lines if line.startswith("# ")]
    recorded = [line.split("\t") for line in lines if line and not line.startswith("# ")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        values = list(threads.map(value, [row[0] for row in recorded]))
        keys = list(threads.map(key, [row[0] for row in recorded]))
    found = [[row[0], *rest] for row, rest in zip(recorded, zip(values, keys))]
    if os.environ.get("UPDATE_EXPECT"):
        rows = ["\t".join(row) for row in found]
        TABLE.write_text("\n".join([*head, "", *rows]) + "\n")
        return 0
    wrong = [pair for pair in zip(recorded, found) if pair[0] != pair[1]]
    for was, now in wrong:
        print(f"recorded {was}, kubectl reads {now}")
    print(f"{len(recorded)} spellings, {len(wrong)} differ")
    return bool(wrong)


sys.exit(main())
