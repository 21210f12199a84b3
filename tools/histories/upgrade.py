#!/usr/bin/env python3
"""One upgrade of a real package, from a bare clone: merge-package compared with kpt, and compared with two exports and a merge.

  upgrade.py BINARIES CLONE DIRECTORY FROM TO [--edits FILE] [--rounds 5]

The package is `kpt pkg get` of FROM with the edits. Each round brings a fresh copy to TO in all ways, in turn; printed
are medians with the least and the most, of whole processes with those that they start. Last, the result of one command compared with kpt's: each difference with
its class of docs/kpt-differences.md. kpt keeps a clone of its own, which the first update fills and which is not counted. Needs
git, kpt and PyYAML.
"""

import argparse
import collections
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import classes
import edits
from repositories import export, mirror, nobody_in, resources, run


def measured(command, folder):
    """Wall and processor seconds, and the memory of the largest process in MB."""
    start = time.monotonic()
    with open(folder / "log", "wb") as log:
        child = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"FAILED: {command}\n{(folder / 'log').read_text()}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("directory")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--edits", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        nobody_in(work)
        mirror(options.clone, work / "catalog.git")
        run("kpt", "pkg", "get", f"{work}/catalog.git/{options.directory}@{options.old}", "fork", cwd=work)
        made = sum(edits.apply(edit, work / "fork") for edit in edits.read(options.edits)) if options.edits else 0
        found, said = rounds(options, work)
        report(found, work, options, made, said)


def rounds(options, work):
    tool = (options.binaries / "merge-package").resolve()
    exports = "".join(
        f"mkdir {name} && git -C catalog.git archive {revision}:{options.directory} | tar -x -C {name} && "
        for name, revision in (("old", options.old), ("new", options.new))
    )
    ways = {
        "merge-package": [tool, "--package", "p", "--upstream", f"catalog.git//{options.directory}?ref={options.new}"],
        "git archive, twice, and merge-package": ["sh", "-c", f"{exports}{tool} --package p --original old --upstream new"],
        "kpt pkg update": ["kpt", "pkg", "update", f"p@{options.new}"],
    }
    found, said = collections.defaultdict(list), ""
    for number in range(options.rounds + 1):
        for way, command in ways.items():
            for name in ("p", "old", "new"):
                shutil.rmtree(work / name, ignore_errors=True)
            shutil.copytree(work / "fork", work / "p")
            figures = measured(command, work)
            if number:
                found[way].append(figures)
                continue
            shutil.copytree(work / "p", work / f"by {way}")
            if way == "merge-package":
                said = (work / "log").read_text()
    return found, said


def report(found, work, options, made, said):
    count = sum(path.is_file() for path in (work / "fork").rglob("*"))
    print(f"{options.clone.name} {options.directory}, {options.old} to {options.new}: {count} files, {made} local edits")
    print("| way | wall, s | CPU, s | peak memory, MB |\n|---|---|---|---|")
    for way, figures in found.items():
        columns = list(zip(*figures))
        cells = [f"{statistics.median(c):.3f} ({min(c):.3f} to {max(c):.3f})" for c in columns[:2]]
        print(f"| {way} | {' | '.join(cells)} | {statistics.median(columns[2]):.0f} |")
    ours = found["merge-package"]
    for way in list(found)[1:]:
        ratios = [[b / a for a, b in zip(x, y)] for x, y in zip(ours, found[way])]
        wall, processor, _ = (statistics.median(column) for column in zip(*ratios))
        print(f"{way} / merge-package, of each round: wall {wall:.1f}, CPU {processor:.1f}")
    print(said, end="")
    for name, revision in (("old", options.old), ("new", options.new)):
        shutil.rmtree(work / name, ignore_errors=True)
        export(work / "catalog.git", revision, options.directory, work / name)
    versions = [resources(work / name) for name in ("old", "fork", "new")]
    results = {way: resources(work / f"by {way}") for way in found}
    differences = list(classes.compare(results["merge-package"], results["kpt pkg update"], versions))
    counts = collections.Counter(str(found) for _, found in differences)
    print(f"compared with kpt: {len(results['merge-package'])} resources, differences by class: {dict(counts)}")
    for place, difference in differences:
        print(f"  {difference}: {place}")
    same = list(classes.compare(results["merge-package"], results["git archive, twice, and merge-package"], versions))
    print(f"compared with two exports: {len(same)} differences")
    sys.exit(1 if same or counts["None"] else 0)


if __name__ == "__main__":
    main()
