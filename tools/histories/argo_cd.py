#!/usr/bin/env python3
"""The upgrade of a fork of Argo CD's install.yaml that the README shows: git, mergiraf and krmv side by side.

  argo_cd.py BINARIES CLONE [v3.1.0] [v3.5.1]

The fork has a registry, replicas, tolerations, resources, flags, a URL and a comment of its own, and neither Dex nor ApplicationSets. Prints the conflicts of
each tool, and how many lines stand between their markers. CLONE is left as it is. Needs git, and mergiraf for its row.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from repositories import git, nobody_in

FILE = "manifests/install.yaml"
REGISTRY = ("quay.io/argoproj/argocd:", "registry.example.com/argoproj/argocd:"), ("public.ecr.aws/docker/library/redis:", "registry.example.com/library/redis:")
TOLERATIONS = "\n      tolerations:\n      - key: infra\n        operator: Exists"


def fork(text):
    documents = []
    for document in text.split("\n---\n"):
        kind = re.search(r"^kind: (\S+)", document, re.M)[1]
        name = re.search(r"^metadata:.*\n(?:  .*\n)*?  name: (\S+)", document, re.M)[1]
        if "dex" in name or name.startswith(("applicationsets.", "argocd-applicationset")):
            continue
        for before, after in REGISTRY:
            document = document.replace(f"image: {before}", f"image: {after}")
        if kind in ("Deployment", "StatefulSet"):
            if name in ("argocd-server", "argocd-repo-server"):
                document = document.replace("\nspec:\n  selector:", "\nspec:\n  replicas: 3 # one a zone\n  selector:", 1)
            document = re.sub(r"\n      nodeSelector:\n        kubernetes.io/os: linux", lambda match: match[0] + TOLERATIONS, document)
        if name == "argocd-application-controller" and kind == "StatefulSet":
            program, container = "        - /usr/local/bin/argocd-application-controller\n", f"        name: {name}\n"
            document = document.replace(program, program + "        - --status-processors=50\n", 1)
            document = document.replace(
                container, container + "        resources:\n          requests: {cpu: 500m, memory: 2Gi} # see the dashboard\n", 1
            )
        if name == "argocd-server" and kind == "Deployment":
            program = "        - /usr/local/bin/argocd-server\n"
            document = document.replace(program, program + "        - --insecure # TLS ends at the ingress\n", 1)
        if name == "argocd-cm":
            document = document.replace("\ndata:\n", "\ndata:\n  url: https://argocd.example.com\n", 1)
        documents.append(document)
    return "\n---\n".join(documents)


def conflicts(text):
    found = re.findall(r"^<<<<<<< .*?^>>>>>>> [^\n]*\n", text, re.M | re.S)
    lines = [block.count("\n") for block in found]
    return f"{len(found)} | {sum(lines):,}" + (f", of them {max(lines):,} in one conflict" if lines else "")


def main():
    binaries, clone, before, after = (sys.argv[1:] + ["v3.1.0", "v3.5.1"][len(sys.argv) - 3 :])[:4]
    binaries, clone = pathlib.Path(binaries).resolve(), pathlib.Path(clone).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        nobody_in(folder / "home")
        show = lambda tag: subprocess.run(["git", "-C", clone, "show", f"{tag}:{FILE}"], check=True, capture_output=True, text=True).stdout
        texts = {"original": show(before), "local": fork(show(before)), "upstream": show(after)}
        for role, text in texts.items():
            (folder / f"{role}.yaml").write_text(text)
        original, local, upstream = (folder / f"{role}.yaml" for role in texts)
        print(f"{texts['original'].count(chr(10)):,} lines\n\n| | conflicts | lines between conflict markers |\n|---|---|---|")
        merged = subprocess.run(["git", "merge-file", "-p", local, original, upstream], capture_output=True, text=True).stdout
        print(f"| `git merge-file` {git(clone, 'version').split()[-1]} | {conflicts(merged)} |")
        if shutil.which("mergiraf"):
            subprocess.run(["mergiraf", "merge", original, local, upstream, "-o", folder / "merged.yaml", "-t", "0"], capture_output=True)
            print(f"| `mergiraf` | {conflicts((folder / 'merged.yaml').read_text())} |")
        own = folder / "own"
        own.mkdir()
        git(own, "init", "--quiet")
        krmv = lambda *words: subprocess.run([binaries / "krmv", *words], cwd=own, capture_output=True, text=True)
        krmv("get", f"{clone}//{FILE}@{before}", "argocd")
        package = own / "argocd" / "install.yaml"
        package.write_text(fork(package.read_text()))
        git(own, "add", "--all")
        git(own, "commit", "--quiet", "--message", "fork")
        done = krmv("upgrade", "argocd", after)
        print(f"| `krmv upgrade` | {conflicts(package.read_text())} |\n\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
