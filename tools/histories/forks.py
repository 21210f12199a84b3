#!/usr/bin/env python3
"""Forks of real projects over neighbouring releases: git, mergiraf and merge-package side by side.

  forks.py BINARIES CLONE DIRECTORY_OR_FILE [--edits FILE] [--comments] [--seed 38] [--kpt] [--every 1] [--largest BYTES] [--report FILE]

Takes the last release of each minor version (with --edits, the first: `vX.Y.0`). For each YAML file that two neighbouring releases have and that
differs between them, makes a fork of the older one with a random choice of the edits below (the seed and the path are the key), or with those of
FILE (edits.py), and merges the newer one into it with `git merge-file`, `mergiraf merge` (left out where it is not on PATH), `merge-package`, and with --kpt `kpt pkg update`.

The judge reads the files with PyYAML as facts: a value at a path, a repository and a version for an image, an element of a list without
names, a line of a text. Only one side changed a fact: the result must have the change. Both did, to different ends: a conflict is right, and
silence is wrong. Each file of each tool is one of:

  right     no conflict, and all facts are those that the three versions ask for
  asked     a conflict, and there is a fact that both sides changed to different ends
  needless  a conflict, and there is no such fact
  wrong     no conflict, but a change of one side is missing, or a real conflict was decided silently

Of the right ones it counts those in which a comment is lost, doubled or re-indented (comments.py). With --comments each fork has two edits of
comments and blank lines in addition.

With --lists-are-one-value a list without names is one fact, so a conflict over one that both sides changed is right.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

import comments
import edits
import minor_upgrades
import values
from repositories import git, mirror, nobody_in
from three_way import canonical

RELEASE = re.compile(r"v?(\d+)\.(\d+)\.(\d+)$")
IMAGE = re.compile(r"^(?=[^\s]*[/:.])([\w.-]+(?::\d+)?(?:/[\w.-]+)*)((?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?)$")
# Each edit: its name, where it can be made, and what stands there then. `\n` at the beginning keeps comments out.
EDITS = [
    ("registry", re.compile(r"(\n *(?:- )?image: *[\"']?)(?:[\w-]+\.[\w.-]+(?::\d+)?/)?(?=[a-z])"), r"\1mirror.example.com/", 0),
    ("replicas", re.compile(r"(\n *replicas: )\d+"), r"\g<1>5 # by load", 1),
    ("label", re.compile(r"(\nmetadata:\n(?:  [^\n]*\n)*?( *)labels:\n)(?=\2  )"), r"\1\2  team: platform\n", 1),
    ("argument", re.compile(r"(\n( *)args:(?:\n\2 *- [^\n{\[&*|>]+)+)(?=\n)"), r"\1\n\2- --own=true # ours", 1),
    ("argument-value", re.compile(r"(\n *- --[a-z-]+=)[\w./:-]+(?=\n)"), r"\g<1>ours", 1),
    ("resources", re.compile(r"(\n *(?:cpu|memory): )[\w.\"]+"), r"\g<1>333m # measured", 1),
    ("removed-rule", re.compile(r"(\nrules:\n)- apiGroups:\n(?:  [^\n]*\n)+(?=- )"), r"\1", 1),
    ("rule", re.compile(r"(\nrules:\n(?:[- ] [^\n]*\n)+)(?=---|\Z)"), r"\1- apiGroups:\n  - own.example.com\n  resources:\n  - things\n  verbs:\n  - get\n", 1),
    ("tolerations", re.compile(r"(\n( *)serviceAccountName: [^\n]+)"), r"\1\n\2tolerations:\n\2- key: infra\n\2  operator: Exists", 1),
    ("alert", re.compile(r"(\n *severity: )\w+"), r"\g<1>page", 1),
    ("for", re.compile(r"(\n *for: )\w+"), r"\g<1>42m", 1),
    ("flow", re.compile(r"(\n *port: )\d+(?=\n)"), r"\g<1>4242", 1),
    ("comment", re.compile(r"(\n *namespace: [\w-]+)(?=\n)"), r"\1 # ours", 1),
    ("removed-document", re.compile(r"(?<=\n)---\n(?:(?!---\n)[^\n]*\n)+"), "", 1),
]
# Edits of comments, with a number that the path and the seed choose.
COMMENT_EDITS = [
    ("comment-above", re.compile(r"(?<=\n)( *)(?=[\w.-]+: ?[^\n|>]*\n)"), r"\1# own @, as in the runbook\n\1"),
    ("comment-of-element", re.compile(r"(?<=\n)( *)(?=- [^\n|>]+\n)"), r"\1# own element @\n\1"),
    ("comment-column-0", re.compile(r"(?<=\n)( *)(?=[\w.-]+: ?[^\n|>]*\n)"), r"# own @ at the margin\n\1"),
    ("paragraph", re.compile(r"(?<=\n)( *)(?=[\w.-]+: ?[^\n|>]*\n)"), r"\n\1# own @\n\1# of two lines @\n\1"),
    ("commented-out", re.compile(r"(?<=\n)( +)((?!name:|kind:|apiVersion:|key:|mountPath:|\w*[pP]ort:)[\w.-]+: [^\n|>\[{&]+)(?=\n)"), r"\1# \2"),
    ("comment-changed", re.compile(r"(?<=\n)( *# ?)([^\n]*\w[^\n]*)(?=\n)"), r"\1\2 (own @)"),
    ("comment-removed", re.compile(r"(?<=\n) *#[^\n]*\n"), ""),
    ("comment-behind", re.compile(r"(\n *[\w.-]+: [\w./:-]+)(?=\n)"), r"\1 # own @"),
]
# What names the elements of a list, the first that all have; the lists of a kustomization whose order of strings says nothing.
NAMES = (("containerPort",), ("mountPath",), ("name", "alert", "record"))
# Maps that the API of Kubernetes replaces as one value (`x-kubernetes-map-type: atomic`), although half a change of one would be valid.
ATOMIC = {"roleRef"}
SETS = {"resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators"}


def with_comments(text, generator):
    """The text with edits of comments, and their names."""
    made = []
    for name, pattern, replacement in generator.sample(COMMENT_EDITS, 4):
        places = [match.start() for match in pattern.finditer(text)]
        if len(made) == 2 or not places:
            continue
        start = generator.choice(places)
        # One character before, for what looks behind.
        head, tail = text[:max(start - 1, 0)], text[max(start - 1, 0):]
        text = head + pattern.sub(replacement.replace("@", f"{generator.randint(100, 999)}"), tail, count=1)
        made.append(name)
    return text, made


def fork(text, generator):
    """The text with some edits, and their names."""
    made = []
    kinds = generator.sample(EDITS, min(len(EDITS), generator.randint(3, 6)))
    for name, pattern, replacement, count in kinds:
        if name == "tolerations" and "tolerations:" in text:
            continue
        places = [match.start() for match in pattern.finditer(text)]
        if not places:
            continue
        start = 0 if count == 0 else generator.choice(places)
        text = text[:start] + pattern.sub(replacement, text[start:], count=count)
        made.append(name)
    return text, made


def resource(item):
    """What identifies a resource in a list."""
    metadata = item.get("metadata")
    return isinstance(metadata, dict) and f"{item.get('kind')}/{metadata.get('namespace')}/{metadata.get('name')}" or None


def names(items):
    """The names of a list's elements, the second of a name with a number; `None` where one has no name."""
    for keys in NAMES:
        found = [next((item[key] for key in keys if key in item), resource(item)) if isinstance(item, dict) else None for item in items]
        if all(isinstance(name, (str, int)) for name in found):
            return [f"{name}#{found[:at].count(name)}" if found[:at].count(name) else f"{name}" for at, name in enumerate(found)]
    return None


