#!/usr/bin/env python3
"""Upgrades of real packages with random local edits: is anything lost without a result?

  random_upgrades.py BINARIES CLONE DIRECTORY [--merges 100] [--seed 1] [--tags PATTERN]

Pairs of neighbouring tags of CLONE (a local clone, bare or not) that differ in DIRECTORY are the original and the
upstream. The local package is the original with random edits as owners of a fork make them: values, lines added to
maps and to `env`, list elements, labels, comments, whole files moved or removed, resources renamed. Of each merge it
checks that

- it ends with 0 and every file that is KRM parses;
- each local edit (each has a mark of its own) is in the result, or a result names its file or resource;
- a file that only upstream changed is upstream's, one that only local changed is local's, byte for byte;
- in a file that both changed, each of upstream's new values is there or a result names the file, and so is each comment line
  that neither side touched;
- merged again, nothing changes.

Needs git and PyYAML. Prints the seed of what failed, and counts. Links are left out, and so are pairs with a file that PyYAML cannot
read or that has a key twice in one mapping.
"""

import argparse
import collections
import itertools
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

from values import has_key_twice

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
VALUE = re.compile(r"^( *)(- )?([A-Za-z][\w./-]*): ([^\s#&*!|>{\[\"'][^#]*)$")


def git(clone, *arguments):
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True).stdout


def checkout(clone, tag, directory, folder):
    folder.mkdir()
    archive = git(clone, "archive", f"{tag}:{directory}")
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    for path in list(folder.rglob("*")):
        if path.is_symlink():
            path.unlink()


def is_krm(path):
    return path.endswith((".yaml", ".yml", ".json")) or pathlib.PurePath(path).name == "Kptfile"


def snapshot(folder):
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def pairs(clone, directory, pattern):
    """Neighbouring tags, by version, whose trees of the directory differ."""
    found = []
    for tag in git(clone, "tag", "--list", pattern, "--sort=version:refname").decode().split():
        try:
            tree = git(clone, "rev-parse", "--verify", "-q", f"{tag}:{directory}").decode().strip()
        except subprocess.CalledProcessError:
            continue
        if not found or found[-1][1] != tree:
            found.append((tag, tree))
    return [(one[0], other[0]) for one, other in zip(found, found[1:])]


def leaves(text):
    """All scalars of a file, each with the key that it stands under."""
    documents = (document for document in yaml.load_all(text, Loader=LOADER) if document is not None)
    found, open_values = set(), [("", document) for document in documents]
    while open_values:
        key, value = open_values.pop()
        if isinstance(value, dict):
            open_values += value.items()
        elif isinstance(value, list):
            open_values += ((key, item) for item in value)
        else:
            found.add(f"{key}: {value}")
    return found


def is_yaml(folder):
    """Whether PyYAML reads all of a package, and no mapping has a key twice: what is invalid is refused, as it should be."""
    try:
        for path, text in snapshot(folder).items():
            if is_krm(path):
                list(yaml.load_all(text, Loader=LOADER))
                if any(has_key_twice(node) for node in yaml.compose_all(text, Loader=LOADER)):
                    return False
    except yaml.YAMLError:
        return False
    return True


def named(lines, number, column):
    """The line that names the element which begins at a line, if it has a name."""
    if lines[number].lstrip().startswith("- name: "):
        return ""
    for line in lines[number + 1 :]:
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= column:
            break
        if indent == column + 2 and line.startswith("name: ", indent):
            return " " + line.partition("#")[0].strip()
    return ""


