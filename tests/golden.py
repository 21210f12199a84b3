#!/usr/bin/env python3
"""What all functions make of many inputs, one line a run: to compare the programs before and after a change.

usage: tests/golden.py DIR_OF_BUILT_BINARIES [FILTER] >golden.txt

A line has the name of a run, its exit code and digests of standard output, standard error, results and the files of the package.
Inputs: the examples, tests/cases, and the corpus of KRM_VARIANTS_SHARED (default ../shared) where it exists. Each function
runs on a package (--diff, and in place) and on ResourceLists: block style, JSON and a legacy apiVersion.
KEEP=DIR keeps what the runs wrote, to look at a difference.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml  # for the lists in JSON
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("KRM_VARIANTS_SHARED", ROOT / "../shared")).resolve()
EXAMPLES = ROOT / "examples"
if len(sys.argv) < 2:
    sys.exit(__doc__)
BINARIES = pathlib.Path(sys.argv[1]).resolve()
FILTER = sys.argv[2] if len(sys.argv) > 2 else ""
WORK = pathlib.Path(tempfile.mkdtemp(prefix="golden."))
LISTS = ["list", "json", "legacy"]


def files(package):
    return sorted(path for path in package.rglob("*") if path.is_file() and ".git" not in path.parts)


def item(text, path, index):
    """A document as an element of a block sequence, with its place in annotations."""
    place = f"    config.kubernetes.io/path: '{path}'\n    config.kubernetes.io/index: '{index}'\n"
    if re.search(r"^metadata: *(#.*)?$", text, re.M):
        text = re.sub(r"^(metadata:[^\n]*\n(?:  .*\n|\n|#.*\n)*?  annotations:[^\n{]*\n)(?=    )", lambda m: m[1] + place, text, count=1, flags=re.M)
        if place not in text:
            text = re.sub(r"^(metadata:[^\n]*\n)(?=  \S)", lambda m: m[1] + "  annotations:\n" + place, text, count=1, flags=re.M)
    lines, begun = [], False
    for line in text.splitlines(True):
        head = "  " if begun or re.match(r"\s*(#|$)", line) else "- "
        begun |= head == "- "
        lines.append(line if line.strip() == "" else head + line)
    return "".join(lines) if begun else ""


def resource_list(package, form):
    texts = []
    for path in files(package):
        if path.suffix not in (".yaml", ".yml") and path.name != "Kptfile":
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for index, document in enumerate(re.split(r"^---.*\n", text if text.endswith("\n") else text + "\n", flags=re.M)):
            texts.append(item(document, path.relative_to(package), index))
    version = "config.kubernetes.io/" + ("v1alpha1" if form == "legacy" else "v1")
    block = f"apiVersion: {version}\nkind: ResourceList\nitems:\n" + "".join(texts)
    if form != "json":
        return block.encode()
    if yaml is None:
        return None

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        return json.dumps(yaml.load(block, Loader)).encode()
    except (yaml.YAMLError, TypeError, ValueError):
        return None


def changed(source, target):
    """A copy with local edits: values, comments, removed lines, other line ends, by rules that look at nothing but the text."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".git"))
    for number, path in enumerate(files(target)):
        if path.suffix != ".yaml" and path.name != "Kptfile":
            continue
        text = path.read_text()
        text = re.sub(r"^( *)(- )?(replicas|containerPort|port|minAvailable): (\d+)", r"\1\2\3: 1\4 # local", text, flags=re.M)
        text = re.sub(r"^( *)(image: .*)", r"\1# Ours.\n\1imagePullPolicy: Never\n\1\2", text, flags=re.M)
        text = re.sub(r"^( *)(labels|annotations):\n", r"\1\2:\n\1  local.example.com/edit: 'yes'\n", text, flags=re.M)
        text = re.sub(r"^ *(type|description|protocol): .*\n", "", text, count=2, flags=re.M)
        if number % 5 == 4:
            text = text.replace("\n", "\r\n")
        if number % 7 == 6:
            text = text.rstrip("\n")
        path.write_bytes(text.encode())
    return target


def triples():
    """Name, original, local and upstream."""
    for case in sorted((ROOT / "tests/cases/merge").iterdir()):
        if (case / "updated").is_dir():
            yield f"case-{case.name}", case / "original", case / "local", case / "updated"
    for pair in sorted((SHARED / "corpus").iterdir()) if (SHARED / "corpus").is_dir() else []:
        original, upstream = pair / "original", pair / "upstream"
        yield f"corpus-{pair.name}", original, changed(original, WORK / f"{pair.name}-changed"), upstream
        patch = ROOT / "tests/cases/upgrades" / pair.name / "local.patch"
        if patch.exists():
            local = WORK / f"{pair.name}-patched"
            shutil.copytree(original, local)
            subprocess.run(["patch", "-s", "-p1", "-d", local, "-i", patch], check=True)
            yield f"patched-{pair.name}", original, local, upstream


def example_runs():
    for path in sorted(EXAMPLES.iterdir()):
        config = path / ".expected/config.yaml"
        if config.exists():
            fields = dict(re.findall(r"^(\w+): *(.*)$", config.read_text(), re.M))
            flags = [
                word if word.startswith("--") else re.sub(r"^(\w+=)?(.*)", rf"\1{path}/\2", word) for word in fields.get("flags", "").split()
            ]
            yield path, fields["exec"], ["--config", path / fields["fnConfig"], *flags]


