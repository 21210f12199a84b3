#!/usr/bin/env python3
"""usage: kills.py RENDER_FLEET DIR [KILLS]

Kills runs over a fleet of 12 variants at random moments (kill -9), half of them while packages are made and half while they are
updated; the next run must leave the bytes of a run that nobody killed. Then lets three runs work on one fleet at once. Ends
with an error if anything differs. The moments are those of the machine: this is no test of the suite.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import generate

VARIANTS = 12


class Fleet:
    def __init__(self, binary: str, directory: str):
        self.directory = directory
        self.command = [binary, "--variants", f"{directory}/variants", "--resources", f"{directory}/repositories.yaml"]
        self.command += ["--catalog", f"catalog={directory}/catalog", "-q", "--jobs", "2", "--package"]
        generate.main(VARIANTS, directory)

    def wants(self, revision: str) -> None:
        generate.write(f"{self.directory}/variants/set.yaml", generate.SET.replace("revision: v1", f"revision: {revision}"))

    def start(self, fleet: str) -> subprocess.Popen:
        return subprocess.Popen([*self.command, fleet], stderr=subprocess.PIPE)

    def run(self, fleet: str) -> tuple[int, str]:
        process = self.start(fleet)
        _, errors = process.communicate()
        return process.returncode, errors.decode()


def files(directory: str) -> dict[str, bytes]:
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, directory)] = file.read()
    return found


def copy(source: str, target: str) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


def main(binary: str, directory: str, kills: int) -> None:
    random.seed(7)
    fleet = Fleet(binary, directory)
    old, new, work = (f"{directory}/{name}" for name in ("old", "new", "work"))
    for folder in (old, new, work):
        shutil.rmtree(folder, ignore_errors=True)
    fleet.run(old)
    created = files(old)
    for number in range(0, VARIANTS, 3):
        package = f"{old}/cluster-{number:06}/app"
        with open(f"{package}/part-00.yaml", encoding="utf-8") as file:
            text = file.read()
        generate.write(f"{package}/part-00.yaml", text.replace("replicas: 2", "replicas: 5"))
        generate.write(f"{package}/own.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n")
    edited = files(old)
    fleet.wants("v2")
    copy(old, new)
    fleet.run(new)
    updated = files(new)
    copy(old, work)
    begin = time.monotonic()
    fleet.run(work)
    duration = time.monotonic() - begin
    midway = journals = wrong = 0
    for number in range(kills):
        updates = number % 2 == 0
        shutil.rmtree(work, ignore_errors=True)
        if updates:
            copy(old, work)
        fleet.wants("v2" if updates else "v1")
        process = fleet.start(work)
        time.sleep(random.uniform(0, duration * 1.1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        left = files(work)
        wanted = updated if updates else created
        midway += left not in (wanted, edited if updates else {})
        journals += any("journal" in path for path in left)
        code, errors = fleet.run(work)
        if code != 0 or files(work) != wanted:
            wrong += 1
            print(f"kill {number}: exit code {code}: {errors}")
    print(f"{kills} runs killed, {midway} of them midway, {journals} with a journal: {wrong} wrong")
    torn = locked = 0
    fleet.wants("v2")
    for _ in range(20):
        copy(old, work)
        processes = [fleet.start(work) for _ in range(3)]
        for process in processes:
            _, errors = process.communicate()
            locked += errors.decode().count("(Locked)")
        fleet.run(work)
        torn += files(work) != updated
    print(f"20 times three runs at once: {locked} packages were locked for too long, {torn} fleets wrong")
    sys.exit(wrong + torn > 0)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) == 4 else 200)