def chains(lines):
    """Each line with the lines that it stands under (elements with their names), and kind and name of its resource."""
    found, above, resource = [], [], []
    for number, line in enumerate(lines):
        text = line.strip()
        if line.startswith("---") or number == 0:
            rest = itertools.takewhile(lambda other: not other.startswith("---"), lines[number + 1 :])
            heads = (other.partition("#")[0].strip() for other in (line, *rest) if other.startswith(("kind: ", "  name: ")))
            above, resource = [], sorted(itertools.islice(heads, 2))
        # The elements of a list may stand at their key's column.
        column = 2 * (len(line) - len(line.lstrip())) + text.startswith("- ")
        while text and above and above[-1][0] >= column:
            above.pop()
        found.append((text, *(holder for _, holder in above), *resource))
        if text.startswith("- "):
            text += named(lines, number, column // 2)
        if text and not text.startswith("#"):
            above.append((column, text))
    return found


def comments(text):
    """The comment lines of a file, each with what it stands under."""
    return {chain for chain in chains(text.decode().splitlines()) if chain[0].startswith("#")}


def edit_line(lines, number, mark, choose):
    """One edit of a line: the mark as it must be found again, and where the line stands that it is a comment of; or None."""
    line, place = lines[number], chains(lines)[number]
    found = VALUE.match(line.rstrip("\n"))
    kind = choose.choice(["value", "value", "comment", "above", "sibling", "element"])
    if kind == "above" and found:
        lines.insert(number, f"{found[1]}# {mark}\n")
    elif kind == "comment" and found:
        lines[number] = f"{line.rstrip()} # {mark}\n"
    elif kind == "value" and found and found[3] not in ("apiVersion", "kind", "name", "namespace", "type", "version"):
        lines[number] = f"{found[1]}{found[2] or ''}{found[3]}: {mark}\n"
    elif kind == "sibling" and found:
        indent = found[1] + (" " * len(found[2]) if found[2] else "")
        after = lines[number + 1] if number + 1 < len(lines) else ""
        # What follows must not be a continuation of this line.
        if after.startswith(indent + " "):
            return None
        lines.insert(number + 1, f"{indent}{mark}: {mark}\n")
    elif kind == "element" and line.strip() in ("env:", "args:", "volumes:") and number + 1 < len(lines):
        after = lines[number + 1]
        if not after.lstrip().startswith("- "):
            return None
        indent = after[: len(after) - len(after.lstrip())]
        entry = {"env:": f"name: {mark}\n{indent}  value: x", "args:": mark, "volumes:": f"name: {mark}\n{indent}  emptyDir: {{}}"}
        lines.insert(number + 1, f"{indent}- {entry[line.strip()]}\n")
    else:
        return None
    return mark, place if kind in ("comment", "above") else None


def edit(folder, choose, count):
    """Edits the package at random. Gives the marks by file, and the files that went or moved."""
    marks, gone = {}, {}
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and is_krm(path.name) and path.suffix != ".json"]
    paths = [path for path in paths if path.stat().st_size < 60_000] or paths
    for number in range(count):
        path = choose.choice(paths)
        name = str(path.relative_to(folder))
        if name in gone or not path.exists():
            continue
        action = choose.randrange(30)
        if action == 0 and path.stat().st_size < 100_000:
            path.unlink()
            gone[name] = None
            continue
        if action == 1 and "kustomization" not in name:
            moved = path.with_name(f"moved-{number}-{path.name}")
            path.rename(moved)
            gone[name] = str(moved.relative_to(folder))
            continue
        lines = path.read_text().splitlines(keepends=True)
        before = list(lines)
        for _ in range(20):
            mark = edit_line(lines, choose.randrange(len(lines)), f"edit{number}x{choose.randrange(10**6)}", choose) if lines else None
            if mark:
                break
        text = "".join(lines)
        try:
            list(yaml.load_all(text, Loader=LOADER))
        except yaml.YAMLError:
            mark = None
        if mark and lines != before:
            path.write_text(text)
            marks.setdefault(name, []).append(mark)
    return marks, gone


def said_lines(text):
    """The lines that say something, without order: a file that resources moved into or out of is put together anew."""
    return sorted(line for line in (text or b"").split(b"\n") if line.strip())


