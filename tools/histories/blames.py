#!/usr/bin/env python3
"""Who set twenty fields of a real package with 500 local commits: `krmv blame` compared with a walk over both histories.

    tools/histories/blames.py target/release kube-prometheus.git manifests v0.10.0 v0.16.0 --seed 41

The package begins at the first release. Its commits change values at random, move files, and upgrade it release by
release. The walk reads every commit and release with `git cat-file` and PyYAML and shares no code with `krmv`. It fails if
an answer is wrong, or if `krmv blame` takes longer than `--seconds` for one of 16 files.
"""

import argparse
import json
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

import values
from repositories import git, mirror, nobody_in, run

VALUE = re.compile(r"^(\s*(?:- )?(?!name:|namespace:|kind:|apiVersion:|\w+Name:)[A-Za-z][\w./-]*: )([\w./-]+)$")


def version(tag):
    found = re.fullmatch(r"v?(\d+)\.(\d+)\.(\d+)", tag)
    return found and tuple(map(int, found.groups()))


class Tree:
    """A repository's states: resources by identity, and the commit of the Kptfile's lock."""

    def __init__(self, repository, directory):
        self.repository, self.directory, self.parsed, self.listed = repository, directory, {}, {}
        self.reader = subprocess.Popen(
            ["git", "-C", repository, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def blob(self, name):
        self.reader.stdin.write(name.encode() + b"\n")
        self.reader.stdin.flush()
        size = int(self.reader.stdout.readline().split()[2])
        return self.reader.stdout.read(size + 1)[:-1]

    def files(self, commit):
        """The blobs by path."""
        if commit not in self.listed:
            lines = git(self.repository, "ls-tree", "-r", "-z", commit, "--", self.directory + "/").split("\0")
            entries = (line.split("\t") for line in lines if line)
            self.listed[commit] = {path: head.split()[2] for head, path in entries}
        return self.listed[commit]

    def documents(self, blob):
        if blob not in self.parsed:
            self.parsed[blob] = [one for one in values.documents(self.blob(blob).decode()) if values.is_resource(one)]
        return self.parsed[blob]

    def value(self, commit, key, steps):
        """The value of a field as JSON; None where it is not."""
        for path, blob in self.files(commit).items():
            if not path.endswith((".yaml", ".yml", ".json")):
                continue
            for document in self.documents(blob):
                if (document["kind"], (document.get("metadata") or {}).get("name")) == key:
                    return json.dumps(follow(document, steps), sort_keys=True)
        return None

    def lock(self, commit):
        kptfile = self.files(commit).get(f"{self.directory}/Kptfile")
        found = kptfile and values.documents(self.blob(kptfile).decode())[0]["upstreamLock"]["git"]
        return found and (found["ref"], found["commit"])


def follow(node, steps):
    for step in steps:
        if isinstance(node, dict):
            node = node.get(step)
        elif isinstance(node, list):
            node = next((one for one in node if isinstance(one, dict) and one.get("name") == step), None)
    return node


def steps_of(field, document):
    """The keys of a path, and the names of elements; None where an element has no name that is its own."""
    steps, node = [], document
    for quoted, key, index in re.findall(r'\["([^"]*)"\]|([^.\[\]]+)(?![^\[]*"\])|\[(\d+)\]', field):
        if index:
            names = [one.get("name") if isinstance(one, dict) else None for one in node]
            node = node[int(index)]
            if None in names or len(set(names)) < len(names):
                return None
            steps.append(names[int(index)])
        else:
            steps.append(quoted or key)
            node = node[steps[-1]]
    return steps


def history(krmv, own, catalog, directory, releases, commits, dice):
    """Makes the package and its commits."""
    run(krmv, "get", f"{catalog}//{directory}@{releases[0]}", "package", cwd=own)
    git(own, "add", "--all"), git(own, "commit", "--quiet", "-m", "get")
    upgrades = {(at + 1) * commits // len(releases): release for at, release in enumerate(releases[1:])}
    package = own / "package"
    for number in range(1, commits):
        if number in upgrades:
            run(krmv, "upgrade", "package", upgrades[number], "--take", "local", "--offline", cwd=own)
        files = sorted(path for path in package.rglob("*.yaml") if path.stat().st_size < 50_000)
        while not git(own, "status", "--porcelain"):
            edit(dice.choice(files), number, dice)
        git(own, "add", "--all"), git(own, "commit", "--quiet", "-m", f"change {number}")


def edit(path, number, dice):
    """Changes a value, or in one of twenty cases moves the file."""
    if dice.random() < 0.05:
        folder = path.parent / f"f{number % 5}"
        folder.mkdir(exist_ok=True)
        path.rename(folder / path.name)
        return
    lines = path.read_text().split("\n")
    places = [at for at, line in enumerate(lines) if VALUE.match(line)]
    if places:
        at = dice.choice(places)
        head, old = VALUE.match(lines[at]).groups()
        lines[at] = head + (str(number) if old.isdigit() else f"{old.split('-x')[0]}-x{number}")
        path.write_text("\n".join(lines))


def setter(own, upstream, releases, log, key, steps):
    """Who set a field, by a walk over all states."""
    found = [own.value(commit, key, steps) for commit, _ in log]
    at = next((at for at in range(len(log) - 1) if found[at] != found[at + 1]), len(log) - 1)
    commit, _ = log[at]
    lock, before = own.lock(commit), own.lock(log[at + 1][0]) if at + 1 < len(log) else None
    if lock != before and upstream.value(lock[1], key, steps) == found[at]:
        older = [release for release in releases if version(release) <= version(lock[0])][::-1]
        same = lock[0]
        for release in older:
            if upstream.value(release, key, steps) != found[at]:
                break
            same = release
        return "upstream", same
    return "local", commit


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("directory")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--fields", type=int, default=20)
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    krmv, dice = options.programs.resolve() / "krmv", random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        nobody_in(work)
        catalog = mirror(options.clone, work / "catalog.git")
        tags = sorted(filter(version, git(catalog, "tag").split()), key=version)
        between = [tag for tag in tags if version(options.old) <= version(tag) <= version(options.new)]
        own = work / "own"
        run("git", "init", "--quiet", own)
        history(krmv, own, catalog, options.directory, between, options.commits, dice)
        log = [line.split("\t") for line in git(own, "log", "--format=%H%x09%s", "--", "package").splitlines()]
        tree, upstream = Tree(own, "package"), Tree(catalog, options.directory)
        files = sorted(path.relative_to(own).as_posix() for path in (own / "package").rglob("*.yaml"))
        slowest, fields = blamed(krmv, own, dice.sample(files, 16))
        print(f"{len(log)} commits, {len(between) - 1} upgrades; the slowest file of {len(fields)}: {slowest:.2f} s of processor time")
        wrong = check(tree, upstream, tags, log, drawn(fields, own, options.fields, dice))
        print(f"{options.fields} fields, {wrong} wrong")
        sys.exit(bool(wrong) or slowest > options.seconds)


def blamed(krmv, own, files):
    """What `krmv blame` says about files, and the longest time that it took for one."""
    slowest, fields = 0.0, {}
    for name in files:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        fields[name] = json.loads(run(krmv, "blame", name, "--json", cwd=own))["fields"]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        slowest = max(slowest, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return slowest, fields


def drawn(fields, own, count, dice):
    """Fields at random, each of another resource: half of them set by a person, and the others by upstream."""
    found = {"local": {}, "upstream": {}}
    for name, of_file in fields.items():
        documents = {
            f"{one['kind']}/{one['metadata']['name']}": one
            for one in values.documents((own / name).read_text()) if "metadata" in one
        }
        for field in of_file:
            document = documents.get(field["resource"])
            try:
                steps = document and steps_of(field["field"], document)
            except (KeyError, TypeError, IndexError):
                continue
            if steps and steps[-1] != values.IDENTIFIER:
                found[field["by"]].setdefault(field["resource"], []).append((field, steps))
    half = count // 2
    of = lambda by, count: [dice.choice(found[by][name]) for name in dice.sample(sorted(found[by]), count)]
    return of("local", half) + of("upstream", count - half)


def check(tree, upstream, tags, log, fields):
    wrong = 0
    for field, steps in fields:
        expected = setter(tree, upstream, tags, log, tuple(field["resource"].split("/", 1)), steps)
        answer = (field["by"], field.get("revision") or field.get("commit"))
        wrong += answer != expected
        subject = dict(log).get(answer[1], answer[1])
        verdict = "right" if answer == expected else f"WRONG, expected {expected}"
        print(f"  {field['resource']} {field['field']}: {answer[0]} {subject}: {verdict}")
    return wrong


if __name__ == "__main__":
    main()
