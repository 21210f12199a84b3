#!/usr/bin/env python3
"""usage: linked.py [--check]

Writes docs/linked.md: who wrote what the programs are linked with, from Cargo.lock and the manifests of the crates.
With --check it writes nothing, and fails if the page is not up to date.
"""
import collections
import json
import re
import subprocess
import sys

PAGE = "docs/linked.md"
TARGET = "x86_64-unknown-linux-musl"
HEAD = """# What the programs are linked with

All crates in the programs, by the repository that they come from: the crates that run, and those that only build them
(procedural macros, build scripts). Versions and checksums are in `Cargo.lock`; `cargo deny` refuses other sources and licences.
`tools/linked.py` writes this page, and `.ci/run` compares it. Why the direct dependencies (bold) were chosen is in
[Design](design.md#dependencies).

| repository | crates that run | crates that build | licences | authors, as their manifests name them |
|---|---|---|---|---|
"""


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def names(edges: str) -> set[tuple[str, str]]:
    tree = run("cargo", "tree", "--locked", "--target", TARGET, "--edges", edges, "--prefix", "none", "--format", "{p}")
    found = set()
    # A blank line separates the trees of the programs.
    for line in filter(None, tree.splitlines()):
        name, version = line.split()[:2]
        found.add((name, version.lstrip("v")))
    return found


def cell(texts) -> str:
    return ", ".join(sorted(texts, key=str.lower)).replace("|", "\\|")


def page() -> str:
    metadata = json.loads(run("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET))
    own = set(metadata["workspace_members"])
    members = [package for package in metadata["packages"] if package["id"] in own]
    direct = {dependency["name"] for member in members for dependency in member["dependencies"] if dependency["kind"] is None}
    runs = names("normal,no-proc-macro")
    builds = names("normal,build") - runs
    rows = collections.defaultdict(lambda: {"runs": [], "builds": [], "licences": set(), "authors": set()})
    for package in metadata["packages"]:
        key = (package["name"], package["version"])
        if package["id"] in own or key not in runs | builds:
            continue
        repository = re.sub(r"(\.git|/tree/.*|/)$", "", package["repository"] or "unknown")
        row = rows[repository.replace("http://", "https://")]
        name = f"{package['name']} {package['version']}"
        row["runs" if key in runs else "builds"].append(f"**{name}**" if package["name"] in direct else name)
        row["licences"].add(package["license"] or "unknown")
        named = (re.sub(r"\s*<[^>]*>", "", author) for author in package["authors"])
        row["authors"].update(author for author in named if "@" not in author)
    text = HEAD
    for repository, row in sorted(rows.items()):
        place = re.sub(r"^https://(github\.com/)?", "", repository)
        link = f"[{place}]({repository})" if repository.startswith("https://") else place
        text += f"| {link} | {cell(row['runs'])} | {cell(row['builds'])} | {cell(row['licences'])} | {cell(row['authors'])} |\n"
    return text


def main() -> None:
    text = page()
    if sys.argv[1:] == ["--check"]:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != text:
                sys.exit(f"{PAGE} is not up to date: run tools/linked.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
