#!/usr/bin/env python3
"""Faults of the system under a run with `--package`: each system call fails once, or the process is killed at it.

usage: tests/faults.py DIR_OF_BUILT_BINARIES [--long] [NAME...]

Needs strace. For each function that writes, the system calls of a whole run are counted; then it runs again and
again, and each time strace makes another one of them fail, or kills the process there. `--long`: each with ENOSPC, EIO,
EACCES, EINTR, EXDEV and ESTALE; else every third with one of them in turns. After each run

- each file is as it was before, or as a whole run leaves it;
- the exit code is 0 only if every file is as a whole run leaves it;
- nobody panicked, and what failed is said on stderr;
- a run that was not killed leaves no temporary file, but for one that could not be removed;
- a second run completes: exit code 0, the files of a whole run, and nothing else.

Without strace, or where it may not trace, the exit code is 77.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent
ERRORS = ["ENOSPC", "EIO", "EACCES", "EINTR", "EXDEV", "ESTALE"]
# Memory, signals and threads: without them no program starts, and the loader answers for it.
NOT_FAILED = re.compile(
    r"execve|exit|exit_group|mmap|munmap|mprotect|mremap|madvise|brk|rt_sig.*|sigaltstack|arch_prctl|set_tid_address"
    r"|set_robust_list|rseq|prlimit64|futex|clone3?|sched_.*|gettid|getpid|getrandom|poll|restart_syscall"
)

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  replicas: {replicas} # how many
"""
PATCH = """apiVersion: fn.kpt.dev/v1alpha1
kind: ApplyPatch
metadata: {name: p}
# The one that is deleted is gone when it runs again.
allowMissing: true
patches:
- target: {kind: Deployment, name: a}
  patch: {spec: {replicas: 9}}
- target: {kind: Deployment, name: b}
  patch: {spec: {paused: true}}
- target: {kind: Deployment, name: c}
  patch: {$patch: delete}
"""
KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n"


def put(folder, files):
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def deployments(**replicas):
    files = {f"{name}.yaml": DEPLOYMENT.format(name=name, replicas=count) for name, count in replicas.items()}
    return {"Kptfile": KPTFILE, **files}


def examples(folder):
    """The examples that write: name, function, arguments, and the package before."""
    for path in sorted((HERE.parent / "examples").iterdir()):
        config = path / ".expected/config.yaml"
        if not config.exists():
            continue
        fields = dict(re.findall(r"^(\w+): *(.*)$", config.read_text(), re.M))
        if fields.get("prints") == "true":
            continue
        words = fields.get("flags", "").split()
        words = [placed(word, path) for word in words]
        again = [placed(word, path) for word in fields["flagsAgain"].split()] \
            if "flagsAgain" in fields else words
        config = ["--config", str(path / fields["fnConfig"])]
        package = path / "package" if (path / "package").is_dir() else None
        yield path.name, fields["exec"], config + words, config + again, package


def own(folder):
    """Packages that change in all ways at once: files changed, made, removed, and such that are not KRM."""
    patched = folder / "apply-patch"
    put(patched / "package", deployments(a=1, b=2, c=3))
    put(patched, {"config.yaml": PATCH})
    config = ["--config", str(patched / "config.yaml")]
    yield "apply-patch", "apply-patch", config, config, patched / "package"
    merged = folder / "merge-package"
    put(merged / "original", {**deployments(a=1, b=1, c=1), "notes.txt": "old\n", "gone.txt": "old\n"})
    put(merged / "upstream", {**deployments(a=2, c=1, d=1), "notes.txt": "new\n", "sub/made.txt": "new\n"})
    put(merged / "package", {**deployments(a=1, b=1, c=5), "notes.txt": "old\n", "gone.txt": "old\n"})
    flags = ["--original", str(merged / "original"), "--upstream", str(merged / "upstream")]
    yield "merge-package", "merge-package", flags, flags, merged / "package"


