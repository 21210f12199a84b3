#!/usr/bin/env python3
"""Compares the last-applied annotation of apply-config with that of kubectl on 500 random objects.

with_kubectl_apply.py BINARIES: the folder of the built programs. kubectl asks a server on this machine which kinds exist.
"""

import http.server
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading

COUNT = 500
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
TABLE = pathlib.Path(__file__).parent.parent / "crates/krm-yaml/src/scalar/kubernetes.txt"
ANSWERS = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [
            {
                "name": "example.com",
                "versions": [{"groupVersion": "example.com/v1", "version": "v1"}],
                "preferredVersion": {"groupVersion": "example.com/v1", "version": "v1"},
            }
        ],
    },
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": []},
    "/apis/example.com/v1": {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "example.com/v1",
        "resources": [
            {
                "name": "things",
                "singularName": "thing",
                "namespaced": True,
                "kind": "Thing",
                "verbs": ["create", "get", "list", "patch"],
            }
        ],
    },
}


class Discovery(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answer = ANSWERS.get(self.path.split("?")[0])
        body = json.dumps(answer or {"kind": "Status", "code": 404}).encode()
        self.send_response(200 if answer else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


def spellings():
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if "\t" in line]
    # Base64 stays as it is written, and a comment or anchor is no part of a value.
    usable = [row for row in rows if not row[0].startswith(("!!binary", "&", "!!str &"))]
    values = [row[0] for row in usable if row[1] != "!"]
    keys = [row[0] for row in usable if row[2] != "!" and row[0][0] not in "!'\""]
    return values, keys


def thing(number, values, keys):
    lines = ["apiVersion: example.com/v1", "kind: Thing", "metadata:", f"  name: n{number}"]
    # kubectl would add it; no function invents one.
    lines.append("  namespace: default")
    if random.random() < 0.3:
        lines.append('  annotations: {"note": "a <b> & \\u2028 é"}')
    if random.random() < 0.3:
        lines.append(f"  labels: {{app: 'a{number}'}}")

    def scalar():
        if random.random() < 0.2:
            return random.choice(["'<&>'", '"\\u2028\\t"', "'é'", "'\U0001f600'", '"\\u007f"'])
        return random.choice(values)

    def add(indent, depth):
        used = set()
        for _ in range(random.randint(1, 4)):
            key = random.choice(keys) if random.random() < 0.3 else random.choice("abcdefgh")
            name = MEANING[key]
            if name in used:
                continue
            used.add(name)
            kind = random.random()
            if depth == 0 or kind < 0.6:
                lines.append(f"{indent}{key}: {scalar()}")
            elif kind < 0.8:
                lines.append(f"{indent}{key}:")
                lines.extend(f"{indent}- {scalar()}" for _ in range(random.randint(1, 3)))
            else:
                lines.append(f"{indent}{key}:")
                add(indent + "  ", depth - 1)

    lines.append("spec:")
    add("  ", 3)
    return "\n".join(lines) + "\n"


MEANING = {}


def applied(documents):
    """The annotation of each object, by name."""
    found = {}
    for item in documents:
        metadata = item["metadata"]
        found[metadata["name"]] = metadata["annotations"][LAST_APPLIED]
    return found


def objects_of(command, text):
    """The objects that a command prints as JSON."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    decoder, rest, found = json.JSONDecoder(), done.stdout.lstrip(), []
    while rest:
        item, end = decoder.raw_decode(rest)
        found.extend(item.get("items", [item]))
        rest = rest[end:].lstrip()
    return found


def main(binaries):
    random.seed(53)
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if "\t" in line]
    MEANING.update({row[0]: row[2] for row in rows})
    MEANING.update({letter: json.dumps(letter) for letter in "abcdefgh"})
    values, keys = spellings()
    objects = "---\n".join(thing(number, values, keys) for number in range(COUNT))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Discovery)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as directory:
        kubectl = ["kubectl", f"--cache-dir={directory}/cache"]
        flags = ["--save-config", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-"]
        address = f"--server=http://127.0.0.1:{server.server_port}"
        expected = applied(objects_of([*kubectl, "create", address, *flags], objects))
        package = pathlib.Path(directory, "package")
        package.mkdir()
        (package / "things.yaml").write_text(objects)
        live = pathlib.Path(directory, "live.yaml")
        live.write_text("apiVersion: example.com/v1\nkind: Other\nmetadata: {name: o}\n")
        command = [f"{binaries}/apply-config", "--package", str(package), "--live", str(live)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr)
            return 1
        reader = [*kubectl, "annotate", "--local", "-f", "-", "read=again", "-o", "json"]
        found = applied(objects_of(reader, done.stdout))
    wrong = [name for name, text in expected.items() if found.get(name) != text]
    for name in wrong[:10]:
        print(f"kubectl  {expected[name]}ours     {found.get(name)}")
    print(f"{len(expected)} objects, {len(wrong)} differ")
    return len(expected) != COUNT or bool(wrong)


sys.exit(main(sys.argv[1]))
