#!/usr/bin/env python3
"""Kills `krmv get`, `krmv upgrade` and `krmv resolve` at random moments.

usage: tests/krmv_kills.py DIR_OF_BUILT_BINARIES [KILLS] [SEED]

After each kill every file is as it was, or as a whole run leaves it, and the same command once more completes: the files
of a whole run, and nothing else.
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

FILES = 40
COMMANDS = {
    "upgrade": (["upgrade", "web", "v2"], {1}),
    # A run that was killed at its end has decided everything.
    "resolve": (["resolve", "web", "--take", "upstream"], {0}),
}


def app(number, replicas, image):
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app{number}\nspec:\n  replicas: {replicas}\n  template:\n"
        f"    spec:\n      containers:\n      - name: app\n        image: app:{image}\n"
    )


def write(folder, replicas, image):
    folder.mkdir(exist_ok=True)
    for number in range(FILES):
        (folder / f"app{number}.yaml").write_text(app(number, replicas, image))


def run(*command, cwd, codes=(0,)):
    ran = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    if ran.returncode not in codes:
        sys.exit(f"{' '.join(map(str, command))}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def everything(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def kill_get(krmv, scratch, kills, moment):
    """The same `get` after a kill completes the package, in a work tree and outside of one, and never a copy inside."""
    source = [krmv, "get", f"{scratch / 'catalog'}//web@v1"]
    for place in ("tree", "plain"):
        (scratch / place).mkdir()
        if place == "tree":
            run("git", "init", "--quiet", cwd=scratch / place)
        # The first run is slower than the others.
        run(*source, "first", cwd=scratch / place)
        shutil.rmtree(scratch / place / "first")
        start = time.monotonic()
        run(*source, "whole", cwd=scratch / place)
        length = time.monotonic() - start
        # The name of a package is that of its folder.
        new = {path: text.replace(b"name: whole", b"name: p") for path, text in everything(scratch / place / "whole").items()}
        shutil.rmtree(scratch / place / "whole")
        package = scratch / place / "p"
        halves = killed = 0
        for number in range(kills):
            child = subprocess.Popen(
                [str(word) for word in (*source, "p")], cwd=scratch / place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            limit = time.monotonic() + length
            if number % 2:
                # As soon as there is something, and a little later each time.
                while time.monotonic() < limit and not (package.is_dir() and any(package.iterdir())):
                    pass
                time.sleep(length * 0.1 * number / kills)
            else:
                time.sleep(length * moment.uniform(0.3, 1.1))
            child.kill()
            killed += child.wait() < 0
            left = everything(package) if package.is_dir() else {}
            halves += left not in ({}, new)
            run(*source, "p", cwd=scratch / place)
            if everything(package) != new:
                sys.exit(f"get, {place}, kill {number}: the next run did not complete")
            shutil.rmtree(package)
            others = {path.name for path in (scratch / place).iterdir()} - {".git"}
            if others:
                sys.exit(f"get, {place}, kill {number}: {others} is left")
        print(f"get, {place}: {killed} of {kills} runs were killed, {halves} of them between two files; each next run completed")


def commit(folder, message):
    run("git", "add", "--all", cwd=folder)
    run("git", "commit", "--quiet", "--message", message, cwd=folder)


def main():
    krmv = pathlib.Path(sys.argv[1]).resolve() / "krmv"
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    moment = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 40)
    for role in ("AUTHOR", "COMMITTER"):
        os.environ.update({f"GIT_{role}_NAME": "a", f"GIT_{role}_EMAIL": "a@example.com"})
    os.environ.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name in ("catalog", "own"):
            run("git", "init", "--quiet", name, cwd=scratch)
        for tag, replicas, image in (("v1", 1, 1), ("v2", 3, 2)):
            write(scratch / "catalog/web", replicas, image)
            commit(scratch / "catalog", tag)
            run("git", "tag", tag, cwd=scratch / "catalog")
        kill_get(krmv, scratch, kills, moment)
        own = scratch / "own"
        run(krmv, "get", "../catalog//web@v1", cwd=own)
        for path in (own / "web").glob("app*.yaml"):
            path.write_text(path.read_text().replace("replicas: 1", "replicas: 2"))
        commit(own, "edits")
        for name, (arguments, codes) in COMMANDS.items():
            whole = scratch / f"{name}-whole"
            shutil.copytree(own, whole)
            start = time.monotonic()
            run(krmv, *arguments, cwd=whole, codes=codes)
            length = time.monotonic() - start
            old, new = files(own / "web"), files(whole / "web")
            halves = killed = 0
            for number in range(kills):
                again = scratch / "again"
                shutil.copytree(own, again)
                child = subprocess.Popen([krmv, *arguments], cwd=again, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                # The files are written at the end.
                time.sleep(length * moment.uniform(0.3, 1.2))
                child.kill()
                killed += child.wait() < 0
                left = files(again / "web")
                for path in old.keys() | new.keys():
                    if left.get(path) not in (old.get(path), new.get(path)):
                        sys.exit(f"{name}, kill {number}: {path} is neither old nor new")
                kept = {path: text for path, text in left.items() if path in old or path in new}
                halves += kept not in (old, new)
                run(krmv, *arguments, cwd=again, codes=codes)
                if files(again / "web") != new:
                    sys.exit(f"{name}, kill {number}: the next run did not complete")
                shutil.rmtree(again)
            print(f"{name}: {killed} of {kills} runs were killed, {halves} of them between two files; each next run completed")
            own = whole
            commit(own, name)


if __name__ == "__main__":
    main()