def from_git(folder):
    """An update from a repository, by the lock."""
    catalog, package = folder / "catalog", folder / "followed"
    git = ["git", "-C", str(catalog), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    commits = []
    for version in 1, 2:
        put(catalog / "shop", deployments(a=version, **({"b": 1} if version == 2 else {})))
        if version == 1:
            subprocess.run(["git", "init", "-q", str(catalog)], check=True)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", f"v{version}"], check=True)
        subprocess.run([*git, "tag", f"v{version}"], check=True)
        commits.append(subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip())
    lock = "  type: git\n  git:\n    repo: {0}\n    directory: shop\n    ref: v1\n".format(catalog)
    files = deployments(a=1)
    files["Kptfile"] += f"upstream:\n{lock}upstreamLock:\n{lock}    commit: {commits[0]}\n"
    put(package, files)
    flags = ["--upstream", f"{catalog}//shop?ref=v2"]
    yield "merge-package from Git", "merge-package", flags, flags, package


def placed(word, example):
    """A flag, NAME=PATH, or a path; paths are relative to the example."""
    if word.startswith("--"):
        return word
    name, equals, path = word.rpartition("=")
    return f"{name}{equals}{example / path}"


def snapshot(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def is_temporary(path):
    """A temporary file."""
    return any(part.startswith(".krm-variants-") for part in pathlib.PurePath(path).parts)


class Scenario:
    def __init__(self, binaries, work, name, function, first, again, package):
        self.name, self.package = name, package
        self.target = work / "target" / "package"
        binary = str(binaries / function)
        self.first = [binary, *first, "--package", str(self.target)]
        self.again = [binary, *again, "--package", str(self.target)]
        self.trace = work / "trace"
        self.before = self.reset()
        done = subprocess.run(self.first, capture_output=True, text=True)
        assert done.returncode == 0, (name, done.stderr)
        self.after = snapshot(self.target)
        assert self.before != self.after, name

    def reset(self):
        shutil.rmtree(self.target.parent, ignore_errors=True)
        self.target.parent.mkdir()
        if self.package:
            shutil.copytree(self.package, self.target)
            return snapshot(self.target)
        return {}

    def strace(self, *flags):
        command = ["strace", "-f", "-qq", "-o", str(self.trace), *flags, *self.first]
        return subprocess.run(command, capture_output=True, text=True, errors="replace")

    def calls(self):
        """How often a whole run does each system call, in the thread that does it most often."""
        self.reset()
        done = self.strace()
        if done.returncode != 0 or not self.trace.exists():
            print(f"strace does not trace here: {done.stderr.strip()}", file=sys.stderr)
            sys.exit(77)
        threads = {}
        for line in self.trace.read_text(errors="replace").splitlines():
            found = re.match(r"(\d+) +(\w+)\(", line)
            if found:
                threads.setdefault(found[1], Counter())[found[2]] += 1
        most = Counter()
        for counts in threads.values():
            most |= counts
        return most

    def points(self, long):
        turn = 0
        for call, count in sorted(self.calls().items()):
            for number in range(1, count + 1):
                if not NOT_FAILED.fullmatch(call):
                    errors = ERRORS if long else [ERRORS[turn % len(ERRORS)]]
                    turn += 1
                    yield from ((call, number, error) for error in errors)
                if call != "execve" and (long or call in ("write", "openat", "rename", "renameat", "unlink", "linkat", "mkdir")):
                    yield call, number, "KILL"

    def check(self, call, number, fault):
        """What is wrong after this fault."""
        self.reset()
        is_kill = fault == "KILL"
        what = "signal=KILL" if is_kill else f"error={fault}"
        done = self.strace("-e", f"inject={call}:{what}:when={number}")
        left = snapshot(self.target)
        said, code = done.stderr, done.returncode
        temporary = [path for path in left if is_temporary(path)]
        files = {path: text for path, text in left.items() if not is_temporary(path)}
        if "unexpected error during closedir" in said:
            # Rust's own library panics there, where no file system fails; nothing is cleaned up then.
            said, code, temporary = "", 2, []
        elif "panicked" in said or code in (101, 134, -6):
            yield f"it panicked: {said}"
        for path in sorted({*files, *self.before, *self.after}):
            if files.get(path) not in (self.before.get(path), self.after.get(path)):
                yield f"{path} is neither old nor new: {files.get(path)!r}"
        if code == 0 and files != self.after:
            yield "it says that all is done, and it is not"
        if code not in (0, 1, 2, 127) and not is_kill:
            yield f"exit code {code}: {said}"
        if code in (1, 2) and not done.stderr and not is_kill and call not in ("write", "writev"):
            yield f"exit code {code}, and not a word"
        if temporary and not is_kill and not call.startswith("unlink"):
            yield f"left behind: {temporary}"
        # A package that was made by then is not made again.
        command = self.again if files == self.after else self.first
        second = subprocess.run(command, capture_output=True, text=True, errors="replace")
        now = snapshot(self.target)
        if second.returncode != 0:
            yield f"the second run ends with {second.returncode}: {second.stderr}"
        elif now != self.after:
            wrong = sorted(path for path in {*now, *self.after} if now.get(path) != self.after.get(path))
            yield f"the second run leaves other files: {wrong}"


def name_left_out(names):
    """Says which functions that write have no scenario yet."""
    functions = {path.name for path in (HERE.parent / "functions").iterdir()}
    for missing in sorted(functions - names - {"apply-config", "create-patch"}):
        print(f"left out: {missing}, which has no scenario yet")


def main():
    words = sys.argv[1:]
    long = "--long" in words
    words = [word for word in words if word != "--long"]
    if not words or not pathlib.Path(words[0]).is_dir():
        sys.exit(__doc__)
    if not shutil.which("strace"):
        print("strace is not on PATH", file=sys.stderr)
        sys.exit(77)
    binaries, only = pathlib.Path(words[0]).resolve(), words[1:]
    failed, total = 0, 0
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        work = pathlib.Path(folder)
        scenarios = [*examples(work), *own(work), *from_git(work)]
        name_left_out({function for _, function, *_ in scenarios})
        for name, *rest in scenarios:
            if only and name not in only:
                continue
            scenario = Scenario(binaries, work, name, *rest)
            points, wrong = list(scenario.points(long)), 0
            if not long:
                points = points[len(name) % 3 :: 3]
            for point in points:
                for problem in scenario.check(*point):
                    wrong += 1
                    print(f"{name}, {point[0]} number {point[1]}, {point[2]}: {problem}", file=sys.stderr)
            print(f"{name}: {len(points)} faults, {wrong} problems", flush=True)
            failed, total = failed + wrong, total + len(points)
    print(f"{total} faults, {failed} problems")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
