#!/usr/bin/env python3
"""Lists the public items of the crates that nothing uses: they can be private to their crate, or go.

    tools/public_items.py [--most COUNT]     also fails if a crate has more public items than that

The sources are read as text, without the compiler. An item is what follows `pub`: a type, a function or method, a
constant, a module, but no field and no `pub use`. It is used if its name occurs in code of another crate, in a test, a
benchmark, a fuzz target or an example of the documentation; or where a used item of its own crate shows it: in a
signature, a public field, a trait. Names are compared, not paths, so an item with a common name counts as used.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)|[bc]?"(?:\\.|[^"\\])*"|b?'(?:\\[^']+|\\'|[^\\'])'|\w+|[^\s\w]""",
    re.DOTALL,
)
KINDS = ("fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod")
# What may stand between `pub` and the kind.
BEFORE_KIND = ("async", "unsafe", "extern", "default")
OPENING, CLOSING = "([{", ")]}"
RUST_FENCE = re.compile(r"^(|rust|no_run|should_panic|compile_fail|edition\d+)(,.*)?$")


def is_name(token):
    return token[0].isalpha() or token[0] == "_"


def is_comment(token):
    return token.startswith(("//", "/*"))


class Source:
    """A file: its code without comments, with the line of each token, and the examples of its documentation."""

    def __init__(self, path):
        self.path = path
        text = path.read_text()
        self.tokens, self.lines, comments = [], [], []
        line, at = 1, 0
        for match in TOKEN.finditer(text):
            line += text.count("\n", at, match.start())
            at = match.start()
            if not is_comment(match[0]):
                self.tokens.append(match[0])
                self.lines.append(line)
            elif match[0].startswith(("///", "//!")):
                comments.append(match[0][3:])
        self.examples = examples(comments)

    def end(self, start):
        """The index behind the bracket that closes the one at `start`."""
        depth = 0
        for index in range(start, len(self.tokens)):
            depth += (self.tokens[index] in OPENING) - (self.tokens[index] in CLOSING)
            if depth == 0:
                return index + 1
        return len(self.tokens)

    def head(self, start):
        """The index of the `{` or `;` that ends the head of the item at `start`."""
        index = start
        while index < len(self.tokens) and self.tokens[index] not in "{;":
            index = self.end(index) if self.tokens[index] in "([" else index + 1
        return index

    def item_end(self, start):
        index = self.head(start)
        return self.end(index) if self.tokens[index : index + 1] == ["{"] else index + 1

    def public_fields(self, start):
        """The tokens of the public fields of the struct at `start`."""
        found, depth, is_public = [], 0, False
        for index in range(start, self.item_end(start)):
            token = self.tokens[index]
            depth += (token in OPENING + "<") - (token in CLOSING + ">")
            if token == "pub":
                is_public = self.tokens[index + 1] != "("
            elif token == "," and depth == 1:
                is_public = False
            elif is_public:
                found.append(token)
        return found


def examples(comments):
    """The names in the code of documentation comments."""
    found, fence = set(), None
    for line in comments:
        line = line.strip()
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
        elif fence is not None and RUST_FENCE.match(fence):
            found.update(names(match[0] for match in TOKEN.finditer(line)))
    return found


def names(tokens):
    """The names in code, with those in strings that are paths, which attributes have."""
    found = set()
    for token in tokens:
        if is_name(token) and '"' not in token:
            found.add(token)
        elif re.fullmatch(r'"[\w:]+"', token) and "::" in token:
            found.update(re.findall(r"\w+", token))
    return found