PATCH = """target: {kind: Deployment}
patch:
  metadata: {labels: {patched: 'yes'}, annotations: null}
  spec:
    replicas: 9
    strategy: {$patch: replace, type: Recreate}
    template:
      spec:
        volumes: [{name: added, emptyDir: {}}]
        containers:
        - {$patch: delete, name: sidecar}
        - name: added
          image: added:1
          args: [--one, "two: 2"]
---
target: {kind: ConfigMap}
patch: {data: {patched: "1", multi: "a\\nb\\n"}, metadata: {labels: {patched: 'yes'}}}
"""


def runs():
    """Name, function, arguments, package and forms of each run."""
    every = ["package", *LISTS]
    (WORK / "patch.yaml").write_text(PATCH)
    all_examples = list(example_runs())
    for path, function, arguments in all_examples:
        package = path / "package"
        if not package.is_dir():
            package = WORK / "empty"
            package.mkdir(exist_ok=True)
        yield f"example-{path.name}", function, arguments, package, every
    for suite in [ROOT / "tests/cases/yaml"]:
        yield f"{suite.name}", "set-package-context", ["region=eu"], suite, every
        for path in files(suite):
            package = WORK / f"yaml-{path.stem}"
            package.mkdir()
            shutil.copy(path, package / path.name)
            for function, arguments in (
                ("set-package-context", ["region=eu"]),
                ("apply-patch", ["--patches", WORK / "patch.yaml"]),
                ("merge-package", ["--original", package, "--upstream", changed(package, WORK / f"yaml-{path.stem}-changed" / function)]),
            ):
                yield f"yaml-{path.stem}", function, arguments, package, ["package", "list"]
    for name, original, local, upstream in triples():
        some = ["package", "list", "json"]
        versions = ["--original", original, "--upstream", upstream]
        for words in ([], ["onConflict=local"], ["onConflict=error"], ["strategy=copy-merge"], ["strategy=force-delete-replace"]):
            forms = every if not words else ["package"]
            yield f"{name} {' '.join(words)}", "merge-package", [*versions, *words], local, forms
        yield f"{name} back", "merge-package", ["--original", upstream, "--upstream", original], local, ["package"]
        for function in ("apply-config", "create-patch"):
            for words in ([], ["--original", original]):
                yield f"{name} {len(words)}", function, ["--live", local, *words, "allowMissing=true"][: -1 if function == "apply-config" else None], upstream, ["package", "json" if words else "list"]
        yield name, "set-package-context", ["region=eu", "name=x"], local, some
        yield name, "apply-patch", ["--patches", WORK / "patch.yaml", "allowMissing=true"], local, some
        for path, function, arguments in all_examples:
            if function in ("inject-config", "prepend-pipeline", "render-variant", "expand-variant-set"):
                yield f"{name} {path.name}", function, arguments, local, ["package", "list"]
        clone = ["--config", EXAMPLES / "render-variant-clone/fn-config.yaml", "--upstream", upstream]
        (WORK / "empty").mkdir(exist_ok=True)
        yield f"{name} clone", "render-variant", clone, WORK / "empty", ["package", "list"]


def digest(*parts):
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:10]


def run(number, name, function, arguments, package, form):
    folder = WORK / f"run{number}"
    (folder / "package").mkdir(parents=True)
    command, text = [BINARIES / function, *arguments, "--results", "results.yaml"], b""
    if form.startswith("package"):
        for path in files(package):
            target = folder / "package" / path.relative_to(package)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        command += ["--package", "package", *(["--diff"] if form == "package-diff" else [])]
    else:
        text = resource_list(package, form)
    line = f"{name} {function} {form}"
    if text is None:
        line += " left out"
    else:
        environment = os.environ | {"KRM_VARIANTS_TEST": os.environ.get("KRM_VARIANTS_TEST", "")}
        done = subprocess.run(command, cwd=folder, input=text, capture_output=True, env=environment)
        clean = lambda data: re.sub(rb"(?m)^(---|\+\+\+) (.*)\t.*$", rb"\1 \2", data.replace(str(WORK).encode(), b"WORK")).replace(str(ROOT).encode(), b"ROOT")
        results = folder / "results.yaml"
        inside = [part for path in files(folder / "package") for part in (str(path.relative_to(folder)).encode(), path.read_bytes())]
        parts = [digest(clean(done.stdout)), digest(clean(done.stderr)), digest(clean(results.read_bytes() if results.exists() else b""))]
        line += f": {done.returncode} out {parts[0]} err {parts[1]} results {parts[2]} files {digest(*inside)}"
        if "KEEP" in os.environ:
            kept = pathlib.Path(os.environ["KEEP"]) / re.sub(r"\W+", "-", f"{name} {function} {form}")
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            (kept / "stdout").write_bytes(clean(done.stdout))
            (kept / "stderr").write_bytes(clean(done.stderr))
    shutil.rmtree(folder)
    return line


try:
    every = [
        (name, function, arguments, package, each)
        for name, function, arguments, package, forms in runs()
        for form in forms
        for each in (["package-diff", "package"] if form == "package" else [form])
        if FILTER in f"{name} {function} {each}"
    ]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for line in pool.map(lambda pair: run(pair[0], *pair[1]), enumerate(every)):
            print(line)
finally:
    shutil.rmtree(WORK)