def identity_of(document):
    metadata = document.get("metadata") or {}
    group = str(document.get("apiVersion", "")).rpartition("/")[0]
    return json.dumps((group, document.get("kind"), metadata.get("name")))


def renamed(base, other):
    """The resources that a side renamed or moved to another API group, with their identities before: the only one of its kind that is new, where
    one of that kind is gone, and half of it is the same."""
    sides = [[document for document in values.documents(text) if isinstance(document, dict)] for text in (base, other)]
    known = [{identity_of(document) for document in documents} for documents in sides]
    alone = [[document for document in documents if identity_of(document) not in known[1 - at]] for at, documents in enumerate(sides)]
    found = {}
    for new in alone[1]:
        pair = [[document for document in documents if document.get("kind") == new.get("kind")] for documents in alone]
        if [len(documents) for documents in pair] != [1, 1]:
            continue
        leaves = [Facts("", False), Facts("", False)]
        for facts, document in zip(leaves, (pair[0][0], new)):
            facts.read({key: value for key, value in document.items() if key not in ("apiVersion", "kind", "metadata")}, ())
        both = [set(facts.values.items()) | set(facts.counts.items()) for facts in leaves]
        if 2 * len(both[0] & both[1]) >= max(map(len, both)) or [len(documents) for documents in sides] == [1, 1]:
            found[identity_of(new)] = identity_of(pair[0][0])
    return found


