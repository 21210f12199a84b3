#!/usr/bin/env python3
"""The merge driver compared with git's own merge, on the conflicts of a repository's history.

  merge_driver.py BINARIES CLONE... [--fork DIRECTORY EDITS] [--committed] [--largest BYTES] [--report FILE]

Does again, with `git merge-tree` and with nothing checked out: all merge commits, all cherry-picks that say so (as git does
them: from the parent of what was picked), and the merge of each release branch into the next. With `--fork` also the merge of
each release's tag `vX.Y.0` into a branch that has the one before with local edits (edits.py) of DIRECTORY. Counts the YAML files with resources that git's merge of lines leaves with a conflict, and what
`merge-package --git-merge-driver` does with each: solves it, or reports it.

Each result is judged by three_way.py, which reads the files with PyYAML: a value that one side alone changed must be
that side's; each value that both changed to different ends must be named by a result. `--report` takes a line for each
file. CLONE is left as it is. Needs git 2.39 and PyYAML.

The second table is about merges and cherry-picks: the results of git, of mergiraf (left out where it is not on PATH) and of the driver compared with
what people committed (after Schesch et al., ASE 2024). Each is *equal* to the commit as data, *different*, or *reported* (a conflict). The judge of
forks.py counts those of them that are *lost* (no conflict, and a change of one side is missing or was decided silently) or *needless* (a
conflict, and no place that both sides changed to different ends).
"""

import argparse
import collections
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import edits
import forks
import three_way
import values

PICKED = re.compile(r"cherry picked from commit ([0-9a-f]{40})")
RELEASED = re.compile(r"v(\d+)\.(\d+)\.0$")
RELEASE = re.compile(r"refs/heads/release-(\d+)\.(\d+)$")
RENAMED = object()
GLOBS = ("*.yaml", "*.yml")


