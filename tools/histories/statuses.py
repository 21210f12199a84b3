#!/usr/bin/env python3
"""What `krmv status` takes for a package with edits and many releases, from a local mirror.

    tools/histories/statuses.py target/release argo-cd.git manifests v2.14.0

The edits put the images of a registry behind a mirror, in every file. It prints the releases, and the wall and processor
time of three runs.
"""

import argparse
import json
import pathlib
import re
import resource
import subprocess
import tempfile
import time

from repositories import git, mirror, nobody_in, run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("directory")
    parser.add_argument("revision")
    options = parser.parse_args()
    krmv = options.programs.resolve() / "krmv"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        nobody_in(work)
        catalog = mirror(options.clone, work / "catalog.git")
        run("git", "init", "--quiet", work / "own")
        run(krmv, "get", f"{catalog}//{options.directory}@{options.revision}", "package", cwd=work / "own")
        for path in (work / "own").rglob("*.yaml"):
            text = path.read_text()
            path.write_text(re.sub(r"(?m)^( +(?:- )?image: )(?=(?:quay|ghcr|gcr)\.io/)", r"\1mirror.example.com/", text))
        git(work / "own", "add", "--all"), git(work / "own", "commit", "--quiet", "-m", "edits")
        for _ in range(3):
            start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [krmv, "status", "package", "--json", "--offline"]
            printed = subprocess.run(command, cwd=work / "own", capture_output=True, text=True).stdout
            wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            (status,) = json.loads(printed)["packages"]
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{len(status['newer'])} releases, {status['edits']} edits: {wall:.1f} s wall, {used:.1f} s of processor time")


if __name__ == "__main__":
    main()
