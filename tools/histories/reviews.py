#!/usr/bin/env python3
"""Reviews the upgrades of real projects from each minor release to the next, and draws findings for a person to judge.

    tools/histories/reviews.py target/release --seed 41 argo-cd.git:manifests serving.git:config:knative- ...

It fails if a release reviewed against itself has any finding, or if a value of a Secret is in an output.
"""

import argparse
import base64
import binascii
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import yaml

import values
from repositories import export, git


def minor_releases(repository, directory, words=""):
    """The last patch release of each minor version that has the directory. Tags can have words before the version."""
    last = {}
    for tag in git(repository, "tag").split():
        version = re.fullmatch(rf"(?:{words})?v?(\d+)\.(\d+)\.(\d+)", tag)
        if version:
            major, minor, patch = map(int, version.groups())
            last[major, minor] = max(last.get((major, minor), (-1, "")), (patch, tag))
    tags = [last[version][1] for version in sorted(last)]
    has = lambda tag: subprocess.run(
        ["git", "-C", repository, "cat-file", "-e", f"{tag}:{directory}"], capture_output=True
    )
    return [tag for tag in tags if has(tag).returncode == 0]


def resources(folder):
    """The resources of a folder. PyYAML cannot read some files: anchors twice, tags of other programs."""
    for path in sorted(filter(pathlib.Path.is_file, folder.rglob("*.y*ml"))):
        try:
            yield from filter(values.is_resource, values.content(path.read_bytes(), path.name))
        except (yaml.YAMLError, ValueError):
            pass


def secrets(folder):
    """The values of Secrets, as they are written and as text, that are long enough to be told from other words."""
    for value in resources(folder):
        if value["kind"] != "Secret":
            continue
        for field in ("data", "stringData"):
            for text in (value.get(field) or {}).values():
                yield str(text)
                if field == "data":
                    yield decoded(str(text or ""))


def decoded(text):
    """The text of a value in Base64; the value itself where it is a placeholder that is none."""
    try:
        return base64.b64decode(text).decode(errors="replace")
    except binascii.Error:
        return text


def review(programs, before, after, forms=("json",)):
    """The results, and everything that was printed."""
    printed, results = "", []
    for form in forms:
        command = [programs / "krmv", "review-package", "--package", after, "--before", before, "--format", form]
        ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if ran.returncode not in (0, 1):
            return None, ran.stderr
        printed += ran.stdout + ran.stderr
        if form == "json":
            results = json.loads(ran.stdout)["items"][0].get("results", [])
    return results, printed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("packages", nargs="+", metavar="REPOSITORY:DIRECTORY[:WORDS]")
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--draw", type=int, default=40)
    options = parser.parse_args()
    counts, found, failed = collections.defaultdict(collections.Counter), [], False
    for package in options.packages:
        repository, directory, *words = package.split(":")
        upgrades = refused = 0
        with tempfile.TemporaryDirectory() as scratch:
            scratch, before, old = pathlib.Path(scratch), None, None
            for tag in minor_releases(repository, directory, *words):
                after = scratch / tag
                export(repository, tag, directory, after)
                same, said = review(options.programs, after, after)
                same = [result for result in same or [] if "risk" in result.get("tags", {})]
                if same:
                    failed = True
                    print(f"{package} {tag}: findings without a change: {same[0]}")
                hidden = {text for folder in (before, after) if folder for text in secrets(folder) if len(text) > 7}
                forms = ("json", "text", "markdown") if hidden else ("json",)
                results, printed = (None, said) if before is None else review(options.programs, before, after, forms)
                if before is not None and results is None:
                    refused += 1
                    print(f"{package} {old} -> {tag}: {printed.strip().splitlines()[0][:160]}")
                for result in results or []:
                    tags = result.get("tags", {})
                    if "risk" not in tags:
                        print(f"{package} {old} -> {tag}: {result['message']}")
                        continue
                    count = int(re.match(r"\d+", result["message"])[0]) if tags["reason"] == "OtherChanges" else 1
                    counts[tags["risk"]][tags["reason"]] += count
                    if tags["reason"] != "OtherChanges":
                        found.append((package, old, tag, result))
                if results is not None:
                    upgrades += 1
                    if any(text in printed for text in hidden):
                        failed = True
                        print(f"{package} {old} -> {tag}: a value of a Secret is shown")
                before, old = after, tag
        print(f"{package}: {upgrades} upgrades, {refused} refused", flush=True)
    for risk, reasons in counts.items():
        print(risk, ", ".join(f"`{reason}` {count:,}" for reason, count in reasons.most_common()))
    print(f"{len(found)} findings; {options.draw} of them drawn with the seed {options.seed}:")
    drawn = random.Random(options.seed).sample(range(len(found)), min(options.draw, len(found)))
    for number, at in enumerate(drawn, 1):
        package, old, new, result = found[at]
        print(f"{number}. {package} {old} -> {new}: {json.dumps(result, ensure_ascii=False)}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
