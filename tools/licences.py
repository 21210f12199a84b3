"""Licence texts of all crates that the programs use in a build for one target: `krmv` has all functions.

    cargo metadata --format-version 1 --filter-platform TARGET | licences.py >FILE

Crates used at build time or in tests only are left out. A crate without a licence file is named with its
licence expression alone.
"""

import json
import pathlib
import sys

metadata = json.load(sys.stdin)
packages = {package["id"]: package for package in metadata["packages"]}
edges = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
root = metadata["resolve"]["root"]
used, pending = set(), [root]
while pending:
    current = pending.pop()
    if current in used:
        continue
    used.add(current)
    for dependency in edges[current]:
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            pending.append(dependency["pkg"])
used -= set(metadata["workspace_members"])

for package in sorted((packages[id] for id in used), key=lambda package: (package["name"], package["version"])):
    print(f"{package['name']} {package['version']}, {package['license']}")
    if package.get("repository"):
        print(package["repository"])
    folder = pathlib.Path(package["manifest_path"]).parent
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name.upper().startswith(("LICEN", "COPYING", "COPYRIGHT", "NOTICE")):
            print(f"\n{file.name}:\n")
            print(file.read_text(errors="replace").rstrip())
    print("\n" + "-" * 80 + "\n")
