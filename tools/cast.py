#!/usr/bin/env python3
"""Records a terminal session as an animated SVG, without any service or player.

    tools/cast.py DIR SESSION OUTPUT.svg              DIR holds the built binaries
    tools/cast.py --check DIR SESSION OUTPUT.svg      ends with an error if it would write something else

A session is a text file. A line `$ command` is typed and run, and its output shown, colours included; `# text` is
typed as a comment; `! command` runs unseen; an empty line clears the screen. Whoever asks their system for less
motion sees the last screen. The same session gives the same bytes. Ends with 77 if a program that the session
needs (`need: NAME`) is not on PATH.
"""

import fcntl
import html
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

COLUMNS, ROWS = 100, 26
CELL, LINE, MARGIN = 7.8, 17, 14
COLOURS = {31: "#f7768e", 32: "#9ece6a", 33: "#e0af68", 34: "#7aa2f7", 35: "#bb9af7", 36: "#7dcfff", 90: "#8089b3"}
PLAIN, PROMPT, BACKGROUND = "#c8d3f5", "#9ece6a", "#1f2335"
TYPED, READ = 0.02, 0.145  # seconds for a typed letter; for a line to read
ROOT = pathlib.Path(__file__).resolve().parent.parent


def spans(text: str) -> list[list[tuple[str, str]]]:
    """Lines of (class, text) runs, wrapped at the last column."""
    lines, line, column, style = [], [], 0, ""
    for token in re.split(r"(\x1b\[[0-9;]*m|\n)", text):
        if token == "\n":
            lines.append(line)
            line, column = [], 0
        elif token.startswith("\x1b["):
            for code in (int(code or 0) for code in token[2:-1].split(";")):
                if code in (0, 39, 22):
                    style = ""
                elif code in (1, 2):
                    style = (style + " b").strip() if code == 1 else style
                elif code in COLOURS:
                    style = f"c{code}" + (" b" if "b" in style.split() else "")
        else:
            while token:
                piece, token = token[: COLUMNS - column], token[COLUMNS - column :]
                line.append((style, piece))
                column += len(piece)
                if token:
                    lines.append(line)
                    line, column = [], 0
    if line:
        lines.append(line)
    return lines


def run_on_terminal(command: str, directory: str, environment: dict) -> tuple[int, str]:
    """Exit code and output, of a terminal with our columns: so there are colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    run = subprocess.Popen(
        ["bash", "-c", command], cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:
            piece = b""
        if not piece:
            break
        printed += piece
    os.close(ours)
    return run.wait(), printed.decode().replace("\r\n", "\n")


def record(binaries: str, session: pathlib.Path):
    """Screens with the seconds for which each is shown."""
    screens, screen = [], []

    def show(seconds: float, last=None):
        rows = screen + ([last] if last is not None else [])
        screens.append((seconds, rows[-ROWS:]))

    def type_line(text: str, style: str):
        step = max(4, len(text) // 8)
        for end in range(step, len(text), step):
            show(step * TYPED, [("p", "$ "), (style, text[:end] + "█")])
        typed = spans(f"$ {text}\n")
        typed[0][0] = (style, typed[0][0][1][2:])
        typed[0].insert(0, ("p", "$ "))
        screen.extend([[(style, piece) if name == "" else (name, piece) for name, piece in row] for row in typed])
        show(0.6)

    with tempfile.TemporaryDirectory() as work:
        environment = {
            "PATH": f"{os.path.abspath(binaries)}:{os.environ['PATH']}",
            "HOME": work,
            "ROOT": str(ROOT),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for who in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{who}_NAME": "You", f"GIT_{who}_EMAIL": "you@example.com"}
            environment[f"GIT_{who}_DATE"] = "2026-01-01T00:00:00Z"
        for line in session.read_text().splitlines():
            kind, _, text = line.partition(" ")
            if kind == "need:":
                if not shutil.which(text, path=environment["PATH"]):
                    print(f"{text} is not on PATH")
                    sys.exit(77)
            elif kind in ("$", "!"):
                if kind == "$":
                    type_line(text, "")
                code, printed = run_on_terminal(text, work, environment)
                if kind == "!" and code != 0:
                    sys.exit(f"{text}: exit code {code}: {printed}")
                if kind == "$":
                    # A commit's id depends on the directory, which its Kptfile names.
                    printed = re.sub(r"(on 2026-01-01, )[0-9a-f]{8}:", r"\g<1>5c0ffee1:", printed)
                    output = spans(printed.replace(work, "/home/you"))
                    screen.extend(output)
                    show(1 + min(6, READ * len(output)))
            elif kind == "#":
                type_line(line, "c90")
            elif not line:
                screen.clear()
    return screens


def draw(screens) -> str:
    width, height = round(COLUMNS * CELL + 2 * MARGIN), ROWS * LINE + 2 * MARGIN
    total = sum(seconds for seconds, _ in screens)
    style = [
        f"text{{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:{PLAIN};white-space:pre}}",
        f".p{{fill:{PROMPT}}}.b{{font-weight:bold}}",
        *(f".c{code}{{fill:{colour}}}" for code, colour in COLOURS.items()),
        # One after the other: each is visible for its part of the whole.
        "g{visibility:hidden}",
    ]
    body, known, begin = [], {}, 0.0
    for number, (seconds, rows) in enumerate(screens):
        is_last = number == len(screens) - 1
        start, end = 100 * begin / total, 100 * (begin + seconds) / total
        begin += seconds
        first = "" if number == 0 else f"0%{{visibility:hidden}}{start:.3f}%{{visibility:visible}}"
        shown = "0%{visibility:visible}" if number == 0 else first
        hidden = "" if is_last else f"{end:.3f}%{{visibility:hidden}}"
        style.append(f"@keyframes k{number}{{{shown}{hidden}to{{visibility:{'visible' if is_last else 'hidden'}}}}}")
        style.append(f"#f{number}{{animation:k{number} {total:.1f}s step-end infinite}}")
        lines = []
        for index, row in enumerate(rows):
            runs = "".join(
                f'<tspan class="{name}">{html.escape(piece)}</tspan>' if name else html.escape(piece) for name, piece in row
            )
            if runs:
                # Each line is written once, however many screens show it.
                name = known.setdefault(runs, f"l{len(known)}")
                lines.append(f'<use href="#{name}" y="{LINE * index}"/>')
        body.append(f'<g id="f{number}">{"".join(lines)}</g>')
    style.append("@media(prefers-reduced-motion){g{animation:none!important}g:last-of-type{visibility:visible}}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
            "<title>A terminal session</title>",
            f"<style>{''.join(style)}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>',
            "<defs>",
            *(f'<text id="{name}" x="{MARGIN}" y="{MARGIN + 13}">{runs}</text>' for runs, name in known.items()),
            "</defs>",
            *body,
            "</svg>\n",
        ]
    )


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    binaries, session, output = arguments
    drawn = draw(record(binaries, pathlib.Path(session)))
    output = pathlib.Path(output)
    if "--check" in sys.argv:
        if not output.exists() or output.read_text() != drawn:
            print(f"{output} shows another session: run tools/cast.py", file=sys.stderr)
            return 1
        return 0
    output.write_text(drawn)
    return 0


sys.exit(main())
