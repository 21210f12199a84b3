#!/usr/bin/env python3
"""Runs the workflow of docs/how-to/github-actions.md and the pipeline of docs/how-to/gitlab.md against local repositories.

usage: tests/hosted_ci.py DIR_OF_BUILT_BINARIES

Before that, whether pre-commit, GitHub and catalogs of functions can read their files.

A stand-in for the services: it reads the YAML of the pages and of action.yaml, evaluates their expressions, and runs each
step in a shell. `actions/checkout` is a clone; `gh` and `cargo` only record how they are called. Ends with 77 without PyYAML.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("PyYAML is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent
binaries = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else sys.exit(__doc__)


def block(page, first):
    """The fenced block of a page that begins with this line."""
    text = (ROOT / "docs/how-to" / page).read_text()
    return yaml.safe_load(re.search(rf"^```yaml\n({re.escape(first)}\n.*?)^```$", text, re.MULTILINE | re.DOTALL)[1])


def expect(what, holds):
    print(f"{'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        sys.exit(1)


def git(*arguments):
    done = subprocess.run(["git", *map(str, arguments)], cwd=work, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def shell(text, directory, extra=None):
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=directory, env=environment | (extra or {}), check=True)


class Workflow:
    """A job or a composite action: its steps, with the contexts that expressions read."""

    def __init__(self, inputs, temporary):
        self.inputs, self.steps, self.temporary = inputs, {}, temporary

    def value(self, path):
        match path.split("."):
            case ["inputs", name]:
                return self.inputs.get(name, "")
            case ["steps", step, "outputs", name]:
                return self.steps.get(step, {}).get(name, "")
            case ["runner", "temp"]:
                return str(self.temporary)
            case ["github", "token"]:
                return "token"
        raise ValueError(f"unknown expression: {path}")

    def expand(self, text):
        return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: self.value(match[1]), str(text))

    def holds(self, condition):
        path, operator, word = re.fullmatch(r"(?:always\(\) && )?([\w.-]+) (==|!=) '(.*)'", condition).groups()
        return (self.value(path) == word) == (operator == "==")

    def run(self, steps, directory, extra):
        for step in steps:
            if "if" in step and not self.holds(step["if"]):
                continue
            if step.get("uses", "").startswith("actions/checkout@"):
                git("clone", "--quiet", "server.git", directory)
            elif "uses" in step:
                self.steps[step["id"]] = self.action(step, directory, extra)
            else:
                output = self.temporary / "output"
                output.write_text("")
                files = {"GITHUB_OUTPUT": str(output), "GITHUB_PATH": str(self.temporary / "path")}
                own = {name: self.expand(value) for name, value in step.get("env", {}).items()}
                shell(self.expand(step["run"]), directory, extra | files | own)
                pairs = (line.split("=", 1) for line in output.read_text().splitlines())
                self.steps[step.get("id", "")] = dict(pairs)

    def action(self, step, directory, extra):
        action = yaml.safe_load((ROOT / "action.yaml").read_text())
        inputs = {name: self.expand(spec.get("default", "")) for name, spec in action["inputs"].items()}
        inner = Workflow(inputs | {name: self.expand(value) for name, value in step.get("with", {}).items()}, self.temporary)
        variables = {"GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(self.temporary)}
        inner.run(action["runs"]["steps"], directory, extra | variables)
        return {name: inner.expand(spec["value"]) for name, spec in action["outputs"].items()}


for file in [ROOT / ".pre-commit-hooks.yaml", *ROOT.glob(".github/workflows/*.yaml"), *sorted(ROOT.glob("functions/*/metadata.yaml"))]:
    expect(f"{file.relative_to(ROOT)} is YAML", yaml.safe_load(file.read_text()))

with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    tools = work / "bin"
    tools.mkdir()
    for program in ("gh", "cargo"):
        (tools / program).write_text(f'#!/bin/sh\necho {program} "$@" >>"{work}/called"\n')
        (tools / program).chmod(0o755)
    environment = os.environ | {
        "HOME": name,
        "PATH": f"{binaries}:{tools}:{os.environ['PATH']}",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    subprocess.run([ROOT / "examples/merge-package-upgrade/setup.sh", work], check=True, env=environment)
    git("init", "--quiet", "--initial-branch=main", "own")
    shutil.move(work / "blog", work / "own/blog")
    git("-C", "own", "add", "--all")
    git("-C", "own", "-c", "user.name=You", "-c", "user.email=you@example.com", "commit", "--quiet", "--message", "Blog v1")
    git("clone", "--quiet", "--bare", "own", "server.git")
    git("-C", "server.git", "config", "receive.advertisePushOptions", "true")
    main = git("-C", "server.git", "rev-parse", "main")
    # The addresses of the pages are these repositories.
    for address, local in [
        ("https://github.com/example/catalog", work / "catalog"),
        ("https://gitlab.com/example/catalog.git", work / "catalog"),
        ("https://gitlab.com/example/krm-variants.git", work / "krm-variants"),
        ("https://upgrade:secret@gitlab.com/group/own.git", work / "server.git"),
    ]:
        git("config", "--global", "--add", f"url.{local}.insteadOf", address)

    def pushed(branch, service):
        expect(f"{service}: one commit on the branch", git("-C", "server.git", "rev-parse", f"{branch}~1") == main)
        text = git("-C", "server.git", "show", f"{branch}:blog/deployment/volume.yaml")
        expect(f"{service}: the local value is kept", "storage: 5Gi # pictures" in text)
        kptfile = git("-C", "server.git", "show", f"{branch}:blog/Kptfile")
        expect(f"{service}: the conflict is open", "fn.kpt.dev/open-upgrade" in kptfile)
        expect(f"{service}: the lock is at v1", "ref: v1" in kptfile)
        git("-C", "server.git", "branch", "--delete", "--force", branch)

    temporary = work / "runner"
    temporary.mkdir()
    job = block("github-actions.md", "# .github/workflows/upgrade.yaml")["jobs"]["upgrade"]
    Workflow({}, temporary).run(job["steps"], work / "github", {})
    called = (work / "called").read_text()
    expect("GitHub: a pull request is created", "gh pr create --head krmv/blog --title blog: upgrade v1 to v2 --body-file" in called)
    expect("GitHub: its text lists the conflict", "### Undecided: 1 conflict" in (temporary / "review.md").read_text())
    pushed("krmv/blog", "GitHub")

    # The pipeline clones this repository into /tmp; here into the temporary directory.
    (work / "krm-variants").mkdir()
    shutil.copytree(ROOT / "tools/action", work / "krm-variants/tools/action")
    git("-C", "krm-variants", "init", "--quiet")
    git("-C", "krm-variants", "add", "--all")
    git("-C", "krm-variants", "-c", "user.name=You", "-c", "user.email=you@example.com", "commit", "--quiet", "--message", "tools")
    pipeline = block("gitlab.md", "# .gitlab-ci.yml")["upgrade"]
    variables = pipeline["variables"] | {
        "CI_SERVER_HOST": "gitlab.com",
        "CI_PROJECT_PATH": "group/own",
        "UPGRADE_TOKEN": "secret",
    }
    git("clone", "--quiet", "server.git", "gitlab")
    shell("\n".join(pipeline["script"]).replace("/tmp/", f"{temporary}/"), work / "gitlab", variables)
    expect("GitLab: krmv is installed", "cargo install --quiet --locked --path" in (work / "called").read_text())
    expect("GitLab: the artifact lists the conflict", "### Undecided: 1 conflict" in (work / "gitlab/review.md").read_text())
    pushed("krmv/blog", "GitLab")
