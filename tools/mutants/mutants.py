#!/usr/bin/env python3
"""A sample of mutants, all in one build: which faults in the code would no test notice?

  mutants.py [--seed 1] [--count 300] [--jobs 2] [--longest 5] [--built] [--work DIR] [--only NUMBER...] [PATTERN...]

cargo-mutants lists the mutants of the files (by default those that merge, patch, edit and write). A sample is drawn with
the seed and compiled into one copy of the tree, each behind a switch that an environment variable sets. Each test runs
once alone, to see which mutants it reaches; then, for each mutant, the tests that reach it run with it, the quick ones
first, until one fails. A mutant that does not compile in this form is left out, and the next of the draw takes its place.

Left behind in DIR (default target/mutants): `mutants.json`, the sample with what became of each, and `left-out.txt`.
A mutant that no test noticed is printed with its diff. `--only` tries the named ones again after tests were added.

Needs cargo-mutants on PATH, and Python with tree_sitter and tree_sitter_rust.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import tree_sitter
import tree_sitter_rust

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = [
    "crates/krm-merge/src/**",
    "crates/krm-patch/src/**",
    "crates/krm-yaml/src/edit/**",
    "crates/krm-variant/src/**",
    "crates/krm-package/src/write/**",
    "functions/render-fleet/src/fleet/**",
]
# Each crate with mutants has its own switch.
LIBRARIES = [f"{path.relative_to(ROOT)}" for part in ("crates", "functions") for path in ROOT.glob(f"{part}/*/src/lib.rs")]
# Of each test binary, the folder of its crate, where its tests run.
FOLDERS = {}
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
# More than are wanted: some do not compile.
SPARE = 1.3
SWITCH = """//! Made by tools/mutants/mutants.py.
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ACTIVE: LazyLock<Option<usize>> = LazyLock::new(|| std::env::var("KRM_VARIANTS_MUTANT").ok()?.parse().ok());
static LOG: LazyLock<Option<File>> =
    LazyLock::new(|| OpenOptions::new().append(true).open(std::env::var("KRM_VARIANTS_MUTANT_LOG").ok()?).ok());
static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

