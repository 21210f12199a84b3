#!/usr/bin/env python3
"""usage: generate.py VARIANTS DIR

Makes a fleet to measure: DIR/catalog (a Git repository with the package `app`, 30 files and 57 KB, in two revisions,
of which v2 changes six files), DIR/variants/set.yaml (one PackageVariantSet) and DIR/repositories.yaml (a Repository for
each of so many clusters). Needs git.
"""
import os
import subprocess
import sys

FILES = 29
SETTINGS = 14


def deployment(number: int, revision: int) -> str:
    image = f"app-{number}:{revision if number % 5 == 0 else 1}"
    settings = "".join(
        f'        - name: SETTING_{setting}\n          value: "a value of some length, number {setting}"\n'
        for setting in range(SETTINGS)
    )
    return f"""apiVersion: apps/v1
kind: Deployment
metadata:
  name: part-{number}
  labels:
    app.kubernetes.io/name: part-{number}
    app.kubernetes.io/part-of: app
spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: part-{number}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: part-{number}
    spec:
      containers:
      - name: main
        image: registry.example.com/{image}
        args:
        - --listen=0.0.0.0:8080
        - --log-level=info
        env:
{settings}        resources:
          requests: {{cpu: 100m, memory: 128Mi}}
          limits: {{cpu: 500m, memory: 256Mi}}
        readinessProbe:
          httpGet: {{path: /ready, port: 8080}}
          periodSeconds: 10
"""


SET = """apiVersion: config.porch.kpt.dev/v1alpha2
kind: PackageVariantSet
metadata:
  name: fleet
spec:
  upstream: {repo: catalog, package: app, revision: v1}
  targets:
  - repositorySelector:
      matchLabels: {role: cluster}
    template:
      packageContext:
        dataExprs:
        - key: region
          valueExpr: repository.labels["region"]
"""

KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: app\ninfo:\n  description: an application\n"


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def git(directory: str, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "-C", directory, *who, *arguments], check=True, stdout=subprocess.DEVNULL)


def catalog(directory: str) -> None:
    os.makedirs(directory)
    git(directory, "init", "--quiet", "--initial-branch=main")
    for revision in (1, 2):
        write(f"{directory}/app/Kptfile", KPTFILE)
        for number in range(FILES):
            write(f"{directory}/app/part-{number:02}.yaml", deployment(number, revision))
        git(directory, "add", "--all")
        git(directory, "commit", "--quiet", "--message", f"v{revision}")
        git(directory, "tag", f"app/v{revision}")


def main(variants: int, directory: str) -> None:
    if not os.path.exists(f"{directory}/catalog"):
        catalog(f"{directory}/catalog")
    write(f"{directory}/variants/set.yaml", SET)
    repositories = "".join(
        "---\napiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata:\n"
        f"  name: cluster-{number:06}\n  labels: {{role: cluster, region: r{number % 20}}}\n"
        f"spec: {{type: git, git: {{repo: https://git.example.com/c{number}.git}}}}\n"
        for number in range(variants)
    )
    write(f"{directory}/repositories.yaml", repositories)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(int(sys.argv[1]), sys.argv[2])
