#!/usr/bin/env python3
"""Makes crates/krm-core/src/schema/builtin.txt, the built-in schema, from the definitions of Kubernetes' types.

usage: tools/schema_table.py DEFINITIONS [--check]

DEFINITIONS is `_definitions.json` as the Python package `kubernetes-validate` holds it: all definitions of an API
server's OpenAPI document, with their `x-kubernetes-*` extensions.

    pip download --no-deps kubernetes-validate==1.37.0
    unzip -j kubernetes_validate-1.37.0-*.whl '*/v1.37.0-local/_definitions.json'

What says nothing of how the parts of a resource relate is left out: descriptions, scalars, and objects and lists of
such. `builtin.rs` beside it describes the form.
"""
import hashlib
import json
import re
import sys
from pathlib import Path

SOURCE = "kubernetes-validate 1.37.0, kubernetes-json-schema/v1.37.0-local/_definitions.json"
TABLE = Path(__file__).parent.parent / "crates/krm-core/src/schema/builtin.txt"
KINDS = "x-kubernetes-group-version-kind"
LIST, KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
MAP = "x-kubernetes-map-type"
STRATEGY, MERGE_KEY = "x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key"
OPEN = "x-kubernetes-preserve-unknown-fields"

def name_of(schema):
    """The definition that a schema refers to."""
    parts = [schema, *schema.get("allOf", [])]
    return next((part["$ref"].rsplit("/", 1)[1] for part in parts if "$ref" in part), None)


def own_facts(schema):
    """What a schema says by itself."""
    facts = {key: schema[key] for key in (LIST, KEYS, MAP, STRATEGY, MERGE_KEY, OPEN) if schema.get(key)}
    # The default, where there is nothing that would say otherwise.
    if facts.get(LIST) == "atomic" and "merge" not in facts.get(STRATEGY, "") and not name_of(schema):
        del facts[LIST]
    if facts.get(MAP) == "granular" and not name_of(schema):
        del facts[MAP]
    if LIST not in facts and "merge" in facts.get(STRATEGY, "").split(",") and "items" in schema:
        facts[LIST] = "map" if MERGE_KEY in facts else "set"
    return facts


def is_object(schema):
    return "object" in schema.get("type", []) if "type" in schema else "items" not in schema and not name_of(schema)


def is_open(schema):
    """Whether keys are allowed that the schema does not name."""
    named = any(key in schema for key in ("properties", "oneOf", "anyOf"))
    return is_object(schema) and not named or bool(schema.get("additionalProperties"))


class Pruned:
    def __init__(self, definitions):
        self.definitions = definitions
        # By the name of a type, the lines of it and its fields.
        self.lines = {}
        self.kept = set()
        while True:
            found = {name for name, schema in definitions.items() if self.says(schema)}
            if found == self.kept:
                break
            self.kept = found

    def says(self, schema):
        """Whether a schema, or one below it, says anything."""
        children = [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
        children += schema.get("properties", {}).values()
        return (
            bool(own_facts(schema))
            or is_open(schema)
            or name_of(schema) in self.kept
            or any(name.startswith("$") for name in schema.get("properties", {}))
            or any(self.says(child) for child in children)
        )

    def word(self, place, schema):
        """One word for a type that another one refers to: its name. It gets its own lines where it has no name."""
        if not self.says(schema):
            return "-"
        if name_of(schema) and not own_facts(schema):
            return self.define(name_of(schema))
        if place not in self.lines:
            self.lines[place] = None
            self.lines[place] = self.type(place, schema)
        return place

    def define(self, name):
        short = re.sub(r"^io[.]k8s[.](api|apimachinery[.]pkg[.]apis|[a-z-]+[.]pkg[.]apis)[.]", "", name)
        return self.word(short, self.definitions[name]) if name in self.kept else "-"

    def facts(self, place, schema):
        """The words behind the name of a type or field."""
        target = self.definitions[name_of(schema)] if name_of(schema) in self.kept else {}
        own, below = own_facts(schema), own_facts(target)
        lists = own if LIST in own else below
        merged = below | own
        words = []
        if lists.get(LIST) == "set":
            words.append("set")
        elif lists.get(LIST) == "map":
            words.append("map=" + ",".join(lists.get(KEYS) or [merged[MERGE_KEY]]))
        words += ["atomic"] * (merged.get(MAP) == "atomic")
        words += [f"patch={strategy}" for strategy in [merged.get(STRATEGY)] if strategy]
        words += [f"by={key}" for key in [merged.get(MERGE_KEY)] if key]
        for key, word in (("items", "items"), ("additionalProperties", "values")):
            part = schema.get(key, target.get(key))
            if isinstance(part, dict):
                name = self.word(f"{place}.{word}", part)
                words += [f"{word}={name}"] * (name != "-" or word == "values")
        return words + ["open"] * (is_open(schema) or bool(target) and is_open(target))

    def type(self, place, schema):
        target = self.definitions[name_of(schema)] if name_of(schema) in self.kept else {}
        fields = schema.get("properties") or target.get("properties", {})
        lines = [" ".join([place, *self.facts(place, schema)])]
        for name, field in sorted(fields.items()):
            if not self.says(field) and not name.startswith("$"):
                continue
            is_name = not self.says(field) or name_of(field) and not own_facts(field)
            is_object = "properties" in field or name_of(field)
            inner = f"{place}.{name}"
            words = [self.word(inner, field)] if is_name or is_object else self.facts(inner, field)
            lines.append(" ".join(["", name, *words]))
        return lines


def make(text):
    definitions = json.loads(text)["$defs"]
    pruned = Pruned(definitions)
    kinds = []
    for name, schema in definitions.items():
        for kind in schema.get(KINDS, []):
            group = kind["group"] + "/" if kind["group"] else ""
            kinds.append(f"{group}{kind['version']} {kind['kind']} {pruned.define(name)}")
    head = f"# Facts of Kubernetes' API (Apache-2.0), from {SOURCE}\n# sha256 {hashlib.sha256(text).hexdigest()}\n"
    head += "# Made by tools/schema_table.py: do not edit."
    types = [line for _, lines in sorted(pruned.lines.items()) for line in lines]
    return "\n".join([head, *sorted(kinds), "", *types, ""])


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__.split("\n\n")[1])
    table = make(Path(arguments[0]).read_bytes())
    if "--check" not in sys.argv:
        TABLE.write_text(table)
    elif TABLE.read_text() != table:
        sys.exit(f"{TABLE} is not what {sys.argv[0]} makes")


main()
