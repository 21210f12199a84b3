#!/usr/bin/env python3
"""`--original auto` on subsets and edited copies of real projects: the right tag or an error, never a wrong tag with exit code 0.

  auto_copies.py BINARIES CLONE DIRECTORY UPSTREAM [--seed 39] [--kinds subset,edited,both] [--every 1]

Of each minor version the newest tag with DIRECTORY is copied in three ways, by a random number generator with a written seed (the seed,
the tag and the kind are its key, so that one copy can be made again):

  subset  byte for byte, but a random part of the files and documents is removed
  edited  values changed, labels added, images from a mirror, a file of its own
  both

Right is a tag whose files are, in all that the copy has, those of the tag that was copied ("alike": judged here, by PyYAML, on the documents
before the edits). Prints one line a copy and a table row. Needs git and PyYAML with libyaml.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import yaml

from repositories import export, git, mirror, nobody_in

OWN = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\ndata:\n  region: eu-1\n"
EDITS = [
    (re.compile(r"(\n *(?:- )?image: *[\"']?)(?=[a-z])"), r"\1mirror.example.com/"),
    (re.compile(r"(\n *replicas: )\d+"), r"\g<1>5"),
    (re.compile(r"(\n  labels:\n)(?=    )"), r"\1    copied-by: platform\n"),
    (re.compile(r"(\n *cpu: )[^\n]+"), r"\g<1>150m"),
    (re.compile(r"(\n *imagePullPolicy: )\w+"), r"\g<1>IfNotPresent"),
    (re.compile(r"(\n  description: )[^\n>|]+(?=\n)"), r"\g<1>edited"),
]
MINOR = re.compile(r"^(.*?)v?(\d+)\.(\d+)\.(\d+)(.*)$")


def minors(tags):
    """The last patch of each minor version, and each third one's first release too."""
    by = collections.defaultdict(list)
    for tag in tags:
        if found := MINOR.match(tag):
            head, major, minor, patch, rest = found.groups()
            by[(head, int(major), int(minor))].append((not rest, int(patch), tag))
    return [max(of)[2] for _, of in sorted(by.items())]


def pieces(text):
    """The documents of a file with their separators."""
    return re.split(r"(?m)^(?=---[ \t]*$)", text)


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def is_yaml(path):
    return path.suffix in (".yaml", ".yml")


def subset(folder, chance):
    files = files_of(folder)
    keep = chance.uniform(0.3, 0.9)
    kept = [path for path in files if chance.random() < keep] or files[:1]
    for path in files:
        if path not in kept:
            path.unlink()
        elif is_yaml(path):
            text = path.read_text()
            parts = pieces(text)
            if len(parts) > 3 and chance.random() < 0.5:
                path.write_text("".join(part for part in parts if chance.random() < 0.7) or text)


def edit(folder, chance):
    for path in [path for path in files_of(folder) if is_yaml(path)]:
        if chance.random() < 0.4:
            text = path.read_text()
            for pattern, by in EDITS:
                if chance.random() < 0.4:
                    text = pattern.sub(by, text)
            path.write_text(text)
    (folder / "own.yaml").write_text(OWN)


def documents(text):
    """Documents by what they are; None if it is not YAML."""
    try:
        found = [document for document in yaml.load_all(text, Loader=yaml.CSafeLoader) if document is not None]
    except (yaml.YAMLError, ValueError):
        return None
    by = collections.defaultdict(list)
    for document in found:
        meta = document.get("metadata") if isinstance(document, dict) else None
        meta = meta if isinstance(meta, dict) else {}
        key = (document.get("kind"), meta.get("name"), meta.get("namespace")) if isinstance(document, dict) else ()
        by[key].append(document)
    return by