class Crate:
    """The public items of a crate and what they show."""

    def __init__(self, folder):
        self.folder = folder
        # (path, line, kind, name, names that it shows)
        self.items = []
        # What is shown whoever uses it: by implementations of traits, and by macros for other crates.
        self.shown = set()
        # By the name of a re-export, the name of the item.
        self.aliases = {}
        self.examples = set()
        paths = sorted((folder / "src").rglob("*.rs"))
        self.tests = set()
        sources = [Source(path) for path in paths]
        self.parts = {source.path: self.without_tests(source) for source in sources}
        for source in sources:
            self.examples |= source.examples
            if not any(source.path == test or test in source.path.parents for test in self.tests):
                if source.path != folder / "src/main.rs":
                    self.read(source)
        readme = folder / "README.md"
        if readme.exists():
            self.examples |= examples(readme.read_text().splitlines())

    def without_tests(self, source):
        """Which tokens are no code of tests; notes the files that are."""
        kept = [True] * len(source.tokens)
        index = 0
        while index < len(source.tokens):
            if source.tokens[index : index + 3] != ["#", "[", "cfg"]:
                index += 1
                continue
            end = source.end(index + 1)
            condition = source.tokens[index:end]
            if "test" not in condition or "not" in condition:
                index = end
                continue
            while source.tokens[end : end + 2] == ["#", "["]:
                end = source.end(end + 1)
            last = source.item_end(end)
            item = source.tokens[end:last]
            if "mod" in item and item[-1] == ";":
                path = source.path
                folder = path.parent if path.name in ("lib.rs", "mod.rs", "main.rs") else path.with_suffix("")
                name = item[item.index("mod") + 1]
                self.tests |= {folder / f"{name}.rs", folder / name}
            kept[index:last] = [False] * (last - index)
            index = last
        return kept

    def read(self, source):
        kept, tokens = self.parts[source.path], source.tokens
        for index, token in enumerate(tokens):
            if not kept[index]:
                continue
            if token == "pub" and tokens[index + 1] != "(":
                self.item(source, index + 1)
            elif token == "impl":
                self.implementation(source, index)
            elif token == "as" and is_name(tokens[index - 1]) and is_name(tokens[index + 1]):
                self.aliases.setdefault(tokens[index + 1], set()).add(tokens[index - 1])
            elif token == "crate" and tokens[index - 1] == "$":
                after = index + 1
                while tokens[after : after + 2] == [":", ":"]:
                    self.shown.add(tokens[after + 2])
                    after += 3

    def item(self, source, index):
        tokens = source.tokens
        while tokens[index] in BEFORE_KIND or tokens[index].startswith('"') or tokens[index : index + 2] == ["const", "fn"]:
            index += 1
        kind, name = tokens[index : index + 2]
        if kind not in KINDS:
            return
        head = source.head(index)
        if kind in ("enum", "trait"):
            shows = tokens[index:source.item_end(index)]
        elif kind in ("struct", "union"):
            shows = tokens[index:head] + source.public_fields(index)
        elif kind == "fn":
            shows = tokens[index:head]
        else:
            shows = tokens[index : source.item_end(index)] if kind in ("type", "const", "static") else []
        self.items.append((source.path, source.lines[index], kind, name, names(shows) - {name}))

    def implementation(self, source, index):
        """What an implementation of a trait shows: its associated types and signatures."""
        head = source.head(index)
        if "for" not in source.tokens[index:head] or source.tokens[head : head + 1] != ["{"]:
            return
        at, end = head + 1, source.end(head)
        while at < end - 1:
            start = at
            stop = source.head(at)
            if source.tokens[start] in ("type", "fn", "const", "async"):
                self.shown |= names(source.tokens[start:stop])
            at = source.item_end(at)

    def used(self, outside):
        """All names that others use, or that what they use shows."""
        used, before = outside | self.shown | self.examples, None
        while before != len(used):
            before = len(used)
            for _, _, _, name, shows in self.items:
                if name in used:
                    used |= shows
            for alias, originals in self.aliases.items():
                if alias in used:
                    used |= originals
        return used


def outside_of(folder, texts):
    """The names that occur anywhere but in the library of a crate."""
    library = folder / "src"
    found = set()
    for path, own in texts.items():
        if library not in path.parents or path == library / "main.rs":
            found |= own
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int)
    arguments = parser.parse_args()
    folders = sorted(path.parent for part in ("crates", "functions") for path in (ROOT / part).glob("*/Cargo.toml"))
    texts = {}
    for part in ("src", "crates", "functions", "tests", "benches", "fuzz", "tools"):
        for path in (ROOT / part).rglob("*.rs"):
            if "target" not in path.relative_to(ROOT).parts:
                source = Source(path)
                texts[path] = names(source.tokens) | source.examples
    # Templates are compiled with the crate that they belong to.
    for path in (ROOT / "functions").glob("*/src/**/*.html"):
        texts[path] = set(re.findall(r"\w+", path.read_text()))
    unused, too_many = [], []
    for folder in folders:
        crate = Crate(folder)
        used = crate.used(outside_of(folder, texts))
        unused += [item for item in crate.items if item[3] not in used]
        if arguments.most is not None and len(crate.items) > arguments.most:
            too_many.append(f"{folder.relative_to(ROOT)}: {len(crate.items)} public items, at most {arguments.most}")
        print(f"{folder.relative_to(ROOT)}: {len(crate.items)} public items")
    for path, line, kind, name, _ in unused:
        print(f"{path.relative_to(ROOT)}:{line}: pub {kind} {name}: nothing uses it")
    for problem in too_many:
        print(problem)
    if unused or too_many:
        sys.exit(f"{len(unused)} public items that nothing uses, {len(too_many)} crates with too many")


main()
