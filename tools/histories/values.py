"""YAML as data, read by PyYAML by the rules of YAML 1.2: an implementation that shares nothing with ours."""

import itertools
import pathlib
import re

import yaml

# What `kpt pkg get` and `kpt pkg update` write on resources.
IDENTIFIER = "internal.kpt.dev/upstream-identifier"
NULL, BOOL, INT, FLOAT = (
    re.compile(pattern)
    for pattern in (
        r"(?:~|null|Null|NULL|)$",
        r"(?:true|True|TRUE|false|False|FALSE)$",
        r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$",
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
    )
)


class Loader(yaml.CSafeLoader):
    """The core schema: `yes` is a string, a date too."""

    yaml_implicit_resolvers = {}


for tag, pattern in (("null", NULL), ("bool", BOOL), ("int", INT), ("float", FLOAT)):
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", pattern, None)
Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile("<<$"), ["<"])
Loader.add_constructor(
    "tag:yaml.org,2002:int", lambda loader, node: int(node.value, 8 if node.value.startswith("0o") else 0)
    if node.value.startswith("0") and len(node.value) > 1 and node.value[1] in "ox"
    else int(node.value),
)


def documents(text):
    """The values of all documents that hold something."""
    return [value for value in yaml.load_all(text, Loader) if value is not None]


def document(text):
    """The map that a text of several lines holds, if it holds one."""
    if not isinstance(text, str) or text.count("\n") < 2:
        return None
    try:
        found = documents(text)
    except (ValueError, yaml.YAMLError):
        return None
    return found[0] if len(found) == 1 and isinstance(found[0], dict) else None


def has_key_twice(document):
    """Whether a mapping has a key twice, which PyYAML takes."""
    seen, open_nodes = set(), [document]
    while open_nodes:
        node = open_nodes.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(keys)) < len(keys):
                return True
        open_nodes += (itertools.chain(*node.value) if isinstance(node, yaml.MappingNode) else node.value)
    return False


def is_resource(value):
    return isinstance(value, dict) and "kind" in value and "apiVersion" in value


def without_marks(value):
    """A resource without what kpt writes on it."""
    metadata = value.get("metadata")
    annotations = isinstance(metadata, dict) and metadata.get("annotations")
    if not isinstance(annotations, dict) or IDENTIFIER not in annotations:
        return value
    kept = {key: text for key, text in annotations.items() if key != IDENTIFIER}
    metadata = {**metadata, "annotations": kept}
    if not kept:
        del metadata["annotations"]
    return {**value, "metadata": metadata}


def key_of(value):
    metadata = value.get("metadata") or {}
    group = str(value["apiVersion"]).rpartition("/")[0]
    return (group, value["kind"], metadata.get("namespace"), metadata.get("name"))


_read = {}


def files(folder):
    """What a package holds, by path: a list of values, or the bytes of what is not YAML. Without the root Kptfile."""
    found = {}
    folder = pathlib.Path(folder)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != "Kptfile" and ".git/" not in name:
            found[name] = content(path.read_bytes(), name)
    return found


def content(data, name):
    if not name.endswith((".yaml", ".yml", "Kptfile")):
        return data
    if len(_read) > 2000:
        _read.clear()
    if data not in _read:
        values = documents(data.decode())
        _read[data] = [without_marks(value) if is_resource(value) else value for value in values]
    return _read[data]


def resources(package):
    """The resources of `files()` by path and identity; files that are not YAML by their path."""
    found = {}
    for path, values in package.items():
        if isinstance(values, bytes):
            found[(path,)] = values
            continue
        for number, value in enumerate(values):
            key = (path, *key_of(value)) if is_resource(value) else (path, number)
            while key in found:
                key += ("again",)
            found[key] = value
    return found


def same(a, b):
    """Equal as data; `True` is not `1`, `5` is `5.0`."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and a == b