class Judge:
    """What tags have, read once."""

    def __init__(self, repository, directory):
        self.repository, self.directory, self.known = repository, directory, {}

    def listing(self, tag):
        out = subprocess.run(
            ["git", "-C", self.repository, "ls-tree", "-r", "-z", f"{tag}^{{commit}}:{self.directory}"], capture_output=True, check=True
        ).stdout
        entries = [line.split(b"\t", 1) for line in out.split(b"\0") if line]
        return {path.decode(): head.split()[2].decode() for head, path in entries}

    def content(self, blob):
        if blob not in self.known:
            raw = subprocess.run(["git", "-C", self.repository, "cat-file", "blob", blob], capture_output=True, check=True).stdout
            text = raw.decode(errors="replace")
            self.known[blob] = (text, documents(text))
        return self.known[blob]

    def alike(self, true, found, kept):
        """Whether two tags are alike in all that a copy kept: its paths, each with the documents in it."""
        ours, theirs = self.listing(true), self.listing(found)
        for path, keys in kept.items():
            if ours.get(path) == theirs.get(path):
                continue
            if path not in ours or path not in theirs:
                return False
            (text, one), (other_text, other) = self.content(ours[path]), self.content(theirs[path])
            if keys is None or one is None or other is None:
                if text != other_text:
                    return False
                continue
            if any(document not in other.get(key, []) for key in keys for document in one.get(key, [])):
                return False
        return True


def kept_in(folder):
    kept = {}
    for path in files_of(folder):
        found = documents(path.read_text(errors="replace")) if is_yaml(path) else None
        kept[str(path.relative_to(folder))] = None if found is None else list(found)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("directory")
    parser.add_argument("upstream")
    parser.add_argument("--seed", type=int, default=39)
    parser.add_argument("--kinds", default="subset,edited,both")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    tool = (options.binaries / "merge-package").resolve()
    counts, processor = collections.Counter(), []
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        nobody_in(work)
        repository = mirror(options.clone, work / "clone.git")
        judge = Judge(repository, options.directory)
        tags = []
        for tag in git(repository, "tag").split():
            done = subprocess.run(
                ["git", "-C", repository, "rev-parse", "--quiet", "--verify", f"{tag}^{{commit}}:{options.directory}"], capture_output=True
            )
            tags += [tag] if done.returncode == 0 else []
        for tag in minors(tags)[:: options.every]:
            for kind in options.kinds.split(","):
                chance = random.Random(f"{options.seed} {tag} {kind}")
                copy = work / "copy"
                export(repository, tag, options.directory, copy)
                if kind != "edited":
                    subset(copy, chance)
                kept = kept_in(copy)
                if kind != "subset":
                    edit(copy, chance)
                upstream = f"{repository}//{options.directory}?ref={options.upstream}"
                start = os.times()
                done = subprocess.run(
                    [tool, "--package", copy, "--original", "auto", "--upstream", upstream, "--check", "--output", "json"], capture_output=True
                )
                end = os.times()
                processor.append(end.children_user + end.children_system - start.children_user - start.children_system)
                said = json.loads(done.stderr) if done.stderr.startswith(b"{") else {"items": [{"results": []}]}
                found = next((r["tags"] for r in said["items"][0]["results"] if "OriginalFound" in str(r.get("tags"))), None)
                if found:
                    verdict = "right" if judge.alike(tag, found["original"], kept) else "WRONG"
                else:
                    is_uncertain = "OriginalUncertain" in done.stderr.decode()
                    # Exit code 2: the project's own file, or the one of a tag, is not valid YAML.
                    is_refused = done.returncode == 2 and b": line " in done.stderr
                    verdict = "error" if is_refused or (done.returncode == 1 and is_uncertain) else "FAILED"
                counts[verdict] += 1
                about = f"{found['original']} ({found['differences']}); next {found.get('next')}" if found else done.stderr.decode()[:700]
                about = about if verdict != "error" else re.sub(r"\s+", " ", about)[60:500]
                print(f"{verdict} {tag} {kind} ({len(kept)} files), CPU {processor[-1]:.2f} s: {about}", flush=True)
                subprocess.run(["rm", "-r", copy], check=True)
    project = options.clone.parent.name if options.clone.name == "repo" else options.clone.name
    print(
        f"| {project} `{options.directory}` | {len(tags)} | {sum(counts.values())} | {counts['right']} | {counts['error']} | "
        f"{counts['WRONG'] + counts['FAILED']} | {statistics.median(processor):.2f} (at most {max(processor):.2f}) |"
    )
    sys.exit(1 if counts["WRONG"] or counts["FAILED"] else 0)


if __name__ == "__main__":
    main()