pub(crate) fn mutant(number: usize) -> bool {
    if let Some(mut log) = LOG.as_ref()
        && !REACHED[number].swap(true, Ordering::Relaxed)
    {
        let _ = log.write_all(format!("{number}\\n").as_bytes());
    }
    *ACTIVE == Some(number)
}
"""


def drawn(arguments):
    """All mutants in the order of the draw."""
    words = [word for pattern in arguments.patterns or FILES for word in ("-f", pattern)]
    listed = subprocess.run(["cargo", "mutants", "--workspace", "--list", "--json", *words], cwd=ROOT, check=True, capture_output=True)
    mutants = json.loads(listed.stdout)
    mutants.sort(key=lambda mutant: (mutant["name"], mutant["replacement"]))
    random.Random(arguments.seed).shuffle(mutants)
    return mutants


class File:
    """A source file, and the mutants that are written into it."""

    def __init__(self, text, mutants):
        self.text = text
        self.lines = [0]
        for line in text.split(b"\n"):
            self.lines.append(self.lines[-1] + len(line) + 1)
        self.root = PARSER.parse(text).root_node
        self.wraps = collections.defaultdict(list)
        self.heads = collections.defaultdict(list)
        self.arms = collections.defaultdict(list)
        self.lost = [number for number, mutant in mutants if not self.place(number, mutant)]

    def offset(self, place):
        line = self.text[self.lines[place["line"] - 1] : self.lines[place["line"]]].decode()
        return self.lines[place["line"] - 1] + len(line[: place["column"] - 1].encode())

    def around(self, start, end, kinds):
        """The smallest node of these kinds that holds the range."""
        node = self.root.descendant_for_byte_range(start, end)
        while node and node.type not in kinds:
            node = node.parent
        return node

    def place(self, number, mutant):
        """Notes at which node a mutant is written; False: nowhere."""
        start, end = (self.offset(mutant["span"][side]) for side in ("start", "end"))
        match mutant["genre"]:
            case "FnValue":
                node = self.around(start, end, ["block"])
                self.heads[node.id].append((number, mutant["replacement"]))
            case "BinaryOperator":
                node = self.around(start, end, ["binary_expression", "compound_assignment_expr"])
                if not node or node.child(1).start_byte != start:
                    return False
                self.wraps[node.id].append((number, {node.child(1).id: mutant["replacement"]}))
            case "UnaryOperator":
                node = self.around(start, end, ["unary_expression"])
                if not node or node.start_byte != start:
                    return False
                self.wraps[node.id].append((number, {node.child(0).id: ""}))
            case "MatchArmGuard":
                node = self.around(start, end, ["match_pattern"])
                node = node and node.child_by_field_name("condition")
                if not node or node.type in ("let_chain", "let_condition"):
                    return False
                self.wraps[node.id].append((number, {node.id: mutant["replacement"]}))
            case "MatchArm":
                node = self.around(start, start + 1, ["match_arm"])
                pattern = node.child_by_field_name("pattern")
                guard = pattern.child_by_field_name("condition")
                if guard:
                    self.wraps[guard.id].append((number, {guard.id: "false"}))
                else:
                    self.arms[pattern.id].append(number)
            case "StructField":
                field = self.around(start, start + 1, ["field_initializer", "shorthand_field_initializer"])
                comma = field.next_sibling
                node = self.around(start, start + 1, ["struct_expression"])
                self.wraps[node.id].append((number, {field.id: "", comma.id: ""}))
            case _:
                return False
        return True

    def emit(self, node, replaced=None):
        """The text of a node with all its mutants."""
        if replaced and node.id in replaced:
            return replaced[node.id].encode()
        inner = self.inner(node, replaced)
        if not replaced:
            for number, changed in self.wraps[node.id]:
                inner = b"(if crate::mutant(%d) { %s } else { %s })" % (number, self.emit(node, changed), inner)
        return inner

    def inner(self, node, replaced):
        out, at = [], node.start_byte
        for child in node.children:
            out.append(self.text[at : child.start_byte])
            # What is replaced stands at most two levels down; below that mutants are switches again.
            is_near = replaced and any(part.id in replaced for part in (child, *child.children))
            out.append(self.emit(child, replaced if is_near else None))
            at = child.end_byte
            if child.type == "{" and self.heads[node.id]:
                for number, replacement in self.heads[node.id]:
                    out.append(f" if crate::mutant({number}) {{ return {replacement}; }}".encode())
        out.append(self.text[at : node.end_byte])
        text = b"".join(out)
        for number in self.arms[node.id]:
            text += b" if !crate::mutant(%d)" % number
        return text


def put(path, content):
    """Writes a file, if it says something else: what is built stays built."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def write(tree, count, numbered):
    """Writes the project with the mutants into the tree. Gives those that have no place."""
    by_file = collections.defaultdict(list)
    for number, mutant in numbered:
        by_file[mutant["file"]].append((number, mutant))
    lost = []
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for path in listed.stdout.split("\0"):
        if not path or not (ROOT / path).is_file():
            continue
        text = (ROOT / path).read_bytes()
        if path in by_file:
            file = File(text, by_file[path])
            # The file's first and last lines may lie outside of its root.
            text = text[: file.root.start_byte] + file.emit(file.root) + text[file.root.end_byte :]
            lost += file.lost
        if path in LIBRARIES:
            text += b"\nmod mutant;\nuse mutant::mutant;\n"
            put(tree / path.replace("lib.rs", "mutant.rs"), SWITCH.replace("COUNT", str(count)).encode())
        put(tree / path, text)
        shutil.copymode(ROOT / path, tree / path)
    return lost


def errors(tree):
    """Where the tree does not compile: file and offset."""
    command = ["cargo", "check", "--workspace", "--lib", "--locked", "--message-format=json"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    found = []
    for line in done.stdout.splitlines():
        message = json.loads(line).get("message")
        if message and message["level"] == "error":
            spans = [span for span in message["spans"] if span["is_primary"]]
            found += [(span["file_name"], span["byte_start"], message["message"]) for span in spans]
    if done.returncode and not found:
        sys.exit(done.stderr)
    return found


def blamed(tree, path, at):
    """The mutants in whose text an error lies: the innermost one, else all of its function."""
    text = (tree / path).read_bytes()
    node = PARSER.parse(text).root_node.descendant_for_byte_range(at, at + 1)
    while node:
        head = re.match(rb"\(?if crate::mutant\((\d+)\)", text[node.start_byte : node.end_byte])
        if head:
            return {int(head[1])}
        if node.type in ("function_item", "match_arm"):
            found = re.findall(rb"crate::mutant\((\d+)\)", text[node.start_byte : node.end_byte])
            if found:
                return {int(number) for number in found}
        node = node.parent
    sys.exit(f"{path}, byte {at}: no mutant is near this error")


def build(arguments, mutants):
    """A tree with a sample that compiles. Gives the sample, each with its number."""
    tree, said = arguments.work / "tree", arguments.work / "left-out.txt"
    count = int(arguments.count * SPARE)
    left_out = dict(line.split("\t") for line in said.read_text().splitlines()) if said.exists() else {}
    while True:
        sample = [(number, mutant) for number, mutant in enumerate(mutants[:count]) if mutant["name"] not in left_out]
        sample = sample[: arguments.count]
        if arguments.built:
            break
        lost = {number: "no place" for number in write(tree, count, sample)}
        if not lost:
            for path, at, message in errors(tree):
                lost.update((number, " ".join(message.split())) for number in blamed(tree, path, at))
        if not lost:
            break
        left_out.update((mutants[number]["name"], message) for number, message in lost.items())
        said.write_text("".join(f"{name}\t{message}\n" for name, message in left_out.items()))
        print(f"{len(lost)} do not compile", flush=True)
    if len(sample) < arguments.count:
        print(f"only {len(sample)} are left", file=sys.stderr)
    return [{"number": number, **mutant} for number, mutant in sample]


def binaries(tree):
    """The test binaries, built."""
    command = ["cargo", "test", "--workspace", "--lib", "--test", "krm", "--locked", "--no-run", "--message-format=json"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    found = [line for line in found if line.get("executable") and line["profile"]["test"]]
    for line in found:
        FOLDERS[line["executable"]] = pathlib.Path(line["manifest_path"]).parent
    # The tests of a crate first.
    return sorted((line["executable"] for line in found), key=lambda path: pathlib.Path(path).name.startswith("krm-"))


def run(tree, binary, names, seconds, **variables):
    """Whether the tests pass, what they took, and which one failed. The seconds are of the processor: others may use the machine."""
    command = [binary, "--exact", "--test-threads=1", "-Zunstable-options", "--fail-fast", *names]
    variables = {**os.environ, "RUSTC_BOOTSTRAP": "1", "CARGO_MANIFEST_DIR": str(FOLDERS[binary]), **variables}

    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))

    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=FOLDERS[binary], env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            preexec_fn=limits,
        )
        # One that waits for itself uses no processor.
        stop = threading.Timer(600 + 30 * seconds, process.kill)
        stop.start()
        _, status, used = os.wait4(process.pid, 0)
        stop.cancel()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.returncode = status
        output.seek(0)
        failed = re.findall(rb"^test (\S+) \.\.\. FAILED", output.read(), re.M)
    how = "killed" if os.WIFSIGNALED(status) else "another way"
    return status == 0, used.ru_utime + used.ru_stime, failed[0].decode() if failed else how


