#!/usr/bin/env python3
"""Upgrades of a fork from each minor release to the next: how many conflicts does merge-package report?

  minor_upgrades.py BINARIES CLONE DIRECTORY EDITS [--show]

Each release `vX.Y.0` of DIRECTORY is taken with `kpt pkg get`, gets the local edits of EDITS (edits.py) whose places it has, and is merged with the
next one. Prints what each upgrade reports by reason, the places of conflicts and, with `--show`, their messages. CLONE is left as it is.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import edits
from repositories import export, git, mirror, nobody_in, run

RELEASE = re.compile(r"v(\d+)\.(\d+)\.0$")


def releases(clone, directory):
    """The tags of minor releases that have the directory."""
    found = sorted((tuple(map(int, tag.groups())), tag[0]) for tag in map(RELEASE.match, git(clone, "tag").split()) if tag)
    has = lambda tag: not subprocess.run(["git", "-C", clone, "cat-file", "-e", f"{tag}:{directory}"], capture_output=True).returncode
    return [tag for _, tag in found if has(tag)]


def upgrade(options, work, old, new):
    """How many edits the fork of one release has, and the results of the merge with the next."""
    for name in ("fork", "old", "new", "release"):
        shutil.rmtree(work / name, ignore_errors=True)
    for name, tag in (("old", old), ("new", new), ("release/p", old)):
        export(work / "catalog.git", tag, options.directory, work / name)
    # Only this directory: a clone may lack large files of others.
    for arguments in (("init", "--quiet"), ("add", "--all", "--force"), ("commit", "--quiet", "--message", old), ("tag", old)):
        git(work / "release", *arguments)
    run("kpt", "pkg", "get", f"{work}/release/.git/p@{old}", "fork", cwd=work)
    made = sum(edits.apply(edit, work / "fork") for edit in edits.read(options.edits))
    # Releases have no Kptfile; the fork has the one of `kpt pkg get`.
    command = [options.binaries / "merge-package", "--package", "fork", "--original", "old", "--upstream", "new", "--output", "json"]
    done = subprocess.run([*command, "allowEmpty=true"], capture_output=True, text=True, cwd=work)
    return made, [result for item in json.loads(done.stderr)["items"] for result in item.get("results", [])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("directory")
    parser.add_argument("edits", type=pathlib.Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    options.binaries, options.edits = options.binaries.resolve(), options.edits.resolve()
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        nobody_in(work)
        mirror(options.clone, work / "catalog.git")
        tags = releases(work / "catalog.git", options.directory)
        for old, new in zip(tags, tags[1:]):
            made, results = upgrade(options, work, old, new)
            reasons = collections.Counter(result["tags"]["reason"] for result in results if "reason" in result.get("tags", {}))
            total += reasons
            print(f"{old} to {new}: {made} edits, {dict(reasons)}", flush=True)
            for result in results:
                if result.get("tags", {}).get("reason") == "MergeConflict":
                    place = f"{result.get('file', {}).get('path')} {result.get('field', {}).get('path', '')}"
                    print(f"    {place}{': ' + result['message'] if options.show else ''}")
    print(f"{options.clone.name} {options.directory}: {len(tags) - 1} upgrades, {dict(total)}")


if __name__ == "__main__":
    main()
