#!/usr/bin/env python3
"""Runs every PackageVariant and PackageVariantSet of Porch and Nephio through render-fleet.

    tools/nephio.py PROGRAMS PORCH CATALOG KPT [--table]

PROGRAMS is a folder with the built programs, the others are clones of nephio-project/porch, nephio-project/catalog and kptdev/kpt. Each
object is a run of its own, into an empty fleet, with the Repository objects of both repositories, and with one for each downstream
repository that a set names and they lack. A Repository of nephio-project/catalog, or a copy of it or of kpt in Porch's load test, is a
catalog. Prints the outcome of each object, or a table of them (docs/compatibility.md); exits with 1 if one is neither rendered nor refused.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

KIND = r"(?m)^kind: (PackageVariant|PackageVariantSet|Repository)\s*$"


def documents(clone):
    """The documents of the kinds in question at HEAD: path, number and text."""

    def git(*arguments):
        done = subprocess.run(["git", "-C", clone, *arguments], capture_output=True, check=True)
        return done.stdout.decode()

    kinds = r"^kind: (PackageVariant(Set)?|Repository)\s*$"
    for name in git("grep", "-lE", kinds, "HEAD", "--", "*.yaml", "*.yml").split():
        texts = re.split(r"(?m)^---.*$", git("show", name))
        found = (text.strip("\n") + "\n" for text in texts if re.search(KIND, text))
        for number, text in enumerate(found):
            yield name.split(":", 1)[1], number, text


# What the sets of the OAI and RIC operators select.
CLUSTER = "apiVersion: infra.nephio.org/v1alpha1\nkind: WorkloadCluster\nmetadata:\n  name: edge\n"


def field(text, name):
    found = re.search(rf"(?m)^ +{name}: *([^#\n]*)", text)
    return found.group(1).strip() if found else ""


def named(name):
    return (
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\n"
        f"metadata:\n  name: {name}\nspec:\n  type: git\n"
    )


def run(programs, text, repositories, catalogs):
    """The exit code and the results of a run for one object."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        namespace = re.search(r"(?m)^  namespace: (\S+)", text)
        there = dict(repositories)
        if re.search(r"(?m)^kind: PackageVariantSet", text):
            for name in re.findall(r"(?m)^ +(?:- )+name: (\S+)|^ +-  +name: (\S+)", text):
                there.setdefault(name[0] or name[1], named(name[0] or name[1]))
        resources = "---\n".join([*there.values(), CLUSTER])
        if namespace:
            resources = re.sub(r"(?m)^ +namespace: .*\n", "", resources)
            first = rf"\g<0>namespace: {namespace[1]}\n\g<1>"
            resources = re.sub(r"(?m)^metadata:.*\n( +)", first, resources)
        (folder / "object.yaml").write_text(text)
        (folder / "resources.yaml").write_text(resources)
        (folder / "fleet").mkdir()
        command = [programs / "render-fleet", "--package", "fleet", "--variants", "object.yaml"]
        command += ["--resources", "resources.yaml"]
        command += [f"--catalog={name}={clone}" for name, clone in catalogs.items()]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
        made = list((folder / "fleet").rglob("Kptfile"))
        return done.returncode, done.stderr.decode(), len(made)


def outcome(code, said):
    if code == 0:
        return "rendered"
    errors = re.findall(r"\[error\] (.*)" if code == 1 else r"^render-fleet: object.yaml: (.*)", said)
    if code not in (1, 2) or not errors:
        return None
    return "refused: " + re.sub(r"^\S+/\S+: ", "", errors[0])


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--table"]
    programs, porch, catalog, kpt = (pathlib.Path(argument).resolve() for argument in arguments)
    objects, repositories, catalogs = [], {}, {}
    for clone in (porch, catalog):
        for path, number, text in documents(clone):
            if not re.search(r"(?m)^kind: Repository\s*$", text):
                objects.append((clone, path, number, text))
                continue
            name, address = field(text, "name"), field(text, "repo")
            if "config.porch.kpt.dev" in text:
                repositories.setdefault(name, text)
            if re.search(r"nephio-project/catalog|catalog-load", address):
                catalogs[name] = catalog
            elif "kpt-load" in address:
                catalogs[name] = kpt
    # The catalog's README names it so; it is in none of the files.
    ric = named("catalog-workloads-ric") + "  git: {branch: main, directory: /workloads/ric}\n"
    repositories["edge"] = named("edge")
    repositories["catalog-workloads-ric"], catalogs["catalog-workloads-ric"] = ric, catalog
    table, failed = collections.defaultdict(list), False
    for clone, path, number, text in objects:
        code, said, packages = run(programs, text, repositories, catalogs)
        result = outcome(code, said)
        failed |= result is None
        table[result or f"FAILED with {code}"].append((clone, path, packages))
        if "--table" not in sys.argv:
            print(f"{path}[{number}]: {result or said} ({packages} packages)")
    if "--table" in sys.argv:
        for result, places in sorted(table.items()):
            paths = collections.Counter(f"`{path}`" for _, path, _ in places)
            print(f"| {len(places)} | {result} | {sum(p for *_, p in places)} | {', '.join(paths)} |")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