def reached(tree, test):
    """Which mutants a test reaches; `None` if it fails without any."""
    binary, name = test
    with tempfile.NamedTemporaryFile("r") as log:
        passed, took, _ = run(tree, binary, [name], 100, KRM_VARIANTS_MUTANT_LOG=log.name)
        return passed, took, set(map(int, log.read().split()))


def try_one(tree, number, tests):
    """The test that notices a mutant, or `None`. The quick tests go first."""
    tests = sorted(tests, key=lambda test: test[2])
    groups = [tests[:8], tests[8:40], tests[40:]]
    for group in groups:
        for binary in sorted({test[0] for test in group}):
            names = [test[1] for test in group if test[0] == binary]
            limit = 10 + 5 * sum(test[2] for test in group)
            passed, _, failed = run(tree, binary, names, limit, KRM_VARIANTS_MUTANT=str(number))
            if not passed:
                return failed
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/mutants")
    parser.add_argument("--built", action="store_true", help="the sample was built before, and nothing changed since")
    parser.add_argument("--longest", type=float, default=5, help="seconds of a test alone; longer ones are left out")
    parser.add_argument("--only", type=int, nargs="+", default=[])
    arguments = parser.parse_args()
    arguments.work = arguments.work.resolve()
    tree = arguments.work / "tree"
    sample = build(arguments, drawn(arguments))
    pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)
    tests, by_mutant = [], collections.defaultdict(list)
    for binary in binaries(tree):
        listed = subprocess.run([binary, "--list", "--format=terse"], cwd=tree, check=True, capture_output=True, text=True)
        tests += [(binary, line.removesuffix(": test")) for line in listed.stdout.splitlines() if line.endswith(": test")]
    for test, (passed, took, numbers) in zip(tests, pool.map(lambda test: reached(tree, test), tests)):
        if not passed or took > arguments.longest:
            print(f"left out: {test[1]}, which {'takes long' if passed else 'fails without a mutant'}", flush=True)
            continue
        for number in numbers:
            by_mutant[number].append((*test, took))
    if arguments.only:
        sample = [mutant for mutant in sample if mutant["number"] in arguments.only]
    print(f"{len(tests)} tests, {len(sample)} mutants", flush=True)
    found = pool.map(lambda mutant: try_one(tree, mutant["number"], by_mutant[mutant["number"]]), sample)
    for done, (mutant, failed) in enumerate(zip(sample, found), 1):
        mutant["tests"], mutant["caught"] = len(by_mutant[mutant["number"]]), failed
        if failed is None:
            print(f"\n{done}: mutant {mutant['number']} lives, with {mutant['tests']} tests\n{mutant['name']}\n{mutant['diff']}", flush=True)
        text = json.dumps([mutant for mutant in sample if "caught" in mutant], indent=1)
        (arguments.work / ("again.json" if arguments.only else "mutants.json")).write_text(text)
    caught = sum(mutant["caught"] is not None for mutant in sample)
    print(f"{len(sample)} mutants, {caught} caught ({100 * caught / max(1, len(sample)):.1f} %)")


if __name__ == "__main__":
    main()
