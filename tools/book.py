#!/usr/bin/env python3
"""Checks the links of all documents, and builds the documentation site with mdBook.

    tools/book.py             checks links between the documents, then builds target/book/html and checks its links
    tools/book.py --links     checks links between the documents only; needs no mdBook

docs/SUMMARY.md names the pages. Each stays where it is in the repository; links between pages become links of
the site, and links to other files become links to the repository that Cargo.toml names. A page of docs/ that
SUMMARY.md does not name is an error. Ends with 77 if mdBook is not on PATH.
"""

import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOOK = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "book"
LINK = re.compile(r"(?<!\\)(\[(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*\])\(([^()\s]+)\)")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def slug(heading: str) -> str:
    """The anchor that GitHub and mdBook give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def parts(text: str):
    """The text in pieces: (whether it is code, the piece)."""
    for index, piece in enumerate(FENCE.split(text)):
        yield index % 2 == 1, piece


def anchors(text: str) -> set[str]:
    prose = "".join(piece for is_code, piece in parts(text) if not is_code)
    return {slug(match[1]) for match in re.finditer(r"^#{1,6} (.*)$", prose, re.MULTILINE)}


def links(text: str):
    for is_code, piece in parts(text):
        if not is_code:
            for match in LINK.finditer(piece):
                yield match[2]


def is_elsewhere(target: str) -> bool:
    return bool(urllib.parse.urlparse(target).scheme)


def tracked_documents() -> list[pathlib.Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    return [ROOT / name for name in names if name and not name.startswith("tests/cases/") and (ROOT / name).exists()]


def check_documents() -> list[str]:
    problems = []
    texts = {page: page.read_text() for page in tracked_documents()}
    for page, text in texts.items():
        base = ROOT if page == ROOT / "docs/SUMMARY.md" else page.parent
        for target in links(text):
            if is_elsewhere(target):
                continue
            path, _, anchor = target.partition("#")
            file = (base / path).resolve() if path else page
            where = f"{page.relative_to(ROOT)}: ({target})"
            if not file.exists():
                problems.append(f"{where}: there is no such file")
            elif anchor and file.suffix == ".md" and anchor not in anchors(texts.get(file) or file.read_text()):
                problems.append(f"{where}: there is no such heading")
    return problems


def book_path(page: pathlib.Path) -> pathlib.Path:
    """Where a page stands in the book: a directory opens with its README."""
    return page.with_name("index.md") if page.name == "README.md" else page


def repository() -> str:
    manifest = (ROOT / "Cargo.toml").read_text()
    return re.search(r'^repository = "(.*)"$', manifest, re.MULTILINE)[1]


def assemble() -> list[str]:
    """Copies the pages to target/book/src, with links of the site."""
    summary = (ROOT / "docs/SUMMARY.md").read_text()
    pages = [pathlib.Path(target) for target in links(summary)]
    named = {ROOT / page for page in pages}
    problems = [
        f"{page.relative_to(ROOT)}: docs/SUMMARY.md does not name it"
        for page in tracked_documents()
        if page.is_relative_to(ROOT / "docs") and page not in named and page.name != "SUMMARY.md"
    ]
    shutil.rmtree(BOOK, ignore_errors=True)
    (BOOK / "src").mkdir(parents=True)
    for name in ("book.toml", "site.css"):
        shutil.copy(ROOT / "docs" / name, BOOK)
    browse = repository()

    def rewrite(page: pathlib.Path, match: re.Match) -> str:
        target = match[2]
        if is_elsewhere(target) or target.startswith("#"):
            return match[0]
        path, _, anchor = target.partition("#")
        file = ((ROOT / page).parent / path).resolve()
        anchor = f"#{anchor}" if anchor else ""
        if file.suffix in (".svg", ".png"):
            copy = BOOK / "src" / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
            found = os.path.relpath(file.relative_to(ROOT), page.parent)
        elif file in named:
            found = os.path.relpath(book_path(file.relative_to(ROOT)), book_path(page).parent)
        else:
            found = f"{browse}/{'tree' if file.is_dir() else 'blob'}/main/{file.relative_to(ROOT)}"
        return f"{match[1]}({found}{anchor})"

    for page in pages:
        text = "".join(
            piece if is_code else LINK.sub(lambda match: rewrite(page, match), piece)
            for is_code, piece in parts((ROOT / page).read_text())
        )
        copy = BOOK / "src" / book_path(page)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
    (BOOK / "src/SUMMARY.md").write_text(
        LINK.sub(lambda match: f"{match[1]}({book_path(pathlib.Path(match[2]))})", summary)
    )
    return problems


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


def check_site() -> list[str]:
    problems, pages = [], {}
    for file in sorted((BOOK / "html").rglob("*.html")):
        pages[file] = Page()
        pages[file].feed(file.read_text())
    for file, page in pages.items():
        # Its links are relative to wherever it is shown.
        if file.name in ("404.html", "toc.html"):
            continue
        for target in page.links:
            if is_elsewhere(target) or target.startswith(("//", "javascript:")):
                continue
            path, _, anchor = urllib.parse.unquote(target).partition("#")
            found = (file.parent / path).resolve() if path else file
            if found.is_dir():
                found /= "index.html"
            if not found.exists():
                problems.append(f"{file.relative_to(BOOK)}: {target}: there is no such file")
            elif anchor and found in pages and anchor not in pages[found].ids:
                problems.append(f"{file.relative_to(BOOK)}: {target}: there is no such anchor")
    print(f"{len(pages)} pages of the site")
    return problems


def main() -> int:
    problems = check_documents()
    print(f"{len(tracked_documents())} documents")
    if "--links" not in sys.argv and not problems:
        problems = assemble()
        if not shutil.which("mdbook"):
            print("mdbook is not on PATH")
            return 1 if problems else 77
        if subprocess.run(["mdbook", "build", BOOK]).returncode != 0:
            return 1
        problems += check_site()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
