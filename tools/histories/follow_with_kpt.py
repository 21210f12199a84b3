#!/usr/bin/env python3
"""Follows the history of a real repository, in turns with the real kpt.

  follow_with_kpt.py BINARIES CLONE DIRECTORY [--branch main] [--steps 100] [--edits FILE]

BINARIES holds merge-package; CLONE is a clone of the repository, which is left as it is. The last STEPS + 1 commits of
the branch's first parents that touch DIRECTORY are the revisions; both tools get them as a history of that directory alone. Two packages begin at the first: `alone` is brought up
to date by `kpt pkg update`, `turns` by merge-package and kpt in turns. Both get the same local edits, some at the start and
the rest between the steps.

At each step both tools also bring a copy of `turns` up to date, and their results are compared as data: each difference must
be of a class of docs/kpt-differences.md (classes.py). At each step, too, the two packages' locks must be equal.
At the end `turns` must be as `alone`, but for places with a difference of a class on the way. Needs git, kpt and PyYAML.
"""

import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import classes
import edits
from repositories import export, git, lock, mirror, nobody_in, resources, run

# Of the edits, these are there from the start.
AT_START = 2 / 3


def catalog(clone, directory, branch, steps, at):
    """The history of the directory alone, so that kpt does not fetch the rest; each revision has a tag, every third an annotated one."""
    mirror(clone, at)
    log = git(at, "log", "--first-parent", "--format=%H", f"-{steps + 1}", branch, "--", directory)
    commits, before = [], []
    for number, commit in enumerate(log.split()[::-1]):
        tree = git(at, "rev-parse", f"{commit}:{directory}")
        for name in reversed(directory.split("/")):
            tree = run("git", "-C", at, "mktree", input=f"040000 tree {tree}\t{name}\n").strip()
        commits.append(git(at, "commit-tree", *before, "-m", f"of {commit}", tree))
        before = ["-p", commits[-1]]
        annotated = ["--annotate", "--message", f"step {number}"] if number % 3 == 1 else []
        git(at, "tag", *annotated, f"step-{number}", commits[-1])
    return commits


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("directory")
    parser.add_argument("--branch", default="main")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--edits", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, help="an empty folder, kept")
    options = parser.parse_args()
    merge_package = (options.binaries / "merge-package").resolve()
    work = options.work or pathlib.Path(tempfile.mkdtemp())
    work = work.resolve()
    nobody_in(work)
    repository = work / "catalog.git"
    commits = catalog(options.clone.resolve(), options.directory, options.branch, options.steps, repository)
    planned = edits.read(options.edits) if options.edits else []
    started = int(len(planned) * AT_START)
    spent = collections.Counter()

    def start(tool, package, *command):
        # kpt's cache is a clone of its own, which two runs at once would spoil.
        environment = {**os.environ, "KPT_CACHE_DIR": str(work / f"cache of {package}")}
        log = open(work / f"{package}.log", "w+")
        child = subprocess.Popen(command, cwd=work, stdout=log, stderr=log, env=environment)
        return tool, child, log

    def finish(tool, child, log):
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        spent[tool] += usage.ru_utime + usage.ru_stime
        log.seek(0)
        said = log.read()
        log.close()
        if child.returncode:
            sys.exit(f"FAILED: {child.args}\n{said}")
        return said

    def kpt(package, number):
        return start("kpt", package, "kpt", "pkg", "update", f"{package}@step-{number}")

    def ours(package, number):
        upstream = f"catalog.git//{options.directory}?ref=step-{number}"
        return start("merge-package", package, merge_package, "--package", package, "--upstream", upstream, "--quiet")

    def revision(number):
        export(repository, commits[number], options.directory, work / "revision")
        found = resources(work / "revision")
        shutil.rmtree(work / "revision")
        return found

    for package in ("alone", "turns"):
        run("kpt", "pkg", "get", f"{repository}/{options.directory}@step-0", package, cwd=work)
    counts, unnamed, known, conflicts, made = collections.Counter(), [], set(), 0, 0
    equal = 0
    revisions = {0: revision(0)}
    for number in range(1, len(commits)):
        due = planned[:started] if number == 1 else planned[started:][
            (number - 1) * (len(planned) - started) // options.steps: number * (len(planned) - started) // options.steps
        ]
        for edit in due:
            results = [edits.apply(edit, work / package) for package in ("alone", "turns")]
            made += results == [True, True]
            if results != [True, True]:
                print(f"step {number}: no place for the edit of {edit['file']}: {results}")
        revisions[number] = revision(number)
        local = resources(work / "turns")
        for copy in ("by-ours", "by-kpt"):
            shutil.copytree(work / "turns", work / copy)
        runs = [ours("by-ours", number), kpt("by-kpt", number), kpt("alone", number)]
        said, *_ = [finish(*run_of) for run_of in runs]
        conflicts += said.count("(MergeConflict)")
        versions = (revisions.pop(number - 1), local, revisions[number])
        results = [resources(work / copy) for copy in ("by-ours", "by-kpt")]
        found = list(classes.compare(*results, versions))
        equal += not found
        for place, difference in found:
            known.add(place)
            if difference:
                counts[difference] += 1
            else:
                unnamed.append(f"step {number}: {place}")
        locks = {lock(work / package, repository) for package in ("alone", "by-ours", "by-kpt")}
        if len(locks) > 1 or locks.pop()[0] != commits[number]:
            unnamed.append(f"step {number}: the locks differ: {locks}")
        taken, other = ("by-ours", "by-kpt") if number % 2 else ("by-kpt", "by-ours")
        shutil.rmtree(work / "turns")
        (work / taken).rename(work / "turns")
        shutil.rmtree(work / other)
        print(f"step {number} {commits[number][:10]}: {len(found)} differences; {said.count('(MergeConflict)')} conflicts", flush=True)
        for place, difference in found:
            print(f"  {difference}: {place}")
    last = [resources(work / package) for package in ("turns", "alone")]
    left = [place for place, _ in classes.compare(*last, [{}, {}, {}])]
    stray = [place for place in left if not any(place.startswith(at) or at.startswith(place) for at in known)]
    print(
        f"{len(commits) - 1} steps, {made} local edits, {conflicts} conflicts reported; "
        f"{equal} steps with equal results; differences by class: {dict(counts)}; without a class: {len(unnamed)}; "
        f"at the end {len(left)} places differ from the package that kpt updated alone, {len(stray)} of them without cause"
    )
    print("processor seconds, all updates:", {tool: round(seconds, 2) for tool, seconds in spent.items()})
    for place in unnamed + stray:
        print(f"FAILED: {place}")
    if not options.work:
        shutil.rmtree(work)
    sys.exit(1 if unnamed or stray else 0)


if __name__ == "__main__":
    main()
