"""Clones, revisions of them, and what a package says of its own."""

import os
import pathlib
import re
import subprocess
import sys

import values


def run(*command, **options):
    """Runs a program that must not fail; what it prints."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if result.returncode:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def git(repository, *arguments):
    return run("git", "-C", repository, *arguments).strip()


def nobody_in(home):
    """No configuration of the user's has a part in what git and kpt do, and their caches go to a folder of ours."""
    os.environ.update(HOME=str(home), KPT_CACHE_DIR=str(home / "cache"))
    for role in ("AUTHOR", "COMMITTER"):
        os.environ.update({f"GIT_{role}_NAME": "a", f"GIT_{role}_EMAIL": "a@example.com"})
        os.environ[f"GIT_{role}_DATE"] = "2026-01-01T00:00:00Z"


def mirror(clone, at):
    """A bare clone next to it, so that the one that was given stays as it is."""
    run("git", "clone", "--quiet", "--mirror", "--shared", pathlib.Path(clone).resolve(), at)
    return at


def export(repository, revision, directory, into):
    """Writes a directory at a revision into a folder."""
    into.mkdir(parents=True)
    what = f"{revision}:{directory}" if directory else revision
    archive = subprocess.run(["git", "-C", repository, "archive", what], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", into], check=True, input=archive.stdout)


def resources(folder):
    return values.resources(values.files(folder))


def lock(package, repository):
    """The commit and the name of a package's lock."""
    text = (package / "Kptfile").read_text()
    text = text[text.index("\nupstreamLock:"):]
    field = {key: re.search(rf"^ +{key}: *(\S+)", text, re.M).group(1) for key in ("ref", "commit")}
    return git(repository, "rev-parse", field["commit"] + "^{commit}"), field["ref"]
