#!/usr/bin/env python3
"""Four nights of a bot in a repository with thirty real packages, by the action's own script.

    tools/histories/nights.py PROGRAMS CLONES [--only NAME...] [--keep FOLDER]

CLONES has a bare clone of each upstream in nights.txt, as OWNER+NAME/repo. On each night the upstreams are as they were
on a day of their history, and `tools/action/update.sh` runs in a new, shallow clone of the repository. Each morning a
person decides what is open with `krmv resolve`, in another clone, and merges the branches. Judged without krmv: that
every package is at the newest release (or why not), and that every edit is there, or was given up by a decision.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import values
from repositories import git, nobody_in, run

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parent / "action" / "update.sh"
START = "2025-08-01"
NIGHTS = ["2025-11-15", "2026-02-15", "2026-05-15", "2026-08-20"]
MIRROR = "mirror.example.com/"
OURS = ":v0.0.1-ours"


def tried(*command, **options):
    """What a program prints that may end with another code than 0."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    return result.stdout if result.stdout else result.stderr


def listed():
    lines = (HERE / "nights.txt").read_text().splitlines()
    return [line.split() for line in lines if line.strip() and not line.startswith("#")]


class Upstream:
    """A repository as it was on a day: the tags and the branches of that day."""

    def __init__(self, clone, path):
        self.path = path
        # A clone without its largest files cannot be fetched from, but it can be read in place.
        listed = git(clone, "rev-list", "--objects", "--missing=print", "--no-walk", "--tags", "--branches")
        self.is_complete = "\n?" not in f"\n{listed}"
        path.parent.mkdir(parents=True, exist_ok=True)
        run("git", "clone", "--quiet", "--bare", "--shared", clone, path)
        for option in ("uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter"):
            git(path, "config", option, "true")
        form = "%(refname) %(objectname) %(creatordate:unix)"
        self.tags = [line.split() for line in git(path, "for-each-ref", f"--format={form}", "refs/tags").splitlines()]
        form = "%(refname) %(objectname)"
        self.branches = [line.split() for line in git(path, "for-each-ref", f"--format={form}", "refs/heads").splitlines()]

    def on(self, day):
        """Goes to a day. The branches besides the default one stay out: most are of releases."""
        until = int(time.mktime(time.strptime(day, "%Y-%m-%d")))
        commands = [f"delete {name}" for name, _ in self.branches]
        for name, target, created in self.tags:
            commands.append(f"update {name} {target}" if int(created) <= until else f"delete {name}")
        head = git(self.path, "symbolic-ref", "HEAD")
        commit = git(self.path, "rev-list", "-1", "--first-parent", f"--before={day}", dict(self.branches)[head])
        commands.remove(f"delete {head}")
        commands.append(f"update {head} {commit}")
        run("git", "-C", self.path, "update-ref", "--stdin", input="\n".join(commands) + "\n")

    def newest(self, pattern):
        """The newest release, or the branch: its name and commit."""
        names = git(self.path, "tag").splitlines()
        found = [(tuple(map(int, fits.groups())), name) for name in names if (fits := re.match(pattern, name))]
        name = max(found)[1] if found else pattern
        return name, git(self.path, "rev-parse", f"{name}^{{commit}}")

    def content(self, commit, path):
        """The object of a path at a commit."""
        shown = subprocess.run(["git", "-C", self.path, "rev-parse", f"{commit}:{path}"], capture_output=True, text=True)
        return shown.stdout.strip() if shown.returncode == 0 else None


# Edits of a person: each changes the text of a file, or returns it as it is.
def mirrored(text):
    return re.sub(r"(?m)^( +(?:- )?image: [\"']?)(?=(?:quay|ghcr|gcr|registry\.k8s|docker)\.io/)", rf"\g<1>{MIRROR}", text)


def labelled(text):
    head = r"(?m)^metadata:\n((?:  .*\n)*?)  labels:\n"
    return re.sub(head, "metadata:\n\\1  labels:\n    example.com/team: platform # ours\n", text, count=1)


def scaled(text):
    return re.sub(r"(?m)^  replicas: \d+$", "  replicas: 4 # by load", text, count=1)


def limited(text):
    return re.sub(r"(?m)^( +memory: )[\"']?\d+[KMG]i[\"']?$", r"\g<1>3Gi", text, count=1)


def pinned(text):
    """A version of its own: upstream changes it with every release."""
    return re.sub(r"(?m)^( +(?:- )?image: [\"']?[^\s@\"']+):v?\d[\w.-]*", rf"\g<1>{OURS}", text, count=1)


def described(text):
    return re.sub(r"(?m)^( +description: )([A-Z][\w ]{10,}\.?)$", r"\g<1>As our platform uses it.", text, count=1)


EDITS = [mirrored, labelled, scaled, limited]


def edit(folder, number):
    """Edits a package. Every third one pins a version; every second one rewrites a description, to have conflicts."""
    edits = EDITS + ([pinned] if number % 3 == 0 else []) + ([described] if number % 2 == 0 else [])
    for make in edits:
        for path in sorted(folder.rglob("*.yaml")):
            text = path.read_text()
            changed = make(text)
            if changed != text:
                path.write_text(changed)
                if make is not mirrored:
                    break
    if len(list(folder.rglob("*.yaml"))) > 1:
        (folder / "ours.yaml").write_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: platform-notes\ndata:\n  owner: platform\n"
        )