class Repository:
    def __init__(self, clone, work, merge_package):
        self.path = work / "clone.git"
        self.driver = merge_package
        subprocess.run(["git", "clone", "--quiet", "--mirror", "--shared", clone, self.path], check=True)

    def git(self, *arguments, check=True):
        done = subprocess.run(["git", "-C", self.path, *arguments], capture_output=True)
        if check and done.returncode:
            sys.exit(f"FAILED: git {' '.join(arguments)}: {done.stderr.decode()}")
        return done

    def text(self, *arguments):
        return self.git(*arguments).stdout.decode(errors="replace").strip()

    def use_driver(self):
        """From now on YAML is merged by the driver."""
        self.git("config", "merge.krm.driver", f"{self.driver} --git-merge-driver %O %A %B %P --quiet")
        self.git("config", "merge.krm.recursive", "binary")
        (self.path / "info").mkdir(exist_ok=True)
        (self.path / "info" / "attributes").write_text("".join(f"{glob} merge=krm\n" for glob in GLOBS))

    def merge(self, ours, theirs):
        """The merged tree, and the YAML files with a conflict of contents: path -> the blobs of the three versions."""
        done = self.git("merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs, check=False)
        if done.returncode > 1:
            return None, {}
        tree, *entries = done.stdout.decode(errors="replace").split("\0")
        return tree, yaml_conflicts(filter(None, entries))

    def conflicts(self, pairs):
        """The same for many pairs of commits, without the trees; `None` for those that git cannot merge."""
        found = []
        while len(found) < len(pairs):
            command = ["git", "-C", self.path, "merge-tree", "--stdin", "--write-tree", "--no-messages"]
            text = "".join(f"{ours} {theirs}\n" for ours, theirs in pairs[len(found) :])
            done = subprocess.run(command, input=text.encode(), capture_output=True)
            # Of each: 1 if it is clean, the tree, entries, an empty one.
            fields = iter(done.stdout.decode(errors="replace").split("\0")[:-1])
            for status in fields:
                next(fields)
                found.append(yaml_conflicts(itertools.takewhile(bool, fields)))
            if done.returncode:
                found.append(None)
        return found

    def events(self):
        """`(what, ours, theirs, the commit that was made of it)`."""
        for line in self.text("rev-list", "--merges", "--parents", "--all").splitlines():
            commit, *parents = line.split()
            if len(parents) == 2:
                yield "merge", *parents, commit
        log = self.text("log", "--all", "--no-merges", "--grep=cherry picked from commit", "--format=%x00%H %P%n%B")
        for entry in filter(None, log.split("\0")):
            ids = entry.split("\n", 1)[0].split()
            picked = PICKED.findall(entry)
            if len(ids) != 2 or not picked:
                continue
            parents = self.git("rev-parse", "--quiet", "--verify", f"{picked[-1]}^1", check=False)
            if parents.returncode == 0:
                before = parents.stdout.decode().strip()
                base = self.commit(before)
                yield "cherry-pick", self.commit(ids[1], base), self.commit(picked[-1], base), ids[0]
        names = self.text("for-each-ref", "--format=%(refname)", "refs/heads").splitlines()
        releases = sorted((int(m[1]), int(m[2]), m[0]) for m in map(RELEASE.match, names) if m)
        for (*_, one), (*_, next_one) in zip(releases, releases[1:]):
            yield "release", one, next_one, None

    def forks(self, directory, path):
        """Each release's tag and the one before with local edits."""
        tags = [RELEASED.match(tag) for tag in self.text("tag").splitlines()]
        tags = [tag[0] for tag in sorted(filter(None, tags), key=lambda tag: tuple(map(int, tag.groups())))]
        tags = [tag for tag in tags if self.git("cat-file", "-e", f"{tag}:{directory}", check=False).returncode == 0]
        for old, new in zip(tags, tags[1:]):
            edited = self.edited(old, directory, edits.read(path))
            base = self.commit(old)
            yield "fork", self.commit(edited, base), self.commit(new, base), None

    def edited(self, revision, directory, planned):
        """The tree of a revision with edits."""
        with tempfile.TemporaryDirectory() as folder:
            files = pathlib.Path(folder) / "files"
            files.mkdir()
            environment = {**os.environ, "GIT_INDEX_FILE": f"{folder}/index"}

            def git(*arguments):
                command = ["git", "-C", self.path, "--work-tree", files, *arguments]
                return subprocess.run(command, check=True, capture_output=True, env=environment).stdout.decode().strip()

            git("read-tree", revision)
            git("checkout-index", "--all", "--quiet")
            for edit in planned:
                edits.apply(edit, files / directory)
            git("add", "--all", "--force")
            return git("write-tree")

    def commit(self, tree_of, parent=None):
        parents = ["-p", parent] if parent else []
        return self.text("commit-tree", *parents, "-m", "-", f"{tree_of}^{{tree}}")

    def blob(self, spec):
        done = self.git("cat-file", "blob", spec, check=False)
        return done.stdout if done.returncode == 0 else None


def yaml_conflicts(entries):
    """YAML files with a conflict of contents, from the entries that git leaves."""
    stages = collections.defaultdict(dict)
    for entry in entries:
        about, path = entry.split("\t", 1)
        mode, blob, stage = about.split(" ")
        stages[path][stage] = blob
    return {
        path: [blobs["1"], blobs["2"], blobs["3"]]
        for path, blobs in stages.items()
        if len(blobs) == 3 and path.endswith((".yaml", ".yml"))
    }


def parse(data):
    """The documents of a file with resources; None for any other."""
    try:
        found = values.documents(data.decode())
    except (UnicodeDecodeError, ValueError, values.yaml.YAMLError):
        return None
    return found if any(map(values.is_resource, found)) else None


def reported(driver, blobs, path):
    """The places that the driver's results name, and the merged file, asked for by itself."""
    with tempfile.TemporaryDirectory() as folder:
        names = [pathlib.Path(folder) / name for name in ("base", "ours", "theirs")]
        for name, data in zip(names, blobs):
            name.write_bytes(data)
        results = pathlib.Path(folder) / "results.json"
        command = [driver, "--git-merge-driver", *names, path, "--output", "json"]
        done = subprocess.run(command, capture_output=True)
        merged = names[1].read_bytes()
    places = []
    if done.stderr.startswith(b"{"):
        for result in json.loads(done.stderr)["items"][0].get("results", []):
            if result.get("tags", {}).get("reason"):
                resource = result.get("resourceRef", {})
                if result["tags"]["reason"] == "Renamed":
                    names = (result["tags"][end].rsplit("/", 1)[-1] for end in ("from", "to"))
                    places += [(resource.get("kind"), name, RENAMED) for name in names]
                    continue
                places.append((resource.get("kind"), resource.get("name") or None, result.get("field", {}).get("path", "")))
        by_fields = True
    else:
        by_fields = done.stderr == b""
    return done.returncode, by_fields, places, merged


def hunks(blobs):
    """How many conflicts a merge of lines leaves in a file."""
    with tempfile.TemporaryDirectory() as folder:
        base, ours, theirs = (pathlib.Path(folder) / name for name in ("base", "ours", "theirs"))
        for name, data in zip((base, ours, theirs), blobs):
            name.write_bytes(data)
        done = subprocess.run(["git", "merge-file", "-p", ours, base, theirs], capture_output=True)
    return done.stdout.count(b"\n<<<<<<< ") + done.stdout.startswith(b"<<<<<<< ")


def is_named(key, path, problem, places):
    """Whether a result names the place or one above it; of an open place, also one in it."""
    for kind, name, field in places:
        if key[0] != "document" and (kind, name) != (key[1], key[2]):
            continue
        field = tokens(field)
        # Tag and digest of an image are its version.
        if field[-1:] in (("newTag",), ("digest",)) and path[-1:] in (("newTag",), ("digest",)):
            path = (*path[:-1], field[-1])
        shorter = min(len(path), len(field))
        if path[:shorter] == field[:shorter] and (len(field) <= len(path) or problem == "open"):
            return True
    return False


def tokens(field):
    """The keys of a field's path: `a.b["c.d/e"][0]` as a, b, c.d/e and `[]` for any element."""
    found = re.findall(r"""\[("(?:[^"\\]|\\.)*"|[^]]*)\]|([^.\[]+)""", field)
    return tuple(plain or (json.loads(quoted) if quoted.startswith('"') else "[]") for quoted, plain in found)


def beside_the_commit(results, blobs, committed):
    """What each tool's result (None: a conflict) is compared with what people committed: `(tool, verdict)`, and why it is lost or needless."""
    judge = forks.Judge(*(blob.decode() for blob in blobs), False)
    for tool, merged in results.items():
        found = None if merged is None else parse(merged)
        if merged is None:
            yield tool, "reported", None
        else:
            same = found is not None and committed is not None and values.same(found, committed)
            yield tool, "equal" if same else "different", None
        verdict, why = judge.verdict("" if merged is None else merged.decode(), merged is None)
        if verdict in ("wrong", "needless"):
            yield tool, "lost" if verdict == "wrong" else verdict, why


def by_mergiraf(blobs):
    with tempfile.TemporaryDirectory() as folder:
        for name, data in zip(("original", "local", "upstream"), blobs):
            (pathlib.Path(folder) / name).write_bytes(data)
        merged, _ = forks.by_mergiraf(pathlib.Path(folder), None)
    return None if merged is None else merged.encode()


def judge(driven, blobs, parsed):
    """What the driver made of one file: `(verdict, problems, how many fields it reports)`."""
    code, by_fields, places, merged = driven
    if not by_fields:
        return "merged by lines", [], 0
    data = parse(merged)
    if data is None:
        return "wrong", [("", "not YAML any more")], 0
    renamed = {(kind, name) for kind, name, field in places if field is RENAMED}
    places = [place for place in places if place[-1] is not RENAMED]
    problems = list(three_way.judge_files(*parsed, data))
    bad = [place for place in problems if not is_named(*place, places)]
    # A list may be open as a whole, and decided by its elements. A resource that a side renamed is two for this judge.
    is_for_facts = lambda place: place[-1] == "open" or (place[0][0] != "document" and tuple(place[0][1:3]) in renamed)
    decided = forks.Judge(*(blob.decode() for blob in blobs), False) if any(map(is_for_facts, bad)) else None
    if decided and not decided.missing(merged.decode()):
        bad = [place for place in bad if not is_for_facts(place)]
    if bad:
        return "wrong", bad, len(places)
    return ("reported" if code else "solved"), problems, len(places)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("clones", type=pathlib.Path, nargs="+")
    parser.add_argument("--fork", nargs=2, metavar=("DIRECTORY", "EDITS"))
    parser.add_argument("--committed", action="store_true", help="only merges and cherry-picks, which people committed")
    parser.add_argument("--largest", type=int, default=1 << 40, help="only files of at most so many bytes")
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    for role in ("AUTHOR", "COMMITTER"):
        os.environ.update({f"GIT_{role}_NAME": "a", f"GIT_{role}_EMAIL": "a@example.com"})
        os.environ[f"GIT_{role}_DATE"] = "2026-01-01T00:00:00Z"
    driver = (options.binaries / "merge-package").resolve()
    lines, wrong, table = [], 0, collections.defaultdict(collections.Counter)
    for clone in options.clones:
        with tempfile.TemporaryDirectory() as folder:
            counts, found, verdicts = of_repository(Repository(clone.resolve(), pathlib.Path(folder), driver), options)
        print(clone.name, dict(counts), flush=True)
        for (tool, verdict), count in verdicts.items():
            table[clone.name, tool][verdict] += count
        lines += [f"{clone.name} {line}" for line in found]
        wrong += counts["wrong"]
    if options.report:
        options.report.write_text("".join(f"{line}\n" for line in lines))
    columns = ("equal", "different", "reported", "lost", "needless")
    print("\n| history | tool | " + " | ".join(columns) + " |\n|---|---|---|---|---|---|---|")
    for (history, tool), verdicts in table.items():
        print(f"| {history} | {tool} | " + " | ".join(str(verdicts[column]) for column in columns) + " |")
    sys.exit(1 if wrong else 0)


def of_repository(repository, options):
    counts, lines, seen, verdicts = collections.Counter(), [], {}, collections.Counter()
    events = list(repository.events())
    if options.committed:
        events = [event for event in events if event[-1]]
    if options.fork:
        events += repository.forks(*options.fork)
    found = repository.conflicts([(ours, theirs) for _, ours, theirs, _ in events])
    for (what, ours, theirs, made), conflicts in zip(events, found):
        counts[what] += 1
        counts["not merged by git"] += conflicts is None
        for path, ids in (conflicts or {}).items():
            if tuple(ids) not in seen:
                seen[tuple(ids)] = (what, ours, theirs, made, path)
    repository.use_driver()
    # The last merge: its files stand next to each other.
    again = {}
    for ids, (what, ours, theirs, made, path) in seen.items():
        blobs = [repository.blob(blob) for blob in ids]
        if any(len(blob) > options.largest for blob in blobs):
            counts["too large"] += 1
            continue
        parsed = [parse(blob) for blob in blobs]
        if None in parsed:
            counts["not of resources"] += 1
            continue
        counts["conflicts of lines"] += 1
        driven = reported(repository.driver, blobs, path)
        verdict, problems, fields = judge(driven, blobs, parsed)
        if (ours, theirs) not in again:
            again = {(ours, theirs): repository.merge(ours, theirs)}
        tree, left = again[ours, theirs]
        # What git does with the driver must be what the driver said by itself.
        if (path in left) != (verdict != "solved") and verdict != "wrong":
            verdict, problems = "wrong", [("", f"git and the driver disagree: {path in left}, {verdict}")]
        if made:
            results = {"git": None, "merge-package": None if driven[0] else driven[3]}
            if shutil.which("mergiraf"):
                results["mergiraf"] = by_mergiraf(blobs)
            for tool, found, why in beside_the_commit(results, blobs, parse(repository.blob(f"{made}:{path}") or b"")):
                verdicts[tool, found] += 1
                lines.append(f"{found} {tool} {what} {made} {path} {why or ''}")
        counts[verdict] += 1
        counts["hunks that git left"] += hunks(blobs)
        counts["fields reported"] += fields
        counts["reported, though no field has a conflict"] += verdict == "reported" and not problems
        lines.append(f"{verdict} {what} {made or ours} {path} {problems[:5]}")
    return counts, lines, verdicts


if __name__ == "__main__":
    main()
