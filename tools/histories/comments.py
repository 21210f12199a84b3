"""What a three-way merge has to hold of comments, judged by lines alone.

A comment on a line of its own is known by its text. Each that one side added is in the result; each that all versions have is there once; one
that a side removed and the other left is not. A comment after a value is kept where its entry is.
"""

import collections
import re

import yaml

QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")


def comments(text):
    """The lines that are comments, and the comments after values, each counted."""
    inside = set()
    for token in yaml.scan(text, Loader=yaml.CLoader):
        # The lines of a text, and those of a scalar after its first.
        if isinstance(token, yaml.ScalarToken) and token.end_mark.line > token.start_mark.line:
            end = token.end_mark.line + (0 if token.end_mark.column == 0 else 1)
            if token.style in ("|", ">"):
                end = last_line(text, token)
            inside.update(range(token.start_mark.line + 1, end))
    own, behind = collections.Counter(), collections.Counter()
    for number, line in enumerate(text.split("\n")):
        if number in inside:
            continue
        if re.match(r"[\s-]*#", line):
            own[line.replace("-", " ").rstrip() if line.lstrip().startswith("- ") else line.rstrip()] += 1
        elif found := re.search(r"\s(#.*)$", QUOTED.sub(lambda match: "x" * len(match[0]), line)):
            behind[line[found.start(1):].strip()] += 1
    return own, behind


def aliases(text):
    return sum(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=yaml.CLoader))


def last_line(text, token):
    """The line after a block scalar: its lines are deeper than the first one of them that is not blank."""
    lines = text.split("\n")
    at = token.start_mark.line + 1
    body = next((line for line in lines[at:token.end_mark.line + 1] if line.strip()), "")
    indent = len(body) - len(body.lstrip())
    while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) >= indent > 0):
        at += 1
    return at


def by_text(lines):
    found = collections.Counter()
    for line, count in lines.items():
        found[line.strip()] += count
    return found


def expected(was, here, there):
    """How often a comment may be in the result, at least and at most."""
    if here == was:
        return there, there
    if there == was:
        return here, here
    least = max(here + there - was, 0)
    return (least, max(here, there)) if min(here, there) < was else (max(here, there), least)


def faults(original, local, upstream, merged):
    """`lost`, `doubled` and `re-indented` comments of a merged text."""
    versions = [comments(text) for text in (original, local, upstream, merged)]
    # A side that writes out what an alias refers to repeats the comments in it.
    side_aliases = min(map(aliases, (local, upstream)))
    stays_an_alias = aliases(merged) > side_aliases
    found = collections.defaultdict(list)
    for kind in (0, 1):
        was, here, there, now = (by_text(version[kind]) for version in versions)
        for text in was.keys() | here.keys() | there.keys() | now.keys():
            sides = [min(side[text], was[text]) if stays_an_alias and was[text] else side[text] for side in (here, there)]
            least, most = expected(was[text], *sides)
            if now[text] < least and not (kind == 1 and is_gone(text, local if here[text] else upstream, merged)):
                found["lost"].append(text)
            elif now[text] > most:
                found["doubled"].append(text)
    own = [version[0] for version in versions]
    for line in own[0].keys() & own[1].keys() & own[2].keys() - own[3].keys():
        if by_text(own[3])[line.strip()]:
            found["re-indented"].append(line)
    return found


def is_gone(comment, before, after):
    """Whether an entry with a comment after its value is not there any more."""
    for line in before.split("\n"):
        code, _, rest = line.partition(" #")
        if rest and "#" + rest.rstrip() == comment:
            code = code.strip()
            for what in (code, code.partition(": ")[0]):
                counts = [sum(other.strip().startswith(what) for other in text.split("\n")) for text in (before, after)]
                if counts[1] < counts[0]:
                    return True
    return False