def resources(folder):
    """The resources of a package by what identifies them."""
    found = {}
    for path in sorted(folder.rglob("*.yaml")):
        for value in values.documents(path.read_text()):
            if isinstance(value, dict) and "kind" in value:
                metadata = value.get("metadata") or {}
                key = (value["kind"], metadata.get("namespace"), metadata.get("name") or path.name)
                found[key] = value
    return found


def leaves(value, path=()):
    """The values of a resource by their paths. Elements of lists have their names, where all have one."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        names = [inner.get("name") if isinstance(inner, dict) else None for inner in value]
        if None in names or len(set(names)) < len(names):
            names = range(len(value))
        for name, inner in zip(names, value):
            yield from leaves(inner, (*path, name))
    else:
        yield path, value


def all_leaves(folder):
    return {(*key, path): value for key, found in resources(folder).items() for path, value in leaves(found)}


def edits_between(before, after):
    return {place: value for place, value in after.items() if before.get(place, "none") != value}


def is_kept(wanted, found):
    """Whether an edit is there. Of an image behind a mirror, upstream may bring the version, and of a pinned one the name."""
    if found == wanted or not isinstance(wanted, str) or not isinstance(found, str):
        return found == wanted
    is_mirrored = not wanted.startswith(MIRROR) or found.startswith(MIRROR)
    is_pinned = not wanted.endswith(OURS) or found.endswith(OURS)
    return is_mirrored and is_pinned and (wanted.startswith(MIRROR) or wanted.endswith(OURS))


class Monorepo:
    def __init__(self, options, work):
        self.work, self.krmv = work, options.programs.resolve() / "krmv"
        self.rows = [row for row in listed() if not options.only or row[0] in options.only]
        self.server = work / "platform.git"
        self.upstreams, self.edits, self.conceded, self.wrong = {}, {}, set(), []
        for _, repository, _, _ in self.rows:
            if repository not in self.upstreams:
                clone = options.clones.resolve() / repository.replace("/", "+") / "repo"
                self.upstreams[repository] = Upstream(clone, work / "github.com" / repository)
        # krmv and git take them for repositories on another machine.
        git(work, "config", "--global", f"url.file://{work}/github.com/.insteadOf", "https://github.com/")

    def begin(self):
        """The repository with all packages at the releases of the first day, edited."""
        run("git", "init", "--quiet", "--initial-branch=main", self.work / "begin")
        for upstream in self.upstreams.values():
            upstream.on(START)
        for number, (name, repository, path, pattern) in enumerate(self.rows):
            upstream = self.upstreams[repository]
            revision, _ = upstream.newest(pattern)
            path = path.format(re.sub(r"^\D*", "", revision))
            folder = self.work / "begin" / "packages" / name
            address = f"https://github.com/{repository}" if upstream.is_complete else f"file://{upstream.path}"
            source = f"{address}//{path}@{revision}"
            run(self.krmv, "get", source, folder, cwd=self.work / "begin")
            before = all_leaves(folder)
            edit(folder, number)
            self.edits[name] = edits_between(before, all_leaves(folder))
        git(self.work / "begin", "add", "--all")
        git(self.work / "begin", "commit", "--quiet", "--message", "packages")
        run("git", "clone", "--quiet", "--bare", self.work / "begin", self.server)
        lines = sum(len(path.read_text().splitlines()) for path in (self.work / "begin").rglob("*.yaml"))
        edits = sum(map(len, self.edits.values()))
        far = sum(upstream.is_complete for upstream in self.upstreams.values())
        print(f"{far} upstreams are fetched, the others are read in place")
        print(f"{len(self.rows)} packages of {len(self.upstreams)} upstreams, {lines} lines, {edits} edited values")

    def clone(self, name, *options):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        run("git", "clone", "--quiet", *options, f"file://{self.server}", folder)
        return folder

    def night(self, number, day):
        for upstream in self.upstreams.values():
            upstream.on(day)
        clone = self.clone(f"night{number}", "--depth=1")
        output, review = self.work / f"night{number}.out", self.work / f"night{number}.md"
        environment = {
            **os.environ,
            "PATH": f"{self.krmv.parent}:{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(self.work / f"cache{number}"),
            "GITHUB_OUTPUT": str(output),
            "REVIEW": str(review),
        }
        start = time.monotonic()
        with open(self.work / f"night{number}.log", "wb") as log:
            child = subprocess.Popen(["bash", SCRIPT], cwd=clone, env=environment, stdout=log, stderr=log)
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        log = (self.work / f"night{number}.log").read_text()
        wall, used = time.monotonic() - start, usage.ru_utime + usage.ru_stime
        print(
            f"night {number} ({day}): exit {child.returncode}, {wall:.0f} s wall, {used:.1f} s of processor time, "
            f"{usage.ru_maxrss // 1024} MB; {' '.join(log[log.rindex(f'{len(self.rows)} packages:'):].split())}"
        )
        return log

    def judge(self, log):
        """Where each package is after a night: on its branch, or on main."""
        wrong, undecided = [], {}
        clone = self.clone("judge")
        branches = git(clone, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes/origin/krmv/").splitlines()
        for name, repository, path, pattern in self.rows:
            upstream = self.upstreams[repository]
            branch = f"krmv/packages/{name}"
            git(clone, "checkout", "--quiet", f"origin/{branch}" if branch in branches else "origin/main")
            folder = clone / "packages" / name
            text = (folder / "Kptfile").read_text()
            own = re.search(r"\nupstream:\n(?:  .*\n)*?    ref: (\S+)", text).group(1)
            lock = text[text.index("\nupstreamLock:"):]
            commit, directory = (re.search(rf"^ +{key}: (\S+)", lock, re.M).group(1) for key in ("commit", "directory"))
            expected, head = upstream.newest(pattern)
            where = tried(self.krmv, "resolve", folder, "--json", cwd=clone)
            if not where.startswith("{"):
                # Nothing is in the cache of a colleague; this is the hint.
                where = tried(self.krmv, "upgrade", folder, "--json", cwd=clone)
            where = json.loads(where)
            is_open = bool(where["conflicts"])
            if is_open:
                undecided[name] = where["conflicts"]
            at = {own, own.rsplit("/", 1)[-1]} & {expected, expected.rsplit("/", 1)[-1]}
            same = upstream.content(commit, directory) == upstream.content(head, directory)
            fetched = re.search(r"upstream-file: (\S+)", text)
            wanted = path.format(re.sub(r"^\D*", "", expected)).rsplit("/", 1)[-1]
            if "{}" in path and not is_open and fetched and fetched.group(1) != wanted:
                wrong.append(f"{name}: the file {fetched.group(1)}, not {wanted}: NOT NAMED")
            named = [line.strip() for line in log.splitlines() if f"packages/{name}:" in line or f"packages/{name} " in line]
            if pattern == "main" and not is_open and not same or pattern != "main" and not at and not same:
                wrong.append(f"{name}: at {own}, not at {expected}: {' | '.join(named)[:200] or 'NOT NAMED'}")
            self.judge_edits(name, folder, wrong)
        print(f"  {len(branches)} branches, {len(undecided)} packages with {sum(map(len, undecided.values()))} conflicts")
        for line in wrong:
            print(f"  {line}")
        self.wrong += [line for line in wrong if "LOST" in line or "NOT NAMED" in line]
        return branches, undecided

    def judge_edits(self, name, folder, wrong):
        now = all_leaves(folder)
        for place, wanted in self.edits[name].items():
            if (name, place) not in self.conceded and not is_kept(wanted, now.get(place, "none")):
                wrong.append(f"{name}: LOST {'/'.join(map(str, place))}: {wanted!r}, now {now.get(place, 'none')!r}")

    def morning(self, branches, undecided, is_merged=True):
        """A person decides what is open, in a clone of each branch: upstream's value for every second conflict."""
        clone = self.clone("morning")
        for name, conflicts in undecided.items():
            branch = f"krmv/packages/{name}"
            git(clone, "checkout", "--quiet", "-B", branch, f"origin/{branch}")
            package = f"packages/{name}"
            before = all_leaves(clone / package)
            for number, conflict in enumerate(conflicts):
                place = conflict["path"] or conflict["field"] or conflict["file"]
                side = "upstream" if number % 2 else "local"
                tried(self.krmv, "resolve", package, "--take", side, place, cwd=clone)
            left = tried(self.krmv, "resolve", package, "--take", "local", cwd=clone)
            after = all_leaves(clone / package)
            self.conceded |= {(name, place) for place in before if before[place] != after.get(place, "none")}
            if "are decided" not in left and "no upgrade is open" not in left:
                self.wrong.append(f"{name}: still open: {left.strip()[:300]}")
                print(f"  {self.wrong[-1]}")
            git(clone, "commit", "--quiet", "--all", "--message", f"{name}: decided")
            git(clone, "push", "--quiet", "origin", branch)
        if not is_merged:
            return
        git(clone, "checkout", "--quiet", "main")
        for branch in branches:
            # What the person pushed is there too.
            git(clone, "merge", "--quiet", "--no-ff", "--message", f"Merge {branch}", f"origin/{branch}")
            git(clone, "push", "--quiet", "origin", f":{branch}")
        git(clone, "push", "--quiet", "origin", "main")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("clones", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = options.keep.resolve() if options.keep else pathlib.Path(folder).resolve()
        work.mkdir(exist_ok=True)
        nobody_in(work)
        monorepo = Monorepo(options, work)
        monorepo.begin()
        for number, day in enumerate(NIGHTS, 1):
            log = monorepo.night(number, day)
            branches, undecided = monorepo.judge(log)
            # After the second night the decisions are made, and the branches stay for another night.
            monorepo.morning(branches, undecided, is_merged=number != 2)
        sys.exit(len(monorepo.wrong) > 0)


if __name__ == "__main__":
    main()
