#!/usr/bin/env python3
"""Shapes of input at 1, 2 and 4 times the size: no walk over values grows faster than 1.15 times linear.

    tests/growth.py DIR_OF_BUILT_BINARIES [--shape WORD,...] [--scale 1.0] [--table]

Each shape is a pair (or triple) of packages that makes one walk long: merge, review, overlay, patch, blame. A run counts the
processor time of the program and of what it starts; each size is run three times, and the least counts. The growth is the
worse of two ratios: twice the size against once, four times against twice. `--table` prints the table of docs/hardening.md.

A debug build takes ten times as long; `--scale 0.2` makes its inputs smaller.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

MOST = 1.15
KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: p}\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n"
DEPLOYMENT = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {}\nspec:\n  replicas: {}\n  selector: {{matchLabels: {{a: {}}}}}\n"
    "  template:\n    metadata: {{labels: {{a: {}}}}}\n    spec:\n"
)
CRD = (
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b.c}\nspec:\n  group: b.c\n"
    "  scope: Namespaced\n  names: {kind: A, plural: a}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n"
    "    schema:\n      openAPIV3Schema:\n        type: object\n"
)
BASE, LOCAL, UPSTREAM = 0, 1, 2


def lines(count, line):
    """`line` as often, with the number as its argument."""
    return "".join(line(at) for at in range(count))


def documents(count, document):
    return "---\n".join(document(at) for at in range(count))


def config_map(name, count, value):
    """A ConfigMap with so many entries."""
    return CONFIG_MAP.format(name) + lines(count, lambda at: f"  k{at}: {value(at)}\n")


def deployment(count, version, below, name="d", replicas=1):
    """A Deployment whose container has `below` so many times."""
    return DEPLOYMENT.format(name, replicas, name, name) + "      containers:\n      - name: c\n        image: i:1\n" + below(count, version)


def changed(at, version, every=2):
    """A value that upstream changed in every second place, and local in every third."""
    if version == UPSTREAM and at % every == 0:
        return f"u{at}"
    return f"l{at}" if version == LOCAL and at % 3 == 1 else f"o{at}"


def conflicts(at, version):
    return f"v{version}x{at}"


def rbac(count, version):
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules:\n"
    rule = '- apiGroups: ["g{0}"]\n  resources: ["r{0}{1}"]\n  verbs: [get, list]\n'
    return role + lines(count, lambda at: rule.format(at, "x" if version and at % 3 == 0 else ""))


def bindings(count, version):
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: r}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}\nsubjects:\n"
    subject = "- kind: ServiceAccount\n  name: a{}{}\n  namespace: n\n"
    return head + lines(count, lambda at: subject.format(at, "x" if version and at % 3 == 0 else ""))


def references(count, version):
    """Pods that name ConfigMaps; after the change, half of these are gone."""
    maps = [config_map(f"m{at}", 1, str) for at in range(count) if not (version and at % 2)]
    volume = "      volumes:\n      - name: v\n        configMap: {{name: m{}}}\n"
    pods = [deployment(0, 0, lambda *_: "", f"d{at}") + volume.format(at) for at in range(count)]
    return "---\n".join(maps + pods)


def reloads(count, version):
    """ConfigMaps that change, and the pods that read them at their start."""
    maps = [config_map(f"m{at}", 1, lambda _: f"v{version}") for at in range(count)]
    source = "        envFrom:\n        - configMapRef: {{name: m{}}}\n"
    pods = [deployment(0, 0, lambda *_: "", f"d{at}") + source.format(at) for at in range(count)]
    return "---\n".join(maps + pods)


def services(count, version):
    """Services whose selectors select other pods, or none."""
    service = "apiVersion: v1\nkind: Service\nmetadata: {{name: d{0}}}\nspec:\n  selector: {{a: d{0}{1}}}\n  ports:\n  - port: 80\n"
    pods = [deployment(0, 0, lambda *_: "", f"d{at}") for at in range(count)]
    return "---\n".join([service.format(at, "x" if version and at % 2 else "") for at in range(count)] + pods)


def accounts(count, version):
    """Service accounts in a namespace that the fork changes, with their bindings."""
    space = "u" if version else "l"
    account = f"apiVersion: v1\nkind: ServiceAccount\nmetadata: {{{{name: a{{0}}, namespace: {space}}}}}\n"
    binding = (
        f"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{{{name: a{{0}}, namespace: {space}}}}}\n"
        f"roleRef: {{{{kind: Role, name: r}}}}\nsubjects:\n- kind: ServiceAccount\n  name: a{{0}}\n  namespace: {space}\n"
    )
    return "---\n".join(text.format(at) for at in range(count) for text in (account, binding))


def merge_keys(count, version):
    shared = "shared: &s\n" + lines(20, lambda at: f"  s{at}: {at}\n")
    return CONFIG_MAP.format("m") + f"  a: v{version}\n" + shared + "all:\n" + lines(count, lambda at: f"  m{at}:\n    <<: *s\n    own: {changed(at, version)}\n")


def anchors(count, version):
    return CONFIG_MAP.format("m") + "  a: b\nspec:\n" + lines(count, lambda at: f"  k{at}: &a{at} {changed(at, version)}\n  l{at}: *a{at}\n")


def aliases(count, version):
    return CONFIG_MAP.format("m") + "  a: &a {x: 1}\nspec:\n" + lines(count, lambda at: f"  k{at}: *a\n  l{at}: {changed(at, version)}\n")


def below(head, line):
    """A list below a container."""
    return lambda count, version: head + lines(count, lambda at: line(at, version))


def enum(count, version):
    head = CRD + "        properties:\n          a:\n            type: string\n            enum:\n"
    return head + lines(count, lambda at: f"            - e{at}{'x' if version and at % 3 == 0 else ''}\n")


def properties(count, version):
    return CRD + "        properties:\n" + lines(
        count, lambda at: f"          p{at}: {{type: {'integer' if version and at % 3 == 0 else 'string'}}}\n"
    )


def required(count, version):
    head = CRD + "        properties:\n" + lines(count, lambda at: f"          p{at}: {{type: string}}\n") + "        required:\n"
    return head + lines(count, lambda at: f"        - p{at}\n" if version or at % 2 else "")


def custom(count, version):
    """A list without a schema, whose elements have no names."""
    return "apiVersion: c/v1\nkind: C\nmetadata: {name: c}\nspec:\n  list:\n" + lines(count, lambda at: f"  - a: {changed(at, version)}\n    b: {at}\n")


def named(count, version):
    return documents(count, lambda at: config_map(f"m{at}", 3, lambda key: changed(at + key, version)))


def renamed(count, version):
    return documents(count, lambda at: config_map(f"{'ab'[bool(version)]}{at}", 3, lambda key: f"{at}{key}"))


def added(count, version):
    return documents(count if version else max(count // 8, 1), lambda at: config_map(f"m{at}", 3, lambda key: f"{at}{key}"))


def images(count, version):
    pod = DEPLOYMENT + "      containers:\n      - name: c\n        image: i{}:{}\n"
    return documents(count, lambda at: pod.format(f"d{at}", 1, at, at, at, version))


def replicas(count, version):
    return documents(count, lambda at: deployment(0, 0, lambda *_: "", f"d{at}", 1 + version))


def block(count, version):
    return CONFIG_MAP.format("m") + "  text: |\n" + lines(count, lambda at: f"    line {changed(at, version, 4)}\n")


def comments(count, version):
    return CONFIG_MAP.format("m") + lines(count, lambda at: f"  # comment {changed(at, version)}\n  k{at}: {changed(at, version)}\n")


def many_comments(count, version):
    return CONFIG_MAP.format("m") + "  a: b\n" + "# c\n" * count + f"# {version}\n"


def reordered(count, version):
    order = range(count) if version != UPSTREAM else reversed(range(count))
    env = "".join(f"        - name: E{at}\n          value: v{at}\n" for at in order)
    return deployment(0, version, lambda *_: "        env:\n" + env)


ENV = below("        env:\n", lambda at, version: f"        - name: E{at}\n          value: {changed(at, version)}\n")
ARGS = below("        args:\n", lambda at, version: f"        - --flag-{at % 50}={'x' if version and at % 4 == 0 else 'o'}{at}\n")
PORTS = below("        ports:\n", lambda at, version: f"        - containerPort: {at}\n          name: {changed(at, version)}\n")
MOUNTS = below("        volumeMounts:\n", lambda at, version: f"        - name: v{at}{version}\n          mountPath: /{at}\n")


def container(part):
    return lambda count, version: deployment(count, version, part)


def values(value):
    return lambda count, version: config_map("m", count, lambda at: value(at, version))


# The name of a shape, the command, the number of parts at size 1, and the text of a version.
SHAPES = [
    ("changed resources", "merge", 1000, named),
    ("renamed resources", "merge", 1000, renamed),
    ("changed entries of one map", "merge", 5000, values(changed)),
    ("conflicts in one map", "merge", 5000, values(conflicts)),
    ("anchors, each with an alias", "merge", 4000, anchors),
    ("aliases of one anchor", "merge", 4000, aliases),
    ("merge keys", "merge", 250, merge_keys),
    ("environment variables", "merge", 3000, container(ENV)),
    ("elements in the opposite order", "merge", 3000, reordered),
    ("repeated arguments", "merge", 3000, container(ARGS)),
    ("elements without names", "merge", 3000, custom),
    ("lines of a text", "merge", 5000, block),
    ("comments between entries", "merge", 4000, comments),
    ("comments after the last entry", "merge", 50000, many_comments),
    ("changed resources", "review", 1000, named),
    ("renamed resources", "review", 1000, renamed),
    ("repeated arguments", "review", 3000, container(ARGS)),
    ("environment variables", "review", 3000, container(ENV)),
    ("mounts without volumes", "review", 3000, container(MOUNTS)),
    ("rules of a role", "review", 2000, rbac),
    ("subjects of a binding", "review", 3000, bindings),
    ("properties of a definition", "review", 3000, properties),
    ("required properties", "review", 3000, required),
    ("words of an enumeration", "review", 3000, enum),
    ("elements without names", "review", 3000, custom),
    ("references to removed resources", "review", 300, references),
    ("changed data that pods read", "review", 300, reloads),
    ("selectors", "review", 300, services),
    ("merge keys", "review", 250, merge_keys),
    ("changed resources", "overlay", 500, named),
    ("renamed resources", "overlay", 500, renamed),
    ("added resources", "overlay", 1000, added),
    ("images", "overlay", 300, images),
    ("replicas", "overlay", 300, replicas),
    ("accounts in another namespace", "overlay", 300, accounts),
    ("merge keys", "overlay", 250, merge_keys),
    ("changed entries of one map", "patch", 5000, values(changed)),
    ("environment variables", "patch", 2000, container(ENV)),
    ("ports", "patch", 2000, container(PORTS)),
    ("changed resources", "patch", 1000, named),
    ("entries of one map", "blame", 2000, values(changed)),
    ("elements without names", "blame", 1000, custom),
    ("resources of one file", "blame", 200, named),
]


def command(kind, binaries, folder):
    """The command line of a kind, in a folder with the packages o, l and u."""
    program = lambda name: str(binaries / name)
    return {
        "merge": [program("merge-package"), "--package", "l", "--check", "--original", "o", "--upstream", "u"],
        "review": [program("review-package"), "--package", "u", "--before", "o"],
        "overlay": [program("create-overlay"), "--package", "l", "--check", "--upstream", "o"],
        "patch": [program("create-patch"), "--package", "u", "--live", "o"],
        "blame": [program("krmv"), "blame", "l/a.yaml"],
    }[kind]


def prepare(kind, folder, count, text):
    """Writes the packages. Returns their size."""
    size = 0
    for name, version in ("o", BASE), ("l", LOCAL), ("u", UPSTREAM):
        package = folder / name
        package.mkdir()
        (package / "Kptfile").write_text(KPTFILE)
        content = text(count, version)
        (package / "a.yaml").write_text(content)
        size += len(content)
    if kind == "blame":
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder)]
        subprocess.run([*git, "init", "-q"], check=True)
        for version in (BASE, LOCAL):
            (folder / "l/a.yaml").write_text(text(count, version))
            subprocess.run([*git, "add", "l"], check=True)
            subprocess.run([*git, "commit", "-q", "-m", str(version)], check=True)
    return size


def seconds(arguments, folder, limit):
    """Exit code, processor time and peak memory in bytes of a run."""
    environment = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    with open(folder / "output", "wb") as output:
        process = subprocess.Popen(["timeout", str(limit), *arguments], cwd=folder, env=environment, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--shape", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    binaries = arguments.binaries.resolve()
    wrong = 0
    if arguments.table:
        print("| command | shape | parts | s | twice, s | four times, s | growth |\n|---|---|---|---|---|---|---|")
    for name, kind, parts, text in SHAPES:
        if not any(word in f"{kind}: {name}" for word in arguments.shape.split(",")):
            continue
        times, sizes, codes = [], [], set()
        for times_size in 1, 2, 4:
            count = int(parts * arguments.scale) * times_size
            with tempfile.TemporaryDirectory(prefix="growth-") as place:
                folder = pathlib.Path(place)
                sizes.append(prepare(kind, folder, count, text))
                runs = [seconds(command(kind, binaries, folder), folder, arguments.limit) for _ in range(arguments.runs)]
            codes |= {code for code, *_ in runs}
            times.append(min(time for _, time, _ in runs))
        growth = max(
            (after / max(before, 0.001)) / (size / own)
            for before, after, own, size in zip(times, times[1:], sizes, sizes[1:])
        )
        is_wrong = growth > MOST or not codes <= {0, 1, 3}
        wrong += is_wrong
        shown = " | ".join(f"{time:.2f}" for time in times)
        if arguments.table:
            print(f"| {kind} | {name} | {int(parts * arguments.scale):,} | {shown} | {growth:.2f} |", flush=True)
        else:
            print(f"{'WRONG' if is_wrong else 'ok'}: {kind}: {name}: {shown} s, growth {growth:.2f}, exit codes {sorted(codes)}", flush=True)
    print(f"{wrong} shapes beyond the bound", file=sys.stderr)
    sys.exit(wrong > 0)


main()