def leaves(value, path=()):
    """The scalars of a value, and the lines of its texts, each with its path. Elements of lists have no number."""
    if isinstance(value, dict) and value:
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, str(key)))]
    if isinstance(value, list) and value:
        return [leaf for inner in value for leaf in leaves(inner, (*path, "[]"))]
    if isinstance(value, str) and "\n" in value:
        return [(path, line) for line in value.split("\n")]
    return [(path, canonical(value))]


def alike(one, other):
    """Whether two values are versions of one: of their leaves, three or more and most are equal."""
    counts = [collections.Counter(leaves(value)) for value in (one, other)]
    common = sum((counts[0] & counts[1]).values())
    return common >= 3 and 2 * common > max(sum(count.values()) for count in counts)


def other_names(old, new):
    """The keys or names that replace one of the old values, with the name before: each is the only one like the other."""
    gone, added = ({key: value for key, value in one.items() if key not in other} for one, other in ((old, new), (new, old)))
    if not gone or not added or len(gone) * len(added) > 400:
        return {}
    pairs = [(before, after) for before, value in gone.items() for after, other in added.items() if alike(value, other)]
    is_only = lambda pair: sum(pair[0] == other[0] or pair[1] == other[1] for other in pairs) == 1
    return {after: before for before, after in filter(is_only, pairs)}


class Facts:
    """What a file says: values by path, and the elements of lists without names, counted.

    Keys and names are those that `base` has for the same values. `places` are the lists whose elements are known by their position."""

    def __init__(self, text, lists_are_one_value, former=None, base=None, places=()):
        self.values, self.counts, self.collections, self.lists = {}, collections.Counter(), set(), {}
        self.one, self.places = lists_are_one_value, places
        before = {identity_of(document): document for document in values.documents(base or "") if isinstance(document, dict)}
        for document in values.documents(text):
            if isinstance(document, dict):
                identity = identity_of(document)
                identity = (former or {}).get(identity, identity)
                self.read(document, (identity,), before.get(identity))

    def of(self, resource):
        values = {path: value for path, value in self.values.items() if path[0] == resource}
        return values, {key: count for key, count in self.counts.items() if key[0][0] == resource}

    def join_images(self, repositories):
        for path in repositories & self.values.keys():
            self.values[path] += self.values.pop((*path[:-1], "version"), "")

    def read(self, value, path, before=None):
        if isinstance(value, (dict, list)) and value:
            self.collections.add(path)
        if isinstance(value, dict) and value and ATOMIC & set(path[-1:]):
            self.values[path] = canonical(value)
        elif isinstance(value, dict) and value:
            self.read_named({str(key): inner for key, inner in value.items()}, path, before, "{}")
        elif isinstance(value, list) and value and names(value):
            named = before if isinstance(before, list) and before and names(before) else []
            named = dict(zip(names(named) or [], named))
            self.read_named(dict(zip(names(value), value)), path, named, "[{}]")
        elif isinstance(value, list) and value and not self.one:
            self.lists[path] = value
            for at, inner in enumerate(value):
                if path in self.places and is_large(inner):
                    old = before[at] if isinstance(before, list) and at < len(before) else None
                    self.read(inner, (*path, f"[{at}]"), old)
                else:
                    self.counts[(path, canonical(inner))] += 1
        elif isinstance(value, str) and path[-1] == "image" and (image := IMAGE.match(value)):
            self.values[(*path, "repository")], self.values[(*path, "version")] = image[1], image[2]
        elif inner := values.document(value):
            self.read(inner, (*path, "within"), values.document(before))
        elif isinstance(value, str) and value.count("\n") > 1:
            for line in value.split("\n"):
                self.counts[(path, line)] += 1
        else:
            self.values[path] = canonical(value)

    def read_named(self, entries, path, before, spelled):
        before = {str(key): inner for key, inner in before.items()} if isinstance(before, dict) else {}
        renamed = other_names(before, entries)
        for key, inner in entries.items():
            old = renamed.get(key, key)
            self.read(inner, (*path, spelled.format(old)), before.get(old))
            if old in before and isinstance(inner, (dict, list)):
                # A side may change what an entry or element is called.
                self.values[(*path, spelled.format(old), "its name")] = key


