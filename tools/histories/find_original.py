#!/usr/bin/env python3
"""`--original auto` on copies of a real project: is the revision found that each was copied from?

  find_original.py BINARIES CLONE DIRECTORY UPSTREAM [--copies 20]

Of the tags that have DIRECTORY, evenly spread ones are copied, edited as a fork does it (images from a mirror, other replicas, a label,
own resources, one file that is not wanted) and merged with UPSTREAM, `--check`, without saying what they are copies of. Right is the tag,
or one with the same tree; "as near" is one from which the copy differs in as many values, since the edits cover what tells the two
apart. Prints seconds and differences. Needs git and PyYAML.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from repositories import export, git, mirror, nobody_in

EDITS = [
    (re.compile(r"(\n *(?:- )?image: *[\"']?)(?=[a-z])"), r"\1mirror.example.com/"),
    (re.compile(r"(\n *replicas: )\d+"), r"\g<1>5"),
    (re.compile(r"(\n  labels:\n)(?=    )", re.M), r"\1    team: platform\n"),
]
OWN = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\ndata:\n  region: eu-1\n"


def edit(folder):
    """Edits a copy; how many places."""
    made = 0
    files = sorted(path for path in folder.rglob("*.yaml") if path.is_file() and not path.is_symlink())
    files[len(files) // 2].unlink()
    for number, path in enumerate(files):
        # Every fourth file is touched; what is made of others (one file with all resources) is left.
        if number % 4 or not path.exists():
            continue
        text = path.read_text()
        for pattern, by in EDITS:
            text, count = pattern.subn(by, text)
            made += count
        path.write_text(text)
    (folder / "own.yaml").write_text(OWN)
    return made + 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("directory")
    parser.add_argument("upstream")
    parser.add_argument("--copies", type=int, default=20)
    options = parser.parse_args()
    tool = (options.binaries / "merge-package").resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        nobody_in(work)
        repository = mirror(options.clone, work / "clone.git")
        trees = {}
        for tag in git(repository, "tag", "--sort=creatordate").split():
            done = subprocess.run(
                ["git", "-C", repository, "rev-parse", "--quiet", "--verify", f"{tag}^{{commit}}:{options.directory}"],
                capture_output=True, text=True,
            )
            if done.returncode == 0:
                trees[tag] = done.stdout.strip()
        tags = list(trees)
        chosen = tags[:: max(1, len(tags) // options.copies)]
        counts, seconds, processor = collections.Counter(), [], []
        for tag in chosen:
            copy = work / "copy"
            export(repository, tag, options.directory, copy)
            made = edit(copy)
            upstream = f"{repository}//{options.directory}?ref={options.upstream}"
            start = os.times()
            done = subprocess.run(
                [tool, "--package", copy, "--original", "auto", "--upstream", upstream, "--check", "--output", "json"],
                capture_output=True,
            )
            end = os.times()
            seconds.append(end.elapsed - start.elapsed)
            processor.append(end.children_user + end.children_system - start.children_user - start.children_system)
            said = json.loads(done.stderr) if done.stderr.startswith(b"{") else {"items": [{"results": []}]}
            tags_of = [result.get("tags", {}) for result in said["items"][0]["results"]]
            found = next((found for found in tags_of if found.get("reason") == "OriginalFound"), None)
            verdict = "WRONG"
            if found:
                verdict = "right" if trees.get(found["original"]) == trees[tag] else verdict
                # What tells the two apart is what was edited: the newest is taken, as is said.
                verdict = "as near" if verdict == "WRONG" and found["differences"] == found.get("next") else verdict
            counts[verdict] += 1
            about = f"`{found['original']}`, {found['differences']} values differ, next {found.get('next')}" if found else done.stderr.decode()[-300:]
            print(f"{verdict} {tag}: {made} edits, {seconds[-1]:.2f} s, CPU {processor[-1]:.2f} s: {about}", flush=True)
            subprocess.run(["rm", "-r", copy], check=True)
        print(
            f"{options.clone.name} {options.directory}: {len(chosen)} copies {dict(counts)}, searched in {len(tags)} tags with {len(set(trees.values()))} trees; "
            f"{statistics.median(seconds):.2f} s (at most {max(seconds):.2f}), CPU {statistics.median(processor):.2f} s (at most {max(processor):.2f})"
        )
    sys.exit(1 if counts["WRONG"] else 0)


if __name__ == "__main__":
    main()