def check(arguments, seed, pair, work):
    """Yields what is wrong with one merge."""
    choose = random.Random(seed)
    original, upstream, local = (work / name for name in ("original", "upstream", "local"))
    if local.exists():
        shutil.rmtree(local)
    shutil.copytree(original, local)
    marks, gone = edit(local, choose, choose.randrange(1, 12))
    old, new, ours = snapshot(original), snapshot(upstream), snapshot(local)
    results = work / "results.yaml"
    winner = choose.choice(["local", "upstream"])
    config = work / "config.yaml"
    config.write_text(f"apiVersion: fn.kpt.dev/v1alpha1\nkind: MergePackage\nallowEmpty: true\nonConflict: {winner}\n")
    command = [f"{arguments.binaries}/merge-package", "--package", str(local), "--original", str(original),
               "--upstream", str(upstream), "--config", str(config)]
    done = subprocess.run([*command, "--results", str(results)], capture_output=True, text=True)
    if done.returncode != 0:
        yield f"exit code {done.returncode}: {done.stderr[:2000]}"
        return
    merged = snapshot(local)
    said = results.read_text()
    everything, edited = b"".join(merged.values()), b"".join(ours.values())
    for path, found in marks.items():
        place = gone.get(path) or path
        named = any(f"path: {name}" in said for name in (path, place)) or path.split("/")[-1] in said
        places = set(chains(new.get(path, b"").decode().splitlines()))
        for mark, where in found:
            # A comment goes with the line that it is about.
            if where is not None and where not in places:
                continue
            # A later edit may have gone over it.
            if mark.encode() in edited and mark.encode() not in everything and not named and mark not in said:
                yield f"the edit {mark} of {path} is lost"
    for path in sorted({*old, *new, *ours}):
        versions = [files.get(path) for files in (old, ours, new)]
        base, mine, theirs = versions
        now = merged.get(path)
        is_named = path.split("/")[-1] in said
        if path in gone.values() or path in gone:
            continue
        if base == mine and base is not None and now != theirs and not is_named and said_lines(now) != said_lines(theirs):
            yield f"{path}: only upstream changed it, and it is not upstream's"
        if base == theirs and now != mine and not is_named:
            yield f"{path}: only local changed it, and it is not local's"
        if None in versions or now is None or base in (mine, theirs):
            continue
        found, before, local_leaves, their_leaves = (leaves(text) for text in (now, *versions))
        for leaf in their_leaves - before - local_leaves - found:
            if not is_named:
                yield f"{path}: upstream's value is lost: {leaf[:200]}"
        left = {line.strip() for line in now.decode().splitlines()}
        for line, *_ in set.intersection(*map(comments, versions)):
            if line not in left and not is_named:
                yield f"{path}: a comment that nobody touched is lost: {line[:200]}"
    for path, text in merged.items():
        if is_krm(path) and text not in (old.get(path), ours.get(path), new.get(path)):
            try:
                list(yaml.load_all(text, Loader=LOADER))
            except yaml.YAMLError as error:
                yield f"{path} does not parse: {error}"
    again = subprocess.run(command, capture_output=True, text=True)
    if again.returncode != 0 or snapshot(local) != merged:
        changed = [path for path, text in snapshot(local).items() if merged.get(path) != text]
        yield f"merged again it is not the same: {again.returncode} {changed} {again.stderr[:500]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries")
    parser.add_argument("clone")
    parser.add_argument("directory")
    parser.add_argument("--merges", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tags", default="v*")
    arguments = parser.parse_args()
    found = pairs(arguments.clone, arguments.directory, arguments.tags)
    if not found:
        sys.exit("no two tags differ in that directory")
    counts = collections.Counter()
    each = max(1, arguments.merges // len(found))
    step = max(1, len(found) * each // arguments.merges)
    for number, pair in enumerate(found[::step]):
        with tempfile.TemporaryDirectory(prefix="upgrades-") as folder:
            work = pathlib.Path(folder)
            for tag, name in zip(pair, ("original", "upstream")):
                checkout(arguments.clone, tag, arguments.directory, work / name)
            if not all(is_yaml(work / name) for name in ("original", "upstream")):
                counts["invalid"] += 1
                continue
            for at in range(each):
                seed = arguments.seed * 1_000_000 + number * 1000 + at
                counts["merges"] += 1
                for problem in check(arguments, seed, pair, work):
                    counts["problems"] += 1
                    print(f"{pair[0]} -> {pair[1]}, seed {seed}: {problem}", flush=True)
    print(f"{arguments.clone} {arguments.directory}: {len(found[::step])} pairs, {counts['merges']} merges, {counts['problems']} problems; "
          f"{counts['invalid']} pairs left out, which hold invalid YAML")
    sys.exit(1 if counts["problems"] else 0)


if __name__ == "__main__":
    main()