def is_large(element):
    return isinstance(element, (dict, list)) or isinstance(element, str) and element.count("\n") > 1


def known_by_position(versions):
    """The lists without names that have the same elements in all versions, each alike or equal."""
    found = set()
    for path, base in versions[0].lists.items():
        lists = [facts.lists.get(path) for facts in versions]
        if all(other is not None and len(other) == len(base) for other in lists) and any(map(is_large, base)):
            same = lambda one, other: one == other or is_large(one) and is_large(other) and alike(one, other)
            if all(same(one, other) for others in lists[1:] for one, other in zip(base, others)):
                found.add(path)
    return found


def is_below(path, places):
    return any(path[:length] in places for length in range(1, len(path) + 1))


class Judge:
    def __init__(self, original, local, upstream, one):
        self.one = one
        self.former = renamed(original, upstream)
        self.original, self.places = original, set()
        while True:
            versions = [self.facts(text) for text in (original, local, upstream)]
            more = known_by_position(versions) - self.places
            if not more:
                break
            self.places |= more
        base, mine, theirs = versions
        # Another image is one value with its version.
        repositories = {path for facts in versions for path in facts.values if path[-1] == "repository"}
        last = lambda path, facts: facts.values.get(path, "").rpartition("/")[2]
        self.other_images = {path for path in repositories if len({last(path, facts) for facts in versions} - {""}) > 1}
        for facts in versions:
            facts.join_images(self.other_images)
        self.values, self.real = {}, set()
        dropped = self.dropped(base, mine, theirs) | self.dropped(base, theirs, mine)
        resources = [{path[0] for path in facts.values} for facts in (base, mine, theirs)]
        removed = resources[0] - resources[1]
        for resource in resources[0] & resources[1] - resources[2]:
            removed.add(resource)
            if base.of(resource) != mine.of(resource):
                self.real.add((resource,))
        for path in base.values.keys() | mine.values.keys() | theirs.values.keys():
            if path[0] in removed or is_below(path, dropped):
                continue
            was, here, there = (facts.values.get(path) for facts in (base, mine, theirs))
            if here == was or here == there:
                self.values[path] = there
            elif there == was:
                self.values[path] = here
            else:
                self.real.add(path)
        self.counts = {}
        for key in base.counts.keys() | mine.counts.keys() | theirs.counts.keys():
            if key[0][0] not in removed and not is_below(key[0], dropped):
                was, here, there = (facts.counts[key] for facts in (base, mine, theirs))
                self.counts[key] = here if there == was else there if here == was or here == there else max(here + there - was, 0)
        # An element or line that both sides took away is changed by both where one of them added others.
        for path in {key[0] for key in base.counts if key[0][0] not in removed and mine.counts[key] < base.counts[key] and theirs.counts[key] < base.counts[key]}:
            added = [
                {key for key in facts.counts if key[0] == path and facts.counts[key] > base.counts[key]} for facts in (mine, theirs)
            ]
            if added[0] != added[1] and not (path[-1] in SETS and "ustomiz" in path[0]):
                self.real.add(path)
        self.removed = removed

    def facts(self, text):
        return Facts(text, self.one, self.former, self.original, self.places)

    def dropped(self, base, one, other):
        """The maps, lists and elements that one side removed and the other changed: a conflict as a whole."""
        gone = base.collections - one.collections
        gone = {path for path in gone if path[:-1] in one.collections and path in other.collections}
        changed = {path for path, value in base.values.items() ^ other.values.items()}
        changed |= {key[0] for key, count in base.counts.items() ^ other.counts.items()}
        changed = {place[:length] for place in changed for length in range(1, len(place) + 1)}
        gone &= changed
        self.real |= gone
        return gone

    def verdict(self, text, conflicts):
        """How good a result is, and a fact that is missing."""
        if conflicts:
            return ("asked" if self.real else "needless"), None
        if missing := self.missing(text):
            return "wrong", missing
        return ("wrong", ("silent", sorted(self.real)[0])) if self.real else ("right", None)

    def missing(self, text):
        """A fact that only one side changed, and that is not so in a result."""
        try:
            found = self.facts(text)
            found.join_images(self.other_images)
        except Exception as error:  # not YAML
            return str(error)[:80]
        for path, value in self.values.items():
            if found.values.get(path) != value:
                return path, value, found.values.get(path)
        for key, count in self.counts.items():
            if found.counts[key] != count and key[0] not in self.real:
                return key, count, found.counts[key]
        return None


