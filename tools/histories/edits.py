"""Local edits of a package, as its owners make them: lines of its files replaced, files removed and added.

A file of edits is a YAML list. Each edit has a `file` (from the package's root), and
`replace` and `with` (a text that is there, and what stands in its place, at the first place), or
`remove: true`, or `add` (the text of a new file).
"""

import pathlib

import yaml

import values


def read(path):
    return yaml.safe_load(pathlib.Path(path).read_text())


def apply(edit, folder):
    """Makes an edit; says whether its place was there, and the file could take it."""
    path = pathlib.Path(folder) / edit["file"]
    if "add" in edit:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edit["add"])
        return True
    if not path.is_file():
        return False
    if edit.get("remove"):
        path.unlink()
        return True
    text = path.read_text()
    if edit["replace"] not in text:
        return False
    edited = text.replace(edit["replace"], edit["with"], 1)
    if is_valid(text) and not is_valid(edited):
        return False
    path.write_text(edited)
    return True


def is_valid(text):
    """Whether a text is YAML without a key twice in one mapping."""
    try:
        return not any(map(values.has_key_twice, yaml.compose_all(text, values.Loader)))
    except yaml.YAMLError:
        return False
