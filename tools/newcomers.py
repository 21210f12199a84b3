#!/usr/bin/env python3
"""Counts what newcomers read and type from the first line of README.md to their first finished upgrade.

  tools/newcomers.py            prints the table; fails where a way is too long
  tools/newcomers.py --write    writes it into docs/contributing/newcomers.md

A way is README.md up to the end of "Which one am I?", and one page up to its line `<!-- the first upgrade is done -->`, or, of a page of several ways, what
comes before its first section and one of the sections. Counted are the commands, which
are the lines after a `$ ` and the one that installs krmv, and all words that a reader sees: prose, tables, commands and what they print.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/contributing/newcomers.md"
DONE = "<!-- the first upgrade is done -->\n"
MOST_COMMANDS, MOST_WORDS = 9, 1199
WAYS = [
    ("a vendored file", "docs/tutorials/upgrade-a-vendored-file.md"),
    ("a release file", "docs/tutorials/upgrade-a-vendored-file.md"),
    ("a chart", "docs/tutorials/helm.md"),
    ("`values.yaml`", "docs/tutorials/values.md"),
    ("a kpt package", "docs/tutorials/upgrade-a-package.md"),
    ("a monorepo", "docs/how-to/monorepo.md"),
    ("a file named by its version", "docs/how-to/layouts.md#a-file-named-by-its-version"),
    ("a directory with its own tags", "docs/how-to/layouts.md#a-directory-with-its-own-tags"),
    ("a branch", "docs/how-to/layouts.md#a-branch"),
]


def words(text: str) -> int:
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^()\s]+\)", "]", text)
    return len([word for word in text.split() if re.search(r"\w", word)])


def title(page: str) -> str:
    return page.partition("\n")[0].removeprefix("# ")


def before(text: str, mark: str, name: str) -> str:
    head, found, _ = text.partition(mark)
    if not found:
        sys.exit(f"{name}: has no line {mark.strip()!r}")
    return head


def way(name: str) -> tuple[str, str]:
    """The title of a page or section, and what is read of it."""
    path, found, anchor = name.partition("#")
    page = (ROOT / path).read_text()
    if not found:
        return title(page), before(page, DONE, name)
    head, *sections = re.split(r"(?m)^## ", page)
    for section in sections:
        heading = section.partition("\n")[0]
        if heading.lower().replace(" ", "-") == anchor:
            return heading, head + section
    sys.exit(f"{path}: has no section {anchor!r}")


def main() -> None:
    readme = before((ROOT / "README.md").read_text(), "## Try it", "README.md")
    lines, failed = ["| you have | page | commands | words |", "|---|---|---|---|"], []
    for who, name in WAYS:
        heading, page = way(name)
        commands = 1 + len(re.findall(r"^\$ ", page, flags=re.MULTILINE))
        count = words(readme) + words(page)
        lines.append(f"| {who} | [{heading}](../../{name}) | {commands} | {count:,} |")
        if commands > MOST_COMMANDS or count > MOST_WORDS:
            failed.append(f"{name}: {commands} commands and {count} words until the first upgrade is done; at most {MOST_COMMANDS} and {MOST_WORDS}")
    table = "\n".join(lines) + "\n"
    print(table, end="")
    if "--write" in sys.argv[1:]:
        PAGE.write_text(re.sub(r"(?m)(^\|.*\n)+", table, PAGE.read_text(), count=1))
    for line in failed:
        print(line, file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