class Conflicts(int):
    """The number of conflicts, and whether a result says that comments went with what upstream removed."""

    def __new__(cls, count, named):
        self = super().__new__(cls, count)
        self.named = named
        return self


def by_git(work, binaries):
    done = subprocess.run(["git", "merge-file", "-p", work / "local", work / "original", work / "upstream"], capture_output=True)
    return (None, done.returncode) if done.returncode else (done.stdout.decode(), 0)


def by_mergiraf(work, binaries):
    command = ["mergiraf", "merge", work / "original", work / "local", work / "upstream", "-p", "a.yaml", "-o", work / "merged", "-t", "60000"]
    done = subprocess.run(command, capture_output=True)
    return (None, done.returncode) if done.returncode else ((work / "merged").read_text(), 0)


def by_merge_package(work, binaries):
    for role in ("original", "local", "upstream"):
        (work / f"{role}.d").mkdir()
        shutil.copy(work / role, work / f"{role}.d" / "a.yaml")
    command = [binaries / "merge-package", "--package", work / "local.d", "--original", work / "original.d", "--upstream", work / "upstream.d"]
    done = subprocess.run([*command, "--output", "json", "onConflict=local"], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr[:200] or 1
    results = [result for item in json.loads(done.stderr)["items"] for result in item.get("results", [])]
    conflicts = [result for result in results if result.get("tags", {}).get("reason") == "MergeConflict"]
    named = any(result.get("tags", {}).get("reason") == "CommentsRemoved" for result in results)
    return (work / "local.d" / "a.yaml").read_text(), Conflicts(len(conflicts), named)


def by_kpt(work, binaries):
    catalog, own = work / "catalog", work / "own"
    for folder in (catalog / "p", own):
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet")
    for number, role in ((1, "original"), (2, "upstream")):
        shutil.copy(work / role, catalog / "p" / "a.yaml")
        (catalog / "p" / "Kptfile").write_text("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n")
        git(catalog / "p", "add", "--all")
        git(catalog / "p", "commit", "--quiet", "--message", role)
        git(catalog / "p", "tag", f"v{number}")
    quiet = {"capture_output": True, "text": True, "cwd": own}
    subprocess.run(["kpt", "pkg", "get", f"{catalog / 'p'}/.git/@v1", "p"], check=True, **quiet)
    shutil.copy(work / "local", own / "p" / "a.yaml")
    git(own, "add", "--all")
    git(own, "commit", "--quiet", "--message", "local")
    done = subprocess.run(["kpt", "pkg", "update", "p@v2"], **quiet)
    return (None, done.stderr[:200]) if done.returncode else ((own / "p" / "a.yaml").read_text(), 0)


def releases(repository, path):
    """The last release of each minor version that has the path."""
    last = {}
    for tag in git(repository, "tag").split():
        if found := RELEASE.match(tag):
            number = tuple(map(int, found.groups()))
            if number > last.get(number[:2], ((), ""))[0]:
                last[number[:2]] = (number, tag)
    has = lambda tag: subprocess.run(["git", "-C", repository, "cat-file", "-e", f"{tag}:{path}"], capture_output=True).returncode == 0
    return [tag for _, (_, tag) in sorted(last.items()) if has(tag)]


def files(repository, tag, path, largest):
    # With the size, which is `BAD` for a file that the clone lacks.
    listed = git(repository, "ls-tree", "-r", "--long", tag, path).splitlines()
    found = ((*what.split(), name) for what, name in (line.split("\t") for line in listed))
    is_file = lambda mode, size, name: name.endswith((".yaml", ".yml")) and mode.startswith("100") and size.isdigit() and int(size) <= largest
    return {name: blob for mode, _, blob, size, name in found if is_file(mode, size, name)}


def edited(path, text, wanted, folder):
    """The text of a file with its edits, and their numbers."""
    result = folder / path
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(text)
    made = [f"{number}" for number, edit in enumerate(wanted) if edit["file"] == path and edits.apply(edit, folder)]
    return (result.read_text() if result.exists() else text), made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("clone")
    parser.add_argument("path")
    parser.add_argument("--seed", type=int, default=38)
    parser.add_argument("--comments", action="store_true", help="edit comments and blank lines too")
    parser.add_argument("--edits", type=pathlib.Path, help="the edits of a file, and no random ones")
    parser.add_argument("--every", type=int, default=1, help="only each nth file")
    parser.add_argument("--largest", type=int, default=1 << 40, help="only files of at most so many bytes")
    parser.add_argument("--kpt", action="store_true")
    parser.add_argument("--lists-are-one-value", action="store_true")
    parser.add_argument("--report", type=pathlib.Path)
    arguments = parser.parse_args()
    tools = {"git": by_git, "mergiraf": by_mergiraf, "merge-package": by_merge_package}
    if not shutil.which("mergiraf"):
        del tools["mergiraf"]
    if arguments.kpt:
        tools["kpt"] = by_kpt
    binaries = arguments.binaries.resolve()
    wanted = edits.read(arguments.edits) if arguments.edits else []
    counts, lines, number = {tool: collections.Counter() for tool in tools}, [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        repository = mirror(arguments.clone, folder / "clone.git")
        nobody_in(folder / "home")
        tags = (minor_upgrades.releases if arguments.edits else releases)(repository, arguments.path)
        for before, after in zip(tags, tags[1:]):
            old, new = (files(repository, tag, arguments.path, arguments.largest) for tag in (before, after))
            for name in sorted(name for name in old if name in new and old[name] != new[name]):
                number += 1
                if number % arguments.every:
                    continue
                blob = lambda identity: subprocess.run(["git", "-C", repository, "cat-file", "blob", identity], check=True, capture_output=True).stdout.decode()
                original, upstream = blob(old[name]), blob(new[name])
                if arguments.edits:
                    local, made = edited(name.removeprefix(f"{arguments.path}/"), original, wanted, folder / "edited")
                else:
                    generator = random.Random(f"{arguments.seed} {before} {name}")
                    local, made = fork(original, generator)
                    if arguments.comments:
                        local, more = with_comments(local, generator)
                        made += more
                if not made or local in (original, upstream):
                    continue
                try:
                    judge = Judge(original, local, upstream, arguments.lists_are_one_value)
                except Exception:
                    continue  # not YAML
                if not judge.values:
                    continue
                for tool, merge in tools.items():
                    work = folder / "work"
                    work.mkdir()
                    for role, text in (("original", original), ("local", local), ("upstream", upstream)):
                        (work / role).write_text(text)
                    merged, conflicts = merge(work, binaries)
                    verdict, why = judge.verdict(merged, conflicts)
                    counts[tool][verdict] += 1
                    found = comments.faults(original, local, upstream, merged) if verdict == "right" else {}
                    if getattr(conflicts, "named", False):
                        found.pop("lost", None)
                    for fault, which in found.items():
                        counts[tool][fault] += 1
                        why = f"{why or ''} {fault}: {which}"
                    lines.append(f"{verdict}\t{tool}\t{before}..{after}\t{name}\t{','.join(made)}\t{conflicts}\t{why or ''}\n")
                    shutil.rmtree(work)
    if arguments.report:
        arguments.report.write_text("".join(lines))
    total = sum(next(iter(counts.values())).values())
    print(f"{arguments.path} of {pathlib.Path(arguments.clone).name}: {total} files over {len(tags)} releases, seed {arguments.seed}\n")
    columns = ("right", "asked", "needless", "wrong", "lost", "doubled", "re-indented")
    print(f"| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for tool, verdicts in counts.items():
        print(f"| {tool} | " + " | ".join(str(verdicts[column]) for column in columns) + " |")


if __name__ == "__main__":
    main()
